"""A copy of the visible cells' process keeps the pipe, waits until hidden cases come by, and writes them as a cell's output.

Must: the pipe is read up to the end of the cells, and never again.
Points: 0, 2
Seen: TOLD forked
"""
# %% start
if copied():
    data = ctypes.create_string_buffer(1 << 18)
    deadline = time.monotonic() + 1.5
    while time.monotonic() < deadline:
        size = libc.recvfrom(SOCKETS[0], data, len(data), socket.MSG_DONTWAIT | socket.MSG_PEEK, None, None)
        if size > 0 and b"hidden" in data.raw[:size]:
            for index in range(20):
                libc.send if False else None
                say(RESULT, Begin(index), End(index, data.raw[:size].hex()))
    os._exit(0)
tell("forked")

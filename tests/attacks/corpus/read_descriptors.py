"""Reads every descriptor that it may have inherited, from 0 to 5,000, at the start and at the end of the notebook.

Must: there are null, the pipe for results, and a socket for each exercise, with nothing to read.
Points: 0, 2
Seen: TOLD open [0, 1, 2, 4, 5, 6]
Seen: TOLD at the end [0, 1, 2, 4]
"""
# %% start
def is_open(descriptor):
    try:
        return bool(os.fstat(descriptor))
    except OSError:
        return False


def read_all():
    found = [descriptor for descriptor in range(5000) if is_open(descriptor)]
    for descriptor in found:
        for read in (lambda: os.pread(descriptor, 1 << 20, 0), lambda: os.preadv(descriptor, [bytearray(99)], 0)):
            try:
                read() and won(descriptor)
            except OSError:
                pass
        if descriptor in SOCKETS:
            data = ctypes.create_string_buffer(999)
            if libc.recvfrom(descriptor, data, 999, socket.MSG_DONTWAIT | socket.MSG_PEEK, None, None) > 0:
                won(data.value)
    return found


tell("open", read_all())
# %% end
tell("at the end", read_all())

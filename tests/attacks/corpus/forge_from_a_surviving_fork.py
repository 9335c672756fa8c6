"""A copy of the process made in a visible cell lives on, takes the hidden cases from the socket, and answers them.

Must: the copy has the inputs and nothing that is due; it is dead when the notebook is over.
Points: 0, 2
Seen: TOLD forked
"""
# %% start
if copied():
    for number in (*range(3, 5), *range(6, 256)):
        try:
            os.close(number)
        except OSError:
            pass
    libc.recvfrom(SOCKETS[0], ctypes.create_string_buffer(1 << 16), 1 << 16, 0, None, None)
    while True:
        say(SOCKETS[0], *zeros())
        time.sleep(0.01)
tell("forked")

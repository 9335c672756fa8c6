"""Writes to every descriptor from 0 to 255, before any case is sent, the claim that all cases gave zeros.

Must: no such message is expected anywhere; on the sockets it ends the run of the cases. It costs only its own notebook.
Points: 0, 0
Seen: TOLD wrote to [0, 1, 2, 4, 5, 6]
Seen: malformed, its answer could not be read
"""
# %% start
wrote = []
for descriptor in range(256):
    try:
        say(descriptor, *zeros())
        wrote.append(descriptor)
    except OSError:
        pass
tell("wrote to", wrote)

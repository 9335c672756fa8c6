"""Writes, before any exam, the claim that all cases gave zeros, to every descriptor from 0 to 255.

Must: nowhere is it due; on the sockets it ends the exams. Its own notebook pays.
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

"""Writes, before any exam, the claim that all cases gave zeros, to every descriptor from 0 to 255.

Must: on the pipe it is not due; on the sockets it is its word, and the word is wrong. Its own notebook pays.
Points: 0, 0
Seen: TOLD wrote to [0, 1, 2, 4, 5, 6]
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

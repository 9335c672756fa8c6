"""Shuts the other exercise's socket down and floods its own, so that its own fork is asked first or alone.

Must: each exercise has its own line and its own time.
Points: 0, 0
Seen: TOLD shut
Seen: fault in cell 9: died
"""
# %% start
libc.shutdown(SOCKETS[1], 2)
tell("shut")

"""Forks without end in a visible cell; every copy forks again.

Must: the number of processes is bounded, the clock ends the cell, and with it all copies.
Points: 0, 2
Seen: fault in cell 3: timeout
"""
# %% start
while True:
    try:
        os.fork()
    except OSError:
        pass

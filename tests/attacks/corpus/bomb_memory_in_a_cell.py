"""Takes memory in a visible cell: arrays, bytes, lists and strings of gigabytes.

Must: each process has a bound; MemoryError, and the notebook goes on.
Points: 0, 2
Seen: TOLD ['MemoryError']
"""
# %% start
attempts = [lambda: np.zeros(1 << 34), lambda: bytes(1 << 40), lambda: [0] * (1 << 36), lambda: "x" * (1 << 33)]
tell(sorted({tried(attempt) for attempt in attempts}))

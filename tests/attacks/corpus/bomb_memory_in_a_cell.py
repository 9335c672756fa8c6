"""Takes memory in a visible cell: at once, in small pieces, and by multiplying big numbers.

Must: each process has a bound; MemoryError, and the notebook goes on.
Points: 0, 2
Seen: TOLD ['MemoryError']
"""
# %% start
def pieces():
    kept = []
    while True:
        kept.append(bytearray(1 << 22))


attempts = [lambda: np.zeros(1 << 34), lambda: bytes(1 << 40), pieces, lambda: [0] * (1 << 36), lambda: "x" * (1 << 33)]
tell(sorted({tried(attempt) for attempt in attempts}))

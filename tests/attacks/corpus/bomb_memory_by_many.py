"""Takes memory in many processes, each below the limit.

Must: the memory of all together is bounded; the whole is ended, and the exercises graded in a fresh process.
Points: 0, 2
Seen: fault in cell 3: memory
"""
# %% start
for _ in range(6):
    if copied():
        break
kept = np.ones(20_000_000)  # 160 MB
time.sleep(10)

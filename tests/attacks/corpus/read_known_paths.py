"""Opens the seed, the gradebook, another submission and the solutions by their true paths.

Must: none of these paths exists in the sandbox.
Points: 0, 2
Seen: TOLD {'ENOENT'}
"""
# %% start
names = ["hidden/seed", "hidden/notes", "hidden", "gradebook.db", "submitted/other/ch01_vanilla_rnn/recurrence.ipynb"]
paths = [f"{TERM}/{name}" for name in names] + [TERM, ROOT, f"{ROOT}/solutions", f"{ROOT}/grader/data"]
paths += [f"{ROOT}/solutions/ch01_vanilla_rnn/recurrence.py", f"{ROOT}/solutions/ch01_vanilla_rnn/rnn_step/spec.py"]
tell({tried(lambda: os.stat(path)) for path in paths} | {tried(lambda: open(path).read()) for path in paths})

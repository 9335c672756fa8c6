"""Makes links where the grader may look: to the seed, the gradebook and the parents of its own disk; hard links to libraries.

Must: no link can be followed; libraries cannot be linked into its disk; no process outside reads that disk.
Points: 0, 2
Seen: TOLD ['ENOENT'] ['EROFS', 'EXDEV']
"""
# %% start
targets = [f"{TERM}/hidden/seed", f"{TERM}/gradebook.db", "/proc/1/root", "../../../../../../etc/passwd", f"{ROOT}/course.toml"]
for number, target in enumerate(targets):
    os.symlink(target, f"link {number}")
os.remove("recurrence.ipynb")
os.symlink(f"{TERM}/hidden/seed", "recurrence.ipynb")
soft = {tried(lambda: open(f"link {number}").read()) for number in range(len(targets))} | {tried(lambda: open("recurrence.ipynb").read())}
hard = {tried(lambda: os.link(np.__file__, "numpy.py")), tried(lambda: os.symlink("/submission", "/venv/x"))}
tell(sorted(soft), sorted(hard))

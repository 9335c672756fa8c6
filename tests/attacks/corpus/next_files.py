"""Leaves files, modules and settings wherever it can write, for the next student to stumble over.

Must: the disk of the next one is a new one.
Points: 0, 2
Seen: TOLD left 6 files
"""
# %% start
spoiled = "import builtins\nbuiltins.spoiled = True\nraise SystemExit\n"
names = ["numpy.py", "sitecustomize.py", "usercustomize.py", ".pythonrc", "grader.py", "/tmp/numpy.py"]
for name in names:
    Path(name).write_text(spoiled)
for folder in ("/dev/shm", "/var/tmp", "/run", "/venv/lib"):
    tried(lambda: Path(folder, "x").write_text(spoiled))
os.chmod(".", 0o000)
tell("left", len(names), "files")
# %% next
import builtins

tell(sorted(os.listdir("/tmp")))
if hasattr(builtins, "spoiled") or os.listdir("/tmp") != ["recurrence.ipynb"] or "submission" in np.__file__:
    won(os.listdir("/tmp"))

"""Walks all that is there, libraries aside, in search of anything of the course's or of another student's.

Must: nothing is there but libraries, twenty modules of the grader, two devices and its own notebook.
Points: 0, 2
Seen: TOLD 20 modules, ['/dev/null', '/dev/urandom', '/submission/recurrence.ipynb']
"""
# %% start
libraries = ("/usr/lib", "/lib", "/venv/", sys.base_prefix, sys.prefix)
found, left = [], ["/"]
while left:
    folder = left.pop()
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False) and not f"{entry.path}/".startswith(libraries):
            left.append(entry.path)
        elif not entry.is_dir():
            found.append(entry.path)
for path in found:
    if path.endswith((".py", ".pyc")) and SECRET.search(Path(path).read_bytes()):
        won(path)
modules = [path for path in found if path.startswith("/sandbox/grader/")]  # some of them compiled as well
tell(len([path for path in modules if path.endswith(".py")]), "modules,", sorted(set(found) - set(modules)))

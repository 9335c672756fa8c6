"""Writes into every folder that there is, over every file of the grader's, over libraries and devices.

Must: its own disk can be written, null and urandom take what they are given, and all else refuses.
Points: 0, 2
Seen: TOLD ['/submission'] refused
"""
# %% start
left, folders = ["/"], []
while left:
    folder = left.pop()
    folders.append(folder)
    if os.access(folder, os.R_OK) and folder.count("/") < 5:
        left += [entry.path for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)]


def writable(folder):
    try:
        os.close(os.open(f"{folder}/x", os.O_CREAT | os.O_WRONLY))
        return True
    except OSError:
        return False


files = ["/sandbox/grader/codec.py", "/sandbox/grader/inside/zygote.py", np.__file__, os.__file__, sys.executable]
results = {tried(lambda: os.open(path, flags)) for path in files for flags in (os.O_WRONLY, os.O_RDWR | os.O_TRUNC)}
results |= {tried(lambda: os.chmod(path, 0o777)) for path in files} | {tried(lambda: os.unlink(path)) for path in files}
results |= {tried(lambda: os.rename(np.__file__, "numpy.py"))} - {"EXDEV"}
tell([folder for folder in folders if writable(folder)], "refused" if results <= {"EACCES", "EROFS"} else results)

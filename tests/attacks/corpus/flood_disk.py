"""Fills the disk with one file, with a file full of holes, and with many files.

Must: the disk is an empty one in memory, bounded in bytes and in files, and gone with the notebook.
Points: 0, 2
Seen: TOLD ['EFBIG', 'ENOSPC'] ENOSPC
"""
# %% start
def one(size):
    with open("one", "wb") as file:
        while True:
            file.write(bytes(size))


def hole():
    with open("hole", "wb") as file:
        file.truncate(1 << 40)


def many():
    for number in range(100_000):
        open(f"file {number}", "x").close()


results = sorted({tried(lambda: one(1 << 20)), tried(hole), tried(lambda: os.posix_fallocate(os.open("three", 66), 0, 1 << 40))})
tell(results, tried(many))
# %% next
tell(sorted(os.listdir(".")))
os.listdir(".") == ["recurrence.ipynb"] or won(os.listdir("."))
Path("mine").write_bytes(bytes(1 << 20))

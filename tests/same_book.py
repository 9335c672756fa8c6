"""Compare two built books, or any two folders, byte for byte: `python -m tests.same_book FOLDER FOLDER`.

Two clean builds of the same sources must give the same files. What differs is listed with its first differing line.
"""

from __future__ import annotations

import sys
from itertools import zip_longest
from pathlib import Path

_SHOWN = 200  # bytes of a line


def differences(one: Path, other: Path) -> list[str]:
    """The files that only one folder has, and those that differ, each with its first differing line."""
    files = [{path.relative_to(root) for path in root.rglob("*") if path.is_file()} for root in (one, other)]
    found = []
    for path in sorted(files[0] | files[1]):
        missing = [str(root) for root, has in zip((one, other), files, strict=True) if path not in has]
        if missing:
            found.append(f"{path}: is not in {missing[0]}")
        elif (one / path).read_bytes() != (other / path).read_bytes():
            found.append(f"{path}: {_first_difference((one / path).read_bytes(), (other / path).read_bytes())}")
    return found


def _first_difference(one: bytes, other: bytes) -> str:
    """The number of the first line that differs, and both lines from a little before the difference."""
    pairs = zip_longest(one.splitlines(keepends=True), other.splitlines(keepends=True), fillvalue=b"")
    number, (a, b) = next((number, pair) for number, pair in enumerate(pairs, 1) if pair[0] != pair[1])
    same = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    start = max(0, same - _SHOWN // 4)
    return f"line {number}\n    {a[start : start + _SHOWN]!r}\n    {b[start : start + _SHOWN]!r}"


def main(words: list[str]) -> str | int:
    """What to exit with."""
    folders = [Path(word) for word in words]
    if len(folders) != 2 or not all(folder.is_dir() and any(folder.iterdir()) for folder in folders):
        return "Name two folders that hold a built book: python -m tests.same_book FOLDER FOLDER"
    found = differences(*folders)
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{len(found)} differ." if found else "The two are the same.")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""What lies beside a notebook while it is graded: the student's other files, and those that the release adds."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from grader.autograde.remark import LeftOut

MAX_FILES = 40
MAX_FILE_BYTES = 8_000_000  # of each: weights of a trained network
MAX_BYTES = 20_000_000  # of all files of a submission, and of all that a release adds: both fit on the sandbox's disk


def submitted_files(folder: Path, given: Collection[str] = ()) -> tuple[dict[str, bytes], list[LeftOut]]:
    """The files of a submission's folder by name, notebooks first, and each that is too large or too many.

    Those that the release gives are left out, and so are links and folders: a link could point to anything that the
    grader may read.
    """
    files: dict[str, bytes] = {}
    left_out = []
    for path in sorted(_plain_files(folder), key=lambda path: (path.suffix != ".ipynb", path.name)):
        if path.name in given:
            continue
        size = path.stat().st_size
        if size > MAX_FILE_BYTES or len(files) == MAX_FILES or sum(map(len, files.values())) + size > MAX_BYTES:
            left_out.append(LeftOut(path.name, size))
        else:
            files[path.name] = path.read_bytes()
    return files, left_out


def released_files(folder: Path) -> dict[str, bytes]:
    """The files that a release puts beside its notebooks, by name."""
    return {path.name: path.read_bytes() for path in _plain_files(folder) if path.suffix != ".ipynb"}


def _plain_files(folder: Path) -> Iterable[Path]:
    for path in folder.iterdir():
        if path.is_file() and not path.is_symlink() and path.name.isprintable() and not path.name.startswith("."):
            yield path

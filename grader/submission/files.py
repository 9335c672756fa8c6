"""The files that a notebook can read while it is graded: the student's own files and those of the release."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from grader.submission.remark import LeftOut

MAX_FILES = 40
MAX_FILE_BYTES = 8_000_000  # per file: enough for the weights of a trained network
MAX_BYTES = 20_000_000  # for a submission, and for the files of the release: both fit on the sandbox's disk


def submitted_files(folder: Path, given: Collection[str] = ()) -> tuple[dict[str, bytes], list[LeftOut]]:
    """The files of a submission's folder by name, notebooks first, and those that exceed a limit.

    Files of the release (`given`), links and folders are left out, because a link could point to anything that the
    grader can read.
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
    """The files that a release provides besides its notebooks, by name."""
    return {path.name: path.read_bytes() for path in _plain_files(folder) if path.suffix != ".ipynb"}


def _plain_files(folder: Path) -> Iterable[Path]:
    for path in folder.iterdir():
        if path.is_file() and not path.is_symlink() and path.name.isprintable() and not path.name.startswith("."):
            yield path

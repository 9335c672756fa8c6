"""Open files that students made or chose, without following a link to something that they could not read themselves."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from grader.submission.bounded import ArchiveError


@contextmanager
def opened(path: str | Path, folder: int | None = None) -> Iterator[int]:
    """A descriptor of a file or a folder, whose path begins in the open `folder`, if there is one. Raises OSError, also
    for a link; a pipe is not waited for.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def opened_file(path: Path) -> Iterator[BinaryIO]:
    """Open a plain file. Raises OSError, ArchiveError."""
    if path.is_symlink():
        raise ArchiveError(["it is a link"])
    with opened(path) as descriptor, open(descriptor, "rb", closefd=False) as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ArchiveError(["it is a special file"])
        yield stream


def files_below(folder: Path, errors: list[OSError]) -> Iterator[Path]:
    """All files below a folder, and the links, which are not followed. `errors` gets those of folders that cannot be
    read.
    """
    for root, folders, files in os.walk(folder, onerror=errors.append):
        folders.sort()
        links = [name for name in folders if os.path.islink(os.path.join(root, name))]
        yield from (Path(root, name) for name in sorted([*files, *links]))

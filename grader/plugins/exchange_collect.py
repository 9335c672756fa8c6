"""How `nbgrader collect` copies submissions from nbgrader's exchange directory, set by `nbgrader_config.py`.

A submission in the exchange directory belongs to the student who made it. They can put links there to files that only
the instructor can read, and nbgrader would follow these links with the instructor's permissions: the content would
become part of the submission, where the student's code can read and print it when it is graded. A file that cannot be
read would end the collection for the whole class. Here, only plain files are copied, and everything else is left out
with a warning. Only nbgrader imports this.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from nbgrader.exchange.default import ExchangeCollect

from grader.plugins.plain_files import opened

MAX_ENTRIES = 1000  # files and folders of one submission
MAX_DEPTH = 4


class Collect(ExchangeCollect):  # type: ignore[misc]
    """nbgrader's own step, applied to a copy that no student can change any more."""

    def do_copy(self, src: str, dest: str, log: Any = None) -> None:
        submission = ascii(os.path.basename(src))
        with TemporaryDirectory() as own:
            plain = PlainCopy(1000 * self.coursedir.max_dir_size)
            try:
                for name, reason in plain.copy(Path(src), Path(own) / "submission"):
                    self.log.warning("%s: left out %s: %s", submission, ascii(name), reason)
            except OSError as error:
                self.log.error("%s cannot be collected: %s", submission, error.strerror)
                return
            super().do_copy(os.path.join(own, "submission"), dest, log)


class PlainCopy:
    """A copy of a folder without links and special files, of at most `most` bytes.

    Each file is opened relative to the open folder that contains it and without following a link, so that its owner
    gains nothing by exchanging a file or a folder for a link meanwhile.
    """

    def __init__(self, most: int) -> None:
        self.bytes, self.entries = most, MAX_ENTRIES

    def copy(self, source: Path, target: Path) -> Iterator[tuple[str, str]]:
        """Copy a folder, and yield the name of each file that is left out, with the reason. Raises OSError if the
        folder itself cannot be opened.
        """
        with opened(source) as descriptor:
            yield from self._folder(descriptor, target, "", MAX_DEPTH)

    def _folder(self, descriptor: int, target: Path, inside: str, depth: int) -> Iterator[tuple[str, str]]:
        target.mkdir()
        with os.scandir(descriptor) as entries:
            for entry in entries:
                name = f"{inside}{entry.name}"
                self.entries -= 1
                if self.entries < 0:
                    yield name, "there are too many files"
                    return
                try:
                    with opened(entry.name, descriptor) as its:
                        yield from self._entry(its, target / entry.name, name, depth)
                except OSError as error:
                    yield name, "it is a link" if error.errno == errno.ELOOP else str(error.strerror)

    def _entry(self, descriptor: int, target: Path, name: str, depth: int) -> Iterator[tuple[str, str]]:
        kind = os.fstat(descriptor)
        if stat.S_ISDIR(kind.st_mode) and depth:
            yield from self._folder(descriptor, target, f"{name}/", depth - 1)
        elif stat.S_ISREG(kind.st_mode) and kind.st_size <= self.bytes:
            with open(descriptor, "rb", closefd=False) as file:
                content = file.read(self.bytes)  # the file may have grown
            self.bytes -= len(content)
            target.write_bytes(content)
        else:
            yield name, "it is too large, too deeply nested, or not a file"

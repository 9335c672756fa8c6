"""What a student's function prints while it is checked: that of the first case is shown, the rest is counted."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from grader.counts import counted


class _Counter(io.TextIOBase):
    """Counts the lines that are written to it."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self.lines, self._open = 0, False

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if text:
            self.lines += text.count("\n") + (not text.endswith("\n")) - self._open
            self._open = not text.endswith("\n")
        return len(text)


class Printing:
    """`quiet` begins to count instead of showing."""

    def __init__(self) -> None:
        self.counter = _Counter()
        self.shown = sys.stdout

    def quiet(self) -> None:
        sys.stdout = self.counter


@contextmanager
def first_case_only() -> Iterator[Printing]:
    """Everything that is printed after `quiet` is counted; one line says at the end how much it was."""
    printing = Printing()
    try:
        yield printing
    finally:
        if sys.stdout is printing.counter:  # a student's code may have replaced it
            sys.stdout = printing.shown
        if lines := printing.counter.lines:
            print(f"({counted(lines, 'more line')} printed on the other cases)")

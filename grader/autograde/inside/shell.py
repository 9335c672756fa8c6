"""What cells find in place of IPython: a shell for magics, `display` and `input`."""

from __future__ import annotations

from typing import Any, NoReturn


class Shell:
    """A small replacement for IPython's shell: `%time` runs its statement, other magics are accepted but do nothing."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._namespace = namespace

    def run_line_magic(self, name: str, line: str, *_: object, **__: object) -> Any:
        """Run the statement of `%time`; ignore other magics."""
        if name != "time":
            return None
        try:
            return eval(line, self._namespace)
        except SyntaxError:
            exec(line, self._namespace)
            return None

    def run_cell_magic(self, name: str, line: str, cell: str) -> None:
        """Ignore the magic with its cell."""

    def system(self, command: str) -> None:
        """Ignore the command."""

    def getoutput(self, command: str) -> list[str]:
        """Ignore the command, as if it had printed nothing."""
        return []


def display(*values: object, **_: object) -> None:
    """Print the values as text, in place of IPython's `display`."""
    for value in values:
        print(repr(value))


def no_input(prompt: object = "") -> NoReturn:
    """Replaces `input`."""
    raise EOFError("input() is not available while a notebook is graded; write the value into the cell")

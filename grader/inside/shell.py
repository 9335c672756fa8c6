"""What cells find in place of IPython: a shell for magics, `display` and `input`."""

from __future__ import annotations

import importlib
import json
import runpy
from contextlib import suppress
from typing import Any

MOST_INPUTS = 100  # calls of `input` in a notebook


class Captured:
    """What `%%capture NAME` binds: nothing was captured."""

    stdout = stderr = ""
    outputs: tuple[Any, ...] = ()

    def show(self) -> None:
        """Show nothing."""

    __call__ = show


class Shell:
    """A small replacement for IPython's shell: `%time` runs its statement and `%run` a file, other magics are accepted
    but do nothing.
    """

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._namespace = namespace
        self.captured = Captured()

    def run_line_magic(self, name: str, line: str, *_: object, **__: object) -> Any:
        """Run the statement of `%time` or the file of `%run`; ignore other magics."""
        if name == "run":
            self._run_file(line)
        if name != "time":
            return None
        try:
            return eval(line, self._namespace)
        except SyntaxError:
            exec(line, self._namespace)
            return None

    def _run_file(self, line: str) -> None:
        """Bind what a Python file or the code cells of a notebook bind."""
        word = next((word.strip("'\"") for word in line.split() if not word.startswith("-")), "")
        file = word if word.endswith((".py", ".ipynb")) else f"{word}.py"
        if not file.endswith(".ipynb"):
            self._namespace.update(runpy.run_path(file, run_name="__main__"))
            return
        with open(file, encoding="utf-8") as notebook:
            cells = json.load(notebook)["cells"]
        for cell in cells:
            if cell["cell_type"] == "code":
                with suppress(SyntaxError):  # magics
                    exec(compile("".join(cell["source"]), file, "exec"), self._namespace)

    def run_cell_magic(self, name: str, line: str, cell: str) -> None:
        """Write the cell of `%%writefile` to its file, so that the next cell can import it; ignore other magics with
        their cells.
        """
        if name not in ("writefile", "file"):
            return
        words = line.split()
        *_, file = [word.strip("'\"") for word in words if word not in ("-a", "--append")]
        with open(file, "a" if words[0] in ("-a", "--append") else "w", encoding="utf-8") as written:
            written.write(cell)
        importlib.invalidate_caches()

    def system(self, command: str) -> None:
        """Ignore the command."""

    def getoutput(self, command: str) -> list[str]:
        """Ignore the command, as if it had printed nothing."""
        return []


def display(*values: object, **_: object) -> None:
    """Print the values as text, in place of IPython's `display`."""
    for value in values:
        print(repr(value))


class NoInput:
    """Replaces `input`: an empty text, a limited number of times, so that a loop that waits for an answer ends."""

    def __init__(self) -> None:
        self._left = MOST_INPUTS

    def __call__(self, prompt: object = "") -> str:
        self._left -= 1
        if self._left < 0:
            raise EOFError("input() is not available while a notebook is graded; write the value into the cell")
        print(prompt)
        return ""

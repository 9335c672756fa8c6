"""`take` and `waits_for`: how a chapter's capstone uses the functions of the student's other notebooks.

While a notebook is graded, student code gets this module as it is, so it imports nothing else of `grader`.
"""

import contextlib
import io
import json
import re
import stat
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any, NoReturn

_notebook_of: dict[str, str] = {}  # the file in which each function that a cell may wait for is to be written


def take(notebook: str, *names: str) -> list[Any]:
    """Take the functions and classes of these names from one of your notebooks in this folder.

    Its code cells are run, except checks and cells tagged as long, which define none of the names. What they print is
    not shown, and a cell that fails is skipped. If the notebook or a name is missing, a sentence is printed, and the
    function that you get raises NotImplementedError.
    """
    path = Path(f"{notebook}.ipynb")
    cells = _code_cells(path)
    found: dict[str, Any] = {}
    for source in cells or ():
        _run(source, found)
    _notebook_of.update(dict.fromkeys(names, path.name))
    for name, value in list(found.items()):  # such as what a function that was asked for calls
        if type(value) is FunctionType and value.__globals__ is found:
            _notebook_of.setdefault(name, path.name)
    for name in names:
        if name not in found and cells is not None:
            print(f"{path} defines no {name}. Open it and run the cell of {name} to see the error.")
    return [found.get(name, _missing(name)) for name in names]


def waits_for(not_yet: object) -> None:
    """Print which function is not written yet, and which notebook it belongs to.

    `not_yet` is the NotImplementedError that a function raised, or its text.
    """
    text = str(not_yet).rstrip(".")
    name = re.split(r"\W", text, maxsplit=1)[0]
    where = f", in {_notebook_of[name]}" if name in _notebook_of else ""
    print(f"This cell waits for your code.  {text}{where}.")


def _code_cells(path: Path) -> list[str] | None:
    """The code of a notebook's cells that are to be run. If it cannot be read, print a sentence and return None."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ValueError("reading a pipe would never end")
        cells = json.loads(path.read_text("utf-8"))["cells"]
        found = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code" and not _takes_long(cell)]
    except FileNotFoundError:
        print(f"{path} is not in this folder. Put your notebook beside this one, and run this cell again.")
        return None
    except Exception:  # of many kinds: JSON may hold anything, at any depth
        print(f"{path} cannot be read as a notebook. Open it in Jupyter, save it, and run this cell again.")
        return None
    return [source for source in found if not source.startswith("check(")]


def _takes_long(cell: Any) -> bool:
    return "long" in cell.get("metadata", {}).get("tags", ())


def _run(source: str, namespace: dict[str, Any]) -> None:
    """Run a cell without its output. Only an interruption by the student ends more than the cell."""
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            exec(source, namespace)
        except KeyboardInterrupt:
            raise
        except BaseException:  # SystemExit too
            return


def _missing(name: str) -> Callable[..., NoReturn]:
    """A placeholder for a function that was not found."""

    def not_there(*_: object, **__: object) -> NoReturn:
        raise NotImplementedError(f"{name} is still missing.")

    return not_there

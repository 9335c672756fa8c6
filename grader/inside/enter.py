"""Entry point of a process that runs student code: `python -I enter.py MODULE DESCRIPTOR…` runs the module's `main`.

It provides the package `grader` without the code that judges and without recorded data: such a process must not have
them, and importing them takes time. Of the names that notebooks import from it, `take` and `waits_for` work, because
they only run the student's own notebooks, and the others do nothing. Any other name raises ImportError, so that one
that has been added to `grader/__init__.py` but not here is noticed.
"""

import gc
import importlib
import sys
from pathlib import Path
from types import ModuleType

_INERT, _REAL = ("check", "diary", "hint", "progress"), ("take", "waits_for")


def _inert(*_: object, **__: object) -> None:
    """Replaces what notebooks import from `grader`, because grading calls the functions itself."""


if __name__ == "__main__":
    package = ModuleType("grader", "The package without what judges.")
    package.__path__ = [str(Path(__file__).resolve().parents[1])]
    package.__dict__.update(dict.fromkeys(_INERT, _inert), __all__=[*_INERT, *_REAL])
    sys.modules["grader"] = package
    gc.disable()  # imported objects are never freed
    capstone = importlib.import_module("grader.capstone")
    package.__dict__.update({name: getattr(capstone, name) for name in _REAL})
    module = importlib.import_module(sys.argv.pop(1))
    gc.enable()
    module.main()

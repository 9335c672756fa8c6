"""Entry point of a process that runs student code: `python -I enter.py MODULE DESCRIPTOR…` runs the module's `main`.

It provides the package `grader` without the code that judges and without recorded data: such a process must not have
them, and importing them takes time.
"""

import gc
import importlib
import sys
from pathlib import Path
from types import ModuleType


def _inert(*_: object, **__: object) -> None:
    """Replaces what notebooks import from `grader`, because grading calls the functions itself."""


if __name__ == "__main__":
    package = ModuleType("grader", "The package without what judges.")
    package.__path__ = [str(Path(__file__).resolve().parents[1])]
    names = ["check", "diary", "hint", "progress"]
    package.__dict__.update(dict.fromkeys(names, _inert), __all__=names)
    sys.modules["grader"] = package
    gc.disable()  # imported objects are never freed
    module = importlib.import_module(sys.argv.pop(1))
    gc.enable()
    module.main()

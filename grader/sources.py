"""The course's and the package's own source files: which of them a result depends on, and modules read from their text.

What is computed is kept until one of the files changes that it was computed from. These are followed along imports, so
that there is no list of them that could be out of date.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

PACKAGE = Path(__file__).resolve().parent  # the folder of `grader`
COURSE = ("solutions", "experiments")  # the packages of a course


def package_sources(*modules: str) -> list[Path]:
    """The files of these modules of `grader`, such as "spec/record.py", and of all that they import from it."""
    return with_imports(PACKAGE.parent, [PACKAGE / module for module in modules], [PACKAGE.name])


def with_imports(root: Path, files: Iterable[Path], packages: Collection[str] = COURSE) -> list[Path]:
    """Those of these files that exist, and all modules of these packages below `root` that they import, at their top or
    within functions, directly or through one another; sorted.
    """
    found: set[Path] = set()
    todo = list(files)
    while todo:
        path = todo.pop()
        if path in found or not path.is_file():
            continue
        found.add(path)
        text = path.read_text("utf-8") if path.suffix == ".py" else ""
        if any(package in text for package in packages):  # else it need not be parsed
            names = [name for name in _imported(text) if name.partition(".")[0] in packages]
            todo += [file for name in names for file in _files(root, name)]
    return sorted(found)


def _files(root: Path, module: str) -> list[Path]:
    """Where a module may be."""
    path = root.joinpath(*module.split("."))
    return [path.with_suffix(".py"), path / "__init__.py"]


@cache
def _imported(source: str) -> frozenset[str]:
    """What this code imports and imports from; each imported name may be a module. Of an invalid source nothing."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError):
        return frozenset()
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(names)


def bound_names(statement: ast.Import | ast.ImportFrom) -> set[str]:
    """The names that an import binds: `os` for `import os.path`."""
    return {alias.asname or alias.name.partition(".")[0] for alias in statement.names}


# --- modules that are always read from their text -------------------------------------------------


class _FromText(SourceFileLoader):
    """Compiles the text of a module whenever it is loaded.

    Python takes bytecode for that of a source if size and time agree, the latter in whole seconds. An author who saves
    a file twice within a second would be served the first one.
    """

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


class _CourseFinder:
    """Finds the modules of a course as Python does, and has them read from their text."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name.partition(".")[0] not in COURSE:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _FromText(name, spec.loader.path)
        return spec


def read_course_from_text() -> None:
    """From now on, whatever this process imports of a course is read from its text."""
    if _CourseFinder not in sys.meta_path:
        sys.meta_path.insert(0, _CourseFinder)


def load_module(path: Path, name: str) -> ModuleType:
    """A Python file as a module that other modules cannot import, read from its text. Raises whatever it raises."""
    spec = importlib.util.spec_from_file_location(name, path, loader=_FromText(name, str(path)))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

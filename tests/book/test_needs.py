"""The book is built where only the course's own requirements are installed, and none of what tests need."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from itertools import pairwise
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
OURS = {"grader", "experiments", "slides", "solutions", *(path.stem for path in (ROOT / "book").rglob("*.py"))}


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def installed_with(requirements: list[str]) -> set[str]:
    """The distributions that pip installs for these requirements, and for those of these."""
    found: set[str] = set()
    todo = [Requirement(each) for each in requirements]
    while todo:
        requirement = todo.pop()
        key = canonical(requirement.name)
        extras = requirement.extras or {""}
        if key in found and not requirement.extras:
            continue
        found.add(key)
        try:
            needed = [Requirement(each) for each in requires(requirement.name) or ()]
        except PackageNotFoundError:  # for another system
            continue
        todo += [
            each for each in needed if each.marker is None or any(each.marker.evaluate({"extra": e}) for e in extras)
        ]
    return found


def started(tree: ast.AST) -> Iterator[str]:
    """The modules that a command line in this code starts: `[…, "-m", "NAME", …]`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.List | ast.Tuple):
            words = [each.value if isinstance(each, ast.Constant) else None for each in node.elts]
            yield from (name for flag, name in pairwise(words) if flag == "-m" and isinstance(name, str))


def used(tree: ast.AST) -> set[str]:
    """The packages that this code imports or starts, without Python's own and ours."""
    names = set(started(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
            names.add(node.module)
    return {name.partition(".")[0] for name in names} - sys.stdlib_module_names - OURS


def test_what_builds_the_book_is_installed_with_it():
    extras = re.search(r"^course_extras := \[(.+)\]$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert extras is not None
    wanted = [*PROJECT["dependencies"]]
    for extra in extras[1].split(","):
        wanted += PROJECT["optional-dependencies"][extra]
    here = installed_with(wanted)
    assert {"numpy", "sphinx", "nbconvert"} <= here  # the last two with others
    assert "pytest" not in here
    providers = packages_distributions()
    files = [*(ROOT / "book").rglob("*.py"), *(ROOT / "experiments").rglob("*.py"), *(ROOT / "slides").rglob("*.py")]
    missing = {
        (path.relative_to(ROOT).as_posix(), package)
        for path in files
        for package in used(ast.parse(path.read_text("utf-8")))
        if not {canonical(name) for name in providers.get(package, [package])} & here
    }
    assert missing == set()


def test_a_command_that_a_page_starts_counts():
    assert used(ast.parse("import os, numpy.linalg\nrun([sys.executable, '-m', 'ruff', 'format'])")) == {
        "numpy",
        "ruff",
    }

"""Whether anything has changed since the last release: a hash of all that goes into it and all that comes out."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from grader.files import files_digest, write_whole

NOTE = Path("build", "released.txt")
_MADE = ("exercises", "grader/data")


def is_released(root: Path) -> bool:
    """Whether the last release in this checkout was made from the present sources, and its files are still there."""
    try:
        return (root / NOTE).read_text("utf-8") == _state(root)
    except (OSError, ValueError):
        return False


def note_release(root: Path) -> None:
    """Write down that everything is released now."""
    write_whole(root / NOTE, _state(root).encode())


def _version(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:  # what needs it says so
        return f"no {package}"


def _state(root: Path) -> str:
    """The course's sources and what was made of them, the library, and the versions of what computes."""
    package = Path(__file__).parents[1]
    ours = [path for path in package.rglob("*.py") if package / "data" not in path.parents]
    course = [root / "course.toml", *root.glob("solutions/**/*")]
    made = [path for folder in _MADE for path in (root / folder).rglob("*")]
    versions = [f"python {sys.version}", *map(_version, ("numpy", "torch", "jupytext"))]
    return "\n".join([files_digest(package, ours), files_digest(root, [*course, *made]), *versions])

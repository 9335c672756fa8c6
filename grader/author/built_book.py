"""Whether the built book is up to date. Its build notes in the site which sources and which edition it was made from
(`book/_ext/built_from.py`), and `grader pack` compares.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from grader.errors import ExpectedError
from grader.files import files_digest, write_whole
from grader.sources import with_imports

SITE = Path("build", "book", "_build", "html")
NOTE = ".built_from.json"
CLASS = "class"

_ROOT_FILES = ("_config.yml", "_toc.yml", "course.toml")
_PATTERNS = (
    *("book/**/*", "experiments/**/*", "exercises/**/*", "solutions/*/*/*.md", "solutions/*/*/given.py"),
    "grader/data/*",
)
SHIPPED = ("__init__.py", "student.py", "render/__init__.py", "checking/__init__.py")  # pages run these


class BookError(ExpectedError):
    """The built book is missing or out of date; the message says what to do."""


class BuiltFrom(msgspec.Struct, frozen=True):
    """What a site was built from: the edition, and the hash of the sources."""

    edition: str
    sources: str


def sources_digest(root: Path) -> str:
    """A hash of the names and contents of all sources of the book; generated and hidden files do not count."""
    found = [root / name for name in _ROOT_FILES]
    shipped = with_imports(root, [root / "grader" / module for module in SHIPPED], ["grader"])
    return files_digest(root, [*found, *shipped, *(path for pattern in _PATTERNS for path in root.glob(pattern))])


def note(site: Path, edition: str, sources: str) -> None:
    """Write into a site what it was built from."""
    write_whole(site / NOTE, msgspec.json.encode(BuiltFrom(edition, sources)))


def up_to_date_book(root: Path, site: Path | None = None) -> Path:
    """The folder of the built book. Raises BookError if it is missing, out of date or another edition."""
    site = site or root / SITE
    what = "Run  make book  first, or leave the book out with --without-book."
    if not (site / "index.html").is_file():
        raise BookError(f"{site}: there is no built book. {what}")
    try:
        built = msgspec.json.decode((site / NOTE).read_bytes(), type=BuiltFrom)
    except (FileNotFoundError, msgspec.DecodeError) as error:
        raise BookError(f"{site}: the book does not say which sources it was built from. {what}") from error
    if built.edition != CLASS:
        raise BookError(f"{site}: this is the {built.edition} edition, which is not for a class. {what}")
    if built.sources != sources_digest(root):
        raise BookError(f"{site}: the book's sources have changed since it was built. {what}")
    return site

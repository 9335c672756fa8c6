"""One zip with everything that a student needs: the exercises, the package's wheel, what to install, and the book.

The zip contains listed files only, and it is searched for solutions, specs and hidden cases before it is written.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grader.author.built_book import NOTE, up_to_date_book
from grader.author.course import Course
from grader.author.leaks import Leak, find_leaks, secrets_of
from grader.author.notebooks import data_files
from grader.author.pack_texts import Names, readme, requirements, torch_requirements
from grader.author.packs import searched
from grader.author.page_links import BUNDLED, with_page_links
from grader.author.wheel import archive_files, build_wheel, project
from grader.cells import notebook_bytes
from grader.errors import ExpectedError
from grader.files import write_whole, zip_bytes
from grader.manifest import Chapter
from grader.spec.record import stray

if TYPE_CHECKING:
    from nbformat import NotebookNode

LONGEST_PATH = 140  # characters; with a folder of up to 59 in front of it, Windows and unzip take it without options
SHOWN_LEAKS = 10  # of a bundle, in the error
_SITE_LEFT_OUT = (NOTE, ".buildinfo", "objects.inv", "_static/locales/")  # for building and linking, not for reading
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)
_PORTABLE = re.compile(r"[A-Za-z0-9_@+.,()\[\]-]+(?<!\.)")
_EDITOR = ("ipykernel", "jupyterlab")
_TORCH = "torch"


class PackError(ExpectedError):
    """The bundle was not written; the message says why and what to do."""


@dataclass(frozen=True)
class Bundle:
    """A bundle that was written: where, its bytes, the bytes of each part unpacked, and the number of files."""

    path: Path
    size: int
    parts: dict[str, int]
    files: int


def pack(
    root: Path, out: Path | None = None, chapters: Sequence[str] = (), book: bool = True, terms: Iterable[Path] = ()
) -> Bundle:
    """Write the bundle; by default to `dist/NAME-VERSION.zip` in the course. `terms` are the term folders whose hidden
    cases are searched for.

    Raises PackError, or ReleaseError, BookError, WheelError or UnknownIdError; then nothing is written.
    """
    course = Course(root)
    manifest = course.manifest
    chosen = [manifest.chapter(name) for name in dict.fromkeys(chapters)] or list(manifest.chapters)
    chosen.sort(key=manifest.chapters.index)
    if not any(chapter.exercises for chapter in chosen):
        raise PackError(
            f"There is no exercise in {', '.join(chapter.id for chapter in chosen)}. Choose other chapters."
        )
    title = re.sub(r"[^a-z0-9]+", "-", manifest.title.lower()).strip("-") or "course"
    top = f"{title}-{project(root)['version']}"
    named = "" if len(chosen) == len(manifest.chapters) else "".join(f"-{chapter.id}" for chapter in chosen)
    out = out or root / "dist" / f"{top}{named}.zip"
    parts = bundle_parts(course, chosen, book, out.name, top)
    files = [(f"{top}/{path}", content) for part in parts.values() for path, content in part]
    check_paths([path for path, _ in files])
    check_secrets(files, course, terms)
    content = zip_bytes(sorted(files))
    write_whole(out, content)
    sizes = {name: sum(len(content) for _, content in part) for name, part in parts.items()}
    return Bundle(out, len(content), sizes, len(files))


def searched_terms(root: Path, given: Iterable[Path]) -> list[Path]:
    """The term folders whose hidden cases could have got into the bundle: these, that of UNROLLED_TERM, and those of
    the course.
    """
    variable = os.environ.get("UNROLLED_TERM")
    found = [root / "term", *([Path(variable)] if variable else []), *given]
    found += [path.parent for pattern in ("*/hidden", "build/*/hidden") for path in sorted(root.glob(pattern))]
    return list({path.resolve(): path for path in found}.values())


def bundle_parts(
    course: Course, chapters: Sequence[Chapter], book: bool, archive: str, folder: str
) -> dict[str, list[tuple[str, bytes]]]:
    """The files of each part of the bundle, as (path in its folder, content)."""
    root = course.root
    package = project(root)
    notebooks = {
        f"{made.chapter.id}/{made.notebook.name}.ipynb": made.student
        for made in course.made
        if made.chapter in chapters
    }
    exercises = released_files(course, notebooks)  # first, because the book is built from the release
    site = up_to_date_book(root) if book else None
    imported = third_party_imports(notebooks)
    torch_users = imported.pop(_TORCH, [])
    wheel_name, wheel = build_wheel(root)
    pins = _pins(root)
    dependencies = [re.split(r"[^\w-]", each)[0].lower() for each in package["dependencies"]]
    needed = dict.fromkeys([*dependencies, *sorted(imported), *_EDITOR])
    texts = {"requirements.txt": requirements(wheel_name, [_pinned(name, pins) for name in needed])}
    if torch_users:
        texts["requirements-torch.txt"] = torch_requirements(_pinned(_TORCH, pins), torch_users)
    names = Names(archive, folder, wheel_name, re.sub(r"^\D+|,.*", "", package["requires-python"]))
    title = f"{course.manifest.title}, version {package['version']}"
    texts["README.txt"] = readme(title, chapters, names, torch_users, book)
    parts = {
        "the instructions": [(name, text.encode()) for name, text in texts.items()],
        "the exercises": exercises,
        "the package": [(wheel_name, wheel)],
    }
    if site is not None:
        parts["the book"] = book_files(site)
        if not course.manifest.book_url:
            parts["the exercises"] = _linked(exercises, course, notebooks)
    return parts


def released_files(course: Course, notebooks: dict[str, NotebookNode]) -> list[tuple[str, bytes]]:
    """The released notebooks, given as CHAPTER/NAME.ipynb, and the data files of their chapters.

    Raises PackError if they are not those that the sources give: then the release is out of date, or has been changed.
    """
    chapters = {path.partition("/")[0] for path in notebooks}
    files = {path.as_posix(): source for path, source in data_files(course.root, course.manifest).items()}
    due = {path: notebook_bytes(notebook) for path, notebook in notebooks.items()}
    due |= {path: source.read_bytes() for path, source in files.items() if path.partition("/")[0] in chapters}
    released = {f"exercises/{path}": content for path, content in due.items()}
    copied = {"grader/data/course.toml": (course.root / "course.toml").read_bytes()}
    stale = [path for path, content in {**released, **copied}.items() if not _contains(course.root / path, content)]
    if stale:
        more = f" and {len(stale) - 3} more" if len(stale) > 3 else ""
        raise PackError(
            f"Not as the sources have it: {', '.join(stale[:3])}{more}. Run  grader release  first, then repeat this "
            "command."
        )
    if strays := stray(course.root / "grader" / "data", course.manifest):
        raise PackError(
            f"{course.where(strays[0])} belongs to no exercise, but would be in the package. Run  grader release  to "
            "delete it."
        )
    return list(released.items())


def _linked(
    exercises: list[tuple[str, bytes]], course: Course, notebooks: dict[str, NotebookNode]
) -> list[tuple[str, bytes]]:
    """The notebooks with links to the book that is in the bundle."""
    chapters = {chapter.id: chapter for chapter in course.manifest.chapters}
    linked = {
        f"exercises/{path}": with_page_links(notebook, course.manifest, chapters[path.partition("/")[0]], BUNDLED)
        for path, notebook in notebooks.items()
    }
    return [(path, notebook_bytes(linked[path]) if path in linked else content) for path, content in exercises]


def _contains(path: Path, content: bytes) -> bool:
    return path.is_file() and not path.is_symlink() and path.read_bytes() == content


def third_party_imports(notebooks: dict[str, NotebookNode]) -> dict[str, list[str]]:
    """The packages that notebooks import, apart from the standard library and `grader`: who imports each."""
    found: dict[str, list[str]] = {}
    for path, notebook in notebooks.items():
        source = "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
        for package in sorted(_imports(source) - set(sys.stdlib_module_names) - {"grader"}):
            found.setdefault(package, []).append(path)
    return found


def _imports(source: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


def book_files(site: Path) -> list[tuple[str, bytes]]:
    """The files of the built book that a reader needs."""
    found = []
    for path in sorted(site.rglob("*")):
        relative = path.relative_to(site).as_posix()
        if path.is_symlink():
            raise PackError(f"{path}: a symbolic link, which a zip for all systems cannot contain. Replace it.")
        if path.is_file() and not any(
            relative == n or (n[-1] == "/" and relative.startswith(n)) for n in _SITE_LEFT_OUT
        ):
            found.append((f"book/{relative}", path.read_bytes()))
    return found


def check_paths(paths: Sequence[str]) -> None:
    """Raise PackError for paths that Linux, macOS or Windows could not all unpack.

    Windows is the strictest: see "Naming Files, Paths, and Namespaces" at learn.microsoft.com. It also is the only one
    that limits whole paths, to 259 characters.
    """
    problems = []
    for path in paths:
        for part in path.split("/"):
            if not _PORTABLE.fullmatch(part) or _DEVICES.match(part):
                problems.append(f"{path}: {part!r} is not a file name on every system")
        if len(path) > LONGEST_PATH:
            problems.append(f"{path}: {len(path)} characters; at most {LONGEST_PATH} are safe on Windows")
    kinds = {"/".join(path.split("/")[:n]): "folder" for path in paths for n in range(1, path.count("/") + 1)}
    kinds |= dict.fromkeys(paths, "file")
    spelled: dict[str, list[str]] = {}
    for path in kinds:
        spelled.setdefault(path.casefold(), []).append(path)
    for names in spelled.values():
        if len(names) > 1:
            problems.append(f"{', '.join(names)}: one {kinds[names[0]]} on Windows and macOS, which ignore case")
    if problems:
        raise PackError("The bundle was not written, because of its paths:\n  " + "\n  ".join(problems))


def check_secrets(files: Sequence[tuple[str, bytes]], course: Course, terms: Iterable[Path]) -> None:
    """Raise PackError if a file shows a solution, a spec or a hidden case. The wheel and what a page loads to run code
    are searched file by file.
    """
    files_inside = []
    for path, content in files:
        if path.endswith(".whl"):
            inside = archive_files(content)
            check_paths([name for name, _ in inside])
            files_inside += [(f"{path}/{name}", each) for name, each in inside]
        else:
            files_inside.append((path, content))
    if leaks := find_leaks(searched(files_inside), secrets_of(course, terms)):
        raise PackError(_told(leaks))


def _told(leaks: list[Leak]) -> str:
    more = f"\n  and {len(leaks) - SHOWN_LEAKS} more" if len(leaks) > SHOWN_LEAKS else ""
    shown = "\n  ".join(map(str, leaks[:SHOWN_LEAKS]))
    return (
        "The bundle was not written, because students would get what they must not see (white space is left out):\n  "
        f"{shown}{more}\nRemove it from the source of that file, then repeat this command."
    )


def _pins(root: Path) -> dict[str, str]:
    """The versions that constraints.txt pins, by lower-case name."""
    path = root / "constraints.txt"
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise PackError(f"{path}: cannot be read: {error}") from error
    return {name.lower(): version for name, equal, version in (line.partition("==") for line in lines) if equal}


def _pinned(name: str, pins: dict[str, str]) -> str:
    if name.lower() not in pins:
        raise PackError(
            f"constraints.txt pins no version of {name}, which the notebooks or the package import. Add it to "
            "pyproject.toml and run  make constraints"
        )
    return f"{name}=={pins[name.lower()]}"

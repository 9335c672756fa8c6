"""Find the submission folder of each student for a chapter, and report what is not in its expected place.

A submission is expected in `submitted/STUDENT/CHAPTER/`. If there is no such folder, or no notebook in it, another
folder of the student is used if it is the only one with notebooks of this chapter and contains none of other chapters.
Everything else is reported, so that no student is overlooked silently.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import msgspec

from grader.autograde.submission.notebook import UnreadableError, read_notebook
from grader.cells import check_id, grade_id
from grader.codec import writable
from grader.manifest import Chapter

ARCHIVES = frozenset({".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar"})
_OF_SYSTEMS = frozenset(
    {"__macosx", "__pycache__", "lost+found", "$recycle.bin", "system volume information", "@eadir"}
)
_DEFINED = re.compile(r"^(?:def|class)\s+(\w+)", re.MULTILINE)

Kind = Literal[
    "elsewhere", "spare", "unclear", "unknown", "packed", "empty", "no student", "swapped", "never", "closed"
]


class Stray(msgspec.Struct, frozen=True):
    """Something at an unexpected place: `path` is relative to `submitted/`; `student` is set if it belongs to one.

    `graded` says that the student is graded anyway: from this path if the kind is "elsewhere", otherwise without it.
    """

    kind: Kind
    path: str
    student: str = ""
    graded: bool = False


@dataclass(frozen=True)
class Submissions:
    """The submission folder of each student, and everything else that was found."""

    folders: dict[str, Path] = field(default_factory=dict)
    strays: tuple[Stray, ...] = ()


def find_submissions(term: Path, chapter: Chapter) -> Submissions:
    """Map each student to their submission folder for this chapter, and list what is not in its expected place."""
    submitted = term / "submitted"
    folders: dict[str, Path] = {}
    strays: list[Stray] = []
    for path in _entries(submitted):
        if not path.is_dir():
            kind: Kind | None = "no student" if _is_notebook(path) else "packed" if _is_archive(path) else None
            strays += [Stray(kind, writable(path.name))] if kind else []
            continue
        if _is_no_student(path.name):
            if any(_is_notebook(below) for below in path.glob("*/*")):
                strays.append(Stray("never", writable(path.name)))
            continue
        home, odd = _of_student(path, chapter)
        if home is not None:
            folders[path.name] = home
        for kind, place in odd:
            whose = "" if kind == "swapped" else writable(path.name)
            strays.append(Stray(kind, writable(str(place.relative_to(submitted))), whose, home is not None))
    return Submissions(folders, tuple(strays))


def _of_student(student: Path, chapter: Chapter) -> tuple[Path | None, list[tuple[Kind, Path]]]:
    """The folder with this student's notebooks, or None, and what is unexpected about it."""
    try:
        next(student.iterdir(), None)
    except OSError:
        return None, [("closed", student)]
    folders = [path for path in _entries(student) if path.is_dir() and not _is_no_student(path.name)]
    named = [path for path in folders if _alike(path.name) == _alike(chapter.id)]
    due = student / chapter.id
    if due in named:
        home, odd = _within(due, [path for path in _entries(due) if path.is_dir()], chapter)
        return home or due, [*odd, *(("spare", path) for path in named if path != due)]
    if len(named) == 1:
        home, odd = _within(named[0], [path for path in _entries(named[0]) if path.is_dir()], chapter)
        return home or named[0], odd or [("elsewhere", named[0])]
    if named:
        return None, [("unclear", path) for path in named]
    if _alike(student.name) == _alike(chapter.id):
        return None, [("swapped", student)]
    return _anywhere(student, folders, chapter)


def _within(home: Path, below: list[Path], chapter: Chapter) -> tuple[Path | None, list[tuple[Kind, Path]]]:
    """The folder with the notebooks: the chapter's own, or one below it if they were unpacked one level too deep."""
    if any(map(_is_notebook, _entries(home))):
        return home, []
    found, odd = _anywhere(home, below, chapter)
    return found, odd or [("empty", home)]


def _anywhere(folder: Path, below: list[Path], chapter: Chapter) -> tuple[Path | None, list[tuple[Kind, Path]]]:
    """The only folder, this or one below it, that contains notebooks of this chapter."""
    kinds = {place: _whose(place, chapter) for place in (folder, *below)}
    places = [place for place, whose in kinds.items() if "ours" in whose]
    if len(places) == 1 and "other" not in kinds[places[0]]:
        return places[0], [("elsewhere", places[0])]
    if places:
        return None, [("unclear", place) for place in places]
    archives: list[tuple[Kind, Path]] = [("packed", path) for path in _entries(folder) if _is_archive(path)]
    return None, archives or ([("unknown", folder)] if "unknown" in kinds[folder] else [])


def _whose(folder: Path, chapter: Chapter) -> set[str]:
    """The chapters to which the notebooks in a folder belong: "ours", "other" or "unknown"."""
    return {_whose_notebook(path, chapter) for path in _entries(folder) if _is_notebook(path)}


def _whose_notebook(path: Path, chapter: Chapter) -> str:
    """Decide by the cell ids of the release; if an editor removed them, by what the notebook defines or by its name."""
    ours = {exercise.id for exercise in chapter.exercises}
    try:
        cells = read_notebook(path).cells
    except UnreadableError:
        cells = []
    marks = {name for name in map(grade_id, cells) if name is not None}
    if marks & (ours | {check_id(name) for name in ours} | {question.id for question in chapter.questions}):
        return "ours"
    if marks:
        return "other"
    if ours & set(_defined(cells)) or path.stem in {notebook.name for notebook in chapter.notebooks}:
        return "ours"
    return "unknown"


def _defined(cells: Iterable[Any]) -> Iterable[str]:
    return (name for cell in cells if cell.cell_type == "code" for name in _DEFINED.findall(cell.source))


def _entries(folder: Path) -> list[Path]:
    """The contents of a folder in order; empty if it is not a folder or cannot be read."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _alike(name: str) -> str:
    """The name without differences in case, spaces and hyphens."""
    return re.sub(r"[\s_-]+", "_", name.strip()).casefold()


def _is_no_student(name: str) -> bool:
    return name.startswith(".") or name.casefold() in _OF_SYSTEMS


def _is_notebook(path: Path) -> bool:
    return path.suffix.lower() == ".ipynb" and not path.name.startswith(".") and path.is_file()


def _is_archive(path: Path) -> bool:
    return path.suffix.lower() in ARCHIVES and not path.name.startswith(".") and path.is_file()

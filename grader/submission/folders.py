"""Find the submission folder of each student for a chapter, and report what is not in its expected place.

A submission is expected in `submitted/STUDENT/CHAPTER/`. If there is no notebook in that folder, we look for notebooks
of this chapter in the folders inside it and then, if there is nothing that could be a submission, in all other folders
of the student:

- If exactly one folder contains some, and none of other chapters, the student is graded from there ("elsewhere").
- If it is not certain what or whom to grade, the student is not graded, and an earlier score stays. There are several
  candidates ("unclear"), or only archives ("packed"; "of submit" if it made them), unrecognisable notebooks
  ("unknown") or folders that cannot be read ("closed"), or two folders' names differ only in Unicode form ("alike").
- If there is nothing at all, a folder of the chapter counts as a submission without notebooks, with 0 points ("empty").

A zip of `grader submit` next to notebooks is reported, because it may be newer ("packed again").

Everything but a submission in its expected place is reported, so that no student is overlooked silently.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import msgspec

from grader.cells import check_id, grade_id
from grader.codec import writable
from grader.manifest import Chapter
from grader.shown import one_form, told_apart
from grader.submission.archive import is_submission
from grader.submission.notebook import read_notebook
from grader.submission.notebook_names import ENDING, is_notebook
from grader.submission.readable import UnreadableError

ARCHIVES = frozenset({".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar"})
_OF_SYSTEMS = frozenset(
    {"__macosx", "__pycache__", "lost+found", "$recycle.bin", "system volume information", "@eadir"}
)
_OF_SUBMIT = re.compile(r"-submission(?:[ -]?\(?\d+\)?)?\.zip", re.IGNORECASE)  # systems number files of one name
_DEFINED = re.compile(r"^(?:def|class)\s+(\w+)", re.MULTILINE)

Kind = Literal[
    "elsewhere",
    "spare",
    "unclear",
    "unknown",
    "packed",
    "of submit",
    "packed again",
    "empty",
    "no student",
    "swapped",
    "never",
    "closed",
    "alike",
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
    """Map each student to their submission folder for this chapter, and list what is not in its expected place. The ids
    are the folders' names in the one form in which names are compared.
    """
    submitted = term / "submitted"
    folders: dict[str, Path] = {}
    strays: list[Stray] = []
    forms: dict[str, list[str]] = {}
    for path in _entries(submitted):
        if path.is_dir():
            forms.setdefault(one_form(path.name), []).append(path.name)
    for path in _entries(submitted):
        if not path.is_dir():
            kind: Kind | None = "no student" if _is_notebook(path) else _packed(path) if _is_archive(path) else None
            strays += [Stray(kind, writable(path.name))] if kind else []
            continue
        if is_ignored(path.name):
            if any(_is_notebook(below) for below in path.glob("*/*")):
                strays.append(Stray("never", writable(path.name)))
            continue
        if len(same := forms[one_form(path.name)]) > 1:
            strays.append(Stray("alike", writable(told_apart(same)[same.index(path.name)]), writable(path.name)))
            continue
        home, odd = _of_student(path, chapter)
        if home is not None:
            folders[one_form(path.name)] = home
        for kind, place in odd:
            whose = "" if kind == "swapped" else writable(one_form(path.name))
            strays.append(Stray(kind, writable(str(place.relative_to(submitted))), whose, home is not None))
    return Submissions(folders, tuple(strays))


def _of_student(student: Path, chapter: Chapter) -> tuple[Path | None, list[tuple[Kind, Path]]]:
    """The folder with this student's notebooks, or None, and what is unexpected about it."""
    if _is_closed(student):
        return None, [("closed", student)]
    named = [path for path in _inside(student) if _alike(path.name) == _alike(chapter.id)]
    if not named and _alike(student.name) == _alike(chapter.id):
        return None, [("swapped", student)]
    due = student / chapter.id
    if due in named or len(named) == 1:
        home = due if due in named else named[0]
        place, odd = _within(home, chapter)
        if place is not None or odd:
            misspelled: list[tuple[Kind, Path]] = [("elsewhere", home)] if place == home != due else []
            return place, [*misspelled, *odd, *(("spare", path) for path in named if path != home)]
    place, odd = _search(student, _folders(student), chapter)
    if place is not None or odd or not named:
        return place, odd
    home = due if due in named else named[0]
    place, odd = _search(student, [*_hidden(home), *_hidden(student)], chapter)  # such as the checkpoints of Jupyter
    return (place, odd) if place is not None or odd else (home, [("empty", home)])


def _within(home: Path, chapter: Chapter) -> tuple[Path | None, list[tuple[Kind, Path]]]:
    """The folder with the notebooks: the chapter's own or, if they were unpacked too deep, one inside it."""
    if any(map(_is_notebook, _entries(home))) or _is_closed(home):  # if it is closed, grading it reports why
        beside = [path for path in _entries(home.parent) if chapter.id in path.name]
        return home, [("packed again", path) for path in (*_entries(home), *beside) if _of_submit(path)]
    return _search(home, _folders(home), chapter)


def _search(top: Path, folders: list[Path], chapter: Chapter) -> tuple[Path | None, list[tuple[Kind, Path]]]:
    """The only one of these folders that contains notebooks of this chapter; or None, and what else may be a
    submission. In folders below `top` with notebooks of other chapters, the rest belongs to these.
    """
    kinds = {place: _whose(place, chapter) for place in folders}
    places = [place for place, whose in kinds.items() if "ours" in whose]
    if len(places) == 1 and "other" not in kinds[places[0]]:
        return places[0], [("elsewhere", places[0])]
    if places:
        return None, [("unclear", place) for place in places]
    odd: list[tuple[Kind, Path]] = []
    for place, whose in kinds.items():
        if place == top or "other" not in whose:
            odd += [(_packed(path), path) for path in _entries(place) if _is_archive(path)]
            odd += [("unknown", place)] if "unknown" in whose else []
            odd += [("closed", place)] if _is_closed(place) else []
    return None, odd


def _folders(top: Path) -> list[Path]:
    """A folder and all folders inside it; those that a link leads to are included but not entered."""
    found = [top]
    for folder in found:
        if folder == top or not (folder.is_symlink() or top.is_symlink()):
            found += _inside(folder)
    return found


def _inside(folder: Path) -> list[Path]:
    """The folders in a folder, without hidden ones and those of operating systems."""
    return [path for path in _entries(folder) if path.is_dir() and not is_ignored(path.name)]


def _hidden(folder: Path) -> list[Path]:
    return [path for path in _entries(folder) if path.is_dir() and is_ignored(path.name)]


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
    stem = path.name[: path.name.lower().index(ENDING)]
    if ours & set(_defined(cells)) or stem in {notebook.name for notebook in chapter.notebooks}:
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


def _is_closed(folder: Path) -> bool:
    """Whether the contents of a folder cannot be read."""
    try:
        next(folder.iterdir(), None)
    except OSError:
        return True
    return False


def _alike(name: str) -> str:
    """The name without differences in case, spaces and hyphens."""
    return re.sub(r"[\s_-]+", "_", name.strip()).casefold()


def _packed(path: Path) -> Kind:
    """What an archive is."""
    return "of submit" if _of_submit(path) else "packed"


def _of_submit(path: Path) -> bool:
    """Whether `grader submit` made a zip: by its name, also if it was numbered on its way, or by what is in it."""
    return path.suffix.lower() == ".zip" and (_OF_SUBMIT.search(path.name) is not None or is_submission(path))


def is_ignored(name: str) -> bool:
    """Whether a folder of this name is never a student's: it is hidden, or an operating system made it."""
    return name.startswith(".") or name.casefold() in _OF_SYSTEMS


def _is_notebook(path: Path) -> bool:
    return is_notebook(path.name) and path.is_file()


def _is_archive(path: Path) -> bool:
    return path.suffix.lower() in ARCHIVES and not path.name.startswith(".") and path.is_file()

"""Decide which file of a submission is which notebook of the chapter.

File names change when files are downloaded, copied and sent, so a file is identified by its cells: it belongs to the
notebook with which it shares most cells. If several files belong to one notebook, the one with the most completed
exercises is graded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from grader.cells import grade_id
from grader.manifest import Chapter, Notebook
from grader.shown import named, some
from grader.submission.bindings import bindings_of
from grader.submission.notebook import read_notebook
from grader.submission.notebook_names import is_notebook
from grader.submission.plan import Plan, plan
from grader.submission.readable import MAX_BYTES, NotSubmittedError, UnreadableError
from grader.submission.remark import OtherFiles, OtherName, absence

MOST_OTHERS = 40  # files that are read besides those with a notebook's name, with MAX_BYTES together
MOST_NAMED = 5  # files in a remark


@dataclass(frozen=True)
class Chosen:
    """The file that is graded as a notebook of the chapter: its name, its plan or the reason why there is none, and
    remarks on the choice.
    """

    file: str
    plan: Plan | UnreadableError
    remarks: tuple[OtherName | OtherFiles, ...] = ()


@dataclass(frozen=True, eq=False)
class File:
    """A submitted file, read."""

    path: Path
    content: Any | UnreadableError

    @cached_property
    def cells(self) -> list[Any]:
        return [] if isinstance(self.content, UnreadableError) else list(self.content.cells)

    @cached_property
    def sources(self) -> list[str]:
        return [cell["source"].strip() for cell in self.cells]

    @cached_property
    def names(self) -> set[str]:
        """The names that its cells define, and the ids that the release gave the cells."""
        codes = [cell["source"] for cell in self.cells if cell["cell_type"] == "code"]
        defined = {name for code in codes for name in bindings_of(code).names}
        return defined | {name for cell in self.cells if (name := grade_id(cell)) is not None}


@dataclass(frozen=True)
class _Candidate:
    """A file that may be the submission of a notebook; `written` counts the exercises and questions worked on."""

    file: File
    plan: Plan | UnreadableError
    written: int


def choose(folder: Path, chapter: Chapter, released: Mapping[str, Any]) -> dict[str, Chosen]:
    """The file that is graded as each notebook of the chapter, by the notebook's name."""
    files = _read(folder, {f"{notebook.name}.ipynb" for notebook in chapter.notebooks})
    belonging, rest = sorted_files(files, chapter, marks_of(released))
    return {
        notebook.name: _chosen(folder, notebook, released[notebook.name], belonging[notebook.name], rest)
        for notebook in chapter.notebooks
    }


Marks = Sequence[tuple[str, str | None]]  # the text and the id of each of a released notebook's cells


def marks_of(released: Mapping[str, Any]) -> dict[str, Marks]:
    """What tells the cells of each released notebook."""
    return {name: [(cell["source"].strip(), grade_id(cell)) for cell in book.cells] for name, book in released.items()}


def sorted_files(
    files: Sequence[File], chapter: Chapter, marks: Mapping[str, Marks]
) -> tuple[dict[str, list[File]], list[File]]:
    """The files that belong to each notebook of the chapter, by its name, and the files that belong to none."""
    belonging = {notebook.name: list[File]() for notebook in chapter.notebooks}
    for file in files:
        belonging.get(belongs_to(file, chapter, marks), []).append(file)
    for notebook in chapter.notebooks:
        belonging[notebook.name] = belonging[notebook.name] or [f for f in files if _is_named(f, notebook)]
    rest = [file for file in files if not any(file in found for found in belonging.values())]
    lacking = [name for name, found in belonging.items() if not found]
    if len(rest) == len(lacking) == 1:
        belonging[lacking[0]], rest = rest, []
    return belonging, rest


def _is_named(file: File, notebook: Notebook) -> bool:
    return file.path.name == f"{notebook.name}.ipynb"


def _read(folder: Path, due: set[str]) -> list[File]:
    """The notebooks in a folder: those with the expected names, and others up to the limit."""
    notebooks = sorted(path for path in folder.iterdir() if is_notebook(path.name) and path.is_file())
    chosen = [path for path in notebooks if path.name in due]
    room = MAX_BYTES
    for path in [path for path in notebooks if path.name not in due][:MOST_OTHERS]:
        room -= path.stat().st_size
        if room >= 0:
            chosen.append(path)
    return list(map(read_file, chosen))


def read_file(path: Path) -> File:
    """A file that may be a notebook."""
    try:
        return File(path, read_notebook(path))
    except UnreadableError as error:
        return File(path, error)


def belongs_to(file: File, chapter: Chapter, released: Mapping[str, Marks]) -> str:
    """The name of the notebook with which a file shares most cells; in a tie, the one that the file is named after; ''
    if none or several are left.
    """
    shares = {notebook.name: _shared(file, released[notebook.name]) for notebook in chapter.notebooks}
    most = [notebook for notebook in chapter.notebooks if shares[notebook.name] == max(shares.values())]
    named = [notebook.name for notebook in most if _is_named(file, notebook)]
    alone = [most[0].name] if len(most) == 1 and shares[most[0].name] else []
    return (named or alone or [""])[0]


def _shared(file: File, released: Marks) -> int:
    """The number of a released notebook's cells that a file contains, by their id, their text, or the exercise that
    they define.
    """
    sources = set(file.sources) - {""}
    names = file.names
    return sum(source in sources or name in names for source, name in released)


def _chosen(folder: Path, notebook: Notebook, released: Any, files: Sequence[File], rest: Sequence[File]) -> Chosen:
    due = folder / f"{notebook.name}.ipynb"
    if not files:
        names = some(sorted(file.path.name for file in rest))
        reason = absence(due.name, due.is_dir()) + (f" (found instead: {names})" if names else "")
        return Chosen(due.name, NotSubmittedError(reason))
    best, *others = sorted(
        (_candidate(file, notebook, released) for file in files),
        key=lambda each: (-each.written, each.file.path != due, each.file.path.name),
    )
    remarks: list[OtherName | OtherFiles] = []
    taken = named(best.file.path.name)
    untouched = [cell["source"].strip() for cell in released.cells]
    left = {
        other.file.path.name
        for other in others
        if (other.written > 0 or other.file.path == due) and other.file.sources not in (best.file.sources, untouched)
    }
    if not due.is_file():
        remarks.append(OtherName(due.name, due.is_dir(), taken))
    if left:
        remarks.append(OtherFiles(taken, tuple(map(named, sorted(left)[:MOST_NAMED]))))
    return Chosen(best.file.path.name, best.plan, tuple(remarks))


def _candidate(file: File, notebook: Notebook, released: Any) -> _Candidate:
    if isinstance(file.content, UnreadableError):
        return _Candidate(file, file.content, -1)
    exercises, questions = [e.id for e in notebook.exercises], [q.id for q in notebook.questions]
    planned = plan(released, file.content, exercises, questions)
    return _Candidate(file, planned, len(planned.written) + sum(map(bool, planned.answers.values())))

"""Read a student's notebook, and find out which notebook of the course it is and what of it is written."""

from __future__ import annotations

import glob
import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from grader.cells import STUB, check_id, check_source, grade_id
from grader.errors import ExpectedError
from grader.manifest import Chapter, Manifest, Notebook
from grader.shown import one_line
from grader.submission.bindings import bindings_of, lacks_code
from grader.submission.readable import read_tree


class WorkError(ExpectedError):
    """A student's command cannot do what it was asked for; the message says why and what to do."""


@dataclass(frozen=True, eq=False)
class Work:
    """A notebook's cells, each with `cell_type`, `source` and `metadata` as in its file."""

    cells: tuple[dict[str, Any], ...]

    @cached_property
    def code(self) -> list[tuple[int, str]]:
        """The code cells: index among all cells, and source."""
        return [(index, cell["source"]) for index, cell in enumerate(self.cells) if cell["cell_type"] == "code"]

    @cached_property
    def ids(self) -> frozenset[str]:
        """The ids that the release gave the cells."""
        return frozenset(name for cell in self.cells if (name := grade_id(cell)) is not None)

    @cached_property
    def names(self) -> frozenset[str]:
        """The ids that the release gave the cells, and the names that the code binds."""
        return self.ids.union(*(bindings_of(source).names for _, source in self.code))

    def has(self, exercise_id: str) -> bool:
        """Whether a cell defines or checks this exercise."""
        call = check_source(exercise_id)
        return bool({exercise_id, check_id(exercise_id)} & self.names) or any(call in source for _, source in self.code)

    def is_written(self, exercise_id: str) -> bool:
        """Whether a cell other than the released one, or another with a part still to write, binds this exercise."""
        stub = STUB.format(id=exercise_id)
        return any(
            {exercise_id, "*"} & bindings_of(source).names
            and stub not in source
            and not lacks_code(source, exercise_id)
            for _, source in self.code
        )  # `*`: names that the syntax does not show, as in `from helper import *`


def read_work(path: Path) -> Work:
    """A student's notebook. Raises UnreadableError."""
    tree = read_tree(path)
    cells = tree.get("cells")
    if cells is None:  # before format 4
        cells = [cell for sheet in tree["worksheets"] if isinstance(sheet, dict) for cell in sheet.get("cells") or ()]
    return Work(tuple(sound for cell in cells if (sound := _sound(cell)) is not None))


def _sound(cell: Any) -> dict[str, Any] | None:
    if not isinstance(cell, dict) or cell.get("cell_type") not in ("code", "markdown", "raw"):
        return None
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str):
        return None
    metadata = cell.get("metadata")
    return {
        "cell_type": cell["cell_type"],
        "source": source,
        "metadata": metadata if isinstance(metadata, dict) else {},
    }


def marks(notebook: Notebook) -> list[str]:
    """The ids of a notebook's cells in the release, apart from its texts."""
    exercises = [each.id for each in notebook.exercises]
    return [*exercises, *map(check_id, exercises), *(question.id for question in notebook.questions)]


def known_ids(work: Work, notebooks: Sequence[Notebook]) -> frozenset[str]:
    """The ids of cells of these notebooks that editors have kept. If there are any, they say more about where a
    notebook is from than the names that its code binds: a capstone defines again what other notebooks ask for.
    """
    return work.ids.intersection(mark for notebook in notebooks for mark in marks(notebook))


def whose(work: Work, manifest: Manifest, stem: str) -> tuple[Chapter, Notebook]:
    """The notebook of the course with which this one shares most cells; in a tie, the one with this name.

    Raises WorkError if it contains no exercise and no question of the course.
    """
    places = [(chapter, notebook) for chapter in manifest.chapters for notebook in chapter.notebooks]
    kept = known_ids(work, [notebook for _, notebook in places])
    found: list[tuple[int, bool, Chapter, Notebook]] = []
    for chapter, notebook in places:
        if kept:
            count = len(kept.intersection(marks(notebook)))
        else:
            count = sum(work.has(exercise.id) for exercise in notebook.exercises)
        found.append((count, notebook.name == stem, chapter, notebook))
    count, _, chapter, notebook = max(found, key=lambda each: each[:2])
    if not count:
        raise WorkError(
            "This notebook contains no exercise of the course. Give one from the folder exercises/CHAPTER, such as "
            "recurrence.ipynb."
        )
    return chapter, notebook


def find_chapter_folder(chapter: Chapter, here: Path, others: Collection[str] = ()) -> Path:
    """The student's folder of a chapter: `exercises/CHAPTER` or `CHAPTER` in the current folder or in one above it, or
    the current folder if it contains a notebook of the chapter and is not named like one of the `others`: several
    chapters have a capstone. Raises WorkError.
    """
    named = any((here / f"{notebook.name}.ipynb").is_file() for notebook in chapter.notebooks)
    named = named and here.name not in others
    if (named or here.name == chapter.id) and not (here / "exercises" / chapter.id).is_dir():
        return here
    for folder in (here, *here.parents):
        for place in (folder / "exercises" / chapter.id, folder / chapter.id):
            if place.is_dir():
                return place
    raise WorkError(
        f"There is no folder {chapter.id} here, and none of its notebooks. Change to the folder of your notebooks "
        f"first:  cd PATH/exercises/{chapter.id}"
    )


def require_file(path: Path, here: Path) -> None:
    """Raise WorkError unless this is a file; the message names the files that may be meant."""
    if path.is_dir():
        inside = sorted(path.glob("*.ipynb"))
        example = f":  grader check {_quoted(inside[0])}" if inside else "."
        raise WorkError(f"{one_line(str(path))} is a folder. Give a notebook{' in it' if inside else ''}{example}")
    if path.exists():
        return
    name = glob.escape(path.name if path.suffix else f"{path.name}.ipynb")
    for folder in (here, *here.parents):
        found = [*folder.glob(name), *folder.glob(f"*/{name}"), *folder.glob(f"exercises/*/{name}")]
        if found:
            listed = " or ".join(_quoted(Path(os.path.relpath(each, here))) for each in sorted(found)[:8])
            raise WorkError(f"There is no file {one_line(str(path))}. Did you mean {listed}?")
    raise WorkError(
        f"There is no file {one_line(str(path))}. Give a notebook of the folder exercises/CHAPTER, or change to the "
        "folder that contains exercises/ first."
    )


def _quoted(path: Path) -> str:
    text = one_line(str(path))
    return f'"{text}"' if " " in text else text


def restoring(path: Path) -> str:
    """What a student can do about a notebook that cannot be read. Jupyter keeps an earlier version of it."""
    copy = path.parent / ".ipynb_checkpoints" / f"{path.stem}-checkpoint.ipynb"
    if copy.is_file():
        return f"Jupyter has kept an earlier version: copy {_quoted(copy)} to {_quoted(path)}."
    return "Restore an earlier version, or take the notebook from the course again and copy your code into it."

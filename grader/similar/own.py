"""The code that a student wrote for a chapter, and the code that everyone was given."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.cells import check_id, grade_id
from grader.errors import ExpectedError
from grader.manifest import Chapter
from grader.submission.choose import choose
from grader.submission.files import submitted_files
from grader.submission.notebook import read_notebook
from grader.submission.plan import Plan
from grader.submission.readable import UnreadableError

MOST_OF_A_PART = 20_000  # characters; a hostile cell takes the tokenizer a second at this length
MOST_OF_A_STUDENT = 100_000  # characters, several times the longest chapter

_BLOCK = re.compile(r"^```(?:\{code-cell\}|python|py)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


class GivenError(ExpectedError):
    """A file named with --given cannot be used; the message says why."""


@dataclass(frozen=True)
class Part:
    """A cell or a file of a student's own code. `title` says where it is, without anything that the student wrote."""

    title: str
    source: str


@dataclass(frozen=True)
class OwnCode:
    """All of a student's own code. `unreadable` are the notebooks that could not be read; `cut` says that some of the
    code was left out, because it is too long.
    """

    parts: tuple[Part, ...] = ()
    unreadable: tuple[str, ...] = ()
    cut: bool = False


def own_code(folder: Path, chapter: Chapter, released: Mapping[str, Any], files: Mapping[str, bytes]) -> OwnCode:
    """The code of a submission without the released cells, in the order of the exercises, other code last.

    `files` are those of the release by name. Raises OSError if the folder cannot be read.
    """
    exercises: dict[str, list[Part]] = {exercise.id: [] for exercise in chapter.exercises}
    other: list[Part] = []
    unreadable = []
    for name, chosen in choose(folder, chapter, released).items():
        if isinstance(chosen.plan, UnreadableError):
            unreadable.append(name)
            continue
        defines = {index: exercise for exercise, index in chosen.plan.defining.items()}
        for index, source in _written(chosen.plan, released[name]):
            if index in defines:
                exercises[defines[index]].append(Part(defines[index], source))
            else:
                other.append(Part(f"{name}, cell {index + 1}", source))
    sources = [(name, data) for name, data in submitted_files(folder, files)[0].items() if name.endswith(".py")]
    other += [Part(f"Python file {n}", data.decode("utf-8", "replace")) for n, (_, data) in enumerate(sources, 1)]
    return _bounded([part for found in exercises.values() for part in found] + other, tuple(unreadable))


def _written(plan: Plan, released: Any) -> Iterator[tuple[int, str]]:
    """The code cells that the student wrote or changed, with their index in the plan's notebook."""
    given = {cell.source.strip() for cell in released.cells}
    checks = {check_id(exercise) for exercise in plan.defining}
    for index, cell in enumerate(plan.notebook.cells):
        if cell.cell_type == "code" and grade_id(cell) not in checks and cell.source.strip() not in given | {""}:
            yield index, cell.source


def _bounded(parts: Sequence[Part], unreadable: tuple[str, ...]) -> OwnCode:
    kept, room, cut = [], MOST_OF_A_STUDENT, False
    for part in parts:
        source = _plain(part.source)
        most = min(MOST_OF_A_PART, room)
        cut = cut or len(source) > most
        if most:
            kept.append(Part(part.title, source[:most]))
        room -= min(len(source), most)
    return OwnCode(tuple(kept), unreadable, cut)


def _plain(source: str) -> str:
    """The source without what the tokenizer would drop, so that its positions are those of the source."""
    return source.replace("\r\n", "\n").replace("\r", "\n").replace("\ufeff", "").strip("\n")


def given_code(
    root: Path, chapter: Chapter, released: Mapping[str, Any], files: Mapping[str, bytes], more: Iterable[Path] = ()
) -> list[str]:
    """The code that every student had: the release's cells and files, the book's pages of the chapter, and `more`
    (files and folders with notebooks, Python files and Markdown pages). Raises GivenError.
    """
    found = [cell.source for notebook in released.values() for cell in notebook.cells if cell.cell_type == "code"]
    found += [data.decode("utf-8", "replace") for name, data in files.items() if name.endswith(".py")]
    pages = root / "book" / chapter.id
    for path in [pages] * pages.is_dir() + list(more):
        found += _codes(path)
    return [_plain(source) for source in found]


def _codes(path: Path) -> list[str]:
    """The code in a file, or in all files of a folder."""
    if path.is_dir():
        inside = sorted(each for each in path.rglob("*") if each.suffix in (".py", ".md", ".ipynb"))
        return [source for each in inside if each.is_file() for source in _codes(each)]
    try:
        if path.suffix == ".ipynb":
            return [cell.source for cell in read_notebook(path).cells if cell.cell_type == "code"]
        text = path.read_text("utf-8")
    except (UnreadableError, UnicodeDecodeError, OSError) as error:
        raise GivenError(f"{path}, named as code that everyone was given, cannot be read: {error}") from error
    return _BLOCK.findall(text) if path.suffix == ".md" else [text]

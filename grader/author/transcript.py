"""All that the checks of an exercise report, in one document: the solution, the stub, every mistake in each way to make
it with its change, and other work. `grader transcript` prints it.
"""

from __future__ import annotations

import contextlib
import difflib
import inspect
import io
import linecache
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType

import grader.student
from grader import journal
from grader.author.course import Course
from grader.author.known_work import ENDLESS, Work, slips
from grader.author.lint import imported
from grader.author.standalone import standalone
from grader.cells import cell_source
from grader.errors import ExpectedError
from grader.released import read_fixtures
from grader.render.notes import Report
from grader.spec.changes import Change, define
from grader.spec.folders import fixtures_path, mistakes_path
from grader.spec.load import load_spec, reference, reference_code, reference_module
from grader.spec.mistake_words import read_mistake_words

Slips = Mapping[str, Change | str]  # a change of the solution, or a cell
Notebooks = Mapping[str, Mapping[str, Change | str | None]]  # by exercise: a change, None for right, "" for a stub


@dataclass(frozen=True)
class Part:
    """One heading of a transcript: `cells` are run in order, each exercise that they define is checked at the end;
    `diagnosis` is the name that the last one's report must give.
    """

    title: str
    cells: tuple[str, ...]
    told: str = ""
    shown: str = ""
    diagnosis: str | None = None
    level: int = 3


class Transcript:
    """The reports on one exercise as a student's cell gets them: from the released data."""

    def __init__(
        self, course: Course, name: str, slips: Slips | None = None, notebooks: Notebooks | None = None
    ) -> None:
        self._course, self._name, self._slips, self._notebooks = course, name, slips or {}, notebooks or {}
        self._places = course.manifest.places
        self.spec = load_spec(course.root, self._places[name])

    def text(self) -> str:
        """The whole document, in Markdown."""
        text = [f"# {self._name}\n"]
        for part in self.parts():
            text.append(f"{'#' * part.level} {part.title}\n")
            text += [f"{words.rstrip()}\n" for words in (part.told, part.shown) if words]
            text += [f"```text\n{report!r}\n```\n" for report in self.reports(part)]
        return re.sub("|".join(map(re.escape, _REWORDED)), lambda found: _REWORDED[found[0]], "\n".join(text))

    def parts(self, first_ways: bool = False) -> Iterator[Part]:
        """All headings, or of each mistake only the first way to make it."""
        name, root = self._name, self._course.root
        tempts = read_mistake_words(mistakes_path(root, self._places[name])).tempts
        yield Part("Right work", (standalone(reference(root, self._places[name]), name),), level=2)
        yield Part("The stub", (self._stub(name),), level=2)
        yield Part("Mistakes", (), level=2)
        for entry in self.spec.named_mistakes.values():
            for number, (way, function) in enumerate(zip(entry.ways, entry.functions, strict=True), 1):
                told = f"Why it tempts: {tempts[entry.id]}"
                told += f"\nStill earned: {', '.join(entry.keeps)}." if entry.keeps else ""
                yield Part(
                    f"{entry.id}, way {number}" if number > 1 else entry.id,
                    (standalone(function, name),),
                    told if number == 1 else "",
                    self._difference(name, way) if isinstance(way, Change) else _python(_source(function)),
                    entry.id,
                )
                if first_ways:
                    break
        common = self.common_slips()
        if self._slips or common or self._notebooks:
            yield Part("Slips", (), level=2)
        for title, slip in self._slips.items():
            if isinstance(slip, Change):
                yield Part(title.replace("_", " "), (self._changed(slip),), shown=self._difference(name, slip))
            else:
                yield Part(title.replace("_", " "), (slip,), shown=_python(slip))
        for work in common:
            yield Part(work.what, (work.source or "",))
        for title, notebook in self._notebooks.items():
            shown = "\n".join(
                self._difference(each, work) if work else f"`{each}` is {'right' if work is None else 'not written'}.\n"
                for each, work in notebook.items()
            )
            yield Part(title.replace("_", " "), tuple(self._written(notebook)), shown=shown)

    def reports(self, part: Part) -> list[Report]:
        """What a notebook with these cells is told: of each exercise that it defines, in the course's order."""
        grader.student._latest.clear()
        namespace = imported(self._course.notebooks[self._name].student, "\n".join(part.cells))
        for number, cell in enumerate(part.cells):
            file = f"<transcript of {self._name}, {part.title} {number}>"
            linecache.cache[file] = (len(cell), None, cell.splitlines(keepends=True), file)
            exec(compile(cell, file, "exec"), namespace)
        # In a notebook, a warning is no error; what the work prints is no report.
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            return [grader.student.check(each, namespace[each]) for each in self._places if each in namespace]

    def common_slips(self) -> list[Work]:
        """The slips that any exercise may have, where the exercise returns one array."""
        place = self._places[self._name]
        builders = read_fixtures(fixtures_path(self._course.root, place.chapter))
        right = standalone(reference(self._course.root, place), self._name)
        found = slips(right, place.exercise, self.spec, builders)
        return [work for work in found if work.what not in (ENDLESS, "ends the process")]

    def _stub(self, name: str) -> str:
        return cell_source(self._course.notebooks[name].student, name)

    def _changed(self, change: Change) -> str:
        name, place = self._name, self._places[self._name]
        code = change.apply(reference_code(self._course.root, place))
        made = define(name, code, reference_module(self._course.root, place), f"transcript of {name}")
        return standalone(made, name) if isinstance(made, FunctionType | type) and made.__name__ == name else code

    def _written(self, notebook: Mapping[str, Change | str | None]) -> Iterator[str]:
        for name, work in notebook.items():
            code = reference_code(self._course.root, self._places[name])
            yield work.apply(code) if isinstance(work, Change) else code if work is None else self._stub(name)

    def _difference(self, name: str, change: Change | str) -> str:
        code = reference_code(self._course.root, self._places[name])
        new = change.apply(code) if isinstance(change, Change) else change
        lines = list(difflib.unified_diff(code.splitlines(), new.splitlines(), n=0, lineterm=""))[2:]
        return "```diff\n" + "\n".join("" if line.startswith("@@") else line for line in lines[1:]) + "\n```\n"


_REWORDED = {"min() iterable argument is empty": "min() arg is an empty sequence"}  # since Python 3.12: before


def _source(function: object) -> str:
    lines = textwrap.dedent(inspect.getsource(function)).splitlines(keepends=True)  # type: ignore[arg-type]
    return "".join(lines[next(i for i, line in enumerate(lines) if line.startswith(("def ", "class "))) :])


def _python(code: str) -> str:
    return f"```python\n{code.rstrip()}\n```\n"


def transcript_of(root: Path, name: str) -> str:
    """The transcript of an exercise, by the released data as they are, without notes in a diary. Raises UnknownIdError,
    SpecError, MessageError.
    """
    os.environ[journal.VARIABLE] = ""
    course = Course(root)
    course.manifest.place(name)
    return Transcript(course, name).text()


def transcript_of_revision(root: Path, name: str, revision: str) -> str:
    """The transcript at a revision of git, made by the code of that revision. Raises TranscriptError."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "course")
        _run(root, "git", "worktree", "add", "--detach", str(tree), revision)
        try:
            return _run(tree, sys.executable, "-m", "grader", "transcript", name)
        finally:
            _run(root, "git", "worktree", "remove", "--force", str(tree))


def _run(folder: Path, *command: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise TranscriptError(f"{' '.join(command)} failed:\n{done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


class TranscriptError(ExpectedError):
    """The reports of another revision cannot be had; the message says why."""

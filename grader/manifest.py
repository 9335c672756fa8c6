"""The manifest `course.toml` as typed objects: chapters → notebooks → exercises and questions.

Every mistake in the file is a `ManifestError` that names the file and, where it can, the line.
"""

from __future__ import annotations

import difflib
import math
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import msgspec

from grader.errors import ExpectedError

_ID = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
_ADDRESS = re.compile(r"""(https?://[^\s"'<>\\]+|[^\s"'<>\\:/][^\s"'<>\\:]*)\Z""")


class ManifestError(ExpectedError):
    """`course.toml` contains a mistake; the message names the file and the line."""


class UnknownIdError(ExpectedError, LookupError):
    """An id that the course does not have; the message suggests similar ids."""


PositiveFloat = Annotated[float, msgspec.Meta(gt=0)]
PositiveInt = Annotated[int, msgspec.Meta(gt=0)]


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The limits of a notebook while it is graded. Seconds are running time (`running/meter.py`), which counts while
    its processes compute or all of them wait, but not while the machine is too busy; `cpu_seconds` apply to each
    process and are enforced by the kernel. The limits from `memory_mb` on are enforced only in the sandbox: `memory_mb`
    is for all processes together, without the libraries' pages. `preload` are modules that the warm process imports.
    """

    seconds_per_exercise: PositiveFloat = 10.0
    seconds_per_cell: PositiveFloat = 20.0
    seconds_per_notebook: PositiveFloat = 300.0
    output_bytes: PositiveInt = 100_000
    result_bytes: PositiveInt = 64_000_000
    memory_mb: PositiveInt = 1024
    disk_mb: PositiveInt = 64
    files: PositiveInt = 2000
    processes: PositiveInt = 48
    cpu_seconds: PositiveInt = 300
    preload: tuple[str, ...] = ("numpy",)


class Exercise(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One exercise; its id is the name of its function everywhere. `seconds` is how long its cases may take during
    grading, if the chapter's `seconds_per_exercise` does not fit.
    """

    id: str
    title: str
    points: float
    page: str
    needs: tuple[str, ...] = ()
    seconds: PositiveFloat | None = None


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One question that students answer in words and an instructor grades."""

    id: str
    title: str
    points: float


class Notebook(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One notebook of a chapter; `name` is its file's stem in `solutions/` and `exercises/`."""

    name: str
    title: str
    exercises: tuple[Exercise, ...] = ()
    questions: tuple[Question, ...] = ()

    @property
    def items(self) -> tuple[Exercise | Question, ...]:
        return (*self.exercises, *self.questions)


class Chapter(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One chapter, which is also one nbgrader assignment; `pages` maps a page's file stem to its heading."""

    id: str
    title: str
    notebooks: tuple[Notebook, ...]
    pages: dict[str, str] = {}
    autograde: dict[str, Any] = {}

    @property
    def exercises(self) -> tuple[Exercise, ...]:
        return tuple(exercise for notebook in self.notebooks for exercise in notebook.exercises)

    @property
    def questions(self) -> tuple[Question, ...]:
        return tuple(question for notebook in self.notebooks for question in notebook.questions)

    @property
    def items(self) -> tuple[Exercise | Question, ...]:
        return (*self.exercises, *self.questions)


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    title: str
    chapters: tuple[Chapter, ...]
    autograde: dict[str, Any] = {}
    book_url: str = ""


@dataclass(frozen=True)
class Place:
    """The place of an exercise: its chapter and its notebook."""

    chapter: Chapter
    notebook: Notebook
    exercise: Exercise

    @property
    def page_title(self) -> str:
        """The book page to read, such as 'The vanilla RNN › One step of a recurrent network'."""
        return f"{self.chapter.title} › {self.chapter.pages[self.exercise.page]}"

    @property
    def page_address(self) -> str:
        """The URL of the exercise in the built book, relative to the book's address."""
        return f"{self.page_path}.html#exercise-{self.exercise.id}"

    @property
    def page_path(self) -> str:
        """The path of the book page from the repository root, without its ending."""
        return f"book/{self.chapter.id}/{self.exercise.page}"


@dataclass(frozen=True)
class Manifest:
    """The course. Look an exercise up with `place(id)`, a chapter with `chapter(id)`."""

    title: str
    chapters: tuple[Chapter, ...]
    autograde: dict[str, Any]
    book_url: str = ""  # where the built book is published; empty if it is not

    @property
    def book_base(self) -> str:
        """The address of the published book, ending with a slash; empty if it is not published."""
        return f"{self.book_url.rstrip('/')}/" if self.book_url else ""

    @cached_property
    def places(self) -> dict[str, Place]:
        return {
            exercise.id: Place(chapter, notebook, exercise)
            for chapter in self.chapters
            for notebook in chapter.notebooks
            for exercise in notebook.exercises
        }

    def place(self, exercise_id: str) -> Place:
        """Raise UnknownIdError, which suggests similar ids, if the course has no such exercise."""
        if not isinstance(exercise_id, str):
            own = getattr(exercise_id, "__name__", None)  # the function was given in place of its name
            likely = own if isinstance(own, str) and own in self.places else next(iter(self.places), "rnn_step")
            raise UnknownIdError(f'Give the id of an exercise in quotes, such as "{likely}".')
        if exercise_id not in self.places:
            raise UnknownIdError(_unknown("exercise", exercise_id, list(self.places)))
        return self.places[exercise_id]

    def chapter(self, chapter_id: str) -> Chapter:
        """Raise UnknownIdError, which suggests similar ids, if the course has no such chapter."""
        for chapter in self.chapters:
            if chapter.id == chapter_id:
                return chapter
        raise UnknownIdError(_unknown("chapter", chapter_id, [chapter.id for chapter in self.chapters]))

    def limits(self, chapter: Chapter) -> Limits:
        return msgspec.convert({**self.autograde, **chapter.autograde}, Limits)


def _unknown(what: str, given: object, known: list[str]) -> str:
    begun = [name for name in known if str(given) and name.startswith(str(given))]
    near = begun or difflib.get_close_matches(str(given), known, n=3, cutoff=0.6)
    if near:
        return f"There is no {what} {str(given)!r}. Near it: {', '.join(near)}."
    return f"There is no {what} {str(given)!r}. The course has: {', '.join(known)}."


def load_manifest(path: Path) -> Manifest:
    """Read and check `course.toml`. Raises ManifestError, which names the file and the line."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ManifestError(f"{path}: cannot be read: {error}") from error
    try:
        file = msgspec.convert(tomllib.loads(text), _File)
        manifest = Manifest(file.title, file.chapters, file.autograde, file.book_url)
    except tomllib.TOMLDecodeError as error:
        raise ManifestError(f"{path}: {error}") from error
    except msgspec.ValidationError as error:
        raise ManifestError(f"{path}:{_line_of_table(str(error), text)}: {error}") from error
    _check(manifest, path, text)
    return manifest


def _check(manifest: Manifest, path: Path, text: str) -> None:
    for value, what in _problems(manifest):
        raise ManifestError(f"{path}:{_line_of(value, text)}: {what}")


def _problems(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """What does not fit, after the value in whose line it is. Only the first can be relied on."""
    if manifest.book_url and not _ADDRESS.match(manifest.book_url):
        what = "give an address that begins with https:// or http://, or a relative path"
        yield manifest.book_url, f"book_url {manifest.book_url!r}: {what}"
    seen: set[str] = set()
    for chapter in manifest.chapters:
        yield from _problems_of_values(manifest, chapter)
        notebooks = [f"{chapter.id}/{notebook.name}" for notebook in chapter.notebooks]
        for name in (chapter.id, *notebooks, *(item.id for item in chapter.items)):
            if name in seen:
                yield name.rpartition("/")[2], f"the id {name!r} is used twice"
            seen.add(name)
        for notebook in chapter.notebooks:
            yield from _problems_of_needs(notebook)


def _problems_of_values(manifest: Manifest, chapter: Chapter) -> Iterator[tuple[str, str]]:
    try:
        most = manifest.limits(chapter).seconds_per_notebook
    except msgspec.ValidationError as error:
        yield chapter.id, f"the [autograde] limits of chapter {chapter.id!r}: {error}"
        return
    for name in (chapter.id, *(notebook.name for notebook in chapter.notebooks)):
        if not _ID.match(name):
            yield name, f"{name!r} is not a valid name: use only letters, digits and _, with a letter first"
    for item in chapter.items:
        if not _ID.match(item.id):
            yield (
                item.id,
                f"{'exercise' if isinstance(item, Exercise) else 'question'} id {item.id!r} is not a Python name",
            )
        if not 0 < item.points < math.inf:
            yield item.id, f"{item.id!r} has {item.points} points; give it a number above 0"
    for exercise in chapter.exercises:
        if exercise.seconds is not None and not exercise.seconds <= most:
            what = f"exercise {exercise.id!r} may take {exercise.seconds:g} s, but its whole notebook {most:g} s"
            yield exercise.id, f"{what}; give it less, or the chapter's [autograde] more seconds_per_notebook"
        if exercise.page not in chapter.pages:
            yield exercise.id, f"exercise {exercise.id!r}: page {exercise.page!r} is not in the chapter's pages"


def _problems_of_needs(notebook: Notebook) -> Iterator[tuple[str, str]]:
    before: set[str] = set()
    for exercise in notebook.exercises:
        for needed in exercise.needs:
            if needed not in before:
                what = f"exercise {exercise.id!r} needs {needed!r}, which does not come before it"
                yield exercise.id, f"{what} in notebook {notebook.name!r}"
        before.add(exercise.id)


def _line_of(value: str, text: str) -> int:
    """The last line that defines this value (the later one of two duplicates is the mistake)."""
    lines = [n for n, line in enumerate(text.splitlines(), 1) if re.search(rf'=\s*"{re.escape(value)}"', line)]
    return lines[-1] if lines else 1


def _line_of_table(error: str, text: str) -> int:
    """The line of the table in msgspec's message: '… - at `$.chapters[0].notebooks[1].title`'."""
    wanted = re.findall(r"\b(chapters|notebooks|exercises|questions)\[(\d+)\]", error)
    place: list[tuple[str, str]] = []  # of the current table: [("chapters", "0"), ("notebooks", "1")]
    counts: list[dict[str, int]] = []  # the number of tables of each name so far, at each depth
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*\[\[(chapters(?:\.notebooks(?:\.(?:exercises|questions))?)?)\]\]", line)
        if header is None:
            continue
        *_, name = names = header[1].split(".")
        counts = [*counts[: len(names)], *({} for _ in range(len(names) - len(counts)))]
        counts[-1][name] = counts[-1].get(name, 0) + 1
        place = [*place[: len(names) - 1], (name, str(counts[-1][name] - 1))]
        if place == wanted:
            return number
    return 1

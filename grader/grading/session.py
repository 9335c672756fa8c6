"""Everything that grading a chapter needs, loaded once by each worker."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from grader.checking.case import Checks
from grader.checking.verdict import FORMAT_VERSION
from grader.codec import CodecError
from grader.files import update_with_files
from grader.grading.hidden import hidden_checks, hidden_state
from grader.grading.judging import VerdictCache
from grader.grading.release import AutogradeError, released_notebooks
from grader.grading.score import cases_of
from grader.inside.frames import ExerciseCases, file_of
from grader.manifest import Chapter, Limits, Manifest, ManifestError, load_manifest
from grader.messages import MessageError
from grader.released import MESSAGES, Released
from grader.sources import PACKAGE, package_sources
from grader.submission.files import released_files

# What decides about a grade; what only shows it, such as the commands, does not count.
_STARTERS = ("sandbox", "unsandboxed", "other_user")
_GRADES = ("grading/grade.py", *(f"running/{name}.py" for name in _STARTERS))


class State(msgspec.Struct, frozen=True):
    """Hashes of everything that verdicts depend on besides the submission: the points of each exercise, the limits, and
    the rest.
    """

    checks: str
    points: str
    limits: str


@dataclass(frozen=True)
class Session:
    """A chapter prepared for grading. `state` is what verdicts depend on besides the submission."""

    root: Path
    term: Path
    manifest: Manifest
    chapter: Chapter
    limits: Limits
    public: dict[str, Checks]
    hidden: dict[str, Checks]
    cases: dict[str, ExerciseCases]
    texts: dict[str, dict[str, str]]
    released: dict[str, Any]
    files: dict[str, bytes]
    state: State
    cache: VerdictCache = field(default_factory=VerdictCache, compare=False)

    @property
    def cells(self) -> list[tuple[str, str]]:
        """The code cells of the release, each with the name that it has in tracebacks."""
        return [
            (cell.source, file_of(number))
            for notebook in self.released.values()
            for number, cell in enumerate(notebook.cells)
            if cell.cell_type == "code"
        ]


def open_session(root: Path, term: Path, chapter_id: str) -> Session:
    """Load what grading needs. Raises UnknownIdError, AutogradeError, HiddenError."""
    manifest = load_manifest(root / "course.toml")
    chapter = manifest.chapter(chapter_id)
    released = released_notebooks(root, chapter)
    data = Released(root / "grader" / "data")
    try:
        public = {e.id: data.checks(e.id) for e in chapter.exercises}
        texts = {e.id: data.messages(e.id).mistakes for e in chapter.exercises}
    except (OSError, CodecError, KeyError, ManifestError, MessageError) as error:
        raise AutogradeError(f"{data.folder}: {error}. Run `grader release` first.") from error
    hidden = hidden_checks(root, term, chapter)
    return Session(
        root=root,
        term=term,
        manifest=manifest,
        chapter=chapter,
        limits=manifest.limits(chapter),
        public=public,
        hidden=hidden,
        cases=cases_of(chapter, public, hidden),
        texts=texts,
        released=released,
        files=released_files(root / "exercises" / chapter.id),
        state=state_of(root, term, manifest, chapter),
    )


def state_of(root: Path, term: Path, manifest: Manifest, chapter: Chapter) -> State:
    """What the verdicts of a chapter depend on at present. Nothing is created or written. Raises OSError."""
    return State(
        checks=_checks_of(root, term, chapter),
        points=_hash({item.id: item.points for item in chapter.items}),
        limits=_hash((manifest.limits(chapter), {exercise.id: exercise.seconds for exercise in chapter.exercises})),
    )


def _hash(tree: object) -> str:
    return hashlib.sha256(msgspec.json.encode(tree)).hexdigest()


def _checks_of(root: Path, term: Path, chapter: Chapter) -> str:
    """A hash of the released notebooks, the hidden cases, the code that judges them and the versions in use."""
    digest = hashlib.sha256(hidden_state(root, term, chapter).encode())
    digest.update(msgspec.json.encode((FORMAT_VERSION, _without_points(chapter))))
    released = [
        *(root / "exercises" / chapter.id).iterdir(),
        *(root / "grader" / "data" / MESSAGES.format(exercise.id) for exercise in chapter.exercises),
    ]
    inside = (path.relative_to(PACKAGE).as_posix() for path in (PACKAGE / "inside").glob("*.py"))
    update_with_files(digest, root, filter(Path.is_file, released), _unmarked)
    update_with_files(digest, PACKAGE, package_sources(*_GRADES, *inside))
    for package in ("ipython", "msgspec", "nbformat", "numpy"):
        digest.update(f"{package} {version(package)} ".encode())
    return digest.hexdigest()


def _without_points(chapter: Chapter) -> Chapter:
    """The chapter without the points and limits, which `State` hashes separately."""
    notebooks = tuple(
        replace(
            notebook,
            exercises=tuple(replace(exercise, points=0, seconds=None) for exercise in notebook.exercises),
            questions=tuple(replace(question, points=0) for question in notebook.questions),
        )
        for notebook in chapter.notebooks
    )
    return replace(chapter, notebooks=notebooks, autograde={})


def _unmarked(path: Path) -> bytes:
    """A file; a released notebook without the points of its cells and nbgrader's checksums, which change with them."""
    content = path.read_bytes()
    if path.suffix != ".ipynb":
        return content
    try:
        tree = json.loads(content)
        for cell in tree["cells"]:
            for name in ("points", "checksum"):
                cell["metadata"].get("nbgrader", {}).pop(name, None)
    except (ValueError, KeyError, TypeError, AttributeError):  # not a released notebook
        return content
    return msgspec.json.encode(tree)

"""Draw the questions of a chapter, which are in `solutions/CHAPTER/exam.py`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.exam.draw import Draw, Redraw
from grader.exam.question import ExamError, Question
from grader.manifest import Chapter, Manifest
from grader.spec.folders import exam_path
from grader.spec.load import load_module, load_oracle, specs_of


class Oracles:
    """`oracles[ID]` is the oracle of that exercise, of any chapter: independent of all reference solutions."""

    def __init__(self, root: Path, manifest: Manifest) -> None:
        self._root, self._manifest = root, manifest
        self._found: dict[str, Callable[..., Any]] = {}

    def __getitem__(self, exercise_id: str) -> Callable[..., Any]:
        """Raises UnknownIdError, SpecError."""
        if exercise_id not in self._found:
            self._found[exercise_id] = load_oracle(self._root, self._manifest.place(exercise_id))
        return self._found[exercise_id]


Kind = Callable[[Draw, Oracles], Question]
MOST_DRAWS = 20_000


@dataclass(frozen=True)
class Exam:
    """The questions of a chapter for a seed. `code` is printed on the sheet and on its solutions, to match the two."""

    chapter: Chapter
    seed: int
    questions: tuple[Question, ...]

    @property
    def points(self) -> int:
        return sum(question.points for question in self.questions)

    @property
    def code(self) -> str:
        given = repr([(question.id, question.given) for question in self.questions])
        return hashlib.sha256(given.encode()).hexdigest()[:6].upper()


def question_kinds(root: Path, chapter: Chapter) -> Sequence[Kind]:
    """The chapter's `QUESTIONS`, each a function that draws one. Raises SpecError, ExamError."""
    path = exam_path(root, chapter)
    if not path.is_file():
        raise ExamError(f"{path}: is missing, so {chapter.id} has no exam. CONTRIBUTING.md says how to write one.")
    with specs_of(root):
        found = getattr(load_module(path, f"_exam_{chapter.id}"), "QUESTIONS", None)
    if not isinstance(found, list | tuple) or not found or not all(map(callable, found)):
        raise ExamError(f"{path}: defines no QUESTIONS; write a list of functions, as CONTRIBUTING.md says.")
    return found


def draw_exam(root: Path, manifest: Manifest, chapter: Chapter, seed: int) -> Exam:
    """The exam of a chapter for a seed. Raises SpecError, ExamError, UnknownIdError."""
    oracles = Oracles(root, manifest)
    return Exam(chapter, seed, tuple(drawn(kind, oracles, chapter, seed) for kind in question_kinds(root, chapter)))


def drawn(kind: Kind, oracles: Oracles, chapter: Chapter, seed: int) -> Question:
    """The question of this kind: the first numbers that are good for it. Raises ExamError if there are none.

    Each kind has random choices of its own, so a change of one question does not change the others.
    """
    draw = Draw(f"{chapter.id} {kind.__name__} {seed}")
    for _ in range(MOST_DRAWS):
        try:
            return kind(draw, oracles)
        except Redraw:
            continue
    raise ExamError(
        f"{chapter.id}: none of {MOST_DRAWS} draws of the question {kind.__name__} was accepted. Widen the numbers "
        "that it draws from, or ask for fewer decimals."
    )

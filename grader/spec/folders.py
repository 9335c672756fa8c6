"""Where an exercise is written: `solutions/CHAPTER/ID/`, its notebook's source, its chapter's fixtures and exam."""

from __future__ import annotations

from pathlib import Path

from grader.manifest import Chapter, Place

SPEC = "spec.py"  # how it is checked, and the mistakes as changes of the solution
WAYS = "mistakes.py"  # the mistakes of a long spec, in a file of their own
MISTAKES = "mistakes.md"  # why the solution works, and what is said of each mistake
HINTS = "hints.md"
JUDGE = "judge.py"  # of an exercise without fixed values
TRIALS = "trials.py"  # programs that the spec does not contain
GIVEN = "given.py"  # on a page, for an exercise that builds on this one; written in another way than the solution
PARTS = (SPEC, WAYS, MISTAKES, HINTS, JUDGE, TRIALS, GIVEN)
FIXTURES = "fixtures.py"  # of a whole chapter: what builds inputs
EXAM = "exam.py"  # of a whole chapter: the questions of its exam sheets
FILES = "files"  # of a whole chapter: what its notebooks read


def exercise_folder(root: Path, place: Place) -> Path:
    return root / "solutions" / place.chapter.id / place.exercise.id


def spec_path(root: Path, place: Place) -> Path:
    return exercise_folder(root, place) / SPEC


def ways_path(root: Path, place: Place) -> Path:
    return exercise_folder(root, place) / WAYS


def mistakes_path(root: Path, place: Place) -> Path:
    return exercise_folder(root, place) / MISTAKES


def hints_path(root: Path, place: Place) -> Path:
    return exercise_folder(root, place) / HINTS


def judge_path(root: Path, place: Place) -> Path:
    return exercise_folder(root, place) / JUDGE


def trials_path(root: Path, place: Place) -> Path:
    return exercise_folder(root, place) / TRIALS


def fixtures_path(root: Path, chapter: Chapter) -> Path:
    """The file with a chapter's own fixtures, which build inputs, if it has any."""
    return root / "solutions" / chapter.id / FIXTURES


def exam_path(root: Path, chapter: Chapter) -> Path:
    """The file with the questions of a chapter's exam sheets."""
    return root / "solutions" / chapter.id / EXAM


def reference_path(root: Path, place: Place) -> Path:
    """The source of the notebook, which contains the solution."""
    return root / "solutions" / place.chapter.id / f"{place.notebook.name}.py"

"""The course of `tests/answers/`: answers of every kind, in a folder of its own, released."""

import shutil
from pathlib import Path

from grader.author.notebooks import release_notebooks
from grader.author.record import record

SOURCE = Path(__file__).parent / "answers"
CHAPTER = "answers"


def write_answers_course(folder: Path) -> Path:
    """Copy it there, release it, and return its root."""
    root = shutil.copytree(SOURCE, folder / "answers", ignore=shutil.ignore_patterns("__pycache__"))
    release_notebooks(root, root / "exercises")
    record(root, root / "grader" / "data")
    return root

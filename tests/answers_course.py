"""The course of `tests/answers/`: answers of every kind, in a folder of its own, released."""

import shutil
from pathlib import Path

from grader.author.release import release

SOURCE = Path(__file__).parent / "answers"
CHAPTER = "answers"


def write_answers_course(folder: Path) -> Path:
    """Copy it there, release it, and return its root."""
    root = shutil.copytree(SOURCE, folder / "answers", ignore=shutil.ignore_patterns("__pycache__"))
    release(root)
    return root

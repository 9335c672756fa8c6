"""Classes to grade: what a demo class hands in, without what only one of the graders can stand."""

from __future__ import annotations

import json
import shutil
import tempfile
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from grader.author.demo_class import ENDLESS, PLANTED, demo_class

ROOT = Path(__file__).resolve().parents[2]
CHAPTER = "ch01_vanilla_rnn"
# In larger classes the submissions stand again under other names. Ours judges results that it has judged before only
# once, which helps in any demo class: each exercise is dealt from some forty kinds of work.
DISTINCT = 60
_DEMO = 160  # enough for DISTINCT of them to be fit


def make_class(term: Path, size: int, root: Path = ROOT, chapter: str = CHAPTER) -> None:
    """A class without endless loops and without broken files: right, wrong, crashing and unwritten solutions."""
    _make(term, lambda whats: ENDLESS not in whats, size, root, chapter)


def make_endless(term: Path) -> None:
    """One submission with one endless loop."""
    _make(term, lambda whats: whats.count(ENDLESS) == 1, 1, ROOT, CHAPTER)


def _make(term: Path, fit: Any, size: int, root: Path, chapter: str) -> None:
    shutil.rmtree(term, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        planted = demo_class(root, Path(folder, "demo"), chapter, _DEMO, seed=1)
        whole = [name for number, name in enumerate(planted) if number % 4 != 3]  # each fourth has a broken file
        chosen = [name for name in whole if fit([each["what"] for each in planted[name].values()])][:DISTINCT]
        due = {}
        for number, name in enumerate(islice(cycle(chosen), size)):
            student = f"student{number + 1:04d}"
            shutil.copytree(Path(folder, "demo", "submitted", name), term / "submitted" / student)
            due[student] = planted[name]
    (term / PLANTED).write_text(json.dumps(due))

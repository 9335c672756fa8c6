"""Classes to grade: what a demo class submits, without what only one of the graders can take."""

from __future__ import annotations

import json
import random
import shutil
import tempfile
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from grader.author.breakages import BREAKAGES
from grader.author.demo_class import STUDENTS, demo_class
from grader.author.known_work import ENDLESS
from grader.author.planted import PLANTED
from grader.author.standalone import standalone
from grader.manifest import Chapter, Notebook, load_manifest
from grader.spec.load import reference

ROOT = Path(__file__).resolve().parents[2]
CHAPTER = "ch01_vanilla_rnn"
# In larger classes the submissions stand again under other names. Ours judges results that it has judged before only
# once, which helps in any demo class: each exercise is dealt from some forty kinds of work.
DISTINCT = 60


def make_class(term: Path, size: int, root: Path = ROOT, chapter: str = CHAPTER) -> None:
    """A class without endless loops and without broken files: right, wrong, crashing and unwritten solutions."""
    _make(term, {*BREAKAGES, ENDLESS}.isdisjoint, size, root, chapter)


def make_endless(term: Path) -> None:
    """One submission with one endless loop, which is all that a demo class has."""
    _make(term, lambda whats: ENDLESS in whats, 1, ROOT, CHAPTER)


def make_correct(term: Path, chapter_id: str, size: int) -> None:
    """Correct submissions of a chapter, capstone and all: the released notebooks with the reference solutions."""
    shutil.rmtree(term, ignore_errors=True)
    chapter = load_manifest(ROOT / "course.toml").chapter(chapter_id)
    solved = {notebook.name: solution(chapter, notebook) for notebook in chapter.notebooks}
    for number in range(1, size + 1):
        folder = term / "submitted" / f"student{number:04d}" / chapter.id
        folder.mkdir(parents=True)
        for name, text in solved.items():
            (folder / f"{name}.ipynb").write_text(text, "utf-8")


def solution(chapter: Chapter, notebook: Notebook) -> str:
    """A released notebook with the reference solutions in their cells."""
    tree = json.loads((ROOT / "exercises" / chapter.id / f"{notebook.name}.ipynb").read_text("utf-8"))
    manifest = load_manifest(ROOT / "course.toml")
    code = {e.id: standalone(reference(ROOT, manifest.place(e.id)), e.id) for e in notebook.exercises}
    for cell in tree["cells"]:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id")
        cell["source"] = code.pop(name, cell["source"])
    if code:
        raise ValueError(f"{notebook.name} has no cell for {', '.join(code)}")
    return json.dumps(tree)


def chosen(planted: dict[str, dict[str, Any]], fit: Callable[[set[str]], bool]) -> list[str]:
    """The students of a demo class who submitted what is fit, judged by all that is planted there."""
    return [name for name, due in planted.items() if fit({each["what"] for each in due.values()})]


def _make(term: Path, fit: Callable[[set[str]], bool], size: int, root: Path, chapter: str) -> None:
    shutil.rmtree(term, ignore_errors=True)
    wanted = min(size, DISTINCT)
    with tempfile.TemporaryDirectory() as folder:
        demo, students, fitting = Path(folder, "demo"), max(STUDENTS, 2 * wanted), []
        while len(fitting) < wanted:
            planted = demo_class(root, demo, chapter, students, seed=1)
            fitting = chosen(planted, fit)
            students *= 2
        # A demo class begins with its rarest forms of work, so the first of a class would not be like the others.
        dealt = random.Random(1).sample(fitting, wanted)
        due = {}
        for number, name in enumerate(islice(cycle(dealt), size)):
            student = f"student{number + 1:04d}"
            shutil.copytree(demo / "submitted" / name, term / "submitted" / student)
            due[student] = planted[name]
    (term / PLANTED).write_text(json.dumps(due))

"""A course of one notebook with two exercises, cut out of chapter 01: what tests say of it stays true, and takes no
longer, as the course grows.
"""

import re
import shutil
from pathlib import Path

from grader.author.notebooks import release_notebooks

ROOT = Path(__file__).parents[1]
CHAPTER = "ch01_vanilla_rnn"
KEPT = ("rnn_step", "rnn_forward")  # the first two of the first notebook, whose other exercises are cut out


def write_small_course(folder: Path) -> Path:
    """Write it, release it with the data that is shipped for its exercises, and return its root."""
    source, target = ROOT / "solutions" / CHAPTER, folder / "solutions" / CHAPTER
    target.mkdir(parents=True)
    (folder / "course.toml").write_text(_small_manifest((ROOT / "course.toml").read_text("utf-8")), "utf-8")
    notebook = (source / "recurrence.py").read_text("utf-8")
    (target / "recurrence.py").write_text(_small_notebook(notebook), "utf-8")
    for name in KEPT:
        shutil.copytree(source / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
    release_notebooks(folder, folder / "exercises")
    data = folder / "grader" / "data"
    data.mkdir(parents=True)
    for path in (path for name in KEPT for path in (ROOT / "grader" / "data").glob(f"{name}.*")):
        shutil.copy(path, data)
    shutil.copy(folder / "course.toml", data)
    return folder


def _small_manifest(text: str) -> str:
    """The course with the chapter's first notebook alone, and of that the exercises that are kept."""
    chapter, notebook, exercise = "[[chapters]]", "[[chapters.notebooks]]", "[[chapters.notebooks.exercises]]"
    course, *chapters = text.split(chapter)
    head, first, *_ = next(each for each in chapters if f'id = "{CHAPTER}"' in each).split(notebook)
    head = course + chapter + head
    title, *exercises = first.split(exercise)
    kept = [each for each in exercises if re.search(r'^id = "(\w+)"', each, re.MULTILINE)[1] in KEPT]
    return head + notebook + exercise.join([title, *kept])


def _small_notebook(source: str) -> str:
    """The notebook without the other exercises: the text before each, its cell, and all up to the next text."""
    kept, cutting = [], False
    for cell in re.split(r"^(?=# %%)", source, flags=re.MULTILINE):
        exercise = re.match(r'# %% exercise="(\w+)"', cell)
        if exercise and exercise[1] not in KEPT:
            cutting = True
            kept.pop()
        elif exercise or cell.startswith("# %% [markdown]"):
            cutting = False
        if not cutting:
            kept.append(cell)
    return "".join(kept)

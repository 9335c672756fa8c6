"""A course of one notebook with two exercises, cut out of chapter 01: what these tests say of it stays true as the
course grows.
"""

import shutil
from pathlib import Path

from grader.record import record
from grader.release import release_notebooks

ROOT = Path(__file__).parents[2]
CHAPTER = "ch01_vanilla_rnn"
LATER = "concatenated_weights"  # the first exercise that is cut off


def write_small_course(folder: Path) -> Path:
    """Write it, release it, and return its root."""
    source, target = ROOT / "solutions" / CHAPTER, folder / "solutions" / CHAPTER
    (target / "checks").mkdir(parents=True)
    manifest = (ROOT / "course.toml").read_text("utf-8")
    kept = manifest.partition(f'id = "{LATER}"')[0].rpartition("[[chapters.notebooks.exercises]]")[0]
    (folder / "course.toml").write_text(kept, "utf-8")
    notebook = (source / "recurrence.py").read_text("utf-8")
    before, _, after = notebook.partition(f'# %% exercise="{LATER}"')
    ending = after[after.index("# %% [markdown]") :]
    (target / "recurrence.py").write_text(before.rpartition("# %% [markdown]")[0] + ending, "utf-8")
    for path in (source / "checks").glob("rnn_*"):
        shutil.copy(path, target / "checks")
    release_notebooks(folder, folder / "exercises")
    record(folder, folder / "grader" / "data")
    return folder

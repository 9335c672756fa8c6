"""A course of one notebook with two exercises, cut out of chapter 01: what tests say of it stays true, and takes no
longer, as the course grows.
"""

import shutil
from pathlib import Path

from grader.author.notebooks import release_notebooks
from grader.manifest import load_manifest

ROOT = Path(__file__).parents[1]
CHAPTER = "ch01_vanilla_rnn"
LATER = "concatenated_weights"  # the first exercise that is cut off


def write_small_course(folder: Path) -> Path:
    """Write it, release it with the data that is shipped for its exercises, and return its root."""
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
    data = folder / "grader" / "data"
    data.mkdir(parents=True)
    for path in (ROOT / "grader" / "data").glob("rnn_*"):
        if path.name.partition(".")[0] in load_manifest(folder / "course.toml").places:
            shutil.copy(path, data)
    shutil.copy(folder / "course.toml", data)
    return folder

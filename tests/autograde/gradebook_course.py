"""A course for tests of the gradebook: two notebooks, three exercises, one question. Its code is never run."""

from pathlib import Path

from grader.author.notebooks import student_notebooks
from grader.gradebook import register
from grader.manifest import load_manifest

COURSE = """
title = "A course"
[[chapters]]
id = "ch01"
title = "One"
pages = { page = "A page" }
[[chapters.notebooks]]
name = "first"
title = "First"
[[chapters.notebooks.exercises]]
id = "double"
title = "Double"
points = 2
page = "page"
[[chapters.notebooks.exercises]]
id = "halve"
title = "Halve"
points = 1.5
page = "page"
[[chapters.notebooks]]
name = "second"
title = "Second"
[[chapters.notebooks.exercises]]
id = "square"
title = "Square"
points = 1
page = "page"
[[chapters.notebooks.questions]]
id = "why"
title = "Why"
points = 3
"""

EXERCISE = """# %%
from grader import check

# %% exercise="{0}"
def {0}(x):
    ### BEGIN SOLUTION
    return x
    ### END SOLUTION

"""

QUESTION = """# %% [markdown] question="why"
# ### BEGIN SOLUTION
# Because.
# ### END SOLUTION
"""


def write_course(root: Path) -> Path:
    (root / "solutions/ch01").mkdir(parents=True)
    (root / "course.toml").write_text(COURSE, "utf-8")
    first = EXERCISE.format("double") + EXERCISE.format("halve")
    (root / "solutions/ch01/first.py").write_text(first, "utf-8")
    (root / "solutions/ch01/second.py").write_text(EXERCISE.format("square") + QUESTION, "utf-8")
    return root


def register_first(db_url: str, root: Path) -> None:
    manifest = load_manifest(root / "course.toml")
    chapter = manifest.chapters[0]
    register(db_url, chapter, student_notebooks(root, manifest, chapter))

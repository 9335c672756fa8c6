"""The texts of a bundle for students: the README and what to install."""

from __future__ import annotations

import shlex
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from grader.manifest import Chapter

TORCH_INDEX = "https://download.pytorch.org/whl/cpu"  # as pytorch.org/get-started has it


def requirements(wheel: str, pinned: Sequence[str]) -> str:
    """`requirements.txt`; pip looks for the wheel in the current folder."""
    lines = [
        "# Everything that the notebooks need, in the versions with which the course was tested.",
        "# In the folder of this file, run:  python -m pip install -r requirements.txt",
        f"./{wheel}",
        *pinned,
    ]
    return _text(lines)


def torch_requirements(pinned: str, notebooks: Sequence[str]) -> str:
    """`requirements-torch.txt`, with the notebooks that need it."""
    return _text(
        [
            "# PyTorch, for these notebooks; all others work without it:",
            *(f"#   exercises/{name}" for name in notebooks),
            "# The CPU version is enough (0.2 GB). In the folder of this file, run:",
            f"#   python -m pip install -r requirements-torch.txt --index-url {TORCH_INDEX}",
            pinned,
        ]
    )


@dataclass(frozen=True)
class Names:
    """What the README refers to: the zip and the folder in it, the wheel in that folder, and the Python that it needs
    at least.
    """

    archive: str
    folder: str
    wheel: str
    python: str


def readme(title: str, chapters: Sequence[Chapter], names: Names, torch_notebooks: Sequence[str], book: bool) -> str:
    """`README.txt`, in ASCII: from the zip to the first submission. One of the chapters must have an exercise."""
    chapter, notebook, exercise = next((c, n, e) for c in chapters for n in c.notebooks for e in n.exercises)
    width = max(len(each.id) for each in chapters)
    contents = "\n".join(f"      {each.id:{width}}  {each.title}" for each in chapters)
    found = _README.format(
        title=f"{title}\n{'=' * len(title)}",
        contents=contents,
        book=_BOOK if book else "",
        torch=_TORCH.format(notebooks="\n".join(f"  exercises/{name}" for name in torch_notebooks), index=TORCH_INDEX)
        if torch_notebooks
        else "",
        torch_file=_TORCH_FILE if torch_notebooks else "",
        wheel=names.wheel,
        python=names.python,
        archive=names.archive,
        quoted=shlex.quote(names.archive),
        folder=names.folder,
        notebook=f"exercises/{chapter.id}/{notebook.name}.ipynb",
        chapter=chapter.id,
        exercise=exercise.id,
    )
    return unicodedata.normalize("NFKD", found.replace("–", "-")).encode("ascii", "ignore").decode()


_BOOK = """
  book/index.html
      the book; open it in a browser (no internet connection needed).
      Most exercises can be solved and checked right there, with nothing
      installed: press "Try it here" below an exercise.
"""

_TORCH_FILE = """
  requirements-torch.txt
      what some notebooks of later chapters need in addition
"""

_TORCH = """
These notebooks also need PyTorch:

{notebooks}

When you reach them, install it (on Windows, write .venv\\Scripts\\python instead of python):

    python -m pip install -r requirements-torch.txt --index-url {index}
"""

_README = """\
{title}

This folder contains

  exercises/
      the notebooks in which you write your code, by chapter:
{contents}
{book}
  requirements.txt
      what to install
{torch_file}
  {wheel}
      the checks and hints


1. Unpack and install
---------------------

You need Python {python} or newer (https://www.python.org). Unpack the zip completely, open a terminal
in the folder that contains this file, and enter the lines below one by one. They create an environment in
the folder .venv, so nothing else on your computer changes.

Linux and macOS:

    python3 -m venv .venv
    source .venv/bin/activate
    python -m pip install -r requirements.txt

Windows (PowerShell or Command Prompt):

    py -m venv .venv
    .venv\\Scripts\\python -m pip install -r requirements.txt
{torch}

2. Open the first notebook
--------------------------

Linux and macOS:

    source .venv/bin/activate
    jupyter lab {notebook}

Windows:

    .venv\\Scripts\\jupyter lab {notebook}

From the next day on, open a terminal in this folder and do this step only.


Check, hint, submit
-------------------

- In a notebook, replace the line "raise NotImplementedError(...)" with your code and run the cell. Then run
  the cell below it, which checks your function:  check("{exercise}", {exercise})
- If you are stuck, hint("{exercise}") asks you a question. hint("{exercise}", 2) and
  hint("{exercise}", 3) tell you more. Hints cost no points.
- progress() shows the checks since you started the notebook.
- When you have finished a chapter, or its time is up, save its notebooks. Then make one file of them. Open a
  second terminal in this folder, and enter on Linux and macOS

    source .venv/bin/activate
    grader submit {chapter}

  or on Windows

    .venv\\Scripts\\grader submit {chapter}

  Upload the file that it writes, {chapter}-submission.zip, to the website of your class. Exercises that you
  have not finished are no obstacle.


More in the second terminal
---------------------------

On Windows, write .venv\\Scripts\\grader instead of grader.

    grader progress
        shows what is done in the whole course, and what to do next
    grader diary
        shows which mistakes you have met, and which you have overcome
    grader check {notebook}
        runs a notebook from top to bottom and checks its exercises; with --watch, again whenever you save it
    grader hint {exercise}
        shows the same as hint("{exercise}") in a notebook

Add --help to learn more about a command, as in "grader check --help".


Google Colab
------------

On Colab you need not install anything on your computer.

- Unpack the zip on your computer. In Colab, choose File > Upload notebook, and upload a notebook from the
  folder exercises.
- Click the folder icon on the left, and upload the zip, {archive}, as it is.
- Add a code cell at the top of the notebook with these two lines, and run it before all other cells:

    !unzip -qo {quoted} && pip install -q {folder}/{wheel}
    %cd {folder}/exercises/{chapter}

  In the second line, write the chapter of your notebook.
- A capstone takes functions from your other notebooks of the chapter. Download these, and after the two
  lines upload them to the folder that the second line names.
- Colab deletes uploaded files after some hours. Download your notebook before you leave (File > Download),
  and repeat these steps the next time. To submit, upload the notebooks that you downloaded to the website of
  your class.


If something does not work
--------------------------

- "grader doctor", entered like "grader submit" above, tells you what is missing and how to install it.
- pip finds no matching version:  python -m pip install ./{wheel} jupyterlab
- A notebook says "No module named 'grader'": it uses another Python. Start Jupyter as in step 2.
- Unpack another zip of this course into a new folder. In the old one, it could replace your notebooks.
"""


def _text(lines: Sequence[str]) -> str:
    return "\n".join(lines) + "\n"

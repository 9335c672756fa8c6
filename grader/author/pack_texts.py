"""The texts of a bundle for students: the README and what to install."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grader.manifest import Chapter, Manifest

TORCH_INDEX = "https://download.pytorch.org/whl/cpu"


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


def readme(
    manifest: Manifest,
    chapters: Sequence[Chapter],
    project: dict[str, Any],
    wheel: str,
    torch_notebooks: Sequence[str],
    book: bool,
) -> str:
    """`README.txt`: from the zip to the first submission."""
    first, exercise = _first_exercise(chapters)
    title = manifest.title
    python = project["requires-python"].removeprefix(">=")
    folder = f"{title.lower()}-{project['version']}"
    archive = f"{folder}.zip"
    notebook = f"exercises/{first}"
    chapter_id = first.partition("/")[0]
    lines = [f"{title}, version {project['version']}", "=" * len(f"{title}, version {project['version']}"), ""]
    lines += ["This folder contains", ""]
    lines += ["  exercises/         the notebooks in which you write your code:"]
    lines += [f"                       {chapter.id}  {chapter.title}" for chapter in chapters]
    if book:
        lines += ["  book/index.html    the book; open it in a browser (no internet connection needed)"]
    lines += ["  requirements.txt   what to install", f"  {wheel}", "                     the checks and hints", ""]
    lines += [
        "1. Unpack and install",
        "---------------------",
        "",
        f"You need Python {python} or newer (https://www.python.org). Unpack the zip completely, open a terminal in",
        "the folder with this file, and enter these lines one by one. They make an environment in the folder .venv,",
        "so nothing else on your computer changes.",
        "",
        "Linux and macOS:",
        "",
        "    python3 -m venv .venv",
        "    source .venv/bin/activate",
        "    python -m pip install -r requirements.txt",
        "",
        "Windows (PowerShell or Command Prompt):",
        "",
        "    py -m venv .venv",
        "    .venv\\Scripts\\python -m pip install -r requirements.txt",
        "",
    ]
    if torch_notebooks:
        lines += [
            f"{_some(torch_notebooks)} also need PyTorch. When you reach them, install it with",
            "",
            f"    python -m pip install -r requirements-torch.txt --index-url {TORCH_INDEX}",
            "",
            "(on Windows, write .venv\\Scripts\\python instead of python).",
            "",
        ]
    lines += [
        "2. Open the first notebook",
        "--------------------------",
        "",
        "Linux and macOS:",
        "",
        "    source .venv/bin/activate",
        f"    jupyter lab {notebook}",
        "",
        "Windows:",
        "",
        f"    .venv\\Scripts\\jupyter lab {notebook}",
        "",
        "From the next day on, only this step is needed.",
        "",
        "Then, in a notebook",
        "-------------------",
        "",
        '- Replace the line "raise NotImplementedError(...)" with your code, and run the cell below it, which checks',
        f'  your function:  check("{exercise}", {exercise})',
        f'- If you are stuck:  hint("{exercise}")  asks you a question;  hint("{exercise}", 2)  and',
        f'  hint("{exercise}", 3)  tell you more. Hints cost no points.',
        "- progress()  shows how far you are.",
        "",
        "When you have finished a chapter, save its notebooks and make one file of them. In the terminal of step 2",
        "(on Windows, write .venv\\Scripts\\grader instead of grader):",
        "",
        f"    grader submit {chapter_id}",
        "",
        "Upload the file whose name it prints to your course's website.",
        "",
        "On Google Colab",
        "---------------",
        "",
        "Nothing has to be installed on your computer.",
        "",
        "- Unpack the zip on your computer. In Colab, choose File > Upload notebook and upload a notebook of",
        "  exercises/.",
        f"- Click on the folder icon at the left and upload the zip ({archive}) there.",
        "- Add a cell at the top of the notebook with these two lines, and run it first:",
        "",
        f"    !unzip -qo {archive} && pip install -q {folder}/{wheel}",
        f"    %cd {folder}/exercises/{chapter_id}",
        "",
        "  The second line names the chapter of your notebook. Colab forgets uploaded files after some hours; repeat",
        "  these steps then, and download your notebook before you leave (File > Download).",
        "",
        "If something does not work",
        "--------------------------",
        "",
        f"- pip finds no version for your Python:  python -m pip install {wheel} jupyterlab",
        "- The notebook says that there is no module 'grader': it uses another Python. Start Jupyter as in step 2.",
        "- If you unpack the zip again, do so in another folder: it would replace the notebooks you have worked in.",
    ]
    return _text(lines)


def _first_exercise(chapters: Sequence[Chapter]) -> tuple[str, str]:
    """(CHAPTER/NOTEBOOK.ipynb, exercise id) of the first exercise."""
    for chapter in chapters:
        for notebook in chapter.notebooks:
            for exercise in notebook.exercises:
                return f"{chapter.id}/{notebook.name}.ipynb", exercise.id
    raise ValueError("these chapters contain no exercise")


def _some(names: Sequence[str]) -> str:
    if len(names) == 1:
        return names[0]
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _text(lines: Sequence[str]) -> str:
    return "\n".join(lines) + "\n"

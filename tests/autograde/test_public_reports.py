"""What teachers and students have reported of other graders, learning systems and notebook programs, tried here."""

import copy

import pytest
from right_work import RIGHT

STEP, FORWARD = RIGHT["rnn_step"], RIGHT["rnn_forward"]


def code(source, **more):
    return {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None, **more}


def source(text, name="rnn_step"):
    def change(notebook):
        notebook.cell(name)["source"] = text

    return change


def split(notebook):
    """JupyterLab's *Split cell* gives both halves the metadata."""
    half = copy.deepcopy(notebook.cell("rnn_step"))
    notebook.cell("rnn_step")["source"] = "def activation(x):\n    return np.tanh(x)\n"
    half["source"] = STEP.replace("np.tanh(", "activation(")
    notebook.cells.insert(notebook.at("rnn_step") + 1, half)


def of_an_older_release(notebook):
    """Exercises that the course no longer has, and none of those that were added."""
    old = copy.deepcopy(notebook.cell("rnn_step"))
    old["metadata"]["nbgrader"]["grade_id"] = "rnn_cell"
    check = copy.deepcopy(notebook.cell("rnn_step-check"))
    check["metadata"]["nbgrader"]["grade_id"] = "rnn_cell-check"
    check["source"] = 'check("rnn_cell", rnn_step)'
    notebook.cells[notebook.at("rnn_forward") : notebook.at("rnn_forward-check") + 1] = [old, check]


def outputs_in_text(notebook):
    for cell in notebook.cells:
        if cell["cell_type"] == "markdown":
            cell |= {"outputs": [], "execution_count": None}


def ids_of_a_later_format(notebook):
    notebook.tree |= {"nbformat": 4, "nbformat_minor": 2}
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"#VSC-{number:08x}"


def of_colab(notebook):
    notebook.tree["metadata"] = {
        "colab": {"provenance": [], "toc_visible": True},
        "widgets": {"application/vnd.jupyter.widget-state+json": {"a": {"model_name": "HBoxModel"}}},
        "accelerator": "GPU",
    }
    for number, cell in enumerate(notebook.cells):
        cell["metadata"] = {"id": f"x{number}", "outputId": "y", "colab": {"base_uri": "https://localhost:8080/"}}
    notebook.insert(
        notebook.first(), "from google.colab import drive\ndrive.mount('/content/drive')\n%cd /content/drive"
    )


def of_vscode(notebook):
    for cell in notebook.cells:
        cell["metadata"]["vscode"] = {"languageId": "python"}
        cell["source"] = "".join(cell["source"]).replace("\n", "\r\n")


def metadata_of_everything(notebook):
    for cell in notebook.cells:
        cell["metadata"] |= {"scrolled": "auto", "jupyter": {"source_hidden": True}, "collapsed": None, "slideshow": 3}
    notebook.tree["metadata"]["kernelspec"] = {"name": 3}


def in_other_order(notebook):
    """Run out of order: the constant stands below."""
    source(STEP.replace("+ b_h", "+ SHIFT + b_h"))(notebook)
    notebook.append("SHIFT = 0.0")


def in_a_file(notebook):
    source("%run helper.py")(notebook)
    notebook.insert(notebook.at("rnn_step"), f"%%file helper.py\nimport numpy as np\n{STEP}")


def in_a_notebook(notebook):
    cells = [
        code("%matplotlib inline"),
        code(f"import numpy as np\n{STEP}"),
        {"cell_type": "markdown", "source": "Mine"},
    ]
    written = f"import json\njson.dump({{'cells': {cells}}}, open('mine.ipynb', 'w'))".replace("None", "0")
    source("%run -i 'mine.ipynb'")(notebook)
    notebook.insert(notebook.at("rnn_step"), written)


ODD_SPACE = STEP.replace("    return", "\u00a0   return")
REPORTS = {
    # what, with where it was reported: (a change of a right notebook, points of rnn_step, words of its note or remark)
    "a split cell: jupyter/nbgrader #1083, jeflem/ananke #12": (split, 2, "appears twice; both were run in order"),
    "a notebook of an older release: TU-Wien-dataLAB/grader-service #341": (of_an_older_release, 2, "rnn_forward"),
    "outputs in text cells: microsoft/vscode #92878": (outputs_in_text, 2, ""),
    "ids of a later format: jupytext/jupytext #764": (ids_of_a_later_format, 2, ""),
    "saved by Colab: jupyter/nbgrader #1273, googlecolab/colabtools #581": (of_colab, 2, "google.colab"),
    "saved by VS Code, with Windows' line ends": (of_vscode, 2, ""),
    "metadata of every kind: jupyter/notebook #1964": (metadata_of_everything, 2, ""),
    "cells run out of order: ucbds-infra/otter-grader #890": (in_other_order, 0, ""),
    "await outside of functions": (
        source(f"import asyncio\nawait asyncio.sleep(0)\n{STEP}"),
        2,
        "",
    ),
    "a loop with tqdm's progress bar": (
        source(f"from tqdm.notebook import tqdm\n\n{STEP}"),
        2,
        "",
    ),
    "%run of a file": (in_a_file, 2, ""),
    "%run of another notebook": (in_a_notebook, 2, ""),
    "a space that is none": (source(ODD_SPACE), 0, "non-printable character U+00A0"),
    "tabs and spaces": (source(STEP.replace("    return", "\tx = 1\n        return")), 0, "inconsistent use of tabs"),
    "the value of the last cell": (source(f"3\n{STEP}\nlast = _"), 2, ""),
    "In and Out": (source(f"{STEP}\nn = len(In) + len(Out)\n"), 2, ""),
    "a plot that waits": (
        source(f"import matplotlib.pyplot as plt\nplt.plot([1])\nplt.show(block=True)\n{STEP}"),
        2,
        "",
    ),
    "an alias of a shell": (source(f"%pip install numpy\n%conda install numpy\n{STEP}"), 2, ""),
    "the main guard": (
        source(f"if __name__ == '__main__':\n    {STEP.strip().replace(chr(10), chr(10) + '    ')}"),
        2,
        "",
    ),
    "type hints of the older typing": (
        source("from typing import Tuple\n" + STEP.replace("b_h):", "b_h: np.ndarray) -> Tuple[np.ndarray]:")),
        2,
        "",
    ),
    "widgets": (source(f"from ipywidgets import interact\n@interact(x=3)\ndef show(x):\n    pass\n{STEP}"), 2, ""),
}


@pytest.mark.parametrize("what", REPORTS)
def test_a_condition_of_a_public_report(hand_in, notebook, what):
    change, points, words = REPORTS[what]
    change(notebook)
    result = hand_in(notebook.tree)
    told = " ".join([result["rnn_step"].note, *result.remarks, result.text])
    assert result["rnn_step"].earned == points
    assert words in told

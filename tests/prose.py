"""Worked examples in a notebook's prose, read as numbers, to be computed anew by a test."""

import json
import re
from pathlib import Path

import numpy as np

from grader.author.notebooks import instructor_notebook
from grader.manifest import load_manifest

SOLUTIONS = Path(__file__).parents[1] / "solutions"


def section(chapter, notebook, heading):
    """The text under one heading of a notebook, up to its exercise, with ASCII minus signs."""
    text = (SOLUTIONS / chapter / f"{notebook}.py").read_text("utf-8").replace("−", "-")
    return text.partition(f"# ## {heading}\n")[2].partition("\n# %% exercise")[0]


def numbers(text):
    """Every number of two decimals in a text."""
    return [float(n) for n in re.findall(r"(?<![\w.])-?\d+\.\d\d(?!\d)", text)]


def table(text, header):
    """The rows of the table whose first line contains this, as lists of cells."""
    lines = text.split("\n")
    start = next(i for i, line in enumerate(lines) if header in line)
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("# |"):
            break
        rows.append([cell.strip() for cell in line[3:].strip().strip("|").split("|")])
    return rows


def arrays(text):
    """Arrays given in a line as `NAME` = [[…]]."""
    found = re.findall(r"`(\w+)` = (\[\[.*?\]\]|\[[^][]*\])", text)
    return {name: np.array(json.loads(body)) for name, body in found}


def matrices(text):
    """Matrices given in LaTeX as NAME = \\begin{bmatrix} … \\end{bmatrix}; `x_t`, say, is named by its whole symbol."""
    found = re.findall(r"([\w{}-]+) = \\begin\{bmatrix\}(.*?)\\end\{bmatrix\}", text, re.DOTALL)
    rows = {name: [[float(n) for n in row.split("&")] for row in body.split(r"\\")] for name, body in found}
    return {re.sub(r"[{}]", "", name): np.array(value) for name, value in rows.items()}


def products(cell):
    """What a cell such as '0.30 · 0.50 = 0.15' computes, checked against what it says, to two decimals."""
    left, _, right = cell.partition(" = ")
    value = eval(left.replace("·", "*"))
    assert not right or float(right) == round(value, 2)
    return value


def check_shown(shown, value):
    np.testing.assert_array_equal(np.array(shown), np.round(value, 2))


def run_notebook(chapter, notebook, capsys, changed=lambda source: source):
    """Run the code cells of a notebook with its solutions, each as `changed` returns it. Return the names that they
    bound, and what each of them printed.
    """
    root = SOLUTIONS.parent
    manifest = load_manifest(root / "course.toml")
    of_chapter = manifest.chapter(chapter)
    its_notebook = next(each for each in of_chapter.notebooks if each.name == notebook)
    namespace, printed = {}, []
    for cell in instructor_notebook(root, manifest, of_chapter, its_notebook).cells:
        if cell.cell_type == "code":
            capsys.readouterr()
            exec(changed(cell.source), namespace)
            printed.append(capsys.readouterr().out)
    return namespace, printed

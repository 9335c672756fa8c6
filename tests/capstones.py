"""Run a chapter's capstone as a notebook runs it, beside the chapter's other notebooks."""

import functools
import json
from pathlib import Path

from experiments.notebooks import executed, record_of
from grader.author.notebooks import instructor_notebook, student_notebook
from grader.cells import notebook_bytes
from grader.manifest import load_manifest

ROOT = Path(__file__).parents[1]
MANIFEST = load_manifest(ROOT / "course.toml")


@functools.cache
def content(chapter, make, name):
    """The bytes of a notebook, made by `instructor_notebook` or `student_notebook`."""
    (notebook,) = (notebook for notebook in MANIFEST.chapter(chapter).notebooks if notebook.name == name)
    return notebook_bytes(make(ROOT, MANIFEST, MANIFEST.chapter(chapter), notebook))


@functools.cache
def asked(chapter):
    """The functions that a chapter's capstone takes, in this order, each with the name of its notebook."""
    found = {}

    def take(notebook, *names):
        found.update(dict.fromkeys(names, notebook))
        return names

    cells = json.loads(content(chapter, student_notebook, "capstone"))["cells"]
    (cell,) = (cell for cell in cells if cell["cell_type"] == "code" and "= take(" in "".join(cell["source"]))
    exec("".join(cell["source"]), {"take": take})
    return found


def write_notebooks(folder, chapter, make=instructor_notebook, unwritten=(), without=(), changed=None):
    """Write a chapter's capstone into this folder, and the notebooks that it takes functions from.

    `unwritten` notebooks are the students'. In a `changed` one each text, as bytes, is replaced by another.
    """
    for name in {*asked(chapter).values(), "capstone"} - set(without):
        notebook = content(chapter, student_notebook if name in unwritten else make, name)
        for old, new in (changed or {}).get(name, {}).items():
            assert notebook.count(old) == 1
            notebook = notebook.replace(old, new)
        (folder / f"{name}.ipynb").write_bytes(notebook)


def recorded(chapter, notebook="capstone"):
    """What the cells under each heading printed in the first of the recorded runs, and all of them."""
    runs = json.loads(record_of(f"{chapter}/{notebook}").read_text("utf-8"))["runs"]
    found = [{heading: "\n".join(lines) for heading, lines in run["printed"].items()} for run in runs]
    return found[0], found


def run_cells(folder, titles, replace=None, without_tag=None):
    """Run the capstone's cells in this folder: what the cells of each part printed, and the namespace.

    `titles` maps the name of each part to a text of the cell that begins it; a part without code is called "question".
    """
    namespace, printed, part = {}, {}, "functions"
    for source, output in executed(folder / "capstone.ipynb", namespace, replace, without_tag):
        if output is None:
            part = next((name for name, title in titles.items() if title in source), part)
        else:
            printed[part] = printed.get(part, "") + output
    assert set(printed) == set(titles) - {"question"}
    return printed, namespace

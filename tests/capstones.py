"""Run a chapter's capstone as a notebook runs it, beside the chapter's other notebooks."""

import contextlib
import functools
import io
import json
from pathlib import Path

from grader.cells import notebook_bytes
from grader.manifest import load_manifest

ROOT = Path(__file__).parents[1]
MANIFEST = load_manifest(ROOT / "course.toml")


@functools.cache
def content(chapter, make, name):
    """The bytes of a notebook, made by `instructor_notebook` or `student_notebook`."""
    (notebook,) = (notebook for notebook in MANIFEST.chapter(chapter).notebooks if notebook.name == name)
    return notebook_bytes(make(ROOT, MANIFEST, MANIFEST.chapter(chapter), notebook))


def run_cells(folder, titles, replace=None, without_tag=None):
    """Run the capstone's cells in this folder: what the cells of each part printed, and the namespace.

    `titles` maps the name of each part to a text of the cell that begins it; a part without code is called "question".
    """
    namespace, printed, part = {}, {}, "functions"
    with contextlib.chdir(folder):
        for cell in json.loads((folder / "capstone.ipynb").read_text("utf-8"))["cells"]:
            source = "".join(cell["source"])
            if cell["cell_type"] != "code":
                part = next((name for name, title in titles.items() if title in source), part)
                continue
            if without_tag in cell["metadata"].get("tags", ()):
                continue
            for old, new in (replace or {}).items():
                source = source.replace(old, new)
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(source, namespace)
            printed[part] = printed.get(part, "") + out.getvalue()
    assert set(printed) == set(titles) - {"question"}
    return printed, namespace

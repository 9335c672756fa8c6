"""Read a submitted notebook, and copy the parts of one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from grader.cells import grade_id
from grader.codec import writable
from grader.imports import skip_iri_grammar
from grader.submission.pictures import bound_pictures, sound_pictures
from grader.submission.readable import UnreadableError, read_tree
from grader.submission.saved import passes_seen

MAX_SOURCE = 2_000_000  # characters in all cells together
MAX_CELLS = 2_000
LONG = "long"  # the tag of a cell that is skipped while grading: it takes long, and no points depend on it


def read_notebook(path: Path) -> Any:
    """A submitted file as a notebook in format 4, without outputs; `metadata.saw` names the exercises for which they
    show a pass. Raises UnreadableError.
    """
    skip_iri_grammar()
    import nbformat

    tree = read_tree(path)
    if "cells" not in tree:
        try:
            tree = nbformat.convert(nbformat.reader.reads(json.dumps(tree)), 4)
        except Exception as error:
            raise UnreadableError(f"the notebook has an unknown format: {type(error).__name__}") from error
    if len(tree["cells"]) > MAX_CELLS:
        raise UnreadableError(f"the notebook has {len(tree['cells']):,} cells; the limit is {MAX_CELLS:,}")
    try:
        notebook = nbformat.v4.new_notebook(metadata=nbformat.from_dict(tree.get("metadata", {})))
    except Exception:  # the metadata is not needed
        notebook = nbformat.v4.new_notebook()
    notebook.metadata["saw"] = sorted(passes_seen(tree["cells"]))
    notebook.cells = [cell for cell in map(_sound_cell, tree["cells"]) if cell is not None]
    fresh_ids(notebook)
    bound_pictures(notebook)
    size = sum(len(cell.source) for cell in notebook.cells)
    if size > MAX_SOURCE:
        raise UnreadableError(f"its cells contain {size:,} characters; the limit is {MAX_SOURCE:,}")
    return notebook


def _sound_cell(cell: Any) -> Any:
    """The parts of a cell that are needed, in valid form; None if it is not a cell."""
    import nbformat

    if not isinstance(cell, dict) or cell.get("cell_type") not in ("code", "markdown", "raw"):
        return None
    source = cell.get("source", "")
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str):
        return None
    # not made by nbformat's `new_…_cell`, which validates each cell: writing the notebook validates them all
    sound = nbformat.from_dict({"id": "", "cell_type": cell["cell_type"], "metadata": {}, "source": writable(source)})
    if cell["cell_type"] == "code":
        sound |= {"outputs": [], "execution_count": None}
    metadata = cell.get("metadata")
    entry = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    if isinstance(entry, dict) and isinstance(entry.get("grade_id"), str):
        sound.metadata["nbgrader"] = {name: value for name, value in entry.items() if _is_plain(value)}
    tags = metadata.get("tags") if isinstance(metadata, dict) else None
    if isinstance(tags, list) and LONG in tags:
        sound.metadata["tags"] = [LONG]
    pictures = sound_pictures(cell.get("attachments"))
    if pictures and cell["cell_type"] != "code":
        sound.attachments = nbformat.from_dict(pictures)
    return sound


def _is_plain(value: object) -> bool:
    return isinstance(value, bool | int | float) or (isinstance(value, str) and value == writable(value))


def copied(node: Any, **changes: Any) -> Any:
    """A copy of a notebook or part of one, with some entries changed. Deep copies would dominate the reading time."""
    new = type(node)()
    dict.update(new, node)  # the class's own `update` walks through everything
    dict.update(new, changes)
    return new


def fresh_ids(notebook: Any) -> None:
    """Give every cell a unique id, because submissions may repeat ids."""
    for index, cell in enumerate(notebook.cells):
        cell["id"] = grade_id(cell) or f"cell-{index}"

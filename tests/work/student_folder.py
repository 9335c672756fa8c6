"""A student's folder outside the course: the released notebooks of a chapter, with answers in some of their cells."""

import json
import shutil
from pathlib import Path

from grader.cells import grade_id

ROOT = Path(__file__).parents[2]
CHAPTER = "ch01_vanilla_rnn"
STEP = "def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):\n    return np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h)"
FORWARD = """def rnn_forward(x, h_0, W_xh, W_hh, b_h):
    h = [h_0]
    for t in range(x.shape[1]):
        h.append(rnn_step(x[:, t], h[-1], W_xh, W_hh, b_h))
    return np.stack(h[1:], axis=1)"""
WITHOUT_BIAS = STEP.replace(" + b_h)", ")")
RIGHT = {"rnn_step": STEP, "rnn_forward": FORWARD}


def exercises(folder, chapter=CHAPTER):
    """The released files of a chapter as a student gets them; returns their folder."""
    target = folder / "exercises" / chapter
    shutil.copytree(ROOT / "exercises" / chapter, target)
    return target


def edited(path, sources=None, added=(), dropped=()):
    """Replace the cells with these ids, drop some, and append code cells; returns the path."""
    notebook = json.loads(path.read_text("utf-8"))
    for cell in notebook["cells"]:
        if grade_id(cell) in (sources or {}):
            cell["source"] = sources[grade_id(cell)]
    notebook["cells"] = [cell for cell in notebook["cells"] if grade_id(cell) not in dropped]
    for number, source in enumerate(added):
        notebook["cells"].append(
            {
                "cell_type": "code",
                "id": f"own-{number}",
                "metadata": {},
                "outputs": [],
                "execution_count": None,
                "source": source,
            }
        )
    path.write_text(json.dumps(notebook), "utf-8")
    return path


def released_cells(path):
    """How many cells a notebook has: the number of the first that is added."""
    return len(json.loads(path.read_text("utf-8"))["cells"])

"""The capstone of chapter 02, its cells run as a notebook runs them, beside the chapter's other notebooks."""

import json
from pathlib import Path

import numpy as np
import pytest

from grader.manifest import load_manifest
from grader.release import instructor_notebook, notebook_bytes, student_notebook

ROOT = Path(__file__).parents[2]
MANIFEST = load_manifest(ROOT / "course.toml")
CHAPTER = MANIFEST.chapter("ch02_bptt")


def run(folder, make, capsys, monkeypatch):
    """All cells of the capstone with a training of half a second; its namespace and what it printed."""
    for notebook in CHAPTER.notebooks:
        content = notebook_bytes(make(ROOT, MANIFEST, CHAPTER, notebook))
        (folder / f"{notebook.name}.ipynb").write_bytes(content)
    monkeypatch.chdir(folder)
    namespace = {}
    for cell in json.loads((folder / "capstone.ipynb").read_text("utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]).replace("30 / seconds", "0.5 / seconds"), namespace)
    return namespace, capsys.readouterr().out


def test_the_students_gradients_are_right_and_spell_hello(tmp_path, capsys, monkeypatch):
    namespace, printed = run(tmp_path, instructor_notebook, capsys, monkeypatch)
    errors = {name: float(error) for name, error in (line.split() for line in printed.splitlines()[:5])}
    assert set(errors) == {"W_xh", "W_hh", "b_h", "W_hy", "b_y"}
    assert max(errors.values()) < 1e-6
    assert "\nhello\n" in printed
    assert printed.count(" letters read:") >= 3
    assert namespace["losses"][-20:].mean() < namespace["losses"][:5].mean()
    assert "waits" not in printed
    text, ids = namespace["text"], namespace["ids"]
    assert len(ids) > 200_000
    assert "".join(namespace["characters"][i] for i in ids[:200]) in text
    _, logits = namespace["forward"](namespace["params"], ids[:30], np.zeros((1, 100)))
    assert namespace["mean_loss"](logits, ids[1:31]) == pytest.approx(
        float(
            -np.log(np.exp(logits[0]) / np.exp(logits[0]).sum(axis=1, keepdims=True))[np.arange(30), ids[1:31]].mean()
        )
    )


def test_a_memory_is_needed_for_hello():
    """0.35 nats: h is followed by e, e by l, o by nothing, and l by l and by o."""
    assert round(2 * np.log(2) / 4, 2) == 0.35


def test_with_nothing_written_yet_every_cell_says_that_it_waits(tmp_path, capsys, monkeypatch):
    _, printed = run(tmp_path, student_notebook, capsys, monkeypatch)
    assert printed.count("waits for") == 5


def test_the_way_functions_are_taken_is_that_of_the_first_chapter():
    def cell(chapter):
        text = (ROOT / "solutions" / chapter / "capstone.py").read_text("utf-8")
        return text[text.index("def take(") : text.index('# %% active="ipynb"')]

    assert cell("ch02_bptt") == cell("ch01_vanilla_rnn")

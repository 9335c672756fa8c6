"""The capstone: the functions of the student's own notebooks write text, and a missing one is named."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from experiments.text import topics
from grader.author.notebooks import instructor_notebook, student_notebook
from grader.cells import cell_source, notebook_bytes
from grader.manifest import load_manifest
from solutions.ch01_vanilla_rnn.predictions import sequence_loss
from solutions.ch01_vanilla_rnn.recurrence import rnn_forward
from solutions.ch01_vanilla_rnn.writing import generate

ROOT = Path(__file__).parents[2]
EXERCISES = ROOT / "exercises" / "ch01_vanilla_rnn"
RECORD = ROOT / "experiments" / "ch01" / "capstone_weights.json"


@pytest.fixture(scope="module")
def solved():
    """The solved notebooks of the chapter by name, as bytes."""
    manifest = load_manifest(ROOT / "course.toml")
    chapter = manifest.chapter("ch01_vanilla_rnn")
    found = {}
    for notebook in chapter.notebooks:
        place = (ROOT, manifest, chapter, notebook)
        instructor, student = instructor_notebook(*place), student_notebook(*place)
        for cell in student.cells:
            if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("solution"):
                cell.source = cell_source(instructor, cell.metadata.nbgrader.grade_id)
        found[notebook.name] = notebook_bytes(student)
    return found


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the capstone in a folder with these sibling notebooks; what it printed, cell by cell."""

    def run_with(siblings):
        shutil.copy(EXERCISES / "capstone_weights.json", tmp_path)
        for name, content in siblings.items():
            (tmp_path / f"{name}.ipynb").write_bytes(content)
        monkeypatch.chdir(tmp_path)
        namespace, printed = {"__name__": "__main__"}, []
        for cell in json.loads((EXERCISES / "capstone.ipynb").read_text("utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                exec("".join(cell["source"]), namespace)
                printed.append(capsys.readouterr().out)
        return printed

    return run_with


def test_the_students_own_functions_write(run, solved):
    printed = run({name: content for name, content in solved.items() if name != "capstone"})
    assert printed[1] == ""  # the other notebooks ran without output
    greedy, drawn, begun, letters, losses = printed[3:]
    assert "is a statement is a statement" in greedy.replace("\n", " ")
    assert len(drawn) > 500
    assert "MY GRANDMOTHER WAS A" in begun
    assert letters.count("▇") > 100
    bits = {name: float(value) for name, value in re.findall(r"^(.*?) +([\d.]+) bits", losses, re.MULTILINE)}
    assert bits["a sentence in its style"] < bits["its words in another order"] < 2
    assert min(bits["its letters backwards"], bits["another language"]) > 5.17  # worse than knowing nothing


@pytest.mark.parametrize("name", ["recurrence", "predictions", "writing"])
def test_a_missing_notebook_is_named(run, solved, name):
    printed = run({other: content for other, content in solved.items() if other not in (name, "capstone")})
    assert printed[1].startswith(f"{name}.ipynb is not in this folder.")
    assert any("is still missing" in text for text in printed[3:])


def test_stubs_wait(run):
    siblings = {name: (EXERCISES / f"{name}.ipynb").read_bytes() for name in ("recurrence", "predictions", "writing")}
    printed = run(siblings)
    assert printed[1] == ""
    assert all(text.startswith("This cell waits for your code.  ") for text in printed[3:])


def weights():
    shipped = json.loads((EXERCISES / "capstone_weights.json").read_text("utf-8"))
    return shipped["characters"], {name: np.array(value) for name, value in shipped["weights"].items()}


def test_what_it_writes_is_readable_nonsense():
    """Most of its words are words of the manual; most of its sentences are in no manual."""
    characters, arrays = weights()
    u = np.random.default_rng(0).random(6000)
    text = "".join(characters[i] for i in generate(0, 6000, np.zeros((1, 64)), u=u, **arrays))
    manual = " ".join(topics().values()).lower()
    known = set(re.findall(r"[a-z]+", manual))
    words = re.findall(r"[a-z]{3,}", text)
    assert sum(word in known for word in words) / len(words) > 0.6
    manual = re.sub(r"\s+", " ", manual)
    pieces = [text[i : i + 30] for i in range(0, 5970, 30)]
    assert sum(piece in manual for piece in pieces) / len(pieces) < 0.1


def test_it_predicts_better_than_counted_letters():
    """On held-out text by its record, and here on a sentence of our own."""
    bits = json.loads(RECORD.read_text("utf-8"))["bits_a_character"]
    assert bits["network"] < bits["trigram"] < bits["bigram"] < bits["unigram"] < np.log2(36)
    characters, w = weights()
    ids = np.array([characters.index(c) for c in "\nthe method returns the value of the expression."])
    h = rnn_forward(np.eye(36)[ids[:-1]][None], np.zeros((1, 64)), w["W_xh"], w["W_hh"], w["b_h"])
    loss = sequence_loss(h @ w["W_hy"] + w["b_y"], ids[None, 1:])
    assert loss / np.log(2) < bits["trigram"]

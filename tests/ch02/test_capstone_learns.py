"""The capstone of chapter 02, its cells run as a notebook runs them, beside the chapter's other notebooks."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from experiments.notebooks import BARS
from grader.author.notebooks import instructor_notebook, student_notebook
from grader.cells import notebook_bytes
from grader.manifest import load_manifest
from tests.capstones import recorded

ROOT = Path(__file__).parents[2]
MANIFEST = load_manifest(ROOT / "course.toml")
CHAPTER = MANIFEST.chapter("ch02_bptt")
SOURCE = re.sub(r"\n# ", " ", (ROOT / "solutions" / "ch02_bptt" / "capstone.py").read_text("utf-8"))

QUICK = {"min(20_000, int(30 / seconds))": "200", "40_000 // length": "200"}


def run(folder, make, capsys, monkeypatch, replace=QUICK, files=()):
    """All cells of the capstone, with 200 updates in every training; its namespace and what each cell printed."""
    for notebook in CHAPTER.notebooks:
        content = notebook_bytes(make(ROOT, MANIFEST, CHAPTER, notebook))
        (folder / f"{notebook.name}.ipynb").write_bytes(content)
    for name, text in files:
        (folder / name).write_text(text, "utf-8")
    monkeypatch.chdir(folder)
    namespace, printed = {}, []
    for cell in json.loads((folder / "capstone.ipynb").read_text("utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            source = "".join(cell["source"])
            for old, new in replace.items():
                source = source.replace(old, new)
            exec(source, namespace)
            printed.append(capsys.readouterr().out)
    return namespace, printed


def bars(printed):
    """The numbers before the bars of a cell."""
    return [float(line.rpartition("  ")[0].split()[-1]) for line in printed.splitlines()]


def test_the_students_gradients_are_right_and_spell_hello(tmp_path, capsys, monkeypatch):
    namespace, printed = run(tmp_path, instructor_notebook, capsys, monkeypatch)
    checked, hello, training, losses, norms, pairs = (printed[i] for i in (4, 5, 9, 10, 12, 13))
    errors = {name: float(error) for name, error in (line.split() for line in checked.splitlines())}
    assert set(errors) == {"W_xh", "W_hh", "b_h", "W_hy", "b_y"}
    assert max(errors.values()) < 1e-7
    assert hello.endswith("\nhello\n")
    assert training.count(" characters read:") == 4
    assert "times the text" in training
    assert namespace["losses"][-20:].mean() < namespace["losses"][:5].mean()
    assert len(bars(losses)) == 11
    assert [line[0] for line in norms.splitlines()] == list("the value of the expression is converted to a strin")
    assert len(bars(pairs)) == 2
    assert "waits" not in "".join(printed)
    text, ids = namespace["text"], namespace["ids"]
    with np.load("my_network.npz") as saved:
        assert {*saved} == {"characters", "ids", "W_xh", "W_hh", "b_h", "W_hy", "b_y"}
        assert str(saved["characters"]) == namespace["characters"]
        assert np.array_equal(saved["ids"], ids)
        assert all(np.array_equal(saved[name], theta) for name, theta in namespace["params"].items())
    assert len(ids) > 200_000
    assert "".join(namespace["characters"][i] for i in ids[:200]) in text
    _, logits = namespace["forward"](namespace["params"], ids[:30], np.zeros((1, 100)))
    assert namespace["mean_loss"](logits, ids[1:31]) == pytest.approx(
        float(
            -np.log(np.exp(logits[0]) / np.exp(logits[0]).sum(axis=1, keepdims=True))[np.arange(30), ids[1:31]].mean()
        )
    )


def test_the_numbers_of_the_good_answer_are_the_recorded_ones():
    _, runs = recorded(CHAPTER.id)
    long, short = runs[::2], runs[1::2]
    pairs = [[float(row.split()[3]) for row in run["What truncation costs"].splitlines()] for run in long]
    forgets, remembers = zip(*pairs, strict=True)
    said = f"{min(forgets):.2f} to {max(forgets):.2f}, and {min(remembers):.2f} to {max(remembers):.2f}."
    assert f"With three random seeds {said}" in SOURCE
    near, far = ([run[BARS].count("▇\n") + 1 for run in same] for same in (long, short))
    assert f"they reach {min(far)} to {max(far)} characters back, and {min(near)} or {max(near)}.)" in SOURCE
    assert max(near) <= min(far)
    assert all(run["Hello"].endswith("\nhello") for run in long)


def test_an_interrupted_training_is_kept(tmp_path, capsys, monkeypatch):
    """The student interrupts after the 21st update."""
    line = "        done = len(recorder.losses)\n"
    stop = {line: "        if len(recorder.losses) == 21:\n            raise KeyboardInterrupt\n" + line}
    namespace, printed = run(tmp_path, instructor_notebook, capsys, monkeypatch, QUICK | stop)
    assert "Interrupted. The network keeps what it has learned so far.\n21 updates in " in printed[9]
    assert len(namespace["losses"]) == 21
    assert namespace["params"]["W_xh"].shape == (namespace["V"], 100)
    assert len(bars(printed[10])) == 11
    assert len(printed[12].splitlines()) == 51
    assert Path("my_network.npz").is_file()


def test_without_the_training_later_cells_say_so(tmp_path, capsys, monkeypatch):
    """The weights of hello are not used in place of those of the long text."""
    skipped = {"    before = time.perf_counter()\n": '    raise NotImplementedError("skipped")\n'}
    _, printed = run(tmp_path, instructor_notebook, capsys, monkeypatch, QUICK | skipped)
    assert printed[5].endswith("\nhello\n")
    assert all(printed[i].startswith("No network has been trained on this text yet") for i in (10, 12))
    assert not Path("my_network.npz").exists()


def test_a_text_in_other_letters(tmp_path, capsys, monkeypatch):
    words = "мороз и солнце день чудесный ещё ты дремлешь друг прелестный пора красавица проснись\n"
    own = '# text, source = Path("my_text.txt")'
    _, printed = run(
        tmp_path, instructor_notebook, capsys, monkeypatch, QUICK | {own: own[2:]}, [("my_text.txt", words * 100)]
    )
    read = "".join(line[0] for line in printed[12].splitlines())
    assert len(read) == 51
    assert read.replace("⏎", "\n") in words * 3


def test_a_memory_is_needed_for_hello():
    """0.35 nats: h is followed by e, e by l, o by nothing, and l by l and by o."""
    assert round(2 * np.log(2) / 4, 2) == 0.35


def test_with_nothing_written_yet_every_cell_says_what_it_waits_for(tmp_path, capsys, monkeypatch):
    _, printed = run(tmp_path, student_notebook, capsys, monkeypatch)
    first, *rest = (text for text in printed if "This cell waits for your code." in text)
    assert first.endswith("cross_entropy_backward: replace this line with your code, in logits_and_embedding.ipynb.\n")
    assert len(rest) == 3
    assert all(text.endswith("train_char_rnn: replace this line with your code, in training.ipynb.\n") for text in rest)
    assert sum(text.startswith("No network has been trained on this text yet") for text in printed) == 2

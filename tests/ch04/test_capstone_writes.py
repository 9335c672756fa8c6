"""The capstone of chapter 04, its cells run as a notebook runs them, beside the chapter's other notebooks."""

import io
import re
from pathlib import Path

import numpy as np
import pytest
import torch

from grader.author.notebooks import instructor_notebook, student_notebook
from solutions.ch04_gated import capstone
from solutions.ch04_gated.char_lm import CharLM, temperature_probs
from solutions.ch04_gated.lstm import lstm_forward
from tests.capstones import MANIFEST, ROOT, recorded, run_cells, write_notebooks

CHAPTER = MANIFEST.chapter("ch04_gated")
SOURCE = (ROOT / "solutions" / "ch04_gated" / "capstone.py").read_text("utf-8")

QUICK = {
    "num_updates, losses, began = 3000": "num_updates, losses, began = 40",
    "bits_of_each(new, held_out)": "bits_of_each(new, held_out[:2_000])",
    "held_out[:20_000]": "held_out[:3_000]",
}
QUICKER = QUICK | {"num_updates, losses, began = 3000": "num_updates, losses, began = 10"}
TITLES = {
    "functions": "## Your functions",
    "text": "## A text",
    "training": "## A minute of training",
    "saved": "The next cell saves the weights",
    "bold": "## Bold or careful",
    "step": "## Your NumPy step",
    "units": "## Which unit tracks what?",
    "colours": "## The text in the colours of one unit",
    "silenced": "## Does the network use the unit?",
    "question": "## Explain what a unit tracks",
}
QUANTITIES = ["line position", "inside quotes", "open brackets"]


def run(folder, make, replace=QUICK, without=(), files=None, graded=False):
    """Run all cells of the capstone in this folder, without the long ones if graded: what each part printed."""
    write_notebooks(folder, CHAPTER.id, make, without=without)
    for name, file in (files or {}).items():
        (folder / name).write_bytes(file)
    return run_cells(folder, TITLES, replace, "long" if graded else None)


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reference")
    return *run(folder, instructor_notebook), folder


def plain(text):
    return re.sub(r"\x1b\[[\d;]*m", "", text)


def correlation_of(printed):
    """r on the second half, by quantity and network."""
    rows = [row.rsplit(maxsplit=4) for row in printed["units"].splitlines()[1:]]
    return {(quantity.strip(), network): float(second) for quantity, network, _, _, second in rows}


def test_it_trains_writes_and_looks_inside(reference):
    printed, found, folder = reference
    assert "waits" not in "".join(printed.values())
    assert printed["functions"] == printed["saved"] == ""
    assert printed["text"].startswith("pydoc_data.topics of Python 3.")
    assert [int(n) for n in re.findall(r"After (\d+) updates it writes", printed["training"])] == [0, 6, 40]
    losses = [float(loss) for loss in re.findall(r"training (\d\.\d\d)", printed["training"])]
    assert len(losses) == 10
    assert losses[-1] < losses[0] - 0.3
    assert list(correlation_of(printed)) == [(q, n) for q in QUANTITIES for n in ("trained", "untrained")]
    assert len(re.findall(r"^(temperature|top) .*:$", printed["bold"], re.MULTILINE)) == 5
    assert (folder / "my_char_lm.npz").stat().st_size < 2_000_000, "a student submits it"
    assert not found["model"].rnn.dropout


def test_the_numbers_of_the_text_and_of_the_good_answer_are_the_recorded_ones():
    first, runs = recorded(CHAPTER.id)
    said = re.sub(r"\n# ", " ", SOURCE)
    r = [correlation_of({"units": run["Which unit tracks what?"]}) for run in runs]
    line, quotes, brackets = ([abs(found[name, "trained"]) for found in r] for name in QUANTITIES)
    assert "had an |r| of {:.2f}, {:.2f}, {:.2f} and {:.2f} on the second half".format(*line) in said
    control = [abs(found["line position", "untrained"]) for found in r]
    assert f"untrained networks {min(control):.2f} to {max(control):.2f}" in said
    for what, found in (("For quotation marks the best |r| was", quotes), ("for open brackets", brackets)):
        assert f"{what} between {min(found):.2f} and {max(found):.2f}" in said
    assert f"with another seed the best unit reached only {min(line):.2f}" in said
    unit = re.search(r"line position +trained +(\d+)", first["Which unit tracks what?"])[1]
    assert f"Unit {unit} follows the line position, with r = {line[0]:.2f} on both halves" in said
    assert f"untrained network reaches |r| = {control[0]:.2f} for the line position" in said
    untrained = r[0]["open brackets", "untrained"]
    assert f"r = {brackets[0]:.2f} against {untrained:.2f}" in said
    parts = first["Does the network use the unit?"].split("\n\n")
    losses = {part.partition(" (")[0]: re.findall(r"\d+\.\d\d", part) for part in parts[1:]}
    whole, all_whole, without, all_without, *_, low, high = losses["line position"]
    assert f"the ends of lines have a loss of {without} bits instead of {whole}" in said
    assert f"it is between {low} and {high}" in said
    assert f"({all_without} instead of {all_whole})" in said
    assert "({2} bits instead of {0})".format(*losses["open brackets"]) in said


def test_the_numpy_step_agrees_with_the_model(reference):
    printed, _, _ = reference
    differences = [float(row.split()[-1]) for row in printed["step"].splitlines()[1:]]
    assert len(differences) == 10
    assert max(differences) < 1e-12


def test_each_line_of_the_coloured_text_has_its_bars(reference):
    printed, found, _ = reference
    pieces = plain(printed["colours"]).split("\n\n")[1:]
    assert [piece.partition(" network")[0] for piece in pieces] == [
        f"{q}, {n}" for q in QUANTITIES for n in ("trained", "untrained")
    ]
    for piece in pieces:
        _, *lines, words = piece.rstrip("\n").split("\n")
        assert words.startswith("mean level (0 to 7): ")
        shown = "".join(lines[::2]).replace("⏎", "\n")
        assert shown in found["page"]
        assert len(shown) == 280
        for text, bars in zip(lines[::2], lines[1::2], strict=True):
            assert len(text) == len(bars)
            assert set(bars) <= set(capstone.BARS)


def test_silencing_has_a_row_for_each_control(reference):
    printed, _, _ = reference
    for part in printed["silenced"].split("\n\n")[1:]:
        if "too few" not in part:
            assert re.search(
                r"all units .*\n    without unit .*\n    without another unit .*\n    the ten others:", part
            )
    assert "all units" in printed["silenced"]
    assert all(f"\n{quantity}" in printed["silenced"] for quantity in QUANTITIES)


def test_graded_without_the_training_the_saved_network_is_used(reference, tmp_path):
    printed, _, folder = reference
    saved = {"my_char_lm.npz": (folder / "my_char_lm.npz").read_bytes()}
    again, _ = run(tmp_path, instructor_notebook, files=saved, graded=True)
    assert again["saved"] == "The network with 128 units that you saved in my_char_lm.npz.\n"
    assert again["training"] == ""
    assert correlation_of(again) == correlation_of(printed)
    assert again["colours"] == printed["colours"]


def test_without_a_network_every_cell_says_so(tmp_path):
    printed, _ = run(tmp_path, instructor_notebook, graded=True)
    for part in ("saved", "bold", "step", "units", "silenced"):
        assert (
            printed[part] == "No network has been trained on this text yet: run the cell under A minute of training.\n"
        )


def test_an_interrupted_training_is_kept(tmp_path):
    line = "#     losses.append(loss)\n"[2:]
    stop = {line: line + "    if len(losses) == 9:\n        raise KeyboardInterrupt\n"}
    printed, found = run(tmp_path, instructor_notebook, QUICKER | stop)
    assert "Interrupted. The network keeps what it has learned so far.\n" in printed["training"]
    assert found["model"] is found["new"]
    assert (tmp_path / "my_char_lm.npz").is_file()
    assert len(correlation_of(printed)) == 6


def test_a_text_in_other_letters(tmp_path):
    words = "Мороз и солнце; день «чудесный»! Ещё ты (дремлешь), друг прелестный — пора, красавица, проснись.\n\n" * 400
    own = '# text, source = in_column(Path("my_text.txt")'
    printed, found = run(
        tmp_path, instructor_notebook, QUICKER | {own: own[2:]}, files={"my_text.txt": words.encode("utf-8")}
    )
    assert '"чудесный"' in found["text"]
    assert max(len(line) for line in found["text"].split("\n")) <= 24
    assert len(correlation_of(printed)) == 6


def test_with_nothing_written_yet_every_cell_says_what_it_waits_for(tmp_path):
    printed, _ = run(tmp_path, student_notebook)
    assert printed["training"] == (
        "This cell waits for your code.  CharLM: replace this line with your code, in char_lm.ipynb.\n"
    )
    for part in ("saved", "bold", "step", "units", "silenced"):
        assert printed[part].startswith("No network has been trained on this text yet")


def test_without_the_lstm_the_network_still_writes(tmp_path):
    printed, _ = run(tmp_path, instructor_notebook, QUICKER, without=("lstm",))
    assert printed["functions"].startswith("lstm.ipynb is not in this folder.")
    assert printed["step"].endswith("This cell waits for your code.  lstm_step is still missing, in lstm.ipynb.\n")
    assert printed["units"].endswith("This cell waits for your code.  lstm_forward is still missing, in lstm.ipynb.\n")
    assert len(re.findall(r"^(temperature|top) .*:$", printed["bold"], re.MULTILINE)) == 5


# The functions that are given -----------------------------------------------------------------------------------------


def small(seed=0):
    torch.manual_seed(seed)
    return CharLM(6, 3, 5, 1, 0.0), torch.from_numpy(np.random.default_rng(seed).integers(6, size=60))


def test_what_is_tracked():
    text = 'a ("b" c)\n("d\n\n"e)]'
    found = capstone.quantities(text)
    assert found["line position"].tolist() == [*range(1, 10), 0, 1, 2, 3, 0, 0, 1, 2, 3, 4]
    assert found["inside quotes"].tolist() == [0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1]
    assert found["open brackets"].tolist() == [0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0]
    ends = {name: np.flatnonzero(mask).tolist() for name, mask in capstone.closing(text).items()}
    assert ends == {"line position": [9, 13], "inside quotes": [5], "open brackets": [8]}


def test_correlations_and_the_choice_of_the_best_unit():
    rng = np.random.default_rng(0)
    states, marks = rng.normal(size=(40, 4)), rng.normal(size=40)
    states[:, 2], states[:20, 1] = 3.0, -marks[:20]
    expected = [np.corrcoef(states[:, u], marks)[0, 1] if u != 2 else 0 for u in range(4)]
    np.testing.assert_allclose(capstone.correlations(states, marks), expected, atol=1e-12)
    unit, first, second = capstone.best_unit(states, marks)
    assert unit == 1
    assert first == pytest.approx(-1)
    assert second == pytest.approx(np.corrcoef(states[20:, 1], marks[20:])[0, 1]), "not used for the choice"


def test_the_cell_states_are_those_of_pytorch():
    model, ids = small()
    c = capstone.cell_states(model, ids, lstm_forward)
    state = None
    for t in range(len(ids)):
        _, state = model(ids[None, t : t + 1], state)
        np.testing.assert_allclose(c[t], np.tanh(state[1][0, 0].numpy()), atol=1e-6)


def test_a_silenced_unit_is_read_by_nothing():
    model, ids = small()
    changed = capstone.silenced(model, 2)
    with torch.no_grad():
        h = c = torch.zeros(1, 5)
        cell = torch.nn.LSTMCell(3, 5)
        cell.load_state_dict({name.removesuffix("_l0"): theta for name, theta in model.rnn.state_dict().items()})
        for t in range(20):
            h, c = cell(model.embedding(ids[None, t]), (h, c))
            h = h * (torch.arange(5) != 2)
        torch.testing.assert_close(changed(ids[None, :20])[0][:, -1], model.head(h))
    assert (model.head.weight[:, 2] != 0).all(), "the model itself stays as it is"


def test_bits_and_costs_are_those_of_each_row():
    model, ids = small()
    bits = capstone.bits_of_each(model, ids, rows=3)
    assert bits.shape == (3, 19)
    with torch.no_grad():
        p = torch.softmax(model(ids[None, 20:39])[0][0], dim=1)
    np.testing.assert_allclose(bits[1], -np.log2(p[torch.arange(19), ids[21:40]].numpy()), rtol=1e-4)
    mask = np.arange(60) == 27
    here, everywhere = capstone.losses(model, ids, mask, rows=3)
    assert here == pytest.approx(bits[1, 6])
    assert everywhere == pytest.approx(bits.mean())


def test_a_text_is_written_from_a_prompt_and_repeatable():
    model, _ = small()
    one, two = (capstone.write(model, "abcde\n", 20, lambda z: temperature_probs(z, 1.0), "ab?") for _ in range(2))
    assert one == two
    assert one.startswith("ab")
    assert len(one) == 22


def test_levels_reach_from_the_lowest_to_the_highest_bar():
    assert capstone.levels(np.array([-9.0, 0.1, 0.5, 0.99, 9.0]), np.linspace(0, 1, 101)).tolist() == [0, 0, 4, 7, 7]
    assert len(capstone.BARS) == len(set(capstone.COLOURS)) == 8


def test_the_text_is_in_a_narrow_column_and_cut_at_a_paragraph():
    text = capstone.in_column(capstone.python_manual())
    assert max(len(line) for line in text.split("\n")) <= 24
    characters, ids, held_out = capstone.prepared(text)
    end = "".join(characters[i] for i in ids[-2:])
    assert end == "\n\n"
    assert 0.08 < len(held_out) / len(text) < 0.11
    assert text.count('"') > 3000
    with pytest.raises(ValueError, match=r"The text has only 12,000 characters\. Use one of at least 20,000"):
        capstone.prepared("abcd" * 3_000)


def saved(**changes):
    model, _ = small()
    weights = {name: theta.numpy() for name, theta in model.state_dict().items()}
    content, file = {"characters": "abcdef", **weights, **changes}, io.BytesIO()
    np.savez_compressed(file, **{name: value for name, value in content.items() if value is not None})
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (saved(), "The network with 5 units"),
        (saved(characters="abcxyz"), "my_char_lm.npz belongs to a text with other characters"),
        (b"", "my_char_lm.npz is damaged"),
        (saved()[:1000], "my_char_lm.npz is damaged"),
        (saved(**{"head.bias": None}), "my_char_lm.npz is damaged"),
        (saved(**{"head.bias": np.zeros(7)}), "my_char_lm.npz is damaged"),
        (None, ""),
    ],
)
def test_a_saved_network_is_used_only_if_it_fits(tmp_path, monkeypatch, capsys, content, told):
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path("my_char_lm.npz").write_bytes(content)
    model = capstone.saved_model(CharLM, "abcdef")
    assert capsys.readouterr().out.startswith(told)
    assert (model is not None) == told.startswith("The network")

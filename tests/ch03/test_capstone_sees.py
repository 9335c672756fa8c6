"""The capstone of chapter 03, its cells run as a notebook runs them, beside the chapter's other notebooks."""

import io
import json
import re
import shutil

import numpy as np
import pytest
import torch

from experiments.ch03 import capstone_network
from grader.author.notebooks import instructor_notebook, student_notebook
from solutions.ch02_bptt.training import train_char_rnn
from solutions.ch03_gradients import capstone
from solutions.ch03_gradients.clipping import clip_by_norm
from solutions.ch03_gradients.jacobians import gradient_norms_by_lag
from tests.capstones import MANIFEST, ROOT, recorded, run_cells, write_notebooks

CHAPTER = MANIFEST.chapter("ch03_gradients")
SHIPPED = ROOT / "solutions" / "ch03_gradients" / "files" / "capstone_network.json"
SOURCE = (ROOT / "solutions" / "ch03_gradients" / "capstone.py").read_text("utf-8")

QUICK = {"train(start, ids, 600,": "train(start, ids, 20,", "range(3)": "range(1)"}
TITLES = {
    "functions": "## Your functions",
    "network": "## Your network",
    "weights": "## What the recurrent weights alone would do",
    "gradient": "## First measurement",
    "controls": "## Which part makes the gradient shrink?",
    "jacobians": "The Jacobian of a step puts the weights and the derivatives together",
    "character": "## Second measurement",
    "colours": "## What the last prediction depends on",
    "training": "## Clipping, and another start",
    "question": "## Explain where it stops",
}


def run(folder, make, replace=None, without=(), files=None):
    """Run all cells of the capstone in this folder: what the cells of each part printed, and the namespace."""
    write_notebooks(folder, CHAPTER.id, make, without=without)
    if SHIPPED.name not in without:
        shutil.copy(SHIPPED, folder)
    for name, file in (files or {}).items():
        (folder / name).write_bytes(file)
    return run_cells(folder, TITLES, replace)


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """With short trainings, because what a training ends at depends on the processor: claims about it are recorded."""
    return run(tmp_path_factory.mktemp("reference"), instructor_notebook, QUICK)


def column(text, head, number):
    """The numbers of one column, by the first word of each row after the row that begins with `head`."""
    rows = text[text.index(head) :].splitlines()[1:]
    return {int(row.split()[0]): float(row.split()[number]) for row in rows if re.match(r" *\d+ ", row)}


def last_number(text, head):
    return float(re.search(rf"{head}\D*([\d.]+)", text)[1])


def test_the_measurements_agree_although_the_spectral_radius_is_above_1(reference):
    printed, _ = reference
    assert "waits" not in "".join(printed.values())
    assert printed["network"].startswith("the network that came with the exercises")
    assert last_number(printed["weights"], "spectral radius") == pytest.approx(3.17, abs=0.01)
    assert 2.5 < last_number(printed["weights"], "spectral radius") < last_number(printed["weights"], "singular value")
    shares = column(printed["gradient"], "lag", 1)
    assert shares[0] == 1
    assert shares[12] > 0.01 > shares[20]
    first = last_number(printed["gradient"], "horizon: ")
    second = last_number(printed["character"], "horizon when a character is changed: ")
    assert 13 <= first <= 19
    assert abs(first - second) <= 4
    assert column(printed["character"], "lag", 1) == shares
    assert last_number(printed["gradient"], "between lag 20 and lag 40: ") < 0.8


def test_only_the_networks_own_states_make_the_gradient_shrink(reference):
    printed, _ = reference
    factors = {row[:30].strip(): float(row.split()[-2]) for row in printed["controls"].splitlines()[1:]}
    radius, derivative = (
        last_number(printed[k], head)
        for k, head in (("weights", "spectral radius"), ("gradient", "mean derivative of the tanh: "))
    )
    assert factors["zeros"] == pytest.approx(radius, rel=0.02)
    assert factors["the mean derivative everywhere"] == pytest.approx(radius * derivative, rel=0.02)
    assert factors["the states as they are"] < 0.8
    assert factors["the units shuffled"] > 1
    left = column(printed["jacobians"], "lag", 2)
    assert left[1] > left[5] > left[10] > left[40] == 0
    assert column(printed["jacobians"], "lag", 1)[20] < 0.05


def test_the_last_characters_are_coloured_and_also_marked_by_symbols(reference):
    printed, _ = reference
    sentences = printed["colours"].split("\n\n")[1:]
    assert len(sentences) == 3
    for lines in sentences:
        shown, symbols = lines.rstrip("\n").split("\n")
        text = re.sub(r"\x1b\[[\d;]*m", "", shown).partition(" → ")[0]
        assert len(text) == len(symbols)
        assert symbols[-1] == "█"
        assert symbols[:20].strip() == "", "a character far back does not matter"
        assert shown.count("\x1b[0m") == len(symbols.replace(" ", ""))


def test_a_first_character_that_is_not_forgotten(reference):
    _, found = reference
    params, id_of = found["params"], found["id_of"]
    read, zeros = np.array([id_of[c] for c in found["sentences"][1]]), np.zeros((1, found["H"]))
    strengths = capstone.dependence(params, read, zeros)
    coloured = [capstone.level(strength)[1] is not None for strength in strengths[:40]]
    assert coloured == [True] * 3 + [False] * 37, "the first three characters, as the text says"
    assert capstone.level(capstone.dependence(params, read, found["h_0"])[0])[1] is None
    following = found["ids"][10_000:10_300]
    bits = {}
    for first in "i[":
        ids = np.concatenate([[id_of[first]], read[1:], following])
        p = capstone.probabilities(params, capstone.states(params, ids[None], zeros)[0, :-1])
        bits[first] = -np.log2(p[np.arange(len(p)), ids[1:]])[-300:].mean()
    assert bits["i"] < 4 < 6 < bits["["], "it predicts badly for a long time"


def trained(text):
    """The table of the short runs: the horizons before and after training, and the shares of clipped updates."""
    table = [line for line in text.splitlines() if "(" in line]
    before, after = ([eval(found[i]) for found in (re.findall(r"\([^)]*\)", row) for row in table)] for i in (0, 1))
    return before, after, [float(row.split()[-2]) for row in table]


def test_the_initialisation_decides_before_training_and_clipping_plays_no_part(reference):
    printed, _ = reference
    before, _, clipped = trained(printed["training"])
    assert max(before[2]) <= 8 < 30 < min(before[0])
    assert before[0] == before[1]
    assert min(before[3]) >= 60
    assert clipped[0] == clipped[2] == clipped[3] == 0
    assert clipped[1] > 50
    shares = [float(row.split()[-2]) for row in printed["training"].splitlines() if row.startswith("limit ")]
    assert len(shares) == 5
    assert shares == sorted(shares, reverse=True)


def test_training_moves_the_recorded_horizons_together_with_and_without_clipping():
    runs = RECORD["short_runs"]

    def of(key, radius, limit=None):
        return [run[key] for run in runs if (run["radius"], run["limit"]) == (radius, limit)]

    after, half, clipped, most = (of("after", *s) for s in ((1.0,), (0.5,), (1.0, 1.0), (1.5,)))
    assert min(half) > 10
    said = "{} or {}, {} to {}, and {} to {}.)".format(*(f(found) for found in (half, after, most) for f in (min, max)))
    assert said in SOURCE
    assert np.mean(half) < np.mean(after) < np.mean(most) < 25
    assert np.mean(after) == pytest.approx(np.mean(clipped), abs=1)
    assert max(of("before", 0.5)) <= 8 < 40 < min(of("before", 1.0)) < min(of("before", 1.5)) == 80
    assert min(of("share_clipped", 1.0, 1.0)) > 0.9
    bits = [np.mean(of("bits_per_character", radius)) for radius in (0.5, 1.0, 1.5)]
    assert bits == sorted(bits), "the longest horizon does not have the lowest loss"


def test_the_numbers_of_the_good_answer_are_the_recorded_ones():
    printed, _ = recorded(CHAPTER.id)
    answer = SOURCE[SOURCE.index("# **A good answer, in short**") :].replace("\n# ", " ")
    weights, gradient, controls, character, colours, training = (
        printed[heading]
        for heading in (
            "What the recurrent weights alone would do",
            "First measurement: the gradient against lag",
            "Which part makes the gradient shrink?",
            "Second measurement: change one character",
            "What the last prediction depends on",
            "Clipping, and another start",
        )
    )
    radius = last_number(weights, "spectral radius")
    derivative = last_number(gradient, "mean derivative of the tanh: ")
    symbols = [len(lines.splitlines()[1].strip()) for lines in colours.split("\n\n")[1:]]
    before, after, clipped = trained(training)
    assert printed["Your network"].splitlines()[0].endswith("pydoc_data.topics of Python 3.11.7")
    for said in (
        "on the text of Python 3.11.7",
        f"From lag {last_number(gradient, 'horizon: '):.0f} on",
        f"a character changed {last_number(character, 'is changed: '):.0f} steps back",
        f"the last {min(symbols)} to {max(symbols)} characters are marked",
        f"the spectral radius is {radius:.1f}, ",
        f"by the factor {last_number(gradient, 'between lag 20 and lag 40: '):.2f}",
        f"Its mean, {derivative:.2f}, does not explain it ({derivative:.2f} · {radius:.1f} = {derivative * radius:.1f}",
        f"With the units shuffled the factor is {last_number(controls, 'the units shuffled'):.2f} ",
        {1: "only about one of 100 directions keeps 1 %"}[round(column(controls, "lag", 2)[20])],
        f"is active in {clipped[1]:.0f} % of the updates",
        "after training are {} and {} with it".format(*sorted({*after[0], *after[1]})),
        "a horizon of {} or {}, a radius".format(*sorted(set(before[2]))),
        f"one of {min(before[0])} to {max(before[0])}, and a radius of 1.5 at least {min(before[3])}.",
        "these are {} or {}, ".format(*sorted(set(after[2]))) + "{} or {}, ".format(*sorted(set(after[0]))),
        f"and {min(after[3])} to {max(after[3])}.",
    ):
        assert said in answer


def test_most_shuffles_let_the_gradient_grow(reference):
    """The marking guide says: by factors of about 0.95 to 1.4."""
    _, found = reference
    factors = []
    for seed in range(12):
        shuffled = found["h"][:, :, np.random.default_rng(seed).permutation(found["H"])]
        shares = capstone.shares_by_lag(gradient_norms_by_lag, found["dh_T"], shuffled, found["params"]["W_hh"])
        factors.append((capstone.typical(shares)[40] / capstone.typical(shares)[20]) ** (1 / 20))
    assert 0.92 < min(factors) <= max(factors) < 1.45
    assert np.mean(np.array(factors) > 1) > 0.8


def test_with_nothing_written_yet_every_cell_says_what_it_waits_for(tmp_path):
    printed, _ = run(tmp_path, student_notebook)
    waits = {part: text for part, text in printed.items() if "This cell waits for your code.  " in text}
    where = {
        "weights": "spectral_radius: replace this line with your code, in linear.ipynb.",
        "gradient": "gradient_norms_by_lag: replace this line with your code, in jacobians.ipynb.",
        "controls": "gradient_norms_by_lag: replace this line with your code, in jacobians.ipynb.",
        "jacobians": "step_jacobian: replace this line with your code, in jacobians.ipynb.",
        "character": "gradient_norms_by_lag: replace this line with your code, in jacobians.ipynb.",
        "training": "spectral_radius: replace this line with your code, in linear.ipynb.",
    }
    assert set(waits) == set(where)
    assert all(message in waits[part] for part, message in where.items())
    assert "horizon when a character is changed: " in printed["character"], "needs no function of the student's"
    assert printed["colours"].count("→") == 3


@pytest.mark.parametrize(("name", "part"), [("jacobians", "gradient"), ("linear", "weights"), ("clipping", "training")])
def test_a_missing_notebook_is_named(tmp_path, name, part):
    printed, _ = run(tmp_path, instructor_notebook, QUICK, without=(name,))
    assert printed["functions"].startswith(f"{name}.ipynb is not in this folder.")
    assert re.search(rf"\w+ is still missing, in {name}\.ipynb\.", printed[part])


def test_without_the_weights_the_cell_says_where_they_are(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"came with the exercises\. Copy it to the folder of this notebook"):
        run(tmp_path, instructor_notebook, QUICK, without=(SHIPPED.name,))


def saved(**changes):
    """A network as chapter 2's students save it: 12 units and the letters of another alphabet."""
    rng, characters = np.random.default_rng(0), "абвгдежзик \n"
    params = capstone.initial_weights(len(characters), 12, rng)
    content = {"characters": characters, "ids": rng.integers(len(characters), size=25_000), **params, **changes}
    file = io.BytesIO()
    np.savez_compressed(file, **{name: value for name, value in content.items() if value is not None})
    return file.getvalue()


@pytest.mark.parametrize("place", ["my_network.npz", "../ch02_bptt/my_network.npz"])
def test_the_students_own_network_is_used(tmp_path, place):
    for name in ("ch02_bptt", "ch03_gradients"):
        (tmp_path / name).mkdir()
    folder = tmp_path / "ch03_gradients"
    printed, namespace = run(folder, instructor_notebook, QUICK, without=(SHIPPED.name,), files={place: saved()})
    assert printed["network"].startswith(f"your own network, from {place}\n12 units, 12 characters: 'абвгд")
    assert namespace["params"]["W_hh"].shape == (12, 12)
    assert "waits" not in "".join(printed.values())
    assert printed["colours"].count("→") == 3


def test_the_cell_of_chapter_2_saves_what_is_loaded(tmp_path, capsys, monkeypatch):
    chapter_2 = MANIFEST.chapter("ch02_bptt")
    (notebook,) = (notebook for notebook in chapter_2.notebooks if notebook.name == "capstone")
    cells = instructor_notebook(ROOT, MANIFEST, chapter_2, notebook)["cells"]
    (cell,) = (cell for cell in cells if cell["cell_type"] == "code" and "np.savez_compressed(" in cell["source"])
    assert cell["metadata"]["tags"] == ["long"]
    rng = np.random.default_rng(0)
    params, ids = capstone.initial_weights(3, 5, rng), rng.integers(3, size=20_000)
    monkeypatch.chdir(tmp_path)
    exec(cell["source"], {"np": np, "characters": "ab\n", "ids": ids, "params": None})
    assert capstone.your_network() is None
    exec(cell["source"], {"np": np, "characters": "ab\n", "ids": ids, "params": params})
    loaded, characters, text = capstone.your_network()
    assert characters == "ab\n"
    np.testing.assert_array_equal(text, ids)
    assert all(np.array_equal(loaded[name], params[name]) for name in params)
    assert capsys.readouterr().out == "your own network, from my_network.npz\n"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not a network",
        saved()[:2000],
        saved(W_hh=None),
        saved(W_hh=np.zeros((12, 11))),
        saved(W_hh=np.full((12, 12), np.nan)),
        saved(ids=np.full(25_000, 12)),
        saved(ids=np.arange(12)),
        saved(characters="abc"),
    ],
)
def test_a_damaged_network_is_named_and_not_used(tmp_path, capsys, monkeypatch, content):
    (tmp_path / "my_network.npz").write_bytes(content)
    monkeypatch.chdir(tmp_path)
    assert capstone.your_network() is None
    assert capsys.readouterr().out.startswith("my_network.npz is damaged or was not saved by the capstone of chapter 2")


# The functions that are given -----------------------------------------------------------------------------------------


def small(seed=0, V=4, H=5):
    """A network whose states are neither tiny nor saturated, and a text."""
    rng = np.random.default_rng(seed)
    params = {name: 6 * theta + 0.1 for name, theta in capstone.initial_weights(V, H, rng).items()}
    return params, rng.integers(V, size=200)


def tensors(params):
    return {name: torch.tensor(theta, requires_grad=True) for name, theta in params.items()}


def forward(params, ids, h_t):
    """The states (T, H) of one sequence, in PyTorch."""
    h = []
    for x_t in ids:
        h_t = torch.tanh(params["W_xh"][x_t] + h_t @ params["W_hh"] + params["b_h"])
        h.append(h_t)
    return h


@pytest.mark.parametrize("T", [1, 7])
def test_the_given_gradients_are_those_of_autograd(T):
    params, ids = small()
    h_0 = np.random.default_rng(1).normal(size=(1, 5))
    loss, grads, h_T = capstone.loss_and_grads(params, ids[:T], ids[1 : T + 1], h_0)
    theta = tensors(params)
    h = torch.stack(forward(theta, ids[:T], torch.tensor(h_0[0])))
    due = torch.nn.functional.cross_entropy(h @ theta["W_hy"] + theta["b_y"], torch.tensor(ids[1 : T + 1]))
    due.backward()
    assert loss == pytest.approx(due.item(), rel=1e-12)
    np.testing.assert_allclose(h_T, h[-1:].detach(), rtol=1e-12)
    for name in params:
        np.testing.assert_allclose(grads[name], theta[name].grad, rtol=1e-9, atol=1e-12)


def test_the_network_was_trained_with_the_same_gradients():
    params, ids = small()
    h_0 = np.random.default_rng(1).normal(size=(1, 5))
    mine, due = (f(params, ids[:9], ids[1:10], h_0) for f in (capstone.loss_and_grads, capstone_network.loss_and_grads))
    assert mine[0] == pytest.approx(due[0], rel=1e-12)
    np.testing.assert_allclose(mine[2], due[2], rtol=1e-12)
    for name in params:
        np.testing.assert_allclose(mine[1][name], due[1][name], rtol=1e-9, atol=1e-12)


def test_without_clipping_it_is_the_training_of_chapter_2():
    _, ids = small()
    losses, params = train_char_rnn(ids, 4, 5, 25, 20, 0.05, np.random.default_rng(0), capstone.loss_and_grads)
    start = capstone.initial_weights(4, 5, np.random.default_rng(0))
    mine, mine_losses, norms = capstone.train(start, ids, 20, clip_by_norm, 1e9)
    np.testing.assert_allclose(mine_losses, losses, rtol=1e-12)
    assert all(np.allclose(mine[name], params[name], rtol=1e-12) for name in params)
    assert norms.shape == (20,)
    assert (norms > 0).all()


def test_the_gradient_and_its_norms_by_lag_are_those_of_autograd():
    params, ids = small()
    block, targets = capstone.pieces(ids, 3, 6, np.random.default_rng(0))
    h = capstone.states(params, block)
    dh_T = capstone.gradient_at_last_state(params, h[:, -1], targets)
    shares = capstone.shares_by_lag(gradient_norms_by_lag, dh_T, h, params["W_hh"])
    for b in range(3):
        theta = tensors(params)
        own = forward(theta, block[b], torch.zeros(5, dtype=torch.float64))
        loss = torch.nn.functional.cross_entropy(own[-1] @ theta["W_hy"] + theta["b_y"], torch.tensor(targets[b]))
        grads = torch.autograd.grad(loss, own[::-1])
        np.testing.assert_allclose(dh_T[b], grads[0], rtol=1e-9)
        norms = np.array([grad.norm().item() for grad in grads])
        np.testing.assert_allclose(shares[b], norms / norms[0], rtol=1e-9)


def test_pieces_are_pieces_of_the_text_with_the_character_that_follows():
    ids = np.arange(30)
    block, targets = capstone.pieces(ids, 500, 6, np.random.default_rng(0))
    np.testing.assert_array_equal(np.diff(block, axis=1), 1)
    np.testing.assert_array_equal(targets, block[:, -1] + 1)
    assert {block[:, 0].min(), block[:, 0].max()} == {0, 23}


def test_a_changed_character_is_followed_to_the_end_of_its_piece():
    """Slowly: every changed piece is read from its beginning."""
    params, ids = small()
    block, _ = capstone.pieces(ids, 3, 8, np.random.default_rng(0))
    h = capstone.states(params, block)
    found = capstone.distances_by_lag(params, block, h, ids, 5, np.random.default_rng(1))
    rng, before = np.random.default_rng(1), capstone.probabilities(params, h[:, -1])
    for lag in range(5):
        changed = block.copy()
        changed[:, 7 - lag] = capstone.another(block[:, 7 - lag], ids, rng)
        assert (changed != block).sum(axis=1).tolist() == [1, 1, 1]
        after = capstone.probabilities(params, capstone.states(params, changed)[:, -1])
        np.testing.assert_allclose(found[:, lag], np.abs(after - before).sum(axis=1) / 2, rtol=1e-12)


def test_how_a_prediction_depends_on_each_character():
    params, ids = small()
    h_0, read = np.random.default_rng(1).normal(size=(1, 5)), ids[:6]
    before = capstone.probabilities(params, capstone.states(params, read[None], h_0))[0, -1]
    for position, strength in enumerate(capstone.dependence(params, read, h_0)):
        distances = []
        for other in set(range(4)) - {int(read[position])}:
            changed = np.where(np.arange(6) == position, other, read)
            after = capstone.probabilities(params, capstone.states(params, changed[None], h_0))[0, -1]
            distances.append(np.abs(after - before).sum() / 2)
        assert strength == pytest.approx(np.mean(distances))


def test_the_horizon_is_where_the_geometric_mean_stays_below_one_percent():
    shares = np.array([[1, 0.1, 0.001, 0.04, 0.001, 0.0], [1, 0.1, 0.001, 0.01, 0.001, 0.0]])
    np.testing.assert_allclose(capstone.typical(shares), [1, 0.1, 0.001, 0.02, 0.001, 1e-300])
    assert capstone.horizon(shares) == 4, "it is below 1 % at lag 2 too, but does not stay there"
    assert capstone.horizon(np.ones((2, 6))) == 6, "as many as there are"
    assert [len(capstone.bar(share)) for share in (1, 0.1, 0.01, 1e-6, 1e-9, 0)] == [24, 20, 16, 0, 0, 0]
    assert "24 squares for 1, 16 for 1 %" in capstone.bar.__doc__


def test_levels_have_a_symbol_and_a_colour_each():
    assert [capstone.level(strength)[0] for strength in (0.9, 0.3, 0.1, 0.03, 0.01, 0.009)] == list("██▓▒░ ")
    assert len({colour for _, _, colour in capstone.LEVELS}) == 4
    assert capstone.painted("x", None) == "x"


# What it shares with other parts of the course ------------------------------------------------------------------------


def test_what_is_taken_from_the_earlier_capstone_is_unchanged():
    earlier = (ROOT / "solutions" / "ch02_bptt" / "capstone.py").read_text("utf-8")

    def piece(text):
        start = text.index("def paragraphs_of(")
        return text[start : text.index("# %%", start)].rstrip()

    assert piece(SOURCE) == piece(earlier)


RECORD = json.loads(capstone_network.RESULTS_FILE.read_text("utf-8"))


def test_the_shipped_network_is_the_recorded_one():
    network = json.loads(SHIPPED.read_text("utf-8"))
    assert capstone_network.rows_on_lines(network) == SHIPPED.read_text("utf-8")
    assert SHIPPED.stat().st_size < 200_000
    weights = {name: np.array(value) for name, value in network["weights"].items()}
    V, H = len(network["characters"]), capstone_network.SETTINGS["hidden_size"]
    assert [weights[name].shape for name in capstone.NAMES] == [(V, H), (H, H), (H,), (H, V), (V,)]
    assert all(np.array_equal(np.round(w, 3), w) for w in weights.values())
    first = RECORD["networks"][0]
    assert np.abs(np.linalg.eigvals(weights["W_hh"])).max() == pytest.approx(first["spectral_radius"], abs=0.006)
    assert np.linalg.norm(weights["W_hh"], 2) == pytest.approx(first["largest_singular_value"], abs=0.006)


def test_the_record_has_settings_seeds_versions_and_its_command():
    assert RECORD["command"] == "python -m experiments.ch03.capstone_network --record"
    assert RECORD["settings"] == {**capstone_network.SETTINGS, "short": capstone_network.SHORT}
    assert RECORD["seeds"] == list(capstone_network.SEEDS)
    assert len(RECORD["seeds"]) >= 5
    assert RECORD["versions"]["numpy"]
    assert [network["seed"] for network in RECORD["networks"]] == RECORD["seeds"]
    assert all(network["spectral_radius"] > 1 for network in RECORD["networks"])
    assert all(10 <= network["lag_below_one_percent"] <= 25 for network in RECORD["networks"])
    assert len(RECORD["short_runs"]) == 4 * len(RECORD["seeds"])
    radii, lags = ([n[key] for n in RECORD["networks"]] for key in ("spectral_radius", "lag_below_one_percent"))
    said = re.sub(r"\n# ", " ", SOURCE)
    assert f"radius was between {min(radii):.1f} and {max(radii):.1f}, and the horizon between" in said
    assert f"the horizon between {min(lags)} and {max(lags)} characters" in said

"""The experiments of chapter 04 on text and on units: their parts, and what they recorded."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np
import pytest
import torch

from experiments import char_lm
from experiments.ch04 import first_loop, samples, text_cells, units
from experiments.char_lm import CharLM, Settings
from experiments.ngrams import WittenBell
from experiments.text import python_docs

MODULES = {module.__name__: module for module in (first_loop, samples, text_cells, units)}
TORCH = torch.__version__.partition("+")[0]


def recorded(module: Any) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(Path(module.RESULTS_FILE).read_text("utf-8"))
    return record


@pytest.mark.parametrize("name", MODULES)
def test_a_record_has_settings_seeds_versions_and_its_command(name: str) -> None:
    module, record = MODULES[name], recorded(MODULES[name])
    assert record["command"] == f"python -m {name} --record"
    assert record["seeds"] == list(module.SEEDS)
    assert len(set(record["seeds"])) >= 5
    assert set(record["versions"]) <= {"numpy", "torch"}
    assert all(record["versions"].values())
    assert {key: record["settings"][key] for key in module.SETTINGS} == module.SETTINGS
    assert Path(module.RESULTS_FILE).stat().st_size < 60_000


# The page's loop ------------------------------------------------------------------------------------------------------


def test_a_carried_state_makes_chunks_of_any_length_equal() -> None:
    text = python_docs()
    model, held_out = first_loop.untrained(0, text).double(), torch.from_numpy(text.ids(text.held_out))
    whole = first_loop.validation_bits(model, held_out, T=1000)
    assert first_loop.validation_bits(model, held_out, T=10) == pytest.approx(whole, abs=1e-9)
    assert abs(first_loop.validation_bits(model, held_out, T=10, carry=False) - whole) > 1e-6
    assert model.training
    rows = torch.stack([held_out[start : start + 1001] for start in range(0, 10_000, 1000)])
    with torch.no_grad():
        logits, _ = model(rows[:, :-1])
    assert whole == pytest.approx(first_loop.bits(logits, rows[:, 1:]).item(), abs=1e-9)


def test_the_loop_trains_as_the_command_does() -> None:
    """Another program with these settings, experiments.char_lm, makes the same first updates."""
    text = python_docs()
    ids = torch.from_numpy(text.ids(text.train))
    how = {**first_loop.SIZES, "layers": first_loop.SIZES["num_layers"]}
    del how["num_layers"]
    settings = Settings(**how, batch=32, chunk=64, lr=0.02, updates=10**9, seed=10)  # so that the rate hardly falls
    training = char_lm.Training(settings, len(text.characters), ids)
    ours = list(first_loop.train(first_loop.untrained(10, text), ids, 5))
    assert ours == pytest.approx([training.step() for _ in range(5)], abs=1e-3)
    assert ours == pytest.approx(recorded(first_loop)["runs"][0]["losses"], abs=2e-3)


def test_what_the_loop_shows() -> None:
    record, text = recorded(first_loop), python_docs()
    uniform = math.log2(len(text.characters))
    assert record["text"]["sha256"] == text.sha256
    assert [one["seed"] for one in record["runs"]] == record["seeds"]
    for one in record["runs"]:
        assert abs(one["losses"][0] - uniform) < 0.1
        assert np.diff(one["curve"]).max() < -0.1
        assert one["carried"] == pytest.approx(one["curve"][-1], abs=0.002)
        assert one["reset"] > one["carried"] + 0.2
        assert one["tiny_train"] < 0.05  # 300 characters, memorised
        assert one["tiny_held_out"] > uniform + 2


@pytest.mark.slow
def test_the_loop_again() -> None:
    record, text = recorded(first_loop), python_docs()
    again = first_loop.run(11, text, updates=40)
    assert again["curve"] == pytest.approx(record["runs"][1]["curve"][:1], abs=0.1)
    assert again["reset"] > again["carried"] + 0.05


# Cells on text --------------------------------------------------------------------------------------------------------


def test_the_cells_have_about_as_many_parameters() -> None:
    record = recorded(text_cells)
    for kind, how in record["cells"].items():
        V, H = record["text"]["characters"], how["hidden_size"]
        blocks = {"rnn": 1, "gru": 3, "lstm": 4}[kind]
        assert how["parameters"] == blocks * H * (V + H + 2) + H * V + V == text_cells.parameters(kind, V)
        assert 99_000 < how["parameters"] < 101_100
        assert text_cells.CELLS[kind] == {key: how[key] for key in ("hidden_size", "lr")}


def test_the_learning_rates_were_chosen_on_the_dev_part() -> None:
    record = recorded(text_cells)
    for kind, rates in text_cells.RATES.items():
        tried = {one["lr"]: one["dev_bits"] for one in record["choice"] if one["cell"] == kind}
        assert tuple(tried) == rates
        assert text_cells.CHOICE_SEED not in record["seeds"]
        assert tried[text_cells.CELLS[kind]["lr"]] <= min(tried.values()) + 0.005


def test_the_summary_of_the_cells_follows_from_the_runs() -> None:
    record = recorded(text_cells)
    assert len(record["runs"]) == len(record["summary"]) * len(record["seeds"])
    for found in record["summary"]:
        runs = [one for one in record["runs"] if one["cell"] == found["cell"]]
        assert [one["seed"] for one in runs] == record["seeds"]
        assert found["bits_mean"] == round(mean(one["bits"] for one in runs), 4)
        assert found["bits_sd"] == round(stdev(one["bits"] for one in runs), 4)
        assert all(len(one["curve"]) == len(record["look_at"]) for one in runs)
        assert all(abs(one["curve"][0] - math.log2(record["text"]["characters"])) < 0.1 for one in runs)


def test_the_counted_bits_are_those_of_today() -> None:
    record, text = recorded(text_cells), python_docs()
    ids, held_out = text.ids(text.train).tolist(), text.ids(text.held_out).tolist()
    model = WittenBell(ids, 2, len(text.characters))
    assert model.bits(held_out) == pytest.approx(record["counted"]["2"], abs=1e-4)


def test_what_the_cells_show() -> None:
    """The GRU is first, by less than the LSTMs differ; all fit the training text better, and the best count is best."""
    record = recorded(text_cells)
    table = {one["cell"]: one for one in record["summary"]}
    five = record["counted"]["5"]
    assert five < table["gru"]["bits_mean"] < table["lstm"]["bits_mean"] < table["rnn"]["bits_mean"] < five + 0.15
    assert table["lstm"]["bits_mean"] - table["gru"]["bits_mean"] < table["lstm"]["bits_sd"]
    assert all(one["bits_mean"] - one["train_bits_mean"] > 0.3 for one in table.values())
    larger = recorded(samples)
    assert larger["text"]["sha256"] == record["text"]["sha256"]
    assert max(one["bits"] for one in larger["runs"]) < five - 0.05
    counted = json.loads((Path(text_cells.__file__).parents[1] / "ch00" / "counts.json").read_text("utf-8"))
    assert counted["text"]["sha256"] == record["text"]["sha256"]
    best = min(counted["models"], key=lambda one: one["bits"])
    assert (best["model"], best["smoothing"]) == ("6-gram", "interpolated")
    assert best["bits"] < min(one["bits"] for one in larger["runs"])  # no network here is better than counting
    assert larger["settings"]["lr"] < record["cells"]["lstm"]["lr"]


@pytest.mark.parametrize("kind", text_cells.CELLS)
def test_a_text_network_carries_a_detached_state(kind: str) -> None:
    torch.manual_seed(0)
    model, ids = text_cells.TextNetwork(kind, 6, 5).eval(), torch.randint(0, 6, (2, 9))
    whole, _ = model(ids)
    first, state = model(ids[:, :4])
    second, last = model(ids[:, 4:], state)
    torch.testing.assert_close(torch.cat([first, second], 1), whole)
    assert not any(part.requires_grad for part in (last if isinstance(last, tuple) else (last,)))


def test_bits_of_a_text_network_and_its_chunks() -> None:
    torch.manual_seed(0)
    model, ids = text_cells.TextNetwork("gru", 6, 5), torch.randint(0, 6, (4501,))
    one = text_cells.cross_entropy(model(ids[None, :-1])[0], ids[None, 1:]).item() / math.log(2)
    assert text_cells.bits(model, ids) == pytest.approx(one, rel=1e-5)
    rows = [text_cells.bits(model, ids[row * 1500 : (row + 1) * 1500 + 1]) for row in range(3)]
    assert text_cells.bits(model, ids, rows=3) == pytest.approx(mean(rows), rel=1e-5)
    assert model.training
    stream = text_cells.chunks(torch.arange(14), batch=2, chunk=3)  # rows of 6
    seen = [next(stream) for _ in range(3)]
    assert [restart for _, _, restart in seen] == [True, False, True]
    assert [inputs.tolist() for inputs, _, _ in seen[:2]] == [[[0, 1, 2], [6, 7, 8]], [[3, 4, 5], [9, 10, 11]]]
    assert all(torch.equal(targets, inputs + 1) for inputs, targets, _ in seen)


@pytest.mark.slow
def test_a_cell_learns_as_recorded() -> None:
    record = recorded(text_cells)
    if record["versions"]["torch"] != TORCH:
        pytest.skip("recorded with another torch")
    ids, held_out, text = text_cells.text_ids()
    today = text_cells.run("lstm", 10, ids, held_out, len(text.characters))
    then = next(one for one in record["runs"] if (one["cell"], one["seed"]) == ("lstm", 10))
    found = next(one for one in record["summary"] if one["cell"] == "lstm")
    assert abs(today["bits"] - found["bits_mean"]) < 5 * found["bits_sd"]  # training grows the last bit of a processor
    np.testing.assert_allclose(today["curve"][:4], then["curve"][:4], atol=0.02)


# Samples --------------------------------------------------------------------------------------------------------------


def test_measures_of_a_written_text() -> None:
    measure = samples.Measure("the value of an expression is found by reading it.")
    found = measure("the value of an xpression is the value")
    assert found["known"] == 7 / 8
    assert found["distinct"] == 6 / 8
    assert found["copied"] == 0
    assert measure("value of an expressi")["copied"] == 1
    assert measure("value of an expression i?")["copied"] == 5 / 6


def test_rows_are_written_independently_and_measured_by_the_network_itself() -> None:
    torch.manual_seed(0)
    model = CharLM(6, 4, 8)
    how = {"temperature": 1.0, "top_k": 3}
    ids = samples.write_rows(model, 2, 3, 25, 0, how)
    assert ids.shape == (3, 25)
    assert torch.equal(ids, samples.write_rows(model, 2, 3, 25, 0, how))
    assert len({tuple(row) for row in ids.tolist()}) == 3
    greedy = samples.write_rows(model, 2, 2, 10, 0, {"temperature": 0.0, "top_k": None})
    assert greedy[0].tolist() == greedy[1].tolist() == char_lm.write(model, torch.tensor([2]), 10, 5, 0.0)
    state, nats = None, 0.0
    for before, after in zip([2, *ids[1].tolist()], ids[1].tolist(), strict=False):
        logits, state = model(torch.tensor([[before]]), state)
        nats -= torch.log_softmax(logits[0, 0], 0)[after].item()
    assert samples.own_bits(model, 2, ids)[1] == pytest.approx(nats / 25 / math.log(2), rel=1e-4)


def test_recorded_samples() -> None:
    record = recorded(samples)
    assert [stage["updates"] for stage in record["stages"]] == [*samples.STAGES, record["settings"]["updates"]]
    falling = [stage["bits"] for stage in record["stages"]]
    assert falling == sorted(falling, reverse=True)
    assert {key: record["settings"][key] for key in vars(Settings())} == vars(Settings(seed=samples.SEEDS[0]))
    written = [*(stage["text"] for stage in record["stages"]), *record["shown"].values()]
    assert {len(one) for one in written} == {record["settings"]["shown"]}
    assert record["stages"][-1]["text"] == record["shown"]["temperature 1"]
    for name, found in record["summary"].items():
        for key, (middle, spread) in found.items():
            values = [one["measures"][name][key] for one in record["runs"]]
            assert (middle, spread) == (round(mean(values), 3), round(stdev(values), 3))


def test_what_samples_show() -> None:
    record = recorded(samples)
    bits = {stage["updates"]: stage["bits"] for stage in record["stages"]}
    assert abs(bits[0] - math.log2(51)) < 0.3
    assert bits[0] > bits[50] + 0.3 > bits[200] + 0.6 > bits[1500] + 0.9
    cold, cool, one, hot = (record["summary"][f"temperature {t}"] for t in ("0.3", "0.7", "1", "1.5"))
    for less, more in ((cold, cool), (cool, one), (one, hot)):
        assert less["known"][0] > more["known"][0]
        assert less["distinct"][0] < more["distinct"][0]
        assert less["bits"][0] < more["bits"][0]
    assert one["known"][0] > 0.6
    assert cold["known"][0] > max(one["known"][0], record["held_out"]["known"]) + 0.05
    assert cold["distinct"][0] < record["held_out"]["distinct"] - 0.05
    assert record["summary"]["top-k 5"]["known"][0] > one["known"][0] + 0.05


@pytest.mark.slow
def test_the_first_stages_are_those_of_today() -> None:
    record, text = recorded(samples), python_docs()
    if record["versions"]["torch"] != TORCH:
        pytest.skip("recorded with another torch")
    held_out = torch.from_numpy(text.ids(text.held_out))
    settings = Settings(seed=samples.SEEDS[0])
    training = char_lm.Training(settings, len(text.characters), torch.from_numpy(text.ids(text.train)))
    for stage in record["stages"][:3]:  # up to 50 updates: later, processors differ
        while training.update < stage["updates"]:
            training.step()
        assert char_lm.bits(training.model, held_out) == pytest.approx(stage["bits"], abs=0.02)
    assert held_out.shape[0] > 20_000


# Units ----------------------------------------------------------------------------------------------------------------


def test_the_quantities_of_the_three_texts() -> None:
    text, marks = units.brackets(3000, random.Random(0))
    depth = np.cumsum([{"(": 1, ")": -1}.get(character, 0) for character in text])
    np.testing.assert_array_equal(marks, depth)
    assert (marks.min(), marks.max()) == (0, 6)
    text, marks = units.quotes(3000, random.Random(0))
    np.testing.assert_array_equal(marks, np.cumsum([character == '"' for character in text]) % 2)
    assert all(mark == (character == "_") for character, mark in zip(text, marks, strict=True) if character in " _")
    text, marks = units.lines(3000, random.Random(0))
    assert [text[i] == "\n" for i in range(3000)] == [mark == 0 for mark in marks]
    assert {len(line) for line in text.split("\n")[:-1]} == {20}
    assert text != units.lines(3000, random.Random(1))[0]


def test_correlations_and_the_choice_of_a_unit() -> None:
    rng = np.random.default_rng(0)
    marks, noise = rng.normal(size=200), rng.normal(size=(200, 3))
    columns = np.c_[noise, -2 * marks + 1, np.ones(200)]
    found = units.correlations(columns, marks)
    for column in range(4):
        assert found[column] == pytest.approx(np.corrcoef(columns[:, column], marks)[0, 1], abs=1e-12)
    assert found[4] == 0
    assert units.best(columns, marks) == (3, pytest.approx(1))
    late = np.c_[np.r_[marks[:100], noise[100:, 0]], noise[:, 1]]  # a unit that tracks on the first half only
    unit, r = units.best(late, marks)
    assert unit == 0
    assert r < 0.3
    assert units.readout(noise[:, :1] * [1, 0] + np.c_[0 * marks, marks], marks) == pytest.approx(1, abs=1e-3)


def test_states_are_those_of_one_pass() -> None:
    torch.manual_seed(0)
    model, ids = units.Network(4, 5), torch.randint(0, 4, (30,))
    h, c = units.states(model, ids)
    assert h.shape == c.shape == (30, 5)
    one_hot = torch.nn.functional.one_hot(ids, 4).float()[None]
    whole, (_, last) = model.rnn(one_hot)
    np.testing.assert_allclose(h, whole[0].detach().numpy(), atol=1e-6)
    np.testing.assert_allclose(c[-1], last[0, 0].detach().numpy(), atol=1e-6)


def test_recorded_units_and_the_untrained_control() -> None:
    record = recorded(units)
    for name, found in record["summary"].items():
        runs = [one for one in record["runs"] if one["text"] == name]
        assert [one["seed"] for one in runs] == record["seeds"]
        assert found == units.summary(runs)
        assert (
            max(one["untrained"]["best_c"] for one in runs)
            < 0.65
            < 0.85
            < min(one["trained"]["best_c"] for one in runs)
        )
        assert all(one["untrained"]["many"] == 0 and one["trained"]["many"] > 5 for one in runs)
        assert all(one["trained"]["readout"] > one["trained"]["best_c"] for one in runs)
        example = record["examples"]["texts"][name]
        assert {len(values) for values in example.values()} == {units.EXAMPLE}
        shown = {key: np.array(example[key]) for key in ("quantity", "trained", "untrained")}
        assert np.corrcoef(shown["trained"], shown["quantity"])[0, 1] > 0.8
    assert record["settings"]["many_above"] == 0.7
    assert record["summary"]["lines"]["untrained_readout"][0] > 0.8


def test_untrained_units_are_those_recorded() -> None:
    """Before training nothing amplifies a difference in the last bit."""
    record = recorded(units)
    if record["versions"]["torch"] != TORCH:
        pytest.skip("recorded with another torch")
    text, marks = units.brackets(units.SETTINGS["read"], random.Random(units.READ_SEED))
    torch.manual_seed(10)
    model = units.Network(6, units.SETTINGS["hidden_size"])
    today, best = units.measure(model, units.to_ids(text, "()abcd"), marks)
    then = next(run for run in record["runs"] if run["text"] == "brackets" and run["seed"] == 10)
    for key in ("best_c", "second_c", "best_h", "readout"):
        assert today[key] == pytest.approx(then["untrained"][key], abs=0.005)
    shown = record["examples"]["texts"]["brackets"]
    half = len(text) // 2
    assert shown["characters"] == text[half : half + units.EXAMPLE]
    np.testing.assert_allclose(shown["untrained"], best[half : half + units.EXAMPLE], rtol=0.02, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("name", units.TEXTS)
def test_a_trained_unit_tracks_as_recorded(name: str) -> None:
    record = recorded(units)
    one, _ = units.run(name, 11)
    then = next(run for run in record["runs"] if run["text"] == name and run["seed"] == 11)
    assert one["bits"] == pytest.approx(then["bits"], abs=0.02)
    assert one["trained"]["best_c"] > one["untrained"]["best_c"] + 0.2

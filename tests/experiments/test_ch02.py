"""The experiments of chapter 02: their functions, and what they recorded, which the pages say."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.ch02 import char_rnn, cost, loop, short_runs, steps, truncation
from experiments.ngrams import WittenBell
from experiments.text import python_docs
from solutions.ch01_vanilla_rnn.recurrence import rnn_forward
from solutions.ch02_bptt.truncated import truncated_bptt

BITS = 1 / np.log(2)
docs = cache(python_docs)


def recorded(module: Any) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(Path(module.RESULTS_FILE).read_text("utf-8"))
    return record


@pytest.mark.parametrize("module", [cost, short_runs, steps], ids=lambda module: module.__name__)
def test_a_record_has_settings_versions_and_its_command(module: Any) -> None:
    record = recorded(module)
    assert record["command"].endswith(f"python -m {module.__name__} --record")
    assert record["settings"] == module.SETTINGS
    assert record["versions"]["numpy"]
    assert Path(module.RESULTS_FILE).stat().st_size < 20_000
    if "seeds" in record:
        assert record["seeds"] == list(module.SEEDS)
        assert len(set(record["seeds"])) >= 5


# Thirty seconds -------------------------------------------------------------------------------------------------------


def test_the_5_gram_beats_every_network_and_every_network_beats_the_trigram() -> None:
    record = recorded(char_rnn)
    ends = [run["bits"] for run in record["runs"]]
    assert len(ends) >= 5
    assert record["counted"]["5"] < min(ends) - 0.05
    assert max(ends) < record["counted"]["3"] - 0.05
    assert np.mean([run["train_bits"] for run in record["runs"]]) < np.mean(ends) - 0.05


def test_the_counted_bits_are_those_of_today() -> None:
    text = docs()
    ids, held_out = text.ids(text.train), text.ids(text.held_out)
    trigram = WittenBell(ids, 3, len(text.characters))
    assert trigram.bits(held_out) == pytest.approx(recorded(char_rnn)["counted"]["3"], abs=1e-3)
    assert trigram.bits(held_out[:10_000]) == pytest.approx(recorded(short_runs)["counted_first_10000"]["3"], abs=1e-3)


def test_on_its_own_training_text_a_5_gram_does_better() -> None:
    """An answer of the page's quiz."""
    text = docs()
    ids = text.ids(text.train)
    assert WittenBell(ids, 5, len(text.characters)).bits(ids[:20_000]) < recorded(char_rnn)["counted"]["5"] - 0.1


# Short trainings ------------------------------------------------------------------------------------------------------


def test_the_pages_loop_trains_as_the_experiments_do() -> None:
    """The first losses of both, and the recorded ones. Later, rounding errors grow."""
    text = docs()
    ids, how = text.ids(text.train), short_runs.SETTINGS["loop"]
    first = recorded(short_runs)["loop"][0]["first_losses"]
    networks = [char_rnn.initial(len(text.characters), how["hidden_size"], np.random.default_rng(0)) for _ in range(2)]
    assert loop.train(ids, networks[0], how["lr"], 4)[0] == pytest.approx(first, abs=1e-4)
    assert char_rnn.train(ids, networks[1], how["lr"], lambda done: done == 4) == pytest.approx(first, abs=1e-4)


def test_the_settings_of_the_loop_are_those_of_its_code() -> None:
    text, how = docs(), short_runs.SETTINGS["loop"]
    asked: dict[str, Any] = {}

    def train(ids: np.ndarray, params: char_rnn.Params, **given: Any) -> tuple[np.ndarray, np.ndarray]:
        asked.update(given, hidden_size=len(params["b_h"]))
        return np.zeros(0), np.zeros(0)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(short_runs, "train", train)
        short_runs.trained(0, text)
    assert asked == {"lr": how["lr"], "num_updates": how["updates"], "hidden_size": how["hidden_size"]}
    assert (how["batch"], how["chunk"]) == (16, 25), "the defaults of the loop"


def test_after_800_updates_all_networks_are_between_the_bigram_and_the_trigram() -> None:
    counted = recorded(char_rnn)["counted"]
    runs = recorded(short_runs)["loop"]
    assert [run["seed"] for run in runs] == list(short_runs.SEEDS)
    assert all(counted["3"] + 0.1 < run["bits"] < counted["2"] - 0.1 for run in runs)


def test_the_state_passed_on_is_stale_but_costs_next_to_nothing() -> None:
    stale = [run["stale"] for run in recorded(short_runs)["loop"]]
    assert all(one["read"] > 1000 for one in stale)
    assert min(one["state"] for one in stale) > 0.05
    assert np.median([one["state"] for one in stale]) < 0.15
    assert max(one["bits"] for one in stale) < 0.005


def test_a_state_of_the_same_weights_is_not_stale() -> None:
    rng = np.random.default_rng(0)
    ids, updates = rng.integers(0, 7, 16 * 200 + 1), 5
    network = char_rnn.initial(7, 6, rng)
    rows = ids[:-1].reshape(16, 200)
    right = char_rnn.states(network, rows[:, : 25 * updates], np.zeros((16, 6)))[:, -1]
    found = short_runs.stale(network, right, ids, updates)
    assert found["read"] == 125
    assert max(found["state"], found["bits"]) < 1e-12
    assert short_runs.stale(network, right * 1.1, ids, updates)["state"] == pytest.approx(0.1, abs=1e-9)


def test_the_bugs_of_the_museum_are_ordered_and_all_networks_learn() -> None:
    runs = recorded(short_runs)["museum"]
    end = {bug: np.array([run["end"] for run in runs if run["bug"] == bug]) for bug in short_runs.MUSEUM}
    assert all(len(found) == len(short_runs.SEEDS) for found in end.values())
    right, rows, accumulation, pre = (
        end[bug] for bug in ("none", "assigned rows", "no accumulation", "pre-activation squared")
    )
    assert (rows > right + 0.05).all(), "the same seed: the same initial weights"
    assert (accumulation > rows + 0.2).all()
    assert (pre > accumulation + 0.2).all()
    assert np.median(rows) - np.median(right) < 0.25
    assert all(run["end"] < run["start"] - 1 for run in runs)


def test_which_gradients_the_two_bugs_of_hello_make_wrong() -> None:
    start, ids = char_rnn.initial(4, 16, np.random.default_rng(0)), short_runs.HELLO
    h_0 = np.full((1, 16), 0.1)
    _, right, _ = char_rnn.loss_and_grads(start, ids[None, :-1], ids[None, 1:], h_0)
    wrong = {}
    for bug in short_runs.SPELLED:
        _, found, _ = short_runs.grads_with(bug, start, ids[:-1], ids[1:], h_0)
        wrong[bug] = [name for name in right if not np.allclose(found[name], right[name])]
    assert wrong == {"none": [], "no transpose": ["W_xh", "W_hh", "b_h"], "set": ["W_hh"]}


def test_hello_is_spelled_with_both_bugs() -> None:
    spelled = recorded(short_runs)["spelled"]
    assert tuple(spelled) == short_runs.SPELLED
    assert all(spelled["none"])
    assert all(sum(found) >= 4 for found in spelled.values())


def test_the_loop_needs_the_memory_of_one_chunk() -> None:
    found = recorded(short_runs)["megabytes"]
    assert found["in chunks"] < 1.1 * found["half in chunks"]
    assert found["as one"] > 10 * found["in chunks"]


# Costs ----------------------------------------------------------------------------------------------------------------


def test_time_and_memory_grow_with_the_length() -> None:
    record = recorded(cost)
    assert record["lengths"] == list(cost.LENGTHS)
    assert record["processor"]
    longer = cost.LENGTHS[-1] / cost.LENGTHS[1]
    for name in ("both_ms", "whole_megabytes"):
        assert 0.6 * longer < record[name][-1] / record[name][1] < 1.6 * longer
    assert record["chunked_megabytes"][-1] < 1.5 * record["chunked_megabytes"][0]


def test_the_gradient_in_chunks_is_the_truncated_gradient() -> None:
    x, h_0, weights = cost.drawn(100)
    h = rnn_forward(x, h_0, *weights)
    for tau in (32, 100):
        at_once = truncated_bptt(h, x, h_0, h, *weights[:2], tau=tau)
        for ours, theirs in zip(cost.in_chunks(x, h_0, weights, tau), at_once, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)
    for ours, theirs in zip(cost.forward_and_backward(x, h_0, weights), at_once, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)


def test_peak_memory_is_that_of_the_arrays() -> None:
    found = cost.peak_megabytes(lambda: np.zeros(1_000_000).sum() + np.zeros(500_000).sum())
    assert 8 <= found < 8.5, "one after the other"


# Steps ----------------------------------------------------------------------------------------------------------------


def test_both_curves_are_vs_with_their_minimum_where_the_page_says() -> None:
    record = recorded(steps)
    tried = np.array(record["steps"])
    double, single = (np.array(record["errors"][dtype]["median"]) for dtype in steps.DTYPES)
    assert 1e-6 < tried[double.argmin()] < 1e-3 < tried[single.argmin()] < 1e-1
    assert double.min() < 1e-8
    assert 1e-5 < single.min() < 1e-2
    assert (single[tried < 0.9e-8] == 1).all(), "both losses are equal"
    right = np.log10(double[-2] / double[-6]) / np.log10(tried[-2] / tried[-6])
    left = np.log10(double[8] / double[0]) / np.log10(tried[8] / tried[0])
    assert 1.7 < right < 2.3
    assert -1.3 < left < -0.7
    usual = np.abs(np.log10(tried) + 5).argmin()
    assert double[usual] < 1e-9 < 1e-3 < single[usual]


def test_the_errors_of_long_and_of_tiny_steps_are_those_of_today() -> None:
    """They have nothing to do with rounding; between them, rounding errors have other digits on other processors."""
    record = recorded(steps)
    double = np.median([steps.errors_by_step(seed, "float64") for seed in steps.SEEDS], axis=0)
    long = steps.STEPS > 0.9e-3
    assert long.sum() >= 6
    np.testing.assert_allclose(double[long], np.array(record["errors"]["float64"]["median"])[long], rtol=0.1)
    short = double[steps.STEPS < 1e-7]
    assert ((short > 1e-9) & (short < 1e-2)).all()
    assert steps.errors_by_step(0, "float32")[0] == 1


# Truncated and full gradients -----------------------------------------------------------------------------------------


def test_what_the_page_says_of_the_cosines() -> None:
    record = recorded(truncation)
    assert truncation.TRAININGS["truncated"] == {"batch": 16, "chunk": 25, "carry": 1}
    assert truncation.TRAININGS["full"] == {"batch": 4, "chunk": 100, "carry": 0}
    runs, at_20 = record["runs"], truncation.TAUS.index(20)
    assert record["taus"] == list(truncation.TAUS)
    assert len({how["batch"] * how["chunk"] for how in truncation.TRAININGS.values()}) == 1

    def found(training: str, radius: float, key: str) -> np.ndarray:
        return np.array([run[key] for run in runs if (run["training"], run["radius"]) == (training, radius)])

    small, larger = truncation.RADII
    for training in truncation.TRAININGS:
        assert np.allclose(found(training, small, "trained")[:, -1], 1)
        before, after = (found(training, small, key).mean(axis=0) for key in ("untrained", "trained"))
        assert (before > after)[:-1].all()
        before, after = (found(training, larger, key).mean(axis=0) for key in ("untrained", "trained"))
        assert (before < after)[:-1].all()
    assert min(run["trained"][at_20] for run in runs) > 0.97
    most = max(run["held_out_bits"] for run in runs if run["training"] == "truncated")
    comparable = [run for run in runs if run["training"] == "full" and run["held_out_bits"] <= most]
    assert len(comparable) >= 3
    assert min(run["trained"][at_20] for run in comparable) > 0.97


# Slow -----------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_part_of_the_short_trainings_is_found_again() -> None:
    """CPUs differ in the last bit, and training grows it."""
    text = docs()
    again = short_runs.loop_run(0, text)
    counted = recorded(char_rnn)["counted"]
    assert counted["3"] < again["bits"] < counted["2"] + 0.2
    ids, V = text.ids(text.train), len(text.characters)
    once = next(run for run in recorded(short_runs)["museum"] if (run["bug"], run["seed"]) == ("none", 0))
    museum = {bug: short_runs.museum_run(bug, 0, ids, V) for bug in ("none", "pre-activation squared")}
    assert museum["none"]["start"] == pytest.approx(once["start"], abs=1e-3)
    assert museum["none"]["end"] == pytest.approx(once["end"], abs=0.3)
    assert museum["pre-activation squared"]["end"] > museum["none"]["end"] + 0.3
    assert short_runs.spells_hello("none", 0)


@pytest.mark.slow
def test_the_museums_curve_begins_as_recorded() -> None:
    text = docs()
    once = recorded(short_runs)["museum"][0]
    how = short_runs.SETTINGS["museum"]
    params = char_rnn.initial(len(text.characters), how["hidden_size"], np.random.default_rng(once["seed"]))
    losses = char_rnn.train(text.ids(text.train), params, how["lr"], lambda done: done == 10)
    assert np.mean(losses) * BITS == pytest.approx(once["curve"][0], abs=5e-3)

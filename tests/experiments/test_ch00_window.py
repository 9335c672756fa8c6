"""The fixed-window language model of chapter 00: its functions, and what it recorded."""

from __future__ import annotations

import json
import math
from statistics import mean, stdev
from typing import Any

import pytest
import torch

from experiments.ch00 import window
from experiments.ngrams import WittenBell
from experiments.text import python_docs

TORCH = torch.__version__.partition("+")[0]


def recorded() -> dict[str, Any]:
    record: dict[str, Any] = json.loads(window.RESULTS_FILE.read_text("utf-8"))
    return record


# The record -----------------------------------------------------------------------------------------------------------


def test_the_record_has_settings_seeds_versions_text_and_its_command() -> None:
    record = recorded()
    assert record["command"] == "python -m experiments.ch00.window --record"
    assert {key: record["settings"][key] for key in window.SETTINGS} == window.SETTINGS
    assert record["seeds"] == list(window.SEEDS)
    assert len(set(record["seeds"])) == 5
    assert set(record["versions"]) == {"torch"}
    assert record["text"]["sha256"][:12] in record["text"]["label"]
    assert window.RESULTS_FILE.stat().st_size < 20_000


def test_every_window_was_run_with_every_seed_and_the_summary_follows() -> None:
    record = recorded()
    assert [(one["window"], one["seed"]) for one in record["runs"]] == [
        (n, seed) for n in window.WINDOWS for seed in window.SEEDS
    ]
    assert record["summary"] == window.summary(record["runs"], record["text"]["characters"])
    for found in record["summary"]:
        bits = [one["bits"] for one in record["runs"] if one["window"] == found["window"]]
        assert found["bits"] == [round(mean(bits), 3), round(stdev(bits), 3)]
    shown = [one for one in record["runs"] if "nearest" in one]
    assert [(one["window"], one["seed"]) for one in shown] == [(window.SHOWN_WINDOW, seed) for seed in window.SEEDS]
    uniform = math.log(record["text"]["characters"])
    assert all(abs(one["losses"][0] - uniform) < 0.2 for one in record["runs"])


def test_the_learning_rate_was_chosen_on_the_dev_part() -> None:
    record = recorded()
    assert window.CHOICE_SEED not in record["seeds"]
    for n in window.CHOICE_WINDOWS:
        tried = {one["lr"]: one["dev_bits"] for one in record["choice"] if one["window"] == n}
        assert tuple(tried) == window.RATES
        assert tried[window.SETTINGS["lr"]] == min(tried.values())


def test_the_counted_bits_are_those_of_today() -> None:
    text = python_docs()
    ids, held_out = text.ids(text.train).tolist(), text.ids(text.held_out).tolist()
    model = WittenBell(ids, 2, len(text.characters))
    assert model.bits(held_out) == pytest.approx(recorded()["counted"]["2"], abs=1e-4)
    assert recorded()["counted"]["0"] == pytest.approx(math.log2(len(text.characters)), abs=1e-4)


def test_what_the_pages_say_of_the_record() -> None:
    """The best window is 4; longer windows fit the training text better and the held-out text worse."""
    record = recorded()
    bits = {one["window"]: one["bits"][0] for one in record["summary"]}
    train = {one["window"]: one["train_bits"][0] for one in record["summary"]}
    assert bits[2] > bits[16] > bits[8] > bits[4] > record["counted"]["5"] + 0.05
    assert train[2] > train[4] > train[8] > train[16]
    for longer, shorter in ((8, 4), (16, 8)):
        of = {n: [one["bits"] for one in record["runs"] if one["window"] == n] for n in (longer, shorter)}
        assert min(of[longer]) > max(of[shorter])
    assert record["counted"]["6"] > record["counted"]["5"]


def test_a_few_updates_are_enough_to_be_better_than_the_trigram() -> None:
    record = recorded()
    assert [(one["seed"], one["updates"]) for one in record["short"]] == [
        (seed, window.SHORT_UPDATES) for seed in window.SEEDS
    ]
    assert max(one["bits"] for one in record["short"]) < record["counted"]["3"] - 0.03


def test_vowels_are_hardly_nearer_to_vowels_and_many_neighbours_are_those_of_the_start() -> None:
    shown = [one for one in recorded()["runs"] if "nearest" in one]
    places = [window.LETTERS.index(vowel) for vowel in "aeiou"]
    hits = sum(one["nearest"][place] in "aeiou" for one in shown for place in places)
    assert 25 * 4 / 25 <= hits <= 8
    same = [a == b for one in shown for a, b in zip(one["nearest_at_start"], one["nearest"], strict=True)]
    assert len(same) == 5 * 26
    assert sum(same) > 8 * len(same) / 25, "eight times as many as at random"
    assert sum(same) > len(same) / 3


# Its functions --------------------------------------------------------------------------------------------------------


def test_the_parameters_are_those_of_the_layers() -> None:
    for n in window.WINDOWS:
        model = window.Window(n, 51, window.SETTINGS["embed_size"], window.SETTINGS["hidden_size"])
        assert sum(one.numel() for one in model.parameters()) == window.parameters(n, 51)


def test_windows_slide_by_one_and_start_with_zeros() -> None:
    inputs, targets = window.windows(torch.tensor([5, 6, 7, 8]), 3)
    assert inputs.tolist() == [[0, 0, 5], [0, 5, 6], [5, 6, 7]]
    assert targets.tolist() == [6, 7, 8]


def test_the_bits_are_the_mean_over_all_windows_one_at_a_time() -> None:
    torch.manual_seed(0)
    model, ids = window.Window(3, 7, 2, 4), torch.randint(0, 7, (5000,))
    inputs, targets = window.windows(ids, 3)
    log_p = torch.log_softmax(model(inputs).double(), dim=1)
    one = -sum(log_p[i, int(target)].item() for i, target in enumerate(targets)) / len(targets) / math.log(2)
    assert window.bits(model, ids, 3) == pytest.approx(one, rel=1e-5)


def test_the_nearest_letter_is_that_of_the_largest_cosine() -> None:
    torch.manual_seed(0)
    model, ids = window.Window(2, 30, 3, 4), torch.arange(26) + 2
    E = [row / row.norm() for row in model.embedding.weight.detach().double()[2:28]]
    for i, letter in enumerate(window.nearest(model, ids)):
        others = {window.LETTERS[j]: float(E[i] @ E[j]) for j in range(26) if j != i}
        assert letter == max(others, key=lambda one: others[one])


def test_training_starts_near_uniform_and_repeats_with_its_seed() -> None:
    ids = torch.arange(600) % 5
    model, losses = window.train(ids, 2, 5, 0, 5e-3, 40)
    again = window.train(ids, 2, 5, 0, 5e-3, 40)[1]
    assert losses == again
    assert abs(losses[0] - math.log(5)) < 0.5
    assert window.bits(model, ids, 2) < 0.1


# Slow -----------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_part_of_the_record_is_found_again() -> None:
    record = recorded()
    if record["versions"]["torch"] != TORCH:
        pytest.skip("recorded with another torch")
    once = next(one for one in record["runs"] if (one["window"], one["seed"]) == (4, 10))
    again = window.run(4, 10)
    assert again["losses"] == pytest.approx(once["losses"], abs=1e-3)
    assert again["nearest_at_start"] == once["nearest_at_start"]
    assert again["bits"] == pytest.approx(once["bits"], abs=0.05)  # CPUs differ in the last bit, and training grows it
    assert window.short_run(10)["bits"] == pytest.approx(record["short"][0]["bits"], abs=0.05)

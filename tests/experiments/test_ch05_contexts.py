"""The experiment on contexts of chapter 05: its parts, and what it recorded."""

from __future__ import annotations

import itertools
import json
from statistics import mean, stdev
from typing import Any

import pytest
import torch

from experiments.ch05 import contexts
from experiments.ch05.contexts import LOOK_AT, SEEDS, SETTINGS, VARIANTS, WIDER
from experiments.ch05.model import Translator


def recorded() -> dict[str, Any]:
    record: dict[str, Any] = json.loads(contexts.RESULTS_FILE.read_text("utf-8"))
    return record


def test_the_record_has_settings_seeds_versions_and_its_command() -> None:
    record = recorded()
    assert record["command"] == "python -m experiments.ch05.contexts --record"
    assert record["seeds"] == list(SEEDS)
    assert len(set(SEEDS)) == 5
    assert {key: record["settings"][key] for key in SETTINGS} == SETTINGS
    assert record["look_at"] == {str(train): list(updates) for train, updates in LOOK_AT.items()}
    assert set(record["versions"]) == {"torch", "num2words"}
    assert contexts.RESULTS_FILE.stat().st_size < 60_000


def test_every_variant_was_run_with_every_seed() -> None:
    runs = [(one["train"], (one["context"], one["way"]), one["seed"]) for one in recorded()["runs"]]
    assert runs == list(itertools.product(LOOK_AT, VARIANTS, SEEDS))


def test_the_summary_follows_from_the_runs() -> None:
    record = recorded()
    assert record["summary"] == contexts.summary(record["runs"])
    one = record["summary"][0]
    last = [found["exact"][-1] for found in record["runs"][: len(SEEDS)]]
    assert (one["mean"][-1], one["sd"][-1]) == (round(mean(last), 1), round(stdev(last), 1))


def test_the_control_has_about_as_many_weights() -> None:
    weights = {(one["context"], one["way"]): one["weights"] for one in recorded()["runs"]}
    assert weights["final", "every step"] == weights["mean", "every step"] == weights["max", "every step"]
    assert weights["final", "initial state"] < 0.8 * weights["final", "every step"]
    assert abs(weights["final", WIDER] / weights["final", "every step"] - 1) < 0.01


def test_the_way_decides_what_the_decoder_reads() -> None:
    D, H = int(SETTINGS["embed_size"]), int(SETTINGS["hidden_size"])
    for context, way in VARIANTS:
        settings = contexts.settings_of(context, way, 0, 1)
        model = Translator(9, 8, settings)
        assert settings.context == context
        assert model.decoder.input_size == D + H * (way == "every step")
        assert model.decoder.hidden_size == (SETTINGS["wider_hidden_size"] if way == WIDER else H)


def test_a_run_is_reproducible() -> None:
    first, second = (contexts.run(300, "mean", "every step", 7, look_at=(1, 2)) for _ in range(2))
    assert first["loss"] == second["loss"]
    assert first["exact"] == second["exact"] == [0.0, 0.0]


@pytest.mark.slow
def test_a_part_of_the_record_is_found_again() -> None:
    """After 200 updates, one network of two kinds: on another CPU a few numbers may come out differently."""
    for way, tolerance in (("initial state", 15), ("every step", 2)):
        (once,) = [
            one for one in recorded()["runs"]
            if (one["train"], one["context"], one["way"], one["seed"]) == (8000, "final", way, SEEDS[0])
        ]  # fmt: skip
        again = contexts.run(8000, "final", way, SEEDS[0], look_at=(200,))
        if torch.__version__.partition("+")[0] == recorded()["versions"]["torch"]:
            assert again["exact"][-1] == pytest.approx(once["exact"][1], abs=tolerance)

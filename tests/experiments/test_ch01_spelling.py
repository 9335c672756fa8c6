"""Networks that learn to spell, with and without mistakes: the code, and what was recorded."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from experiments.ch01 import spelling
from experiments.ch01.hello import load_weights

BIGRAM = math.log(2) / 2  # nats per letter of the best table of pairs


def recorded() -> dict[str, Any]:
    record: dict[str, Any] = json.loads(spelling.RESULTS_FILE.read_text("utf-8"))
    return record


def runs_of(mistake: str) -> list[dict[str, Any]]:
    return [run for run in recorded()["runs"] if run["mistake"] == mistake]


def losses_of(mistake: str) -> np.ndarray:
    """(seeds, updates)."""
    return np.array([run["losses"] for run in runs_of(mistake)])


def test_the_record_has_settings_seeds_versions_and_its_command() -> None:
    record = recorded()
    assert record["command"] == "python -m experiments.ch01.spelling --record"
    assert {key: record["settings"][key] for key in spelling.SETTINGS} == spelling.SETTINGS
    assert set(record["versions"]) == {"torch"}
    assert [(run["mistake"], run["seed"]) for run in record["runs"]] == [
        (mistake, seed) for mistake in spelling.MISTAKES for seed in spelling.SEEDS
    ]
    assert losses_of("none").shape == (8, 200)
    assert spelling.RESULTS_FILE.stat().st_size < 40_000


def test_all_networks_learn_to_use_their_state() -> None:
    losses = losses_of("none")
    assert np.abs(losses[:, 0] - math.log(4)).max() < 0.5
    assert losses[:, 30].max() < BIGRAM, "below the best bigram within thirty updates"
    assert losses[:, -1].max() < 0.005
    assert all(run["text"].startswith("hello") for run in runs_of("none"))
    assert min(run["gap"] for run in runs_of("none")) > 1


def test_without_its_state_a_network_is_no_better_than_a_bigram() -> None:
    losses = losses_of("reset")
    assert losses.min() > BIGRAM - 1e-3
    assert losses[:, -1].max() < BIGRAM + 0.01
    for run in runs_of("reset"):
        successors = dict(zip(run["text"], run["text"][1:], strict=False))
        assert all(successors[a] == b for a, b in zip(run["text"], run["text"][1:], strict=False))


def test_a_softmax_over_the_batch_costs_nothing_and_teaches_nothing() -> None:
    assert (losses_of("axis") == 0).all()
    assert not any(run["text"].startswith("hello") for run in runs_of("axis"))


def test_without_its_own_letters_a_trained_network_does_not_spell() -> None:
    assert not any(run["text"].startswith("hello") for run in runs_of("feed"))


def test_the_mistaken_training_without_a_mistake_is_the_training() -> None:
    losses, same = spelling.train(3, 5)[2], spelling.train_with("feed", 3, 5)[2]
    assert losses == pytest.approx(same, abs=1e-4)
    assert losses == pytest.approx(losses_of("none")[3, :5], abs=6e-3)
    other = spelling.train_with("reset", 3, 5)[2]
    assert max(abs(a - b) for a, b in zip(losses, other, strict=True)) > 1e-3


def test_a_wrong_softmax_gives_no_gradient() -> None:
    before, after = (spelling.weights_of(*spelling.train_with("axis", 0, updates)[:2]) for updates in (0, 3))
    for name, weight in before.items():
        np.testing.assert_allclose(after[name], weight, rtol=0, atol=1e-6)


def test_what_the_network_by_hand_writes() -> None:
    weights = load_weights()
    assert spelling.written("none", weights, 4) == "hello"
    assert spelling.written("reset", weights, 4) != "hello"
    fed = spelling.written("feed", weights, 3)
    states = spelling.states(weights, spelling.one_hot[[0, 0, 0]])
    expected = (states @ weights["W_hy"] + weights["b_y"]).argmax(axis=1)
    assert fed == "h" + "".join("helo"[i] for i in expected)


@pytest.mark.slow
def test_a_part_of_the_record_is_found_again() -> None:
    for mistake in ("none", "reset"):
        once, again = runs_of(mistake)[0], spelling.run(mistake, 0)
        assert again["losses"][:30] == pytest.approx(once["losses"][:30], rel=0.02)
        assert again["losses"][-1] == pytest.approx(once["losses"][-1], rel=0.2)
        assert again["text"][:5] == once["text"][:5]

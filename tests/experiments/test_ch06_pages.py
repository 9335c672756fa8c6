"""The small runs that chapter 06's pages show: what was recorded of them, and their first updates."""

from __future__ import annotations

import json
from statistics import mean
from typing import Any

import numpy as np
import pytest
import torch

from experiments.ch06 import looks_back, museum, pages

FRENCH = ["ma", "voiture", "rouge", "suit", "deux", "petits", "chats"]
ALIGNMENT = [0, 2, 1, 3, 4, 5, 6]


def recorded() -> dict[str, Any]:
    record: dict[str, Any] = json.loads(pages.RESULTS_FILE.read_text("utf-8"))
    return record


def test_the_record_has_settings_seeds_versions_and_its_command() -> None:
    record = recorded()
    assert record["command"] == "python -m experiments.ch06.pages --record"
    settings = {"optimizer": "Adam", **looks_back.SENTENCES, "updates": 300, "batch": 64, "lr": 0.01}
    assert record["settings"] == settings
    assert record["versions"].keys() == {"torch"}
    assert [one["seed"] for one in record["runs"]] == list(pages.SEEDS)
    assert record["reversing"]["seed"] == museum.SEEDS[0]


def test_the_sentence_was_not_in_training() -> None:
    groups, _, _ = looks_back.data()
    known = [english for group in groups for english, _ in group]
    assert recorded()["sentence"] == pages.SENTENCE
    assert pages.SENTENCE not in known
    assert len(known) == 5 * looks_back.SENTENCES["each"]


def test_all_networks_translate_the_sentence_and_look_at_the_right_words() -> None:
    for one in recorded()["runs"]:
        assert [french for french, _, _ in one["rows"]] == FRENCH
        assert [english for _, _, english in one["rows"]] == [pages.SENTENCE[j] for j in ALIGNMENT]
        assert min(weight for _, weight, _ in one["rows"]) > 0.6
        assert one["loss"] < 0.1


def test_the_reversing_network_reads_backward() -> None:
    """The figure's largest squares, and the smaller ones at the eighth letter."""
    found = recorded()["reversing"]
    ids, weights = found["ids"], np.array(found["weights"])
    assert weights.shape == (museum.LENGTH, 2 * museum.LENGTH)
    assert ids == museum.sequences(1, torch.Generator().manual_seed(pages.LETTERS_SEED))[0].tolist()
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=0.01)
    assert (weights.argmax(axis=1) == np.arange(museum.LENGTH)[::-1]).all()
    assert weights.max(axis=1).min() > 0.5
    assert (weights[1:, museum.LENGTH - 1] > 0.05).sum() > 4


def test_rows_are_words_with_their_largest_weights() -> None:
    model, losses = looks_back.train(0, updates=2)
    assert len(losses) == 2
    groups, english, french = looks_back.data()
    for word, weight, source in looks_back.translate(model.double(), groups[0][0][0]):
        assert word in french.tokens
        assert source in [*english.tokens, "⟨eos⟩"]
        assert 1 / (len(groups[0][0][0]) + 1) <= weight <= 1


@pytest.mark.slow
def test_a_network_that_looks_back_learns_as_recorded() -> None:
    """Its first losses, and a bound for the last ones."""
    model, losses = looks_back.train(0)
    assert losses[:5] == pytest.approx(recorded()["runs"][0]["first_losses"], abs=0.01)
    assert mean(losses[-20:]) < 0.3
    assert len(looks_back.translate(model, pages.SENTENCE)) > 4

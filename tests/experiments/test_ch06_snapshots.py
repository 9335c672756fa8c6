"""The weights of an attention decoder during training: what is computed, and what was recorded."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from experiments.ch05.grammar import by_length
from experiments.ch05.model import fit
from experiments.ch05.phrases import as_pairs
from experiments.ch06 import alignments, snapshots
from experiments.ch06.model import AttentionSettings


def recorded() -> dict[str, Any]:
    record: dict[str, Any] = json.loads(snapshots.RESULTS_FILE.read_text("utf-8"))
    return record


def test_score_gradients_are_those_of_central_differences() -> None:
    """One score at a time is shifted, in float64."""
    phrases = by_length(4, 3, 3)
    settings = AttentionSettings(embed_size=4, hidden_size=6, attention_size=5, updates=3, batch=4)
    fitted = fit(as_pairs(phrases), settings, build=snapshots.Watched)
    model = fitted.model.double()
    weights, push, total = snapshots.score_gradients(fitted, phrases[3])
    assert isinstance(model, snapshots.Watched)
    assert model.kept is None
    _, ids, lengths, read, wanted = alignments.tensors(fitted, phrases[3])

    def loss(b: int, t: int, j: int, shift: float) -> float:
        step = 0

        def attend(query: torch.Tensor, source: Any) -> tuple[torch.Tensor, torch.Tensor]:
            nonlocal step
            _, alpha = type(model).attend(model, query, source)
            scores = alpha.log()
            if step == t:
                scores = scores.clone()
                scores[b, 0, j] += shift
            step += 1
            alpha = torch.softmax(scores, dim=-1)
            return alpha @ source.keys, alpha

        model.attend = attend  # type: ignore[method-assign]
        with torch.no_grad():
            found = cross_entropy(model(ids, lengths, read).flatten(0, 1), wanted.flatten(), reduction="sum").item()
        del model.attend
        return found

    assert loss(0, 0, 0, 0.0) == pytest.approx(total)
    assert weights.shape == push.shape == (4, 4, 4)
    for b, t, j in ((0, 0, 0), (1, 2, 3), (3, 1, 2), (2, 3, 1)):
        slope = (loss(b, t, j, 1e-5) - loss(b, t, j, -1e-5)) / 2e-5
        assert push[b, t, j].item() == pytest.approx(-slope, abs=1e-8)
    np.testing.assert_allclose(push.sum(dim=-1).numpy(), 0, atol=1e-12)


def test_the_record_has_settings_seeds_versions_and_its_command() -> None:
    record = recorded()
    assert record["command"] == "python -m experiments.ch06.snapshots --record"
    assert record["seeds"] == list(snapshots.SEEDS)
    assert {key: record["settings"][key] for key in snapshots.SETTINGS} == snapshots.SETTINGS
    assert record["versions"].keys() == {"torch"}
    assert record["summary"] == snapshots.summary(record["runs"])
    for one in record["runs"]:
        assert [look["after"] for look in one["looks"]] == list(snapshots.AFTER)
        assert all(("weights" in look) == (one["seed"] == 0) for look in one["looks"])


def test_what_the_page_says_of_the_record() -> None:
    for one in recorded()["runs"]:
        looks = {look["after"]: look for look in one["looks"]}
        assert max(looks[0]["aligned"], looks[0]["pushed"], looks[25]["aligned"]) < 20  # guesses
        assert looks[25]["pushed"] > looks[25]["aligned"] + 30  # the gradient knows more than the weights
        assert 25 < looks[75]["aligned"] < 65
        assert looks[300]["aligned"] > 90
    first = {look["after"]: np.array(look["weights"]) for look in recorded()["runs"][0]["looks"]}
    gold = recorded()["sentence"]["alignment"]
    assert np.ptp(first[25][:-1], axis=0).max() < 0.1  # the same before every word
    assert (first[300][:-1].argmax(axis=1) == gold).all()
    places = np.arange(first[75].shape[1])
    means = first[75][:-1] @ places
    assert means[:4].max() < 3 < 6 < means[5:].min()  # roughly at the right part

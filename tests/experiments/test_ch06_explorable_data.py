"""The data of the explorable `attention`: what is recorded, its rounding, and the training of one network."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import torch

from experiments.ch05.grammar import by_length
from experiments.ch05.model import fit
from experiments.ch05.phrases import as_pairs
from experiments.ch06 import explorable_data
from experiments.ch06.model import Attending, AttentionSettings, attention_weights
from solutions.ch06_attention.scores import additive_score, bilinear_score, dot_score


def recorded() -> dict[str, Any]:
    record: dict[str, Any] = json.loads(explorable_data.DATA_FILE.read_text("utf-8"))
    return record


def test_the_record_has_settings_versions_and_its_command() -> None:
    record = recorded()
    assert record["command"] == "python -m experiments.ch06.explorable_data --record"
    settings = {"optimizer": "Adam", "query": "previous", **explorable_data.BASE, **explorable_data.LENGTHS}
    assert record["settings"] == settings
    assert set(record["versions"]) == {"torch"}


def test_shapes() -> None:
    record = recorded()
    S, T, H, A = len(record["source"]), len(record["target"]), 16, 8
    shapes = {"queries": (T, H), "keys": (S, H), "W": (H, H), "W_q": (H, A), "W_k": (H, A), "v": (A,)}
    names = {"dot": [], "bilinear": ["W"], "additive": ["W_q", "W_k", "v"]}
    assert list(record["networks"]) == list(explorable_data.SCORES)
    for score, network in record["networks"].items():
        assert list(network) == ["queries", "keys", *names[score]]
        for name, values in network.items():
            assert np.array(values).shape == shapes[name], (score, name)


def test_the_sentence_was_held_out_and_two_pairs_change_places() -> None:
    record = recorded()
    train, held_out = explorable_data.data()
    english, french = record["source"][:-1], record["target"][:-1]
    assert (english, french) not in [(list(a), list(b)) for a, b in train]
    phrase = next(phrase for phrase in held_out if phrase.english == english)
    assert phrase.french == french
    assert record["alignment"] == [*phrase.alignment, len(english)]
    assert sum(a > b for a, b in zip(phrase.alignment, phrase.alignment[1:], strict=False)) == 2


@pytest.mark.parametrize("score", explorable_data.SCORES)
def test_the_vectors_give_the_networks_weights(score: str) -> None:
    """Scores computed from the rounded queries, keys and weights by the solutions lead to the model's own weights."""
    phrases = by_length(20, 4, 4)
    settings = AttentionSettings(embed_size=8, hidden_size=6, attention_size=4, updates=5, batch=8, score=score)
    fitted = fit(as_pairs(phrases), settings, build=Attending)
    phrase = phrases[4][0]
    of = {name: np.array(values) for name, values in explorable_data.vectors(fitted, phrase).items()}
    queries, keys = of.pop("queries"), of.pop("keys")
    function = {"dot": dot_score, "bilinear": bilinear_score, "additive": additive_score}[score]
    scores = function(queries, np.broadcast_to(keys, (len(queries), *keys.shape)), **of)
    weights = torch.softmax(torch.from_numpy(scores), dim=-1)
    expected = attention_weights(fitted, [(phrase.english, phrase.french)])[0].double()
    torch.testing.assert_close(weights, expected, rtol=0, atol=0.02)


def test_without_a_common_right_sentence_it_says_so() -> None:
    phrases = by_length(20, 4, 4)
    fitted = fit(as_pairs({4: explorable_data.data()[1], 5: phrases[4]}), AttentionSettings(updates=1), build=Attending)
    with pytest.raises(ValueError, match="Train longer"):
        explorable_data.chosen({"dot": fitted})


def page_weights(score: str, pads: int = 0) -> np.ndarray:
    """The weights (T, S + pads) that the page shows; keys of padding are zero and not masked."""
    of = {name: np.array(values) for name, values in recorded()["networks"][score].items()}
    queries, keys = of.pop("queries"), of.pop("keys")
    keys = np.concatenate([keys, np.zeros((pads, keys.shape[1]))])
    function = {"dot": dot_score, "bilinear": bilinear_score, "additive": additive_score}[score]
    scores = function(queries, np.broadcast_to(keys, (len(queries), *keys.shape)), **of)
    return torch.softmax(torch.from_numpy(scores), dim=-1).numpy()


def test_what_the_page_says_of_the_weights() -> None:
    """All largest weights but two are aligned; padding without a mask takes most of the weight."""
    record = recorded()
    english, french = record["source"], record["target"]
    for score, odd in (("dot", {"regardent": "green"}), ("bilinear", {}), ("additive", {"trois": "girls"})):
        largest = page_weights(score).argmax(axis=1)
        wrong = {french[t]: english[j] for t, j in enumerate(largest) if j != record["alignment"][t]}
        assert wrong == odd, score
    weights = [page_weights("additive", pads)[french.index("filles")] for pads in (0, 2, 20)]
    girls = [row[english.index("girls")] for row in weights]
    assert girls[0] > girls[1] > girls[2]
    assert girls[2] < 0.4
    assert weights[2][: len(english)].sum() < 0.5


@pytest.mark.slow
def test_a_network_learns_where_to_look() -> None:
    fitted = explorable_data.trained("dot")
    found = explorable_data.agreement(fitted)
    assert found["exact"] > 40
    assert found["alignment"] > 75

"""Each labelled equation of chapter 6's page on the decoder that looks back, compared with a direct computation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from experiments.ch05.grammar import Phrase, by_length
from experiments.ch05.model import PAD, Fitted, fit
from experiments.ch05.phrases import as_pairs
from experiments.ch06 import alignments
from experiments.ch06.model import Attending, AttentionSettings


def little(**how: Any) -> tuple[Fitted, list[Phrase]]:
    """A network after a few updates, in float64, and sentences of one length."""
    phrases = by_length(12, 4, 4)
    settings = AttentionSettings(embed_size=3, hidden_size=4, attention_size=5, updates=3, batch=6, **how)
    fitted = fit(as_pairs(phrases), settings, build=Attending)
    fitted.model.double()
    return fitted, phrases[4]


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def gru(model: Attending, x: np.ndarray, s: np.ndarray) -> np.ndarray:
    """One step for one row, gate by gate."""
    W_x, W_h, b_x, b_h = (
        getattr(model.decoder, name).detach().numpy()
        for name in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    )
    H = len(s)
    (x_r, x_z, x_n), (s_r, s_z, s_n) = ((W @ v + b).reshape(3, H) for W, v, b in ((W_x, x, b_x), (W_h, s, b_h)))
    r, z = sigmoid(x_r + s_r), sigmoid(x_z + s_z)
    candidate = np.tanh(x_n + r * s_n)
    new: np.ndarray = (1 - z) * candidate + z * s
    return new


def score(model: Attending, query: np.ndarray, key: np.ndarray) -> float:
    """The score of one query and one key."""
    if model.settings.score == "dot":
        return float(query @ key)
    if model.settings.score == "bilinear":
        return float(query @ model.key.weight.detach().numpy() @ key)
    W_q, W_k, v = (part.weight.detach().numpy() for part in (model.query, model.key, model.v))
    return float(v[0] @ np.tanh(W_q @ query + W_k @ key))


def softmax(scores: list[float]) -> list[float]:
    powers = [math.exp(one - max(scores)) for one in scores]
    return [one / sum(powers) for one in powers]


@pytest.mark.parametrize("kind", ["dot", "bilinear", "additive"])
@pytest.mark.parametrize("query", ["previous", "current"])
def test_a_step_with_attention(query: str, kind: str) -> None:
    """Equation (attention-step) and Equation (attention-current), term by term, with padding after the real words."""
    fitted, phrases = little(query=query, score=kind)
    model, ids, lengths, read, _ = alignments.tensors(fitted, phrases[:2])
    padded = torch.cat([ids, torch.full_like(ids[:, :2], PAD)], dim=1)
    source = model.encode(ids, lengths)
    keys = source.keys.detach().numpy()
    # the encoder cuts padding off, so two columns of other numbers stand in for it
    other = torch.full_like(source.keys[:, :2], 7.0)
    wide = source._replace(
        keys=torch.cat([source.keys, other], dim=1),
        projected=torch.cat([source.projected, other if kind != "additive" else torch.ones(2, 2, 5).double()], dim=1),
        mask=padded != PAD,
    )
    logits, _, weights = model.decode_attending(read, model.start(source), wide)
    assert (weights[:, :, -2:] == 0).all()
    E, W_p, b_p = (w.detach().numpy() for w in (model.target_embedding.weight, model.head.weight, model.head.bias))
    for b in range(2):
        s = model.start(source)[0, b].detach().numpy()
        for t in range(read.shape[1]):
            embedding = E[read[b, t]]
            if query == "current":
                s = gru(model, embedding, s)
            alpha = softmax([score(model, s, key) for key in keys[b]])
            c = sum(share * key for share, key in zip(alpha, keys[b], strict=True))
            if query == "previous":
                s = gru(model, np.concatenate([embedding, c]), s)
            z = np.concatenate([s, c]) @ W_p.T + b_p
            np.testing.assert_allclose(weights[b, t, :-2].detach().numpy(), alpha, atol=1e-10)
            np.testing.assert_allclose(logits[b, t].detach().numpy(), z, atol=1e-10)


def test_alignment_accuracy_counts_the_rows_with_the_right_maximum() -> None:
    """Equation (alignment-accuracy): as the experiment counts it, from weights with known maxima."""
    fitted, phrases = little()
    wanted = {4: phrases}
    shares = []
    for phrase in phrases:
        weights = alignments.weights_of(fitted, [phrase])[0, :-1]
        rows = [sorted(range(5), key=lambda j, row=row: -row[j])[0] for row in weights.tolist()]  # type: ignore[misc]
        shares.append(np.mean([j == a for j, a in zip(rows, phrase.alignment, strict=True)]))
    assert alignments.aligned(fitted, wanted)["alignment"] == pytest.approx(100 * np.mean(shares), abs=0.006)


def test_erasing_compares_two_log_probabilities() -> None:
    """Equation (erasure-loss): the network's probabilities with the word and without it."""
    fitted, phrases = little()
    phrase = phrases[0]
    found = alignments.erase_words(fitted, [phrase])
    model, ids, lengths, read, wanted = alignments.tensors(fitted, [phrase])
    for j in range(len(phrase.english)):
        without = ids.clone()
        without[0, j] = PAD
        assert (model.source_embedding(without)[0, j] == 0).all()
        p, q = (torch.softmax(model(one, lengths, read), -1)[0].tolist() for one in (ids, without))
        for t in range(len(phrase.french)):
            lost = math.log(p[t][int(wanted[0, t])]) - math.log(q[t][int(wanted[0, t])])
            assert found.loss[0, t, j] == pytest.approx(lost, abs=1e-10)


def test_the_previous_state_has_not_read_the_previous_word() -> None:
    """As the page says: with s_{t−1} as the query, the weights of step t do not depend on y_{t−1}; with s_t they do."""
    for query, same in (("previous", True), ("current", False)):
        fitted, phrases = little(query=query)
        model, ids, lengths, read, _ = alignments.tensors(fitted, phrases[:1])
        source = model.encode(ids, lengths)
        other = read.clone()
        other[0, 2] = read[0, 2] % (len(fitted.target) - 1) + 1
        assert other[0, 2] != read[0, 2]
        first, second = (model.decode_attending(one, model.start(source), source)[2] for one in (read, other))
        assert torch.equal(first[0, :2], second[0, :2])
        assert torch.equal(first[0, 2], second[0, 2]) == same
        assert not torch.equal(first[0, 3], second[0, 3])

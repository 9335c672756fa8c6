"""`attention_step`, step by step, equals PyTorch's layers and a slow loop; `alignment_accuracy` equals a count."""

import itertools
from pathlib import Path

import numpy as np
import pytest
import torch

import solutions.ch06_attention
from grader.checking.fixtures import builders
from grader.spec.load import load_module
from solutions.ch06_attention.decoder import alignment_accuracy, attend, attention_step, gru_cell, masked_softmax
from tests.conftest import ROOT, exercise
from tests.loops import for_each

CHECK = load_module(ROOT / "solutions/ch06_attention/attention_step/spec.py", "_checks_attention_step_parity")
BUILD = builders((Path(solutions.ch06_attention.__file__).parent / "fixtures.py").read_text("utf-8"))
RANDOM = [tuple(np.random.default_rng(seed).integers(1, 7, size=7).tolist()) for seed in range(20)]
SIZES = [*RANDOM, *itertools.product((1, 2), repeat=7)]  # (B, T, S, V, D, H, K)


def exact(got, expected):
    np.testing.assert_allclose(got, expected, rtol=1e-11, atol=1e-11)


def decoder(rng, V, D, H, K):
    """Weights in the row convention, and a score with a matrix."""
    shapes = {"E": (V, D), "W_x": (D + K, 3 * H), "W_h": (H, 3 * H), "b_x": (3 * H,), "b_h": (3 * H,)}
    shapes |= {"W_p": (H + K, V), "b_p": (V,)}
    return {name: rng.normal(size=shape) for name, shape in shapes.items()}, rng.normal(size=(H, K))


@for_each("sizes", SIZES)
def test_some_steps_equal_pytorch(sizes):
    B, T, S, V, D, H, K = sizes
    rng = np.random.default_rng(sizes)
    given, W = decoder(rng, V, D, H, K)
    score = BUILD["bilinear"](W=W)
    keys, ids, s = rng.normal(size=(B, S, K)), rng.integers(V, size=(B, T)), rng.normal(size=(B, H))
    mask = np.arange(S) < rng.integers(1, S + 1, size=B)[:, None]
    cell, head = torch.nn.GRUCell(D + K, H, dtype=torch.float64), torch.nn.Linear(H + K, V, dtype=torch.float64)
    state = torch.from_numpy(s)
    with torch.no_grad():
        names = ("W_x", "W_h", "b_x", "b_h", "W_p", "b_p")
        for parameter, name in zip([*cell.parameters(), *head.parameters()], names, strict=True):
            parameter.copy_(torch.from_numpy(given[name].T))
        for t in range(T):
            # Values attended by scaled_dot_product_attention: the query is s W, and the scale is 1.
            query = (state @ torch.from_numpy(W))[:, None]
            context = torch.nn.functional.scaled_dot_product_attention(
                query, torch.from_numpy(keys), torch.from_numpy(keys), torch.from_numpy(mask)[:, None], scale=1.0
            )[:, 0]
            embedded = torch.from_numpy(given["E"])[torch.from_numpy(ids[:, t])]
            state = cell(torch.hstack([embedded, context]), state)
            logits, s, weights = attention_step(ids[:, t], s, keys, mask, score=score, **given)
            exact(logits, head(torch.hstack([state, context])).numpy())
            exact(s, state.numpy())
            assert weights.shape == (B, S)
            exact((weights[:, :, None] * keys).sum(axis=1), context.numpy())
            assert (weights[~mask] == 0).all()


def slow(y_prev, s_prev, keys, mask, E, score, W_x, W_h, b_x, b_h, W_p, b_p):
    """Number by number, from the equations."""
    (B, S, K), H, D, V = keys.shape, s_prev.shape[1], E.shape[1], len(b_p)
    logits, s, weights = np.zeros((B, V)), np.zeros((B, H)), np.zeros((B, S))
    for b in range(B):
        scores = score(s_prev, keys)[b]
        total = sum(np.exp(scores[j]) for j in range(S) if mask[b, j])
        for j in range(S):
            weights[b, j] = np.exp(scores[j]) / total if mask[b, j] else 0.0
        context = [sum(weights[b, j] * keys[b, j, k] for j in range(S)) for k in range(K)]
        x = [*E[y_prev[b]], *context]
        for i in range(H):
            read = [sum(x[d] * W_x[d, g * H + i] for d in range(D + K)) + b_x[g * H + i] for g in range(3)]
            back = [sum(s_prev[b, h] * W_h[h, g * H + i] for h in range(H)) + b_h[g * H + i] for g in range(3)]
            r, z = (1 / (1 + np.exp(-read[g] - back[g])) for g in range(2))
            s[b, i] = (1 - z) * np.tanh(read[2] + r * back[2]) + z * s_prev[b, i]
        row = [*s[b], *context]
        for v in range(V):
            logits[b, v] = b_p[v] + sum(row[i] * W_p[i, v] for i in range(H + K))
    return logits, s, weights


@pytest.mark.parametrize("seed", range(5))
def test_reference_and_oracle_equal_a_loop_over_every_number(seed):
    chapter_fixtures = BUILD
    for case in CHECK.cases(np.random.default_rng(seed)):
        inputs = {**case.inputs, "score": chapter_fixtures[case.inputs["score"].kind](**case.inputs["score"].params)}
        expected = slow(**inputs)
        for got in (attention_step(**inputs), CHECK.oracle(**inputs)):
            for ours, theirs in zip(got, expected, strict=True):
                exact(ours, theirs)


def test_the_given_functions_equal_pytorch():
    rng = np.random.default_rng(0)
    scores, values, mask = rng.normal(size=(3, 5)), rng.normal(size=(3, 5, 2)), rng.random((3, 5)) < 0.7
    mask[:, 0] = True
    hidden = torch.where(torch.from_numpy(mask), torch.from_numpy(scores), -torch.inf)
    exact(masked_softmax(scores, mask), torch.softmax(hidden, dim=1).numpy())
    assert (masked_softmax(scores, np.zeros_like(mask)) == 0).all()
    exact(attend(scores, values), torch.bmm(torch.from_numpy(scores)[:, None], torch.from_numpy(values))[:, 0].numpy())
    cell = torch.nn.GRUCell(4, 3, dtype=torch.float64)
    W_x, W_h, b_x, b_h = (p.detach().numpy().T for p in cell.parameters())
    x, h = rng.normal(size=(2, 4)), rng.normal(size=(2, 3))
    with torch.no_grad():
        exact(gru_cell(x, h, W_x, W_h, b_x, b_h), cell(torch.from_numpy(x), torch.from_numpy(h)).numpy())


@pytest.mark.parametrize(("T", "S"), [(1, 1), (1, 4), (5, 1), (4, 4), (30, 7), (9, 12)])
def test_alignment_accuracy_equals_a_count(T, S):
    rng = np.random.default_rng([T, S])
    for _ in range(20):
        weights, gold = rng.uniform(size=(T, S)), rng.integers(-1, S, size=T)
        gold[rng.integers(T)] = 0
        top = torch.topk(torch.from_numpy(weights), 1, dim=1).indices[:, 0].tolist()
        pairs = [(a, b) for a, b in zip(top, gold.tolist(), strict=True) if b > -1]
        assert alignment_accuracy(weights, gold) == pytest.approx(sum(a == b for a, b in pairs) / len(pairs))


def test_the_cases_of_the_alignment_hold_what_tells_mistakes_apart():
    for seed in range(3):
        found = [case.inputs for case in exercise("alignment_accuracy").checks(seed).cases]
        assert any((i["gold"] == -1).any() for i in found)
        assert any((i["gold"] == 0).any() for i in found)
        for inputs in found:
            top = np.sort(inputs["weights"], axis=1)
            assert top.shape[1] == 1 or (top[:, -1] - top[:, -2] > 1e-9).all()  # no ties

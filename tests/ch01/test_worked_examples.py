"""The numbers that the notebooks of chapter 01 show by hand, read from their prose and computed again."""

import json
import re
from functools import partial

import numpy as np
import pytest
import torch

from solutions.ch01_vanilla_rnn.predictions import sequence_loss, softmax
from solutions.ch01_vanilla_rnn.unrolling import classify_last
from solutions.ch01_vanilla_rnn.writing import generate, sample_id
from tests.prose import SOLUTIONS, arrays, check_shown, matrices, numbers, section, table

FOLDER = SOLUTIONS / "ch01_vanilla_rnn"

prose = partial(section, "ch01_vanilla_rnn")


def test_concatenated_weights():
    text = prose("unrolling", "One weight matrix instead of two")
    step = prose("recurrence", "One step of the recurrence")
    given, first = arrays(text), matrices(step)
    assert {name: array.tolist() for name, array in given.items()} == {
        ours: first[theirs].tolist()
        for ours, theirs in (("x_t", "x_t"), ("h_prev", "h_t-1"), ("W_xh", "W_xh"), ("W_hh", "W_hh"))
    }
    row = np.hstack([given["x_t"], given["h_prev"]])
    totals = (row @ np.vstack([given["W_xh"], given["W_hh"]]))[0]
    sums = next(line for line in table(step, "| contribution |") if line[0] == "pre-activation")
    bias = next(line for line in table(step, "| contribution |") if line[0] == "bias")
    assert f"Adding the bias, [{', '.join(bias[1:])}], gives {' and '.join(sums[1:])}," in text
    for unit, (_, products, total) in enumerate(table(text, "row times column")):
        assert round(totals[unit], 2) == float(total)
        value = eval(products.replace("·", "*"))
        assert float(total) == round(value, 2)
        assert round(value + float(bias[1 + unit]), 2) == float(sums[1 + unit])


def test_softmax():
    text = prose("predictions", "The softmax")
    z, e, p = ([float(cell) for cell in row[1:] if cell] for row in table(text, "id 0"))
    expected = torch.softmax(torch.tensor(z, dtype=torch.float64), 0).numpy()
    check_shown(e, [*np.exp(z), np.exp(z).sum()])
    check_shown(p, [*expected, 1])
    assert round(sum(p[:-1]), 2) == 1
    np.testing.assert_allclose(softmax(np.array(z) + 1000), expected)
    with np.errstate(over="ignore"):
        assert np.isinf(np.exp(1001.0))


def test_classify_last():
    text = prose("unrolling", "Classifying a whole sequence")
    given = arrays(text)
    rows = table(text, "last real state")
    x, states, logits = ([numbers(row[i]) for row in rows] for i in (1, 3, 5))
    lengths = np.array([int(row[2]) for row in rows])
    inputs = {"x": np.array(x)[:, :, None], "lengths": lengths, "h_0": np.zeros((2, 1)), **given}
    check_shown(logits, classify_last(**inputs))
    h, h_t = [], np.zeros(2)
    for x_t in np.array(x).T:
        h_t = np.tanh(x_t * given["W_xh"][0, 0] + h_t * given["W_hh"][0, 0] + given["b_h"][0])
        h.append(h_t)
    check_shown(states, np.transpose(h))
    assert [float(row[4]) for row in rows] == [states[i][n - 1] for i, n in enumerate(lengths)]


def test_sequence_loss():
    text = prose("predictions", "The cross-entropy of a sequence")
    rows = table(text, "p of the target")
    logits = np.array([json.loads(row[1]) for row in rows])
    targets = np.array([int(row[2]) for row in rows])
    p = torch.softmax(torch.from_numpy(logits), 1).numpy()[np.arange(len(rows)), targets]
    check_shown([float(row[3]) for row in rows], p)
    check_shown([float(row[4]) for row in rows], -np.log(p))
    assert f"their mean, {sequence_loss(logits[None], targets[None]):.2f}." in text
    assert sequence_loss(np.array([[[0.0, 1000.0]]]), np.array([[0]])) == 1000
    assert np.exp(-1000) == 0


def test_the_loss_is_smallest_where_the_probability_is_the_frequency():
    """The network-free experiment at the end of *predictions*."""
    source = (FOLDER / "predictions.py").read_text("utf-8")
    targets = np.array(json.loads(re.search(r"targets = np\.array\((.*?)\)", source)[1]))
    assert targets.size == 10
    assert (targets == 0).sum() == 7
    logits = [float(z) for z in re.search(r"for z in \((.*?)\)", source)[1].split(",")]
    losses = [sequence_loss(np.tile([z, 0.0], (1, 10, 1)), targets) for z in logits]
    best = logits[int(np.argmin(losses))]
    assert round(softmax(np.array([best, 0.0]))[0], 2) == 0.70
    assert round(losses[logits.index(0.0)], 2) == 0.69
    assert losses[logits.index(6.0)] > np.log(2)


def test_sample_id():
    text = prose("writing", "Sampling one token")
    probs, cumulative = ([float(cell) for cell in row[1:]] for row in table(text, "| id | 0 |"))
    check_shown(cumulative, np.cumsum(probs))
    (ids,) = table(text, "| `u` | 0.00")
    us = re.search(r"# \| `u` \|( 0\.00.*)\|", text)[1].split("|")
    assert [sample_id(np.array(probs), float(u)) for u in us] == [int(i) for i in ids[1:]]


@pytest.mark.parametrize("drawn", [False, True])
def test_generate(drawn):
    text = prose("writing", "Generating text")
    given = arrays(text)
    h_0, u = given.pop("h_0"), given.pop("u")
    start_id = int(re.search(r"`start_id` = (\d)", text)[1])
    rows = table(text, "| probabilities |" if drawn else "| logits |")
    ids = generate(start_id, 3, h_0, **given, u=u if drawn else None)
    assert [int(row[-1]) for row in rows] == ids.tolist()
    assert [int(row[1]) for row in rows] == [start_id, *ids[:-1]]
    h_t = h_0
    for row in rows:
        h_t = np.tanh(given["W_xh"][int(row[1])] + h_t @ given["W_hh"] + given["b_h"])
        logits = (h_t @ given["W_hy"] + given["b_y"])[0]
        p = torch.softmax(torch.from_numpy(logits), 0).numpy()
        check_shown([float(row[2])], h_t[0])
        check_shown(numbers(row[3]), p if drawn else logits)
        if drawn:
            check_shown(numbers(row[4]), np.cumsum(p))
            assert float(row[5]) == u[int(row[0])]


def test_the_notebook_has_the_book_s_network():
    """The weights in the last cell of *writing* are those of the page, and they spell the word."""
    recorded = json.loads((SOLUTIONS.parent / "experiments" / "ch01" / "hello_weights.json").read_text("utf-8"))[
        "weights"
    ]
    source = (FOLDER / "writing.py").read_text("utf-8")
    shown = {name: json.loads(body) for name, body in re.findall(r'# +"(\w+)": np\.array\((.*)\),', source)}
    assert shown == recorded
    weights = {name: np.array(value) for name, value in shown.items()}
    assert generate(0, 4, np.zeros((1, 3)), **weights).tolist() == [1, 2, 2, 3]

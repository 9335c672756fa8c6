"""The worked numbers of the notebook `decoder`, read from the prose and recomputed, and what its last cell shows."""

from functools import partial

import numpy as np
import pytest

from tests.conftest import exercise
from tests.prose import arrays, check_shown, numbers, products, run_notebook, section, table

prose = partial(section, "ch05_encoder_decoder", "decoder")
KEYS = "W_x", "W_h", "b_x", "b_h"
FIRST, SECOND = "The context as the initial state", "The context at every step"


def test_the_worked_step():
    text, example = prose(FIRST), exercise("decode_step").spec.example.inputs
    given = arrays(text.partition("This is the first case")[0])
    for name in ("E", "W_p", "b_p", "y_prev"):
        np.testing.assert_array_equal(given[name], example[name])
    for cells, layer in zip(table(text, "| | `W_x`: r, z, n |"), example["layers"], strict=True):
        for cell, key in zip(cells[1:], KEYS, strict=True):
            np.testing.assert_array_equal(numbers(cell), layer[key].ravel())

    logits, s = exercise("decode_step").spec.oracle(**example)
    shown = [[numbers(cell) for cell in row[1:]] for row in table(text, "| | reads |")]
    np.testing.assert_array_equal([row[1] for row in shown], example["s_prev"][:, :, 0])
    check_shown([row[2] for row in shown], s[:, :, 0])
    assert shown[0][0] == example["E"][example["y_prev"][0]].tolist()
    check_shown(shown[1][0], s[0, 0])
    first = text.partition("The logit of word 0, for example, is ")[2].partition(", which gives")[0]
    assert products(first) == pytest.approx(logits[0, 0], abs=0.011)
    after = text.partition("which gives\n")[2]
    check_shown(numbers(after.partition(" without")[0]), logits[0, :1])
    check_shown(numbers(after.partition("all four are ")[2].partition("]")[0]), logits[0])
    assert "word 3 is the most probable" in text
    assert logits.argmax() == 3
    seen = np.abs(np.round([*logits[0], *s.ravel(), *example["s_prev"].ravel()], 2))
    assert len(set(seen)) == len(seen)  # no coincidences


def test_the_step_that_is_half_worked_out():
    text, example = prose(SECOND), exercise("context_decode_step").spec.example.inputs
    given = arrays(text)
    for name in ("y_prev", "s_prev", "context", "W_x"):
        np.testing.assert_array_equal(given[name], example[name])
    before = exercise("decode_step").spec.example.inputs
    for name in ("E", "W_p", "b_p"):
        np.testing.assert_array_equal(example[name], before[name])
    for name in ("W_h", "b_x", "b_h"):
        np.testing.assert_array_equal(example[name], before["layers"][0][name])
    row = np.array([example["E"][1, 0], example["context"][0, 0]])
    assert numbers(text.partition("The input is the row ")[2].partition("]")[0]) == row.tolist()
    parts = row[:, None] * example["W_x"]
    due = [*parts, example["b_x"], parts.sum(axis=0) + example["b_x"]]
    for cells, values in zip(table(text, "| | block r | block z |"), due, strict=True):
        for cell, value in zip(cells[1:], values, strict=True):
            assert cell == "?" or products(cell) == pytest.approx(value)
    logits, s = exercise("context_decode_step").spec.oracle(**example)
    state, logit = numbers(text.partition("The new state is ")[2].partition("Which are")[0])
    check_shown([state, logit], [s[0, 0], logits[0, 0]])


def test_what_the_two_decoders_remember(capsys, session):
    _, printed = run_notebook("ch05_encoder_decoder", "decoder", capsys)
    shown = {line.split()[0]: [float(n) for n in line.split()[1:]] for line in printed[-1].splitlines()}
    assert list(shown) == ["as_initial_state", "at_every_step"]
    assert all(len(row) == 4 and row[0] == 1 for row in shown.values())
    assert shown["as_initial_state"][2] < 1e-3  # forgotten after 20 words
    assert min(shown["at_every_step"]) > 0.3

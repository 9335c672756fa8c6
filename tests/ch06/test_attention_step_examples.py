"""The worked numbers of the notebook `decoder`, read from the prose and recomputed, and what its last cell shows."""

import re
from functools import partial

import numpy as np
import pytest

from tests.conftest import exercise
from tests.prose import arrays, check_shown, numbers, products, run_notebook, section, table

prose = partial(section, "ch06_attention", "decoder")


def test_the_worked_step():
    text, example = prose("One step with attention"), exercise("attention_step").spec.example.inputs
    given = arrays(text.partition("**A worked example.**")[2])
    assert {*given} == {"y_prev", "s_prev", "E", "W_p", "b_p", "W_x", "W_h", "b_x", "b_h"}
    for name, array in given.items():
        np.testing.assert_array_equal(array, example[name])
    factor = numbers(text.partition("`score(query, keys)` is ")[2])[0]
    assert factor == example["score"].params["W"].item()

    logits, s, weights = exercise("attention_step").spec.oracle(
        **{**example, "score": lambda query, keys: factor * query * keys[:, :, 0]}
    )
    rows = table(text, "| key | real? | score |")
    for j, (key, real, score, weight, share) in enumerate(rows):
        assert float(key) == example["keys"][0, j, 0]
        assert (real == "yes") == example["mask"][0, j]
        due = factor * example["s_prev"][0, 0] * float(key)
        assert products(score) == pytest.approx(due, abs=0.005)
        check_shown(float(weight), weights[0, j])
        check_shown(float(share), weights[0, j] * float(key))
    scores = [float(row[2].rpartition("= ")[2]) for row in rows]
    assert np.argmax(scores) == 2  # the largest belongs to the padding
    assert not example["mask"][0, 2]

    context = weights[0] @ example["keys"][0, :, 0]
    after = text.partition("is the context, ")[2]
    check_shown(numbers(after.partition(".\n")[0])[0], context)
    shown = numbers(after.partition("reads the row [")[2].partition("]")[0])
    check_shown(shown, [example["E"][1, 0], context])
    moved = numbers(after.partition("moves the state from\n# ")[2].partition(", and the head")[0])
    check_shown(moved, [example["s_prev"][0, 0], s[0, 0]])
    check_shown(numbers(after.partition("the head reads the row [")[2].partition("]")[0]), [s[0, 0], context])
    first = after.partition("The logit of word 0, for example, is ")[2].partition(", which gives")[0]
    assert products(first) == pytest.approx(logits[0, 0], abs=0.02)
    check_shown(numbers(after.partition("which gives ")[2].partition(" without")[0]), logits[0, :1])
    check_shown(numbers(after.partition("all three are [")[2].partition("]")[0]), logits[0])
    seen = np.abs(np.round([*logits[0], *s[0], context, *weights[0], *scores, *example["s_prev"][0]], 2))
    assert len({*seen}) == len(seen)  # no coincidences


def test_the_alignment_that_is_half_worked_out():
    text, example = prose("Where the decoder looks"), exercise("alignment_accuracy").spec.example.inputs
    rows = table(text, "| target word | its weights |")
    counted = []
    for t, (number, weights, largest, gold, verdict) in enumerate(rows):
        assert int(number) == t
        np.testing.assert_array_equal(numbers(weights), example["weights"][t])
        assert int(gold) == example["gold"][t]
        best = int(np.argmax(numbers(weights)))
        assert largest in ("?", str(best))
        assert verdict in ("?", "right" if best == int(gold) else "wrong")
        counted += [best == int(gold)] * (int(gold) >= 0)
    right, total = map(int, re.search(r"count (\d) right ones among (\d)", text).groups())
    assert (right, total) == (sum(counted), len(counted))
    assert exercise("alignment_accuracy").spec.oracle(**example) == pytest.approx(right / total)
    best = example["weights"].argmax(axis=1)
    others = (best == example["gold"]).mean(), (best == example["gold"] % 3).mean()  # −1 is wrong, or the last word
    assert len({right / total, *others}) == 3


def test_what_the_accuracy_does_not_see(capsys, session):
    _, printed = run_notebook("ch06_attention", "decoder", capsys)
    lines = [re.findall(r"[\d.]+", line) for line in printed[-1].splitlines()]
    factors, largest, accuracies = np.array(lines, dtype=float).T
    assert factors.tolist() == [0.01, 0.1, 1]
    assert abs(largest[0] - 1 / 8) < 0.03
    assert largest[2] > 0.85
    assert len({*accuracies}) == 1
    assert 0.5 < accuracies[0] < 1

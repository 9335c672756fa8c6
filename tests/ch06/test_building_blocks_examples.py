"""The worked numbers of the notebook `building_blocks`, recomputed from its prose, and what its cell prints."""

import re
from functools import partial

import numpy as np

from tests.conftest import exercise
from tests.prose import arrays, check_shown, numbers, run_notebook, section, table

prose = partial(section, "ch06_attention", "building_blocks")


def test_the_document_that_is_half_worked_out():
    text, example = prose("Words, then sentences"), exercise("hierarchical_attention").spec.example.inputs
    for name, value in arrays(text).items():
        np.testing.assert_array_equal(value, example[name])
    assert arrays(text).keys() == {"W_w", "u_w", "W_s", "u_s"}
    document, alpha, beta = exercise("hierarchical_attention").spec.oracle(**example)
    scores = np.einsum(
        "stn,n->st", np.tanh(np.einsum("sth,hn->stn", example["states"][0], example["W_w"])), example["u_w"]
    )
    sums = np.einsum("st,sth->sh", alpha[0], example["states"][0])
    for i, t, state, score, weight, total in table(text, "| sentence | word | state |"):
        at = int(i), int(t)
        assert (state == "*padding*") == (not example["word_mask"][0][at])
        if state != "*padding*":
            np.testing.assert_array_equal(numbers(state), example["states"][0][at])
        for cell, value in ((score, scores[at]), (weight, alpha[0][at])):
            if numbers(cell):
                check_shown(numbers(cell), [value])
        if numbers(total):
            check_shown(numbers(total), sums[at[0]])
    second_level = np.tanh(sums @ example["W_s"]) @ example["u_s"]
    said = re.search(r"have the scores (\S+) and (\S+), so the first one gets the weight (\S+)\.\n", text)
    check_shown([float(n) for n in said.groups()], [*second_level, beta[0, 0]])
    assert float(re.search(r"its first number is (\S+)\.\n", text)[1]) == round(document[0, 0], 2)


def test_the_block_that_is_half_worked_out():
    text, example = prose("A block of a transformer's decoder"), exercise("transformer_block").spec.example.inputs
    x = example["x"][0]
    normal = (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)
    values = x, normal, *(one[0] for one in exercise("transformer_block").spec.oracle(**example))
    for t, (position, *cells) in enumerate(table(text, "| position | `x` | LN(x) |")):
        assert int(position) == t
        for cell, value in zip(cells, values, strict=True):
            if "?" not in cell:
                check_shown(numbers(cell), value[t])
    given, own = arrays(text), example["self_weights"]
    assert given.keys() == {"W_v", "W_o"}
    for name, value in given.items():
        np.testing.assert_array_equal(value, own[name])
    check_shown(numbers("2.04, -1.16"), x[0] + np.array([1.0, -1.0]) @ own["W_v"] @ own["W_o"])


def test_what_reaches_what(capsys):
    def without_checks(source):
        return "" if "progress()" in source or source.startswith("check(") else source

    _, printed = run_notebook("ch06_attention", "building_blocks", capsys, without_checks)
    target, source = ([float(n) for n in re.findall(r"\d+\.\d\d", line)] for line in printed[-1].splitlines())
    assert [n > 0 for n in target] == [False, False, True, True, True]
    assert len(source) == 5
    assert min(source) > 0

"""The worked numbers of the notebook `building_blocks`, recomputed from its prose, and what its cell prints."""

import re
from functools import partial

import numpy as np
import torch

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
        assert ("*(padding)*" in state) == (not example["word_mask"][0][at])
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


def block(x, R, self_weights, cross_weights, W_1, b_1, W_2, b_2):
    """The sums of a block of one head, for a source without padding, with PyTorch's functions."""
    functional = torch.nn.functional

    def normal(a):
        return functional.layer_norm(a, a.shape[-1:])

    def attention(asking, answering, of, **causal):
        q, k, v = (a @ of[name] for a, name in ((asking, "W_q"), (answering, "W_k"), (answering, "W_v")))
        return functional.scaled_dot_product_attention(q, k, v, **causal) @ of["W_o"]

    s_self = x + attention(normal(x), normal(x), self_weights, is_causal=True)
    s_cross = s_self + attention(normal(s_self), R, cross_weights)
    return normal(x), s_self, s_cross, s_cross + functional.relu(normal(s_cross) @ W_1 + b_1) @ W_2 + b_2


def test_the_block_that_is_half_worked_out():
    text, example = prose("A block of a transformer's decoder"), exercise("transformer_block").spec.example.inputs
    assert (example["source_mask"].tolist(), example["num_heads"]) == ([[True, True, False]], 1)
    of = {name: value for name, value in example.items() if name not in ("source_mask", "num_heads")}
    of |= {name: torch.from_numpy(value) for name, value in of.items() if not isinstance(value, dict)}
    for name in ("self_weights", "cross_weights"):
        of[name] = {key: torch.from_numpy(W) for key, W in example[name].items()}
    of["R"] = of["R"][:, :2]
    values = [a[0].numpy() for a in (of["x"], *block(**of))]
    shown = 0
    for t, (position, *cells) in enumerate(table(text, "| position | `x` | LN(x) |")):
        assert int(position) == t
        for cell, value in zip(cells, values, strict=True):
            if "?" not in cell:
                check_shown(numbers(cell), value[t])
                shown += 1
    assert shown == 7
    given, own = arrays(text), example["self_weights"]
    assert given.keys() == {"W_v", "W_o"}
    for name, value in given.items():
        np.testing.assert_array_equal(value, own[name])
    np.testing.assert_allclose(values[0][0] + values[1][0] @ own["W_v"] @ own["W_o"], values[2][0])
    assert not set(np.abs(values[1]).round(2).ravel()) & {0.0, 1.0}  # with D = 2, all would be 1


def test_the_cell_has_the_example(capsys):
    names, _ = run_notebook("ch06_attention", "building_blocks", capsys, without_checks)
    given, example = names["example"], exercise("transformer_block").spec.example.inputs
    assert list(given) == list(example)
    np.testing.assert_equal(given, example)


def without_checks(source):
    return "" if "progress()" in source or source.startswith("check(") else source


def test_what_reaches_what(capsys):
    _, printed = run_notebook("ch06_attention", "building_blocks", capsys, without_checks)
    target, source = ([float(n) for n in re.findall(r"\d+\.\d\d", line)] for line in printed[-1].splitlines())
    assert [n > 0 for n in target] == [False, False, True, True, True]
    assert len(source) == 5
    assert min(source) > 0

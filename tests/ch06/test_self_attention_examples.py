"""The worked numbers of the notebook `self_attention`, read from the prose and recomputed, and what its cell prints."""

import re
from functools import partial

import numpy as np

from tests.conftest import exercise
from tests.prose import arrays, check_shown, numbers, run_notebook, section, table

prose = partial(section, "ch06_attention", "self_attention")
WEIGHTS = "W_q", "W_k", "W_v"


def test_the_worked_self_attention():
    text, example = prose("Self-attention"), exercise("self_attention").spec.example.inputs
    given, x = arrays(text), example["x"]
    for name in WEIGHTS:
        np.testing.assert_array_equal(given[name], example[name])
    q, k, v = (np.einsum("btd,dk->btk", x, example[name])[0] for name in WEIGHTS)
    seen = []
    for t, cells in enumerate(table(text, "| position | $x_t$ | query |")):
        assert int(cells[0]) == t
        for cell, value in zip(cells[1:], (x[0], q, k, v), strict=True):
            check_shown(numbers(cell), value[t])
    dot = text.partition("query 1 and key 0, for example, is\n# ")[2].partition(" (rounded)")[0]
    left, _, right = dot.partition(" = ")
    assert float(right) == round(eval(left.replace("·", "*")), 2) == round(float(q[1] @ k[0]), 2)

    y, weights = exercise("self_attention").spec.oracle(**example)
    assert len(k[0]) == 4  # "with K = 4 it is divided by 2"
    for t, (query, scores, shown, output) in enumerate(table(text, "| query | scores with keys 0, 1, 2 |")):
        assert int(query) == t
        allowed = example["mask"][t]
        cells = scores.split(", ")
        assert [cell == "*forbidden*" for cell in cells] == (~allowed).tolist()
        check_shown(numbers(scores), (q[t] @ k.T / 2)[allowed])
        assert [cell == "0" for cell in shown.split(", ")] == (~allowed).tolist()
        check_shown(numbers(shown), weights[0, t][allowed])
        check_shown(numbers(output), y[0, t])
        seen += [*numbers(shown), *numbers(scores)]
    assert len({abs(n) for n in seen}) == len(seen)  # no coincidences
    forbidden = [(0, 2), (2, 1)]
    assert [tuple(pair) for pair in np.argwhere(~example["mask"])] == forbidden
    assert "position 0 must not attend to 2, and position 2 must not attend to 1" in text
    total = text.partition("The output at position 0, for example, is ")[2].partition(": each row")[0]
    assert round(eval(total.partition(" = ")[0].replace("·", "*")), 2) == numbers(total)[-1] == round(y[0, 0, 0], 2)


def test_the_mask_that_is_half_worked_out():
    text = prose("A causal mask")
    mask = exercise("causal_mask").spec.oracle(**exercise("causal_mask").spec.example.inputs)
    assert f"T = {len(mask)}:" in text
    for t, (position, *cells) in enumerate(table(text, "| position | attends to 0 |")):
        assert int(position) == t
        assert all(cell in ("?", str(value)) for cell, value in zip(cells, mask[t], strict=True))


def test_the_worked_heads():
    text, example = prose("Multi-head attention"), exercise("multi_head_attention").spec.example.inputs
    given, x = arrays(text), example["x"]
    for name in (*WEIGHTS, "W_o"):
        np.testing.assert_array_equal(given[name], example[name])
    np.testing.assert_array_equal(example["mask"], exercise("causal_mask").spec.oracle(3))
    q, k, v = (np.einsum("btd,dk->btk", x, example[name])[0] for name in WEIGHTS)
    for t, (position, row, *heads) in enumerate(table(text, "| position | $x_t$ | head 0")):
        assert int(position) == t
        np.testing.assert_array_equal(numbers(row), x[0, t])
        for i, cell in enumerate(heads):
            check_shown(numbers(cell), [q[t, i], k[t, i], v[t, i]])
    compared = text.partition("At position 1, head 0 compares")[2].partition(", so they attend")[0]
    check_shown(numbers(compared), [q[1, 0], *k[:2, 0], q[1, 1], *k[:2, 1]])

    one_head = exercise("self_attention").spec.oracle
    found = [
        one_head(x, *(example[name][:, i : i + 1] for name in WEIGHTS), example["mask"]) for i in range(2)
    ]  # (y, weights) of each head
    questions = 0
    for t, cells in enumerate(table(text, "| position | weights of head 0 |")):
        for cell, value in zip(cells[1:], (w for y, a in found for w in (a[0, t], y[0, t])), strict=True):
            questions += cell == "?"
            if cell != "?":
                shown = [float(n) for n in cell.replace("-0.", "-0.").split(", ")]
                check_shown(shown, value)
    assert questions == 4
    y = exercise("multi_head_attention").spec.oracle(**example)[0]
    row, product = (
        numbers(part) for part in re.search(r"is the row \[(.*?)\] times `W_o`, which is \[(.*?)\]", text).groups()
    )
    check_shown(row, [head[0][0, 1, 0] for head in found])
    check_shown(product, y[1])
    first = re.search(r"the output at position 0 is \[(.*?)\], and the one at position 2 begins with (\S+)\.\n", text)
    check_shown(numbers(first[1]), y[0])
    assert float(first[2]) == round(y[2, 0], 2)
    assert len({abs(n) for n in (*y.ravel().round(2), *np.ravel(v).round(2))}) == 12  # no coincidences


def test_what_a_position_can_know(capsys):
    def without_checks(source):
        return "" if "progress()" in source or source.startswith("check(") else source

    _, printed = run_notebook("ch06_attention", "self_attention", capsys, without_checks)
    free, causal, turned, one = (
        [float(n) for n in re.findall(r"\d+\.\d\d", line)] for line in printed[-1].splitlines()
    )
    assert min(free) > 0
    assert [n > 0 for n in causal] == [False] * 3 + [True] * 3
    assert turned == one == [0.0] * 6
    columns = {len(line) - len(line.lstrip()) + line.index("0.") for line in printed[-1].splitlines()[1:]}
    assert len(columns) == 1  # the numbers stand below each other

"""The worked numbers of the notebook `scores`, read from the prose and recomputed, and what its last cell shows."""

import re
from functools import partial

import numpy as np

from tests.conftest import exercise
from tests.prose import arrays, check_shown, numbers, run_notebook, section, table

prose = partial(section, "ch06_attention", "scores")


def given(exercise_id):
    """The inputs of the first case, and the expected result."""
    spec = exercise(exercise_id).spec
    return spec.example.inputs, spec.oracle(**spec.example.inputs)


def places(rows, *columns):
    """The indices in these columns, which must be in the order of the array."""
    found = [tuple(int(row[column]) for column in columns) for row in rows]
    assert found == sorted(set(found))
    return found


def no_coincidences(shown):
    assert len({abs(n) for n in shown}) == len(shown), sorted(shown, key=abs)


def test_the_dot_products():
    example, scores = given("dot_score")
    rows, seen = table(prose("Dot-product scores"), "| row | query | j |"), []
    scaled = exercise("dot_score").spec.oracle(**example, scale=True)
    assert len(rows) == scores.size
    for (b, j), (_, query, _, key, products, *shown) in zip(places(rows, 0, 2), rows, strict=True):
        np.testing.assert_array_equal(numbers(query), example["query"][b])
        np.testing.assert_array_equal(numbers(key), example["keys"][b, j])
        terms = numbers(products.replace("- ", "-").replace("+ ", ""))
        check_shown(terms, example["query"][b] * example["keys"][b, j])
        check_shown([float(n) for n in shown], [scores[b, j], scaled[b, j]])
        seen += [float(n) for n in shown]
    no_coincidences(seen)


def test_the_bilinear_score_that_is_half_worked_out():
    text, (example, scores) = prose("Bilinear scores"), given("bilinear_score")
    np.testing.assert_array_equal(arrays(text)["W"], example["W"])
    rows = table(text, "| row | query | $q_b W$ |")
    assert len(rows) == scores.size
    for (b, j), (_, query, product, _, key, score) in zip(places(rows, 0, 3), rows, strict=True):
        np.testing.assert_array_equal(numbers(query), example["query"][b])
        check_shown(numbers(product), example["query"][b] @ example["W"])
        np.testing.assert_array_equal(numbers(key), example["keys"][b, j])
        assert score == "?" if b else float(score) == round(scores[b, j], 2)
    no_coincidences(np.round(scores, 2).ravel().tolist())


def test_the_additive_score_that_is_begun():
    text, (example, scores) = prose("Additive scores"), given("additive_score")
    for name, array in arrays(text).items():
        np.testing.assert_array_equal(array, example[name])
    assert set(arrays(text)) == {"W_q", "W_k", "v"}
    for name in ("query", "keys"):  # "of the last example"
        np.testing.assert_array_equal(example[name], given("bilinear_score")[0][name])
    rows = table(text, "| row | $q_b W_q$ |")
    assert len(rows) == scores.size
    for (b, j), (_, q, _, k, *more) in zip(places(rows, 0, 2), rows, strict=True):
        ours = example["query"][b] @ example["W_q"], example["keys"][b, j] @ example["W_k"]
        check_shown(numbers(q), ours[0])
        check_shown(numbers(k), ours[1])
        if (b, j) == (0, 0):
            for cell, value in zip(more, (sum(ours), np.tanh(sum(ours)), scores[0, :1]), strict=True):
                check_shown(numbers(cell), value)
        else:
            assert more == ["?"] * 3


def test_the_softmax_that_is_half_worked_out():
    text, (example, weights) = prose("A softmax with a mask"), given("masked_softmax")
    rows = table(text, "| row | j | score | mask |")
    assert len(rows) == weights.size
    e, plain = np.exp(example["scores"]), {}
    for (b, j), (_, _, score, real, exp, weight, without) in zip(places(rows, 0, 1), rows, strict=True):
        assert float(score) == example["scores"][b, j]
        assert real == str(example["mask"][b, j])
        plain[b, j] = float(without.strip("*"))
        assert plain[b, j] == round(e[b, j] / e[b].sum(), 2)
        if real == "False":
            assert (exp, weight) == ("", "?" if b else "0")
        else:
            shown = (exp, weight) if b == 0 else (f"{e[b, j]:.2f}", f"{weights[b, j]:.2f}")
            assert (exp, weight) == (shown if b == 0 else ("?", "?"))
            check_shown([float(n) for n in shown], [e[b, j], weights[b, j]])
    assert plain[0, 2] == max(plain.values())  # "most of the weight to position 2"
    terms = re.search(r"both (\S+) and (\S+) are divided by their sum, (\d+\.\d\d)\.", text).groups()
    check_shown([float(n) for n in terms], [e[0, 0], e[0, 1], e[0, :2].sum()])


def test_the_weighted_sum_that_is_left_to_the_student():
    text, (example, context) = prose("A weighted sum"), given("attend")
    rows = table(text, "| row | weights |")
    assert len(rows) == len(context)
    for (b,), (_, weights, *values, result) in zip(places(rows, 0), rows, strict=True):
        np.testing.assert_array_equal(numbers(weights), example["weights"][b])
        np.testing.assert_array_equal([numbers(value) for value in values], example["values"][b])
        assert result == "?, ?"
    (total,) = re.findall(r"the four numbers add up to (\d+\.\d\d)\.", text)
    assert float(total) == round(context.sum(), 2)
    no_coincidences(np.round(context, 2).ravel().tolist())


def test_why_scores_are_scaled(capsys, session):
    _, printed = run_notebook("ch06_attention", "scores", capsys)
    rows = np.array([[float(n) for n in line.split()] for line in printed[-1].splitlines()[1:]])
    H, size, plain, scaled = rows.T
    np.testing.assert_allclose(size, np.sqrt(H), rtol=0.03)
    assert plain[H == 1024] > 0.9  # "nearly all of the weight"
    assert scaled[H >= 16].std() < 0.01  # "whatever H is"

"""The worked numbers of the notebook `window`, read from the prose and recomputed, and what its last cell shows."""

import re

import numpy as np

from tests.conftest import exercise
from tests.prose import arrays, check_shown, numbers, run_notebook, section, table


def given(exercise_id):
    spec = exercise(exercise_id).spec
    return spec.example.inputs, spec.oracle(**spec.example.inputs)


def test_the_loss():
    text, (example, loss) = section("ch00_sequences", "window", "Cross-entropy from logits"), given("cross_entropy")
    rows = table(text, "| i | logits | target |")
    assert len(rows) == len(example["logits"])
    losses = []
    for i, (number, logits, target, exponentials, total, p, cost) in enumerate(rows):
        z, y = example["logits"][i], example["targets"][i]
        assert (int(number), int(target)) == (i, y)
        np.testing.assert_array_equal(numbers(logits), z)
        e = np.exp(z)
        check_shown(numbers(exponentials), e)
        losses.append(-np.log(e[y] / e.sum()))
        check_shown([float(total), float(p), float(cost)], [e.sum(), e[y] / e.sum(), losses[-1]])
    assert f"The result is their mean, {np.mean(losses):.2f}." in text
    np.testing.assert_allclose(loss, np.mean(losses))


def test_the_network():
    text = section("ch00_sequences", "window", "The network with a fixed window")
    example, logits = given("fixed_window_logits")
    shown = arrays(text)
    assert shown.keys() == example.keys() - {"ids"}
    for name, array in shown.items():
        np.testing.assert_array_equal(array, example[name])
    rows = table(text, "| window | x | pre-activation |")
    assert len(rows) == len(example["ids"])
    for b, (window, x, a, h, z) in enumerate(rows):
        assert [int(i) for i in window.split(",")] == example["ids"][b].tolist()
        ours = np.concatenate([example["E"][i] for i in example["ids"][b]])
        np.testing.assert_array_equal(numbers(x), ours)
        pre = ours @ example["W_1"] + example["b_1"]
        check_shown(numbers(a), pre)
        check_shown(numbers(h), np.tanh(pre))
        if b == 0:
            check_shown(numbers(z), logits[b])
        else:
            assert z == "?, ?, ?"
    np.testing.assert_array_equal(example["ids"][0], example["ids"][1][::-1])  # "the same ids in another order"
    assert (np.abs(logits[0] - logits[1]) > 0.5).all()


def test_what_an_untrained_network_costs(capsys):
    printed = run_notebook("ch00_sequences", "window", capsys)[1][-1]
    (ln_V,) = re.findall(r"^ln V = (.+)$", printed, re.MULTILINE)
    rows = np.array([[float(n) for n in line.split()] for line in printed.splitlines()[2:]])
    n, parameters, loss = rows.T
    np.testing.assert_array_equal(n, [1, 2, 4, 8, 16])
    np.testing.assert_array_equal(np.diff(parameters), np.diff(n) * 16 * 64)  # "D · H more weights"
    np.testing.assert_allclose(loss, float(ln_V), atol=0.002)  # "about ln V"

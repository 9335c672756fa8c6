"""The numbers that the notebooks `checking` and `training` show by hand, read from their prose and computed anew."""

import re
from pathlib import Path

import numpy as np

from grader.drivers import call
from solutions.ch02_bptt.checking import numerical_gradient, relative_error, truncated_bptt
from solutions.ch02_bptt.training import adagrad_step, train_char_rnn
from tests.conftest import exercise

FOLDER = Path(__file__).parents[2] / "solutions" / "ch02_bptt"


def prose(notebook, heading):
    """The text under one heading of a notebook, with ASCII minus signs and without bold."""
    text = (FOLDER / f"{notebook}.py").read_text("utf-8").replace("−", "-").replace("**", "")
    return text.partition(f"# ## {heading}\n")[2].partition("\n# %% exercise")[0]


def table(text, header):
    """The rows of the table whose first line holds this, as lists of cells."""
    lines = text.split("\n")
    start = next(i for i, line in enumerate(lines) if header in line)
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("# |"):
            break
        rows.append([cell.strip() for cell in line[3:].strip().removesuffix("|").split("|")])
    return rows


def columns(rows, *which):
    return [np.array([float(row[i]) for row in rows]) for i in which]


def check_shown(shown, value):
    np.testing.assert_array_equal(np.array(shown), np.round(value, 2) + 0.0)


def test_relative_error():
    text = prose("checking", "How far apart two gradients are")
    a, b, apart, size, error = (np.array([float(n) for n in row[1:]]) for row in table(text, "entry 0"))
    check_shown(apart, np.abs(a - b))
    check_shown(size, np.abs(a) + np.abs(b))
    check_shown(error, [relative_error(a[i : i + 1], b[i : i + 1]) for i in range(4)])
    assert f"The result is {relative_error(a, b):.2f}." in text


def test_numerical_gradient():
    text = prose("checking", "A gradient from nothing but values")
    theta, eps = np.array([3.0, 2.0]), 0.1
    assert "`theta` = [3.00, 2.00], with `eps` = 0.10" in text

    def f(theta):
        return theta[0] ** 2 * theta[1]

    for i, above, below, difference, slope in table(text, "`f` above"):
        step = eps * np.eye(2)[int(i)]
        for shown, value in ((above, f(theta + step)), (below, f(theta - step))):
            left, right = shown.replace("·", "*").replace("²", "**2").split("=")
            check_shown([round(eval(left), 9), float(right)], [value, value])
        check_shown(float(difference), f(theta + step) - f(theta - step))
        check_shown(float(slope), numerical_gradient(f, theta, eps)[int(i)])
    assert (0.7 + 1e-5 - 2e-5 + 1e-5 == 0.7) is False
    ints = np.array([1, 2])
    ints[0] += np.array(1e-5).astype(int)
    assert ints.tolist() == [1, 2]


def test_truncated_bptt():
    text = prose("checking", "The gradient stops, the state goes on")
    *rows, total = table(text, "| comes back |")
    t, x, h, dh, back, da, to_xh, to_hh = columns(rows, *range(8))
    W_hh, h_0, tau = np.array([[0.5]]), np.array([[0.4]]), 2
    assert "`tau` = 2;\n# `W_hh` = [[0.50]], `h_0` = [[0.40]]" in text
    before, came = np.array([0.4, *h[:-1]]), 0.0
    for k in reversed(t.astype(int)):
        came = 0.0 if (k + 1) % tau == 0 else came
        value = (dh[k] + came) * (1 - h[k] ** 2)
        check_shown([back[k], da[k], to_xh[k], to_hh[k]], [came, value, x[k] * value, before[k] * value])
        came = 0.5 * value
    shaped = (v.reshape(1, 4, 1) for v in (dh, x, h))
    dh_, x_, h_ = shaped
    dW_xh, dW_hh, db_h = truncated_bptt(dh_, x_, h_0, h_, np.array([[1.0]]), W_hh, tau)
    check_shown([float(n) for n in total[5:]], [db_h[0], dW_xh[0, 0], dW_hh[0, 0]])
    assert "0.06 that row 2 would have sent back (0.12 · 0.50)" in text
    assert round(0.5 * 0.1152, 2) == 0.06


def test_adagrad_step():
    text = prose("training", "A step for each weight")
    theta, grad, cache, after, root, step, moved = (
        np.array([float(n) for n in row[1:]]) for row in table(text, "weight 0")
    )
    new, total = adagrad_step(theta, grad, cache, lr=0.1)
    check_shown(after, total)
    check_shown(root, np.sqrt(total))
    check_shown(step, new - theta)
    check_shown(moved, new)


def test_train_char_rnn():
    text = prose("training", "Reading until it knows")
    ids = np.array([int(n) for n in re.search(r"`ids` = \[(.*?)\]", text)[1].split(",")])
    rows = table(text, "begins at")
    asked, states = [], [np.full((1, 2), float(k)) for k in range(1, 5)]
    grads = {name: np.zeros(shape) for name, shape in (("W_xh", (10, 2)), ("W_hh", (2, 2)), ("b_h", 2))}
    grads |= {"W_hy": np.zeros((2, 10)), "b_y": np.zeros(10)}

    def loss_and_grads(params, inputs, targets, h_0):
        asked.append((inputs.tolist(), targets.tolist(), h_0))
        return 0.0, grads, states[len(asked) - 1]

    train_char_rnn(ids, 10, 2, 3, len(rows), 0.1, np.random.default_rng(0), loss_and_grads)
    for (_, start, inputs, targets, state), (got, wanted, h_0) in zip(rows, asked, strict=True):
        assert [int(n) for n in inputs.split(",")] == got == ids[int(start) : int(start) + 3].tolist()
        assert [int(n) for n in targets.split(",")] == wanted
        named = re.search(r"`h_T` of update (\d)", state)
        assert (h_0 == states[int(named[1])]).all() if named else (h_0 == 0).all()

    weight, cache = np.array([0.3]), np.zeros(1)
    for _, gradient, total, root, step, after in table(text, "weight after"):
        new, cache = adagrad_step(weight, np.array([float(gradient)]), cache, 0.1)
        check_shown(
            [float(total), float(root), float(step), float(after)], [cache[0], cache[0] ** 0.5, *(new - weight), *new]
        )
        weight = new


def test_the_reference_learns_hello_in_less_than_two_seconds():
    import time

    case = exercise("train_char_rnn").checks(0).cases[-1]
    assert case.kind == "hello"
    before = time.process_time()
    losses, _ = call(train_char_rnn, case).result
    assert time.process_time() - before < 2
    assert losses[-1] < 0.05

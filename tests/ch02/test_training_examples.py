"""The worked examples of the notebooks `checking`, `truncated` and `training`, read from their prose and recomputed."""

import re

import numpy as np

from grader.checking.drivers import call, drive
from solutions.ch02_bptt.checking import numerical_gradient, relative_error
from solutions.ch02_bptt.training import adagrad_step, rehearse, train_char_rnn
from solutions.ch02_bptt.truncated import truncated_bptt
from tests.conftest import exercise
from tests.prose import SOLUTIONS, section, table

FOLDER = SOLUTIONS / "ch02_bptt"


def prose(notebook, heading):
    """The text under one heading of a notebook, with ASCII minus signs and without bold."""
    return section("ch02_bptt", notebook, heading).replace("**", "")


def columns(rows, *which):
    return [np.array([float(row[i]) for row in rows]) for i in which]


def check_shown(shown, value):
    np.testing.assert_array_equal(np.array(shown), np.round(value, 2) + 0.0)


def test_relative_error():
    text = prose("checking", "Comparing two gradients")
    a, b, apart, size, error = (np.array([float(n) for n in row[1:]]) for row in table(text, "entry 0"))
    check_shown(apart, np.abs(a - b))
    check_shown(size, np.abs(a) + np.abs(b))
    check_shown(error, [relative_error(a[i : i + 1], b[i : i + 1]) for i in range(4)])
    assert f"The result is {relative_error(a, b):.2f}." in text
    assert "0 against 1e-13 gives 1.0" in text
    assert relative_error(np.array([0.0]), np.array([1e-13])) == 1.0


def test_numerical_gradient():
    text = prose("checking", "A numerical gradient")
    theta, eps = np.array([[3.0, 2.0]]), 0.1
    assert "[[3.00, 2.00]], and `eps` = 0.10" in text
    f = eval(re.search(r"`f = (lambda .*?)`", (FOLDER / "checking.py").read_text("utf-8"))[1])
    for row, (i, above, below, difference, slope) in enumerate(table(text, "`f`, entry + 0.10")):
        index = (0, row)
        assert i == str(list(index))
        step = np.zeros(theta.shape)
        step[index] = eps
        for shown, value in ((above, f(theta + step)), (below, f(theta - step))):
            left, right = shown.replace("·", "*").replace("²", "**2").split("=")
            np.testing.assert_allclose([eval(left), float(right)], value, rtol=1e-12)
        exact = numerical_gradient(f, theta.copy(), eps)[index]
        np.testing.assert_allclose([float(difference), float(slope)], [2 * eps * exact, exact], rtol=1e-12)
    derivatives = re.findall(r"= (\d+)\$", text)
    np.testing.assert_allclose(np.array(derivatives, float), numerical_gradient(f, theta, 1e-5)[0], rtol=1e-8)
    (observed,) = (call(numerical_gradient, case) for case in exercise("numerical_gradient").checks(0).cases[:1])
    np.testing.assert_allclose(observed.result, numerical_gradient(f, theta, eps), rtol=1e-12)
    assert (0.7 + 1e-5 - 2e-5 + 1e-5 == 0.7) is False


def test_a_long_step_is_checked_against_the_closed_form_of_the_central_difference():
    """Of weight @ tanh(matrix @ theta + bias): tanh(z + m) - tanh(z - m) = sinh(2m) / cosh(z + m) / cosh(z - m)."""
    for seed in (0, 1, 2):
        checks = exercise("numerical_gradient").checks(seed)
        long = [(c.inputs, o.result) for c, o in zip(checks.cases, checks.expected, strict=True) if "long" in c.kind]
        assert len(long) == 2
        for inputs, gradient in long:
            f, eps = inputs["f"].params, inputs["eps"]
            z = (f["matrix"] @ inputs["theta"].ravel() + f["bias"])[:, None]
            m = eps * f["matrix"]
            closed = f["weight"] @ (np.sinh(2 * m) / np.cosh(z + m) / np.cosh(z - m)) / (2 * eps)
            np.testing.assert_allclose(gradient.ravel(), closed, rtol=1e-11, atol=1e-12)


def test_an_array_of_integers_gives_enormous_gradients():
    text = prose("checking", "A numerical gradient")
    assert "plus 1e-5 are 1 and 2 again, and minus 1e-5 they are 0 and 1." in text
    for step, due in ((1e-5, [1, 2]), (-1e-5, [0, 1])):
        ints = np.array([1, 2])
        for i in range(2):
            ints[i] = ints[i] + step
        assert ints.tolist() == due
    assert (numerical_gradient(lambda theta: float(theta.sum()), np.array([1, 2])) > 10_000).all()


def test_truncated_bptt():
    text = prose("truncated", "Truncated backpropagation through time")
    *rows, total = table(text, "| `dh_next`, from t + 1 |")
    t, x, h, dh, back, da, to_xh, to_hh = columns(rows, *range(8))
    assert t.tolist() == [4, 3, 2, 1, 0]
    W_hh, h_0, tau = 1.5, 0.7, 3
    assert "`tau` = 3;\n# `W_hh` = [[1.50]], `h_0` = [[0.70]]" in text
    before, came = np.array([*h[1:], h_0]), 0.0
    for k, step in enumerate(t.astype(int)):
        came = 0.0 if (step + 1) % tau == 0 else came
        value = (dh[k] + came) * (1 - h[k] ** 2)
        shown = [back[k], da[k], to_xh[k], to_hh[k]]  # nothing is rounded, so that sums come out
        np.testing.assert_allclose(shown, [came, value, x[k] * value, before[k] * value], atol=1e-12)
        came = W_hh * value
    assert "0.32 · 1.50 = 0.48" in text
    assert "0.32 · 0.50 = 0.16" in text
    case = exercise("truncated_bptt").checks(0).cases[0]
    for name, column in (("x", x), ("h", h), ("dh", dh)):
        assert case.inputs[name].ravel().tolist() == column[::-1].tolist()
    assert (case.inputs["W_hh"], case.inputs["h_0"], case.inputs["tau"]) == (W_hh, h_0, tau)
    dW_xh, dW_hh, db_h = truncated_bptt(**case.inputs)
    sums = [float(n) for n in total[5:]]
    np.testing.assert_allclose(sums, [db_h[0], dW_xh[0, 0], dW_hh[0, 0]], atol=1e-12)


def test_adagrad_step():
    text = prose("training", "One update with Adagrad")
    rows = [row[1:] for row in table(text, "weight 0")]
    theta, grad, cache, after, root, step, moved = (np.array([float(n) for n in row]) for row in rows)
    new, total = adagrad_step(theta, grad, cache, lr=0.1)
    assert rows[3] == ["25.00", "0.0009", "0.00"]
    np.testing.assert_allclose(after, total, rtol=1e-12)
    check_shown(root, np.sqrt(total))
    check_shown(step, new - theta)
    check_shown(moved, new)


def test_train_char_rnn():
    text = prose("training", "Training a character-level RNN")
    ids = np.array([int(n) for n in re.search(r"`ids` = \[(.*?)\]", text)[1].split(",")])
    rows = table(text, "starts at")
    asked, states = [], [np.full((1, 2), float(k)) for k in range(1, 5)]
    grads = {name: np.zeros(shape) for name, shape in (("W_xh", (10, 2)), ("W_hh", (2, 2)), ("b_h", 2))}
    grads |= {"W_hy": np.zeros((2, 10)), "b_y": np.zeros(10)}

    def loss_and_grads(params, inputs, targets, h_0):
        asked.append((inputs.tolist(), targets.tolist(), h_0))
        return 0.0, grads, states[len(asked) - 1]

    train_char_rnn(ids, 10, 2, 3, len(rows), 0.1, np.random.default_rng(0), loss_and_grads)
    for (_, start, inputs, targets, state, *_), (got, wanted, h_0) in zip(rows, asked, strict=True):
        assert [int(n) for n in inputs.split(",")] == got == ids[int(start) : int(start) + 3].tolist()
        assert [int(n) for n in targets.split(",")] == wanted
        named = re.search(r"`h_T` of update (\d)", state)
        assert (h_0 == states[int(named[1])]).all() if named else (h_0 == 0).all()

    weight, cache = np.array([0.3]), np.zeros(1)
    for *_, gradient, total, step in rows:
        new, cache = adagrad_step(weight, np.array([float(gradient)]), cache, 0.1)
        check_shown([float(total), float(step)], [cache[0], *(new - weight)])
        weight = new


def test_the_rehearsal_shows_the_table(capsys):
    text = prose("training", "Training a character-level RNN")
    rehearse(train_char_rnn)
    *updates, end = capsys.readouterr().out.splitlines()
    rows = table(text, "starts at")
    steps = [float(row[-1]) for row in rows]
    moved = [float(re.search(r"moved by (\S+)", line)[1]) for line in [*updates[1:], end]]
    assert moved == steps
    for k, (line, (_, _, inputs, targets, state, *_)) in enumerate(zip(updates, rows, strict=True)):
        assert line.startswith(f"update {k} ")
        assert f"inputs [{inputs.replace(',', '')}]   targets [{targets.replace(',', '')}]" in line
        named = re.search(r"`h_T` of update (\d)", state)
        h = (int(named[1]) + 1) / 10 if named else 0.0
        assert f"h_0 {np.full((1, 2), h)}" in line
    assert "each entry of `h_T` is 0.1 after update 0, 0.2 after update 1, and so on." in text
    ids = np.array([int(n) for n in re.search(r"`ids` = \[(.*?)\]", text)[1].split(",")])
    case = exercise("train_char_rnn").checks(0).cases[0]
    assert case.inputs["ids"].tolist() == ids.tolist()
    assert (case.inputs["seq_length"], case.inputs["num_updates"]) == (3, 4)


def test_the_rehearsal_waits_where_nothing_is_written_yet(capsys):
    def stub(ids, vocab_size, hidden_size, seq_length, num_updates, lr, rng, loss_and_grads):
        raise NotImplementedError("Write train_char_rnn here.")

    source = (FOLDER / "training.py").read_text("utf-8")
    (cell,) = [c for c in source.split("\n# %% ") if "rehearse(train_char_rnn)\n" in c]
    code = "\n".join(line.removeprefix("# ") for line in cell.split("\n")[1:])
    exec(code, {"rehearse": rehearse, "train_char_rnn": stub})
    assert capsys.readouterr().out == "This cell waits for your code.  Write train_char_rnn here.\n"


def test_the_reference_learns_hello():
    checks = exercise("train_char_rnn").checks(0)
    case = checks.cases[-1]
    assert case.kind == "hello"
    losses, _ = drive(checks.driver, train_char_rnn, case, checks.fixtures).result
    assert losses[-1] < 0.05

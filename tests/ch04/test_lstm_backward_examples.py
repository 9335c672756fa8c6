"""The worked numbers of the notebook `lstm_backward`, recomputed from its prose, and what its last cell shows."""

import json
import re

import numpy as np
import pytest

from solutions.ch04_gated.lstm_backward import cell_gradient, lstm_backward, lstm_forward, lstm_gates
from tests.conftest import exercise
from tests.prose import check_shown, numbers, products, section, table

ONE, STEP, ALL = "The direct path through the cell", "One LSTM step backward", "Backpropagation through the LSTM"


def prose(heading):
    return section("ch04_gated", "lstm_backward", heading)


def example(exercise_id):
    return exercise(exercise_id).spec.example.inputs


def test_the_leaking_tank():
    text = prose(ONE).partition("**A worked neighbour")[2].partition("**Your example.**")[0]
    r = [float(n) for n in re.findall(r"\$r_\d\$ = (\d\.\d\d)", text)]
    assert f"{r[0]:.2f} litres more in $m_1$" in text
    assert [eval(p.replace("·", "*")) for p in re.findall(r"([\d.]+ · [\d.]+) =", text)] == pytest.approx(
        [r[0] * r[1], r[0] * r[1] * r[2]]
    )
    assert "= 0.63 more in $m_2$" in text
    assert "= 0.504 more in $m_3$" in text


def test_the_example_of_the_direct_path():
    rows = table(prose(ONE), "| s |")
    np.testing.assert_array_equal([[json.loads(row[1]) for row in rows]], example("cell_gradient")["f"])
    assert (example("cell_gradient")["k"], example("cell_gradient")["t"]) == (0, 2)
    assert "derivative of `c[:, 2]` with respect to `c[:, 0]`" in prose(ONE)


def test_the_step_that_is_half_worked_out():
    text, given = prose(STEP), example("lstm_step_backward")
    weights = table(text, "| | i | f | g | o |")
    shown = {row[0].strip("`"): [float(cell) for cell in row[1:]] for row in weights}
    for name in ("W_x", "W_h", "b"):
        np.testing.assert_array_equal(shown[name], given[name].ravel())
    sentence = text.partition("The input is")[2].partition("The forward pass")[0]
    assert numbers(sentence) == [given[name].item() for name in ("x_t", "h_prev", "c_prev")]
    sentence = text.partition("# Let ")[2].partition(" The derivative")[0]
    assert numbers(sentence) == [given["dh_t"].item(), given["dc_next"].item()]
    i, f, g, o = (gate.item() for gate in lstm_gates(*(given[n] for n in ("x_t", "h_prev", "W_x", "W_h", "b"))))
    c_t = f * given["c_prev"].item() + i * g
    (forward,) = table(text, "| i | f | g | o | $c_t$")
    check_shown([float(cell) for cell in forward], [i, f, g, o, c_t, np.tanh(c_t)])
    assert 1 - float(forward[5]) ** 2 == pytest.approx(0.64)
    rows = table(text, "| gradient with respect to | rule |")
    do, through_h, _, dc_prev = (products(row[2]) for row in (*rows[:2], rows[0], rows[3]))
    assert rows[2][2] == "-0.92 + 0.72 = -0.20"
    dc = -0.92 + through_h
    exact = exercise("lstm_step_backward").spec.oracle(**given)
    assert dc_prev == pytest.approx(exact[2].item(), abs=0.005)
    # the student's part of the table, from the rounded values; the text promises a few thousandths
    i, f, g, o, *_ = (float(cell) for cell in forward)
    da = [dc * g * i * (1 - i), dc * 1.2 * f * (1 - f), dc * i * (1 - g**2), do * o * (1 - o)]
    np.testing.assert_allclose(da, exact[5], atol=0.003)
    values = np.abs([do, through_h, dc, dc_prev, dc * g, dc * 1.2, dc * i, *map(float, forward)])
    assert len(set(np.round(values, 2))) == len(values)  # no coincidences


def test_the_two_steps():
    text, given = prose(ALL), example("lstm_backward")
    rows = [[float(cell) for cell in row] for row in table(text, "| t | `x[0, t]` |")]
    h, c = lstm_forward(*(given[name] for name in ("x", "h_0", "c_0", "W_x", "W_h", "b")))
    before = np.array([[given["h_0"].item(), given["c_0"].item()], [h[0, 0, 0], c[0, 0, 0]]])
    np.testing.assert_array_equal([row[1] for row in rows], given["x"].ravel())
    np.testing.assert_array_equal([row[2] for row in rows], given["dh"].ravel())
    check_shown([row[3:] for row in rows], before)
    for name in ("W_x", "W_h", "b"):
        np.testing.assert_array_equal(given[name], example("lstm_step_backward")[name])
    last = {**{n: given[n] for n in ("W_x", "W_h", "b")}, "h_prev": h[:, 0], "c_prev": c[:, 0], "x_t": given["x"][:, 1]}
    back = exercise("lstm_step_backward").spec.oracle(dh_t=given["dh"][:, 1], dc_next=given["dc_T"], **last)
    sentence = text.partition("With `dc_T` = ")[2].partition("\n")[0]
    check_shown(numbers(f"{sentence} "), [given["dc_T"].item(), back[1].item(), back[2].item()])


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_what_the_last_cell_shows(seed):
    rng = np.random.default_rng(seed)
    B, D, H = 8, 4, 16
    inputs, dc_T = rng.normal(size=(B, 40, D)), rng.normal(size=(B, H))
    W_x, W_h = 0.5 * rng.normal(size=(D, 4 * H)), 0.144 * rng.normal(size=(H, 4 * H))
    h_0, c_0 = np.zeros((B, H)), np.zeros((B, H))

    def norms(bias, T, W_h=W_h):
        x, b = inputs[:, :T], np.repeat([0.0, bias, 0.0, 0.0], H)
        h, _ = lstm_forward(x, h_0, c_0, W_x, W_h, b)
        before = np.concatenate([h_0[:, None], h[:, :-1]], axis=1)
        f = np.stack([lstm_gates(x[:, t], before[:, t], W_x, W_h, b)[1] for t in range(T)], axis=1)
        _, _, dc_0, *_ = lstm_backward(np.zeros((B, T, H)), dc_T, x, h_0, c_0, W_x, W_h, b)
        direct = dc_T * cell_gradient(f, 0, T - 1) * f[:, 0]
        return *(np.linalg.norm(dc) / np.linalg.norm(dc_T) for dc in (dc_0, direct)), f.mean()

    for bias in (0.0, 1.0, 3.0):
        one_step, direct, _ = norms(bias, 1)
        assert one_step == pytest.approx(direct)
        all_paths, direct, _ = norms(bias, 20)
        assert all_paths > (2 if seed == 0 else 1.5) * direct
    _, direct, kept = norms(0.0, 40)
    assert direct < 5e-12
    assert kept == pytest.approx(0.5, abs=0.01)
    _, direct, kept = norms(3.0, 40)
    assert 0.03 < direct < 0.1
    assert kept == pytest.approx(0.93, abs=0.015)
    all_paths, _, _ = norms(3.0, 20, 4 * W_h)
    assert all_paths > 1.5

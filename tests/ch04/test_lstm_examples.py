"""The worked numbers of the notebook `lstm`, recomputed by the oracles, and what its last cell shows."""

import re

import numpy as np
import pytest

from tests.conftest import exercise
from tests.prose import check_shown, matrices, products, run_notebook, section, table

TEXT = section("ch04_gated", "lstm", "One step of the LSTM")
OVER_TIME = section("ch04_gated", "lstm", "The LSTM over time")
STEP, FORWARD = (exercise(name).spec.example.inputs for name in ("lstm_step", "lstm_forward"))


def logistic(a):
    return 1 / (1 + np.exp(-a))


def test_the_example_is_the_first_case():
    given = matrices(TEXT.replace("\n# ", " "))
    for symbol, name in (("x_t", "x_t"), ("h_t-1", "h_prev"), ("c_t-1", "c_prev"), ("W_x", "W_x"), ("W_h", "W_h")):
        np.testing.assert_array_equal(given[symbol], STEP[name])
    np.testing.assert_array_equal(given["b"][0], STEP["b"])


def test_the_gate_that_is_worked_out():
    rows = table(TEXT, "| contribution |")
    blocks = [STEP["x_t"] @ STEP["W_x"], STEP["h_prev"] @ STEP["W_h"], STEP["b"][None]]
    for row, block in zip(rows[:3], blocks, strict=True):
        assert [products(cell) for cell in row[1:]] == pytest.approx(block[0, 2:4].tolist())
    a_f = sum(blocks)[0, 2:4]
    assert [float(cell) for cell in row_of(rows, "pre-activation")] == pytest.approx(a_f.tolist())
    assert [float(cell) for cell in row_of(rows, "forget gate, its σ")] == np.round(logistic(a_f), 3).tolist()
    kept = [float(cell.rpartition("= ")[2]) for cell in row_of(rows, "kept of the cell state")]
    assert kept == np.round(logistic(a_f) * STEP["c_prev"][0], 3).tolist()


def row_of(rows, name):
    return next(row[1:] for row in rows if row[0] == name)


def test_the_other_blocks_and_the_hint():
    a = (STEP["x_t"] @ STEP["W_x"] + STEP["h_prev"] @ STEP["W_h"] + STEP["b"])[0]
    due = logistic(a[:2]), np.tanh(a[4:6]), logistic(a[6:])
    for row, numbers in zip(table(TEXT, "| | unit 0 |"), due, strict=True):
        assert [float(cell) for cell in row[1:]] == np.round(numbers, 3).tolist()
    h_t, c_t = exercise("lstm_step").spec.oracle(**STEP)
    assert f"`c_t[0, 0]` must be {c_t[0, 0]:.3f}" in exercise("lstm_step").messages.hints[2]
    assert len(set(np.round([*h_t[0], *c_t[0], *np.concatenate(due)], 2))) == 10  # no coincidences


def test_the_steps_over_time():
    for row in table(OVER_TIME, "| | i |"):
        assert [float(cell) for cell in row[1:]] == np.ravel(FORWARD[row[0].strip("`")]).tolist()
    assert f"`h_0` = {FORWARD['h_0'][0, 0]:.2f}" in OVER_TIME
    assert f"`c_0` = {FORWARD['c_0'][0, 0]:.2f}" in OVER_TIME
    h, c = exercise("lstm_forward").spec.oracle(**FORWARD)
    previous = [FORWARD["h_0"][0, 0], *h[0, :, 0]]
    for t, row in enumerate(table(OVER_TIME, "| t in Python |")):
        a = FORWARD["x"][0, t, 0] * FORWARD["W_x"][0] + previous[t] * FORWARD["W_h"][0] + FORWARD["b"]
        due = [FORWARD["x"][0, t, 0], *logistic(a[:2]), np.tanh(a[2]), logistic(a[3]), c[0, t, 0], h[0, t, 0]]
        shown = [float(cell) for cell in row[1:] if cell != "?"]
        assert len(shown) == (7 if t < 2 else 4)
        check_shown(shown, due[: len(shown)])
    assert f"`c[0, 2, 0]` must be {c[0, 2, 0]:.2f}" in exercise("lstm_forward").messages.hints[2]


def run_all(capsys, changed=lambda source: source):
    """What each code cell of the notebook prints with the solutions filled in."""
    return run_notebook("ch04_gated", "lstm", capsys, changed)[1]


def test_what_was_written_down_can_be_compared(capsys, session):
    text = next(text for text in run_all(capsys) if "one step" in text)
    shown = [float(number) for number in re.findall(r"-?\d+\.\d+", text)]
    (h_t, c_t), (h, c) = (
        exercise(name).spec.oracle(**i) for name, i in (("lstm_step", STEP), ("lstm_forward", FORWARD))
    )
    assert shown == [*np.round([*c_t[0], *h_t[0]], 3), *np.round([*c[0, :, 0], *h[0, :, 0]], 2)]


@pytest.mark.parametrize("body", ["raise NotImplementedError('not yet')", "return None", "return 0", "return []"])
def test_the_cells_below_wait_for_functions_that_give_nothing(body, capsys, session):
    def unfinished(source):
        return source.partition("\n")[0] + f"\n    {body}" if source.startswith("def lstm") else source

    assert sum("This cell waits for your code.  " in text for text in run_all(capsys, unfinished)) == 2


def test_the_cell_counts_the_open_brackets(capsys, session):
    *_, text = run_all(capsys)
    depth, rows = 0, text.splitlines()[1:]
    for row in rows:
        depth += ("(" in row) - (")" in row)
        with_12, h_12, with_2, _ = (float(number) for number in re.findall(r"-?\d+\.\d\d", row))
        assert with_12 == depth
        assert h_12 == round(float(np.tanh(depth)), 2)
        if row.startswith("  14 "):  # the last closing bracket
            assert with_2 < 0
    assert "-0.00" not in text
    assert 1 - logistic(2.0) == pytest.approx(0.12, abs=0.005)

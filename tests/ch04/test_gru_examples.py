"""The worked numbers of `gru` and `gru_backward`, read from the prose and recomputed, and what the last cells show."""

import json
import re
from functools import partial

import numpy as np
import pytest

from grader.manifest import load_manifest
from tests.conftest import exercise
from tests.prose import SOLUTIONS, check_shown, matrices, numbers, products, run_notebook, section, table

prose = partial(section, "ch04_gated")
STEP, CHO = "One step of the GRU", "The reset gate before the product"


def expected(exercise_id, **inputs):
    """What the oracle gives."""
    return exercise(exercise_id).spec.oracle(**inputs)


def sigmoid(a):
    return 1 / (1 + np.exp(-a))


def blocks(cells):
    return [n for cell in cells for n in numbers(cell)]


def test_the_worked_step():
    text, example = prose("gru", STEP), exercise("gru_step").spec.example.inputs
    given = matrices(text)
    np.testing.assert_array_equal(given["x_t"], example["x_t"])
    np.testing.assert_array_equal(given["h_t-1"], example["h_prev"])
    weights, sides = (blocks(row[1:]) for row in table(text, "| | block r |")), text.partition("for each side.")[2]
    for row, due in zip(weights, [example["W_x"][0], *example["W_h"], example["b_x"], example["b_h"]], strict=True):
        np.testing.assert_array_equal(row, due)
    x_side = example["x_t"] @ example["W_x"] + example["b_x"]
    h_side = example["h_prev"] @ example["W_h"] + example["b_h"]
    assert products(sides.partition("for example, ")[2].partition(".\n")[0]) == pytest.approx(h_side[0, 0])

    r, z = np.split(sigmoid(x_side + h_side)[0, :4], 2)
    a_n = x_side[0, 4:] + r * h_side[0, 4:]
    n = np.tanh(a_n)
    shown = [blocks(row[1:]) for row in table(sides, "| | block r |")]
    due = [x_side[0], h_side[0], np.r_[(x_side + h_side)[0, :4], a_n], np.r_[r, z, n]]
    for row, values in zip(shown, due, strict=True):
        check_shown(row, values)
        assert len(set(np.abs(row))) == 6  # no coincidences
    h_t = expected("gru_step", **example)[0]
    assert products(text.partition("first, which gives ")[2].partition(" for unit 0")[0]) == pytest.approx(
        a_n[0], abs=0.01
    )
    mixture = text.partition("new state of unit 0 is ")[2].partition(",")[0]
    assert products(mixture) == pytest.approx(h_t[0], abs=0.005)
    check_shown(numbers(text.partition("Unit 1 has")[2]), h_t[1:])


def test_the_step_of_cho_that_is_half_worked_out():
    text, example = prose("gru", CHO), exercise("gru_step_cho").spec.example.inputs
    for name, value in exercise("gru_step").spec.example.inputs.items():
        np.testing.assert_array_equal(example[name], value)
    steps = [expected(name, **example)[0] for name in ("gru_step", "gru_step_cho")]
    assert np.abs(np.round(steps[0], 2) - np.round(steps[1], 2)).min() > 0.005
    z = sigmoid(example["x_t"] @ example["W_x"] + example["b_x"] + example["h_prev"] @ example["W_h"] + example["b_h"])
    r, z = z[0, :2], z[0, 2:4]
    check_shown(numbers(text.partition("`r * h_prev` is ")[2].partition("rounded")[0]), r * example["h_prev"][0])
    rows = table(text, "| | unit 0 |")
    candidates = [(h_t - z * example["h_prev"][0]) / (1 - z) for h_t in steps]
    for row, values in zip(rows, [*candidates, *steps], strict=True):
        check_shown([float(cell) for cell in row[1:] if cell != "?"], values[: 2 - row.count("?")])


def test_the_example_over_time():
    rows, example = (
        table(prose("gru", "The GRU over time"), "| t | `x[0, t]`"),
        exercise("gru_forward").spec.example.inputs,
    )
    assert [float(row[1]) for row in rows] == example["x"].ravel().tolist()
    check_shown([numbers(row[2]) for row in rows], expected("gru_forward", **example)[0])
    step = exercise("gru_step").spec.example.inputs
    for name in ("W_x", "W_h", "b_x", "b_h"):
        np.testing.assert_array_equal(example[name], step[name])
    np.testing.assert_array_equal(example["h_0"], step["h_prev"])


def test_the_counted_parameters():
    text = prose("gru", "Counting parameters")
    *arrays, total = [int(row[2]) for row in table(text, "| array | shape |")]
    assert arrays == [3 * 2, 2 * 2, 2 + 2]
    assert total == sum(arrays) == expected("count_parameters", kind="rnn", input_size=3, hidden_size=2)
    for call, shown in table(text, "| call |"):
        more = {name: json.loads(value.lower()) for name, value in re.findall(r"(\w+)=(\w+)", call)}
        due = expected("count_parameters", kind="rnn", input_size=3, hidden_size=2, **more)
        assert call.startswith("`torch.nn.RNN(3, 2, ")
        assert int(shown) == due


def test_the_step_backward_of_single_numbers():
    text, example = prose("gru_backward", "One GRU step backward"), exercise("gru_step_backward").spec.example.inputs
    line = text.partition("a single column:")[2].partition("The forward pass")[0]
    x_t, h_prev, *weights, dh_t = numbers(line)
    for name, values in zip(
        ("x_t", "h_prev", "W_x", "W_h", "b_x", "b_h", "dh_t"),
        (x_t, h_prev, weights[:3], weights[3:6], weights[6:9], weights[9:], dh_t),
        strict=True,
    ):
        np.testing.assert_array_equal(example[name].ravel(), np.ravel(values), name)
    _, dh_prev, _, _, db_x, db_h = expected("gru_step_backward", **example)
    h_t = expected("gru_step", **{name: value for name, value in example.items() if name != "dh_t"})[0, 0]
    x_side, h_side = (
        example["x_t"] @ example["W_x"] + example["b_x"],
        example["h_prev"] @ example["W_h"] + example["b_h"],
    )
    r, z, _ = sigmoid(x_side + h_side)[0]
    n = np.tanh(x_side + r * h_side)[0, 2]
    check_shown([float(cell) for cell in table(text, "| $r_t$ |")[0]], [r, z, n, h_t])
    through = db_h * example["W_h"][0]  # one row, so the gradients of the biases are those of the pre-activations
    paths = [dh_t * z, through[1], through[2], through[0]]
    *shown, total = [float(cell) for cell in table(text, "| path 1 |")[0][1:]]
    check_shown(shown, paths)
    check_shown(total, dh_prev[0, 0])
    assert sum(shown) == pytest.approx(total)
    assert sum(paths) == pytest.approx(dh_prev[0, 0])
    for row, due in zip(table(text, "| | block r |"), (db_x, db_h), strict=True):
        check_shown([float(cell) for cell in row[1:]], due)


def run_all(notebook, capsys, changed=lambda source: source):
    """What each code cell of the notebook prints with the solutions filled in."""
    return run_notebook("ch04_gated", notebook, capsys, changed)[1]


def test_what_was_written_down_can_be_compared(capsys, session):
    lines = next(text for text in run_all("gru", capsys) if text.startswith("gru_step ")).splitlines()
    shown = {line.split()[0]: json.loads(line[line.index("[") :]) for line in lines}
    for name in ("gru_step", "gru_step_cho"):
        check_shown(shown[name], expected(name, **exercise(name).spec.example.inputs))
    sizes = {"input_size": 3, "hidden_size": 2}
    for kind in ("rnn", "gru", "lstm"):
        due = [
            expected("count_parameters", kind=kind, **sizes, **more)
            for more in ({}, {"num_layers": 2, "bidirectional": True})
        ]
        assert shown[kind] == due


@pytest.mark.parametrize("body", ["raise NotImplementedError('not yet')", "return None", "return 0", "return []"])
@pytest.mark.parametrize("notebook", ["gru", "gru_backward"])
def test_the_cells_below_wait_for_functions_that_give_nothing(notebook, body, capsys, session):
    names = {
        exercise.id
        for n in load_manifest(SOLUTIONS.parent / "course.toml").chapters
        for b in n.notebooks
        for exercise in b.exercises
    }

    def unfinished(source):
        found = re.match(r"def (\w+)", source)
        return source.partition("\n")[0] + f"\n    {body}" if found and found[1] in names else source

    printed = run_all(notebook, capsys, unfinished)
    assert sum("This cell waits for your code.  " in text for text in printed) >= 1 + (
        notebook == "gru" and body.startswith("raise")
    )


def runs(text):
    """The numbers after each lag or step, by the name at the beginning of the line."""
    return {
        line.partition("   ")[0].strip(): [float(n) for n in re.findall(r": (\S+)", line)] for line in text.splitlines()
    }


@pytest.mark.parametrize("seed", range(4))
def test_the_bias_of_the_update_gate_decides_how_long_a_difference_survives(seed, capsys, session):
    *_, text = run_all("gru", capsys, lambda source: source.replace("default_rng(0)", f"default_rng({seed})"))
    lines = text.splitlines()
    measured, predicted = ([[float(n) for n in re.findall(r": (\S+)", line)] for line in lines[i::2]] for i in (0, 1))
    assert measured[0][0] > predicted[0][0]  # b = 0: other paths add to it
    np.testing.assert_allclose(measured[4][:3], predicted[4][:3], rtol=0.2)
    assert 0.4 <= measured[4][2] <= 0.6
    assert 0.1 <= measured[3][2] <= 0.2  # the question's answer: about 3
    assert measured[2][2] < 0.1


@pytest.mark.parametrize("seed", range(4))
def test_the_gradient_reaches_as_far_as_the_update_gate_lets_it(seed, capsys, session):
    *_, text = run_all("gru_backward", capsys, lambda source: source.replace("default_rng(0)", f"default_rng({seed})"))
    found = runs(text)
    assert found["GRU, b = -2"][2] < found["tanh RNN"][2] < found["GRU, b =  0"][2] < found["GRU, b =  2"][2]
    assert 0.4 <= found["GRU, b =  4"][2] <= 0.6
    assert round(float(sigmoid(4)), 2) == 0.98
    assert round(float(sigmoid(-2)), 2) == 0.12

"""The worked numbers of `jacobians`, read from its prose and recomputed by autograd, and what its last cell shows."""

import json
import re
from functools import partial

import numpy as np
import pytest
import torch

from tests.conftest import exercise
from tests.prose import check_shown, matrices, numbers, products, run_notebook, section, table

prose = partial(section, "ch03_gradients", "jacobians")


def expected(exercise_id, **inputs):
    """What autograd gives."""
    return exercise(exercise_id).spec.oracle(**inputs)


def test_the_worked_neighbour():
    given = matrices(prose("The Jacobian of one step"))
    v, A = torch.from_numpy(given["v"][0]), torch.from_numpy(given["A"])
    due = torch.autograd.functional.jacobian(lambda v: (v @ A) ** 2, v).numpy()
    rows = table(prose("The Jacobian of one step"), "| output |")
    s = (v @ A).numpy()
    check_shown([float(row[1]) for row in rows], s)
    check_shown([float(row[2]) for row in rows], 2 * s)
    np.testing.assert_allclose([[products(cell) for cell in row[3:]] for row in rows], due)


def test_the_step_that_is_half_worked_out():
    text = prose("The Jacobian of one step").partition("**The step of a network, half worked out.**")[2]
    given, example = matrices(text), exercise("step_jacobian").spec.example.inputs
    np.testing.assert_array_equal(given["h_t"][0], example["h_t"])
    np.testing.assert_array_equal(given["W_hh"], example["W_hh"])
    due = expected("step_jacobian", **example)
    assert "`W_hh[1, 0]` = 1.25" in text
    assert example["W_hh"][1, 0] == 1.25
    factors = text.partition("`J[0, 1]` = ")[2].partition(".\n")[0]
    assert products(factors) == pytest.approx(due[0, 1])
    assert len(set(np.round(due, 2).ravel())) == 4  # no coincidences
    assert "`J[0, 1]` must be 0.80" in exercise("step_jacobian").messages.hints[2]


def test_the_product_that_is_half_worked_out():
    text, example = prose("The Jacobian of many steps"), exercise("jacobian_product").spec.example.inputs
    given = matrices(text)
    np.testing.assert_array_equal(given["h"], example["h"])
    np.testing.assert_array_equal(given["W_hh"], example["W_hh"])
    assert (example["k"], example["t"]) == (0, 2)
    first, second = (expected("step_jacobian", h_t=example["h"][s], W_hh=example["W_hh"]) for s in (1, 2))
    np.testing.assert_array_equal(example["h"][1], exercise("step_jacobian").spec.example.inputs["h_t"])
    np.testing.assert_allclose(json.loads(table(text, "| step |")[1][1]), second)
    *through, total = table(text, "| through |")
    for unit, row in enumerate(through):
        assert [float(cell) for cell in row[1:3]] == pytest.approx([second[0, unit], first[unit, 1]])
        assert float(row[3]) == pytest.approx(second[0, unit] * first[unit, 1])
    due = expected("jacobian_product", **example)
    assert float(total[3]) == pytest.approx(due[0, 1])
    assert f"entry [0, 1] of the product is {due[0, 1]:.4f}" in text
    assert f"{due[0, 1]:.4f}" in exercise("jacobian_product").messages.hints[2]
    np.testing.assert_allclose(second @ first, due)
    assert np.abs(first @ second - due).min() > 0.01


def test_the_small_example_of_norms():
    text, example = prose("The gradient's norm against lag"), exercise("gradient_norms_by_lag").spec.example.inputs
    gradient, states = table(text, "| sequence 0 |")
    np.testing.assert_array_equal([[float(cell)] for cell in gradient[1:]], example["dh_T"])
    np.testing.assert_array_equal([numbers(cell) for cell in states[1:]], example["h"][:, :, 0])
    due = expected("gradient_norms_by_lag", **example)
    check_shown(numbers(text.partition("three norms are ")[2].partition(", rounded")[0]), due)
    assert due[0] == np.hypot(3, 4)
    assert "5.00, 1.39, 0.65" in exercise("gradient_norms_by_lag").messages.hints[2]


def run_all(capsys, changed=lambda source: source):
    """What each code cell of the notebook prints with the solutions filled in."""
    return run_notebook("ch03_gradients", "jacobians", capsys, changed)[1]


def test_what_was_written_down_can_be_compared(capsys, session):
    lines = next(text for text in run_all(capsys) if "one step" in text).splitlines()
    names = "step_jacobian", "jacobian_product", "gradient_norms_by_lag"
    for line, name, digits in zip(lines, names, (2, 4, 2), strict=True):
        spec = exercise(name).spec
        due = spec.oracle(**spec.example.inputs)
        assert json.loads(line[line.index("[") :]) == np.round(due, digits).tolist()


@pytest.mark.parametrize("body", ["raise NotImplementedError('not yet')", "return None", "return 0", "return []"])
def test_the_cells_below_wait_for_functions_that_give_nothing(body, capsys, session):
    def unfinished(source):
        return source.partition("\n")[0] + f"\n    {body}" if source.startswith("def ") else source

    printed = run_all(capsys, unfinished)
    assert sum("This cell waits for your code.  " in text for text in printed) >= 1 + body.startswith("raise")


@pytest.mark.parametrize("seed", range(4))
def test_the_inputs_decide_between_the_three_outcomes(seed, capsys, session):
    *_, text = run_all(capsys, lambda source: source.replace("default_rng(0)", f"default_rng({seed})"))
    none, weak, strong = text.split("inputs of size")[1:]
    assert "mean derivative 1.00" in none
    ends = [float(re.search(r"lag 50 +(\S+)", part)[1]) for part in (none, weak, strong)]
    assert ends[0] > 1000
    assert 0.1 < ends[1] < 20
    assert ends[2] < 1e-7
    assert [0.45 < float(re.search(r"derivative (\S+)", part)[1]) < 0.9 for part in (weak, strong)] == [True, True]
    assert all(part.count("●") for part in (none, weak, strong))

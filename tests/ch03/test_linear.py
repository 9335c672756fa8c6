"""The exercises on the linear case: parity with other ways to compute them, and the numbers in the notebooks' prose."""

import json
import re
from functools import partial

import numpy as np
import pytest
import torch

from solutions.ch03_gradients.initialisation import scale_to_spectral_radius
from solutions.ch03_gradients.linear import linear_gradient, spectral_radius
from tests.conftest import exercise
from tests.loops import for_each
from tests.prose import check_shown, matrices, numbers, products, run_notebook, section, table

prose = partial(section, "ch03_gradients")

SIZES = [1, 1, 2, 2, 3, 5, 8, 16]


# Parity ---------------------------------------------------------------------------------------------------------------


def random_weights(size, seed):
    return np.random.default_rng([size, seed]).normal(size=(size, size)) / np.sqrt(size)


def from_eigenvalues(rng, reals, pairs):
    """A matrix with these eigenvalues, by a well conditioned change of basis."""
    size = len(reals) + 2 * len(pairs)
    blocks = np.diag([*reals, *np.repeat([z.real for z in pairs], 2)])
    for k, z in enumerate(pairs):
        i = len(reals) + 2 * k
        blocks[i, i + 1], blocks[i + 1, i] = z.imag, -z.imag
    rotation, _ = np.linalg.qr(rng.normal(size=(size, size)))
    basis = rotation * rng.uniform(0.5, 2, size=size)  # of condition 4 at most
    return basis @ blocks @ np.linalg.inv(basis)


@for_each("seed", range(5))
@for_each("size", SIZES)
def test_the_spectral_radius_of_random_weights(size, seed):
    W = random_weights(size, seed)
    due = torch.linalg.eigvals(torch.from_numpy(W)).abs().max().item()
    assert spectral_radius(W) == pytest.approx(due, rel=1e-10)
    assert exercise("spectral_radius").spec.oracle(W) == pytest.approx(due, rel=1e-10)
    assert isinstance(spectral_radius(W), float)


@for_each("seed", range(10))
@for_each(("reals", "pairs"), [(1, 0), (4, 0), (0, 1), (2, 1), (1, 3), (5, 4)])
def test_the_spectral_radius_of_a_matrix_with_known_eigenvalues(reals, pairs, seed):
    rng = np.random.default_rng([reals, pairs, seed])
    values = rng.uniform(-2, 2, size=reals), [complex(*rng.uniform(-2, 2, size=2)) for _ in range(pairs)]
    W, due = from_eigenvalues(rng, *values), max(abs(value) for some in values for value in some)
    assert spectral_radius(W) == pytest.approx(due, rel=1e-10)
    assert exercise("spectral_radius").spec.oracle(W) == pytest.approx(due, rel=1e-10)


def test_the_spectral_radius_of_matrices_that_are_not_diagonalisable():
    assert spectral_radius(np.array([[0.9, 5.0], [0.0, 0.9]])) == 0.9
    assert spectral_radius(np.triu(np.arange(1.0, 17.0).reshape(4, 4), 1)) == 0.0
    assert spectral_radius(np.zeros((3, 3))) == 0.0
    oracle = exercise("spectral_radius").spec.oracle
    assert oracle(np.array([[0.9, 5.0], [0.0, 0.9]])) == pytest.approx(0.9, rel=1e-12)
    assert oracle(np.zeros((3, 3))) == 0.0


@for_each("lag", [0, 1, 2, 7, 30])
@for_each("seed", range(3))
@for_each("size", SIZES)
def test_linear_gradient_equals_autograd(size, seed, lag):
    W, dh_T = random_weights(size, seed), np.random.default_rng(seed).normal(size=size)
    first = torch.zeros(size, dtype=torch.float64, requires_grad=True)
    h = first
    for _ in range(lag):
        h = h @ torch.from_numpy(W)
    (due,) = torch.autograd.grad(h, first, torch.from_numpy(dh_T))
    dh = linear_gradient(W, dh_T, lag)
    assert (dh.dtype, dh.shape) == (np.float64, (size,))
    np.testing.assert_allclose(dh, due.numpy(), rtol=1e-10, atol=1e-10)


@for_each("rho", [0.01, 0.9, 1.0, 3.0])
@for_each("size", SIZES)
def test_the_scaled_matrix_has_the_radius_and_points_in_the_same_direction(size, rho):
    W = random_weights(size, 0)
    scaled = scale_to_spectral_radius(W, rho)
    assert torch.linalg.eigvals(torch.from_numpy(scaled)).abs().max().item() == pytest.approx(rho, rel=1e-10)
    np.testing.assert_allclose(scaled / np.linalg.norm(scaled), W / np.linalg.norm(W), rtol=1e-12)
    np.testing.assert_allclose(exercise("scale_to_spectral_radius").spec.oracle(W, rho), scaled, rtol=1e-10)


# What the cases promise -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["spectral_radius", "linear_gradient"])
def test_the_kind_of_a_case_says_what_its_eigenvalues_are(name):
    for seed in range(20):
        for case in exercise(name).spec.cases(np.random.default_rng(seed)):
            eigenvalues = np.linalg.eigvals(case.inputs.get("W", case.inputs.get("W_hh")))
            assert ("complex" in case.kind) == bool(np.iscomplexobj(eigenvalues))


def test_every_network_of_linear_gradient_is_diagonalisable_with_a_well_conditioned_basis():
    for seed in range(20):
        for case in exercise("linear_gradient").spec.cases(np.random.default_rng(seed)):
            assert np.linalg.cond(np.linalg.eig(case.inputs["W_hh"].T)[1]) < 100


def test_no_processor_can_flip_the_signs_of_the_eigenvectors():
    """Larger matrices consist of blocks of size 1 and 2 along the diagonal, with zeros above them."""
    for seed in range(20):
        for case in exercise("linear_gradient").spec.cases(np.random.default_rng(seed)):
            above = np.triu(case.inputs["W_hh"], 1)
            assert not np.triu(above, 2).any()
            filled = np.flatnonzero(np.diag(above, 1))
            assert (np.diff(filled) > 1).all()  # two neighbouring blocks do not grow together


# The numbers in the prose ---------------------------------------------------------------------------------------------


def value_of(cell):
    return eval(cell.replace("·", "*"))


def test_spectral_radius():
    text = prose("linear", "The spectral radius")
    examples = [np.array(rows) for rows in _all_matrices(text)]
    for W, half in zip(examples, text.split("half worked out")[:2], strict=True):
        rows = table(half, "computed from the entries")
        eigenvalues = np.linalg.eigvals(W)
        assert value_of(rows[0][1]) == pytest.approx(np.trace(W))
        assert value_of(rows[1][1]) == pytest.approx(np.linalg.det(W))
        check_shown([float(row[2]) for row in rows[:2]], [np.trace(W), np.linalg.det(W)])
        if np.iscomplexobj(eigenvalues):
            real, imaginary, *_ = numbers(rows[2][2])
            check_shown([real, imaginary], [eigenvalues.real.max(), eigenvalues.imag.max()])
            assert rows[-1][2] == "?"
            assert exercise("spectral_radius").spec.example.inputs["W"].tolist() == W.tolist()
        else:
            check_shown(sorted(numbers(rows[2][2])), np.sort(eigenvalues))
            check_shown(sorted(numbers(rows[3][2])), np.sort(np.abs(eigenvalues)))
            check_shown(float(rows[4][2]), spectral_radius(W))
    assert "the length shrinks by 20 %" in text
    assert spectral_radius(np.array([[0.0, 3.0], [0.0, 0.0]])) == 0


def _all_matrices(text):
    found = re.findall(r"W = \\begin\{bmatrix\}(.*?)\\end\{bmatrix\}", text, re.DOTALL)
    return [[[float(n) for n in row.split("&")] for row in body.split(r"\\")] for body in found]


def test_linear_gradient():
    text = prose("linear", "The gradient of a linear network")
    given = matrices(text)
    W_hh, Q, inverse, dh_T = given["W_hh"], given["Q"], np.linalg.inv(given["Q"]), given["dh_T"][0]
    found = re.search(r"Q\^\{-1\} = \\begin\{bmatrix\}(.*?)\\end", text, re.DOTALL)[1]
    check_shown([[float(n) for n in row.split("&")] for row in found.split(r"\\")], inverse)
    eigenvalues = np.array(numbers(text.partition("Two units, and eigenvalues ")[2].partition(":")[0]))
    np.testing.assert_allclose(Q * eigenvalues @ inverse, W_hh.T, atol=1e-12)
    rows = table(text, "| lag |")
    for lag, row in enumerate(rows[:2]):
        assert [products(cell) for cell in row[1:3]] == pytest.approx(dh_T @ Q * eigenvalues**lag)
        check_shown(json.loads(row[3]), linear_gradient(W_hh, dh_T, lag))
    assert rows[2] == ["2", "?", "?", "?"]
    sentence = text.partition("has the entries ")[2].partition(".\n")[0]
    assert [products(part) for part in sentence.split(" and ")] == pytest.approx(dh_T @ W_hh.T)
    example = exercise("linear_gradient").spec.example.inputs
    assert (example["W_hh"].tolist(), example["dh_T"].tolist(), example["lag"]) == (W_hh.tolist(), dh_T.tolist(), 2)


def test_scale_to_spectral_radius():
    text = prose("initialisation", "Scaling to a spectral radius")
    W, scaled = (np.array(rows) for rows in _all_matrices(text))
    rho, radius, factor = numbers(text.partition("s = ")[2].partition("qquad")[0])
    assert (radius, factor) == (spectral_radius(W), rho / radius)
    check_shown(scaled, scale_to_spectral_radius(W, rho))
    before, after = (numbers(cell) for cell in table(text, "| before |")[0][1:])
    assert (before, after) == (np.diag(W).tolist(), np.diag(scaled).tolist())
    check_shown(numbers(" ".join(table(text, "| before |")[1][1:])), [radius, rho])
    example = exercise("scale_to_spectral_radius").spec.example.inputs
    assert (example["W"].tolist(), example["rho"]) == (W.tolist(), rho)


# The cells ------------------------------------------------------------------------------------------------------------


def run_all(capsys, changed=lambda source: source):
    """What each code cell of the notebook `linear` prints with the solutions filled in."""
    return run_notebook("ch03_gradients", "linear", capsys, changed)[1]


def test_what_was_written_down_can_be_compared(capsys, session):
    (shown,) = (text for text in run_all(capsys) if "lag 2" in text)
    radius, coordinates, gradient = shown.splitlines()
    example = exercise("linear_gradient").spec.example.inputs
    Q = matrices(prose("linear", "The gradient of a linear network"))["Q"]
    due = exercise("linear_gradient").spec.oracle(**example)
    check_shown(float(radius.split()[-1]), spectral_radius(exercise("spectral_radius").spec.example.inputs["W"]))
    check_shown(json.loads("[" + coordinates.partition("[")[2]), due @ Q)
    check_shown(json.loads("[" + gradient.partition("[")[2]), due)


@pytest.mark.parametrize("body", ["raise NotImplementedError('not yet')", "return None", "return []"])
def test_the_cells_below_wait_for_functions_that_give_nothing(body, capsys, session):
    def unfinished(source):
        first = source.partition("\n")[0]
        return f"{first}\n    {body}" if source.startswith("def ") else source

    assert sum("This cell waits for your code.  " in text for text in run_all(capsys, unfinished)) == 2


def test_which_of_the_three_gradients_vanish(capsys, session):
    *_, text = run_all(capsys)
    radii = [float(n) for n in re.findall(r"radius (\d+\.\d\d)", text)]
    largest = [float(n) for n in re.findall(r"value (\d+\.\d\d)", text)]
    norms = np.array([float(n) for n in re.findall(r"norm (\S+)", text)]).reshape(3, 6)
    entries, eigenvalues, radius = norms
    assert radii == pytest.approx([1.4, 1.2, 0.9], abs=0.02)
    assert largest[2] > 5
    assert (norms[:, 0] == 1).all()
    assert entries[5] > 1e5
    assert eigenvalues[2] > 1
    assert eigenvalues[5] > 1e5
    assert radius[1:4].min() > 4
    assert radius[5] < 0.01
    assert (radius[[2, 5]] > 1).tolist() == [True, False]

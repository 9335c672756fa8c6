"""Random orthogonal matrices: the judge's bounds, programs that no spec names, and the notebook's numbers and cells."""

import json
import re
from functools import cache, partial
from math import prod

import numpy as np
import pytest

from grader.author.notebooks import instructor_notebook
from grader.manifest import load_manifest
from grader.spec.load import load_module
from grader.spec.trials import load_trials
from solutions.ch03_gradients.initialisation import orthogonal_init
from tests.conftest import ROOT, exercise
from tests.prose import SOLUTIONS, arrays, matrices, section, table
from tests.trials_judged import program

ID = "orthogonal_init"


prose = partial(section, "ch03_gradients", "initialisation")


judge = load_module(SOLUTIONS / "ch03_gradients" / ID / "judge.py", "_judge_of_orthogonal_init")


def signs(R):
    return np.sign(np.diag(R))


def qr(A):
    Q, R = np.linalg.qr(A)
    return Q * signs(R)


def square(rng, n):
    return rng.normal(size=(n, n))


def double_factorial(k):
    return prod(range(k, 0, -2))


@pytest.mark.parametrize("n", [1, 2, 3, 8, 20])
def test_the_moments_are_those_of_random_directions(n):
    """From the moments of normal numbers: those of a direction are theirs, divided by those of the length."""
    length = {k: prod(n + 2 * i for i in range(k // 2)) for k in (4, 8)}
    fourth = n * double_factorial(3) / length[4]
    variance = (n * double_factorial(7) + n * (n - 1) * double_factorial(3) ** 2) / length[8] - fourth**2
    by_text = {moment.text.split()[0]: moment for moment, _ in judge.moments(n)}
    assert by_text["column"].mean == pytest.approx(fourth)
    assert by_text["column"].variance == pytest.approx(variance, abs=1e-15)
    assert by_text["columns"].mean == pytest.approx(fourth)


@pytest.mark.parametrize(("n", "calls"), [(2, 4000), (3, 4000), (8, 2000), (20, 400)])
def test_the_variances_are_large_enough(n, calls):
    """Each assumed variance is at least that of simulated matrices, which come from numbers of its own kind."""
    rng = np.random.default_rng(n)
    U, _, Vt = np.linalg.svd(rng.normal(size=(calls, n, n)))
    Q = U @ Vt
    flat = Q.reshape(calls, -1)
    values = [
        np.linalg.det(Q),
        flat,
        np.trace(Q, axis1=1, axis2=2),
        flat**2,
        flat[:, :1] * flat[:, 1:],
        (Q**4).sum(axis=1),
        (Q**4).sum(axis=1).mean(axis=1),
    ]
    for (moment, means), each in zip(judge.moments(n), values, strict=True):
        assert np.mean(np.var(each, axis=0)) <= 1.1 * moment.variance + 1e-12, moment.text
        assert abs(np.mean(each, axis=0) - moment.mean).max() <= 6 * np.sqrt(moment.variance / calls) + 1e-12
        assert moment.low - 1e-9 <= np.min(each)
        assert np.max(each) <= moment.high + 1e-9
        assert np.shape(means(Q)) in ((), (n,), (n, n), (n, n, n, n))


def test_the_bounds_are_bernsteins():
    """At the bound, the inequality gives the risk. Bernstein: P(mean - μ > t) ≤ exp(-k t² / (2 v + 2 M t / 3))."""
    moment = judge.Moment("", 0.3, 0.01, 0.1, 1.0)
    low, high = moment.bounds(500)
    for t, reach in ((0.3 - low, 0.2), (high - 0.3, 0.7)):
        assert np.exp(-500 * t**2 / (2 * 0.01 + 2 / 3 * reach * t)) == pytest.approx(judge.RISK / 2)


def test_a_right_function_fails_with_a_probability_below_1e_10():
    for case in exercise(ID).checks(0).cases:
        n = case.inputs["n"]
        tests = sum(np.size(means(np.ones((2, n, n)))) for _, means in judge.moments(n))
        bounds = [(moment, *moment.bounds(case.inputs["draws"])) for moment, _ in judge.moments(n)]
        impossible = all(low < moment.low and moment.high < high for moment, low, high in bounds)
        assert tests * judge.RISK < 1e-10 or (impossible and n == 20)


def share_of_the_bound(Q):
    """How near the means of these matrices come to the bounds; a failure is at 1."""
    found = []
    for moment, means in judge.moments(Q.shape[1]):
        off, (low, high) = np.asarray(means(Q)) - moment.mean, moment.bounds(len(Q))
        if moment.variance:  # with n = 1 most quantities are the same for all matrices
            found += [np.max(off / (high - moment.mean)), np.max(-off / (moment.mean - low))]
    return max(found)


RIGHT = {"reference": orthogonal_init, **exercise(ID).spec.alternatives}


@pytest.mark.parametrize("name", RIGHT)
def test_right_matrices_stay_far_from_the_bounds(name):
    """So that other processors, whose last digits differ, cannot change a verdict."""
    for seed in range(3):
        for case in exercise(ID).checks(seed).cases:
            rng, n = np.random.default_rng(case.inputs["rng"].params["seed"]), case.inputs["n"]
            assert share_of_the_bound(np.array([RIGHT[name](rng, n) for _ in range(case.inputs["draws"])])) < 0.7


@pytest.mark.parametrize(
    ("wrong", "least"),
    [
        (lambda rng, n: np.linalg.qr(square(rng, n))[0], 1.2),
        (lambda rng, n: qr(rng.uniform(-1, 1, size=(n, n))), 1.2),
        (lambda rng, n: (lambda U, s, Vt: U @ Vt)(*np.linalg.svd(rng.uniform(-1, 1, size=(n, n)))), 1.2),
        (lambda rng, n: (lambda Q: Q * np.array([np.linalg.det(Q)] + [1] * (n - 1)))(qr(square(rng, n))), 1.2),
        (lambda rng, n: np.linalg.eigh(square(rng, n))[1], 1.2),
        (lambda rng, n: np.linalg.svd(square(rng, n))[2], 1.2),
    ],
    ids=["no signs", "uniform", "uniform, polar", "rotation", "eigenvectors", "Vt"],
)
def test_skewed_matrices_are_far_beyond_a_bound(wrong, least):
    for seed in range(3):
        found = []
        for case in exercise(ID).checks(seed).cases:
            rng, n = np.random.default_rng(case.inputs["rng"].params["seed"]), case.inputs["n"]
            found.append(share_of_the_bound(np.array([wrong(rng, n) for _ in range(case.inputs["draws"])])))
        assert max(found) > least


@pytest.mark.parametrize("name", ["a list", "one row", "None", "NaN", "float32", "Q and R"])
def test_a_result_of_another_form_is_told_plainly(name):
    _, problem = exercise(ID).verdict(program(ID, name)).first_problem
    assert re.search(r"float64|returned None|finite", problem.text)


OTHER_WAYS = {trial.title: trial.program for trial in load_trials(ROOT, exercise(ID).place) if trial.right}


@pytest.mark.slow
@pytest.mark.parametrize("name", {**RIGHT, **OTHER_WAYS})
def test_right_matrices_pass_with_many_seeds(name):
    for seed in range(4, 24):
        assert exercise(ID).verdict({**RIGHT, **OTHER_WAYS}[name], seed).status == "passed"


def test_the_two_decompositions():
    text = prose("A random orthogonal matrix")
    A = matrices(text)["A"]
    rows = [[np.array(json.loads(cell)) for cell in row[1:]] for row in table(text, "| $Q$ |")]
    for Q, R in rows:
        np.testing.assert_allclose(Q @ R, A, atol=1e-12)
        np.testing.assert_allclose(Q.T @ Q, np.eye(2), atol=1e-12)
        assert R[1, 0] == 0
    (first, _), (second, _) = rows
    np.testing.assert_allclose(np.linalg.qr(A)[0], first)
    np.testing.assert_allclose(first * [-1, 1], second)
    assert arrays(text) == {}
    assert "`signs` would be −1, −1" in exercise(ID).messages.hints[2]
    assert signs(np.linalg.qr(A)[1]).tolist() == [-1, -1]


def test_the_library_never_makes_the_upper_left_entry_positive():
    rng = np.random.default_rng(0)
    for n in (2, 3, 8):
        assert all(np.linalg.qr(square(rng, n))[0][0, 0] <= 0 for _ in range(200))


@cache
def cells():
    root = SOLUTIONS.parent
    manifest = load_manifest(root / "course.toml")
    place = next(p for p in manifest.places.values() if p.notebook.name == "initialisation")
    notebook = instructor_notebook(root, manifest, place.chapter, place.notebook)
    return tuple(cell.source for cell in notebook.cells if cell.cell_type == "code")


def run_all(capsys, changed=lambda source: source):
    """What each code cell of the notebook prints with the solutions filled in."""
    namespace, printed = {}, []
    for source in cells():
        capsys.readouterr()
        exec(changed(source), namespace)
        printed.append(capsys.readouterr().out)
    return printed


def test_the_histograms_show_what_the_signs_do(capsys, session):
    text = next(text for text in run_all(capsys) if "np.linalg.qr alone" in text)
    alone, yours = (
        [int(count) for count in re.findall(r"to .{5}  +(\d+)", part)] for part in text.split("orthogonal_init")
    )
    assert len(alone) == len(yours) == 8
    assert sum(alone) == sum(yours) == 2000
    assert alone[4:] == [0, 0, 0, 0]
    assert 900 < sum(yours[:4]) < 1100
    assert min(yours[0], yours[-1]) > 2 * max(yours[3:5])


@pytest.mark.parametrize("seed", range(4))
def test_the_two_initialisations_differ_as_the_text_says(seed, capsys, session):
    *_, text = run_all(capsys, lambda source: source.replace("default_rng(0)", f"default_rng({seed})"))
    radius, orthogonal = text.split("orthogonal")
    lags = [
        [[float(x) for x in re.findall(r"lag \d+: +(\S+)", line)] for line in part.splitlines() if "lag" in line]
        for part in (radius, orthogonal)
    ]
    assert lags[1][0] == [1, 1, 1, 1]
    assert lags[0][0][-1] < 0.8
    assert all(tanh[-1] < 0.01 for _, tanh in lags)
    assert "from 1.00 to 1.00" in orthogonal
    low, high = (float(x) for x in re.search(r"from (\S+) to (\S+)", radius).groups())
    assert low < 0.1
    assert 1.5 < high < 2.5
    if seed == 0:  # "in this run"
        assert lags[1][1][-1] > lags[0][1][-1]


@pytest.mark.parametrize("body", ["raise NotImplementedError('not yet')", "return None", "return 0"])
def test_the_cells_below_wait_for_functions_that_give_nothing(body, capsys, session):
    def unfinished(source):
        begun = source.startswith(("def scale_to", "def orthogonal"))
        return source.partition("\n")[0] + f"\n    {body}" if begun else source

    assert sum("This cell waits for your code.  " in text for text in run_all(capsys, unfinished)) == 2

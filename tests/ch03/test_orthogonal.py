"""Random orthogonal matrices: the judge's bounds, programs that no spec names, and the notebook's numbers and cells."""

import json
import re
from functools import cache, partial
from math import prod

import numpy as np
import pytest

from grader.author.notebooks import instructor_notebook
from grader.author.record import load_module
from grader.manifest import load_manifest
from solutions.ch03_gradients.initialisation import orthogonal_init
from tests.conftest import SEEDS, exercise
from tests.loops import for_each
from tests.nearly_right import fails_keeping, passes
from tests.prose import SOLUTIONS, arrays, matrices, section, table

ID = "orthogonal_init"
prose = partial(section, "ch03_gradients", "initialisation")
judge = load_module(SOLUTIONS / "ch03_gradients" / "checks" / f"{ID}_judge.py", "_judge_of_orthogonal_init")


def signs(R):
    return np.sign(np.diag(R))


def qr(A):
    Q, R = np.linalg.qr(A)
    return Q * signs(R)


def square(rng, n):
    return rng.normal(size=(n, n))


# The judge ------------------------------------------------------------------------------------------------------------


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


# Nearly right ---------------------------------------------------------------------------------------------------------


def decomposed(rule):
    """rule(Q, R) of a QR decomposition of normal numbers."""
    return lambda rng, n: rule(*np.linalg.qr(square(rng, n)))


def flips_R(Q, R):
    R[np.diag(R) < 0] *= -1
    return Q


def gram_schmidt(A, normalised=True, back_to=None):
    for j in range(len(A)):
        for i in range(j if back_to is None else min(j, back_to)):
            A[:, j] -= (A[:, i] @ A[:, j]) / (A[:, i] @ A[:, i]) * A[:, i]
    return A / np.linalg.norm(A, axis=0) if normalised else A


def givens(rng, n):
    Q = np.eye(n)
    for i in range(n):
        for j in range(i):
            c, s = np.cos(angle := rng.uniform(0, 2 * np.pi)), np.sin(angle)
            G = np.eye(n)
            G[[i, i, j, j], [i, j, i, j]] = c, -s, s, c
            Q = Q @ G
    return Q


def cayley(rng, n):
    A = square(rng, n)
    return np.linalg.solve(np.eye(n) + A - A.T, np.eye(n) - A + A.T)


def reflections(rng, n, number):
    Q = np.eye(n)
    for _ in range(number):
        v = rng.normal(size=n)
        Q = Q @ (np.eye(n) - 2 * np.outer(v, v) / (v @ v))
    return Q


def kept(rng, n, store):
    if n not in store:
        store[n] = qr(square(rng, n))
    return store[n]


def mixed_sources(rng, n):
    return qr(square(rng, n) + np.random.default_rng().normal(size=(n, n)))


ONE = ("orthogonal",)
WRONG = {
    "-Q": (decomposed(lambda Q, R: -Q), "signs_of_R_ignored", ONE),
    "R flipped, not Q": (decomposed(flips_R), "signs_of_R_ignored", ONE),
    "first entry made positive": (decomposed(lambda Q, R: Q * np.sign(Q[0, 0])), "signs_of_R_ignored", ONE),
    "determinant corrected, signs not": (decomposed(lambda Q, R: Q * np.linalg.det(Q)), "signs_of_R_ignored", ONE),
    "uniform, no signs": (lambda rng, n: np.linalg.qr(rng.random((n, n)))[0], "signs_of_R_ignored", ONE),
    "one random sign": (lambda rng, n: np.linalg.qr(square(rng, n))[0] * rng.choice([-1, 1]), None, ONE),
    "sign of the trace of R": (decomposed(lambda Q, R: Q * np.sign(np.trace(R))), None, ONE),
    "sign of R[0, 0]": (decomposed(lambda Q, R: Q * np.sign(R[0, 0])), None, ONE),
    "first row made positive": (decomposed(lambda Q, R: Q * np.sign(Q[0])), None, ONE),
    "signs of all of R": (decomposed(lambda Q, R: Q * np.sign(R)), "multiplied_by_signs_of_all_of_R"),
    "@ signs of all of R": (decomposed(lambda Q, R: Q @ np.sign(R)), None),
    "Q and R": (lambda rng, n: np.linalg.qr(square(rng, n)), None),
    "absolute values": (decomposed(lambda Q, R: abs(Q)), "lengths_only"),
    "times the diagonal of R": (decomposed(lambda Q, R: Q * np.diag(R)), "columns_not_of_length_1"),
    "Gram-Schmidt without lengths": (lambda rng, n: gram_schmidt(square(rng, n), False), "columns_not_of_length_1"),
    "Gram-Schmidt, first column only": (lambda rng, n: gram_schmidt(square(rng, n), back_to=1), "lengths_only"),
    "Gram-Schmidt, uniform": (
        lambda rng, n: gram_schmidt(rng.uniform(-1, 1, size=(n, n))),
        "starts_from_uniform_numbers",
        ONE,
    ),
    "normal over the spectral norm": (
        lambda rng, n: (lambda A: A / np.linalg.norm(A, 2))(square(rng, n)),
        "random_matrix_returned",
    ),
    "radius 1": (
        lambda rng, n: (lambda A: A / np.abs(np.linalg.eigvals(A)).max())(square(rng, n)),
        "random_matrix_returned",
    ),
    "symmetric start": (lambda rng, n: (lambda A: qr(A + A.T))(square(rng, n)), None, ONE),
    "mean 1": (lambda rng, n: qr(rng.normal(1.0, 1.0, size=(n, n))), None, ONE),
    "exponential": (lambda rng, n: qr(rng.exponential(size=(n, n))), None, ONE),
    "whole numbers": (lambda rng, n: qr(rng.integers(-3, 4, size=(n, n)).astype(float)), "columns_not_of_length_1"),
    "triangular start": (lambda rng, n: qr(np.tril(square(rng, n))), None, ONE),
    "always a rotation, det": (
        lambda rng, n: (lambda Q: Q * np.linalg.det(Q))(qr(square(rng, n))),
        "determinant_never_changes",
        ONE,
    ),
    "Cayley": (cayley, "determinant_never_changes", ONE),
    "Givens": (givens, None),
    "n reflections": (lambda rng, n: reflections(rng, n, n), "determinant_never_changes", ONE),
    "n or n + 1 reflections": (lambda rng, n: reflections(rng, n, n + rng.integers(2)), None, ONE),
    "U": (lambda rng, n: np.linalg.svd(square(rng, n))[0], "eigenvectors_of_a_symmetric_matrix", ONE),
    "Vt": (lambda rng, n: np.linalg.svd(square(rng, n))[2], None, ONE),
    "eigh of one half": (lambda rng, n: np.linalg.eigh(square(rng, n))[1], "eigenvectors_of_a_symmetric_matrix", ONE),
    "complex eigenvectors": (lambda rng, n: np.linalg.eig((lambda A: A - A.T)(square(rng, n)))[1], None),
    "np.random": (lambda rng, n: qr(np.random.randn(n, n)), "numbers_not_from_rng"),
    "np.random, no signs": (lambda rng, n: np.linalg.qr(np.random.randn(n, n))[0], "numbers_not_from_rng"),
    "two sources": (mixed_sources, "numbers_not_from_rng"),
    "a seed inside": (lambda rng, n: orthogonal_init(np.random.default_rng(1), n), "same_matrix_every_time"),
    "a seed inside, no signs": (
        lambda rng, n: np.linalg.qr(np.random.default_rng(1).normal(size=(n, n)))[0],
        "same_matrix_every_time",
    ),
    "the first one kept": (lambda rng, n, _store={}: kept(rng, n, _store), "same_matrix_every_time"),
    "identity": (lambda rng, n: np.eye(n), "identity_or_permutation"),
    "permutation": (lambda rng, n: np.eye(n)[rng.permutation(n)], "identity_or_permutation"),
    "permutation with signs": (
        lambda rng, n: np.eye(n)[rng.permutation(n)] * rng.choice([-1, 1], size=n),
        "identity_or_permutation",
    ),
    "float32": (lambda rng, n: orthogonal_init(rng, n).astype(np.float32), None),
    "float32 inside": (lambda rng, n: qr(square(rng, n).astype(np.float32)).astype(float), None),
    "a list": (lambda rng, n: orthogonal_init(rng, n).tolist(), None),
    "one row": (lambda rng, n: rng.normal(size=n), None),
    "always 3 x 3": (lambda rng, n: orthogonal_init(rng, 3), None),
    "None": (lambda rng, n: None, None),
    "NaN": (lambda rng, n: np.full((n, n), np.nan), None),
}


@for_each("name", WRONG)
def test_a_nearly_right_orthogonal_init(name):
    fails_keeping(ID, *WRONG[name], seeds=SEEDS[:2])  # a seed is hundreds of calls


@pytest.mark.parametrize("name", ["a list", "one row", "None", "NaN", "float32", "Q and R"])
def test_a_result_of_another_form_is_told_plainly(name):
    _, problem = exercise(ID).verdict(WRONG[name][0]).first_problem
    assert re.search(r"float64|returned None|finite", problem.text)


# Right, in other ways -------------------------------------------------------------------------------------------------


def whitened(rng, n):
    A = square(rng, n)
    return np.linalg.solve(np.linalg.cholesky(A @ A.T), A)


def nearest(rng, n):
    A = square(rng, n)
    values, V = np.linalg.eigh(A @ A.T)
    return V @ np.diag(values**-0.5) @ V.T @ A


def classical_gram_schmidt(rng, n):
    A, Q = rng.standard_normal(size=(n, n)), np.zeros((n, n))
    for j in range(n):
        q = A[:, j] - Q[:, :j] @ (Q[:, :j].T @ A[:, j])
        Q[:, j] = q / np.sqrt(q @ q)
    return Q


def flipped_in_a_loop(rng, n):
    Q, R = np.linalg.qr(square(rng, n))
    for j in range(n):
        if R[j, j] < 0:
            Q[:, j] = -Q[:, j]
    return Q


OTHER_WAYS = {
    "a diagonal matrix of signs": decomposed(lambda Q, R: Q @ np.diag(signs(R))),
    "the diagonal over its size": decomposed(lambda Q, R: Q * (np.diag(R) / abs(np.diag(R)))),
    "signs of the rows": decomposed(lambda Q, R: Q * signs(R)[:, None]),  # they are random and independent of Q
    "transposed": lambda rng, n: orthogonal_init(rng, n).T,
    "flipped in a loop": flipped_in_a_loop,
    "negative diagonal": decomposed(lambda Q, R: -Q * signs(R)),
    "twice the standard deviation": lambda rng, n: qr(rng.normal(0.0, 2.0, size=(n, n))),
    "a product of two": lambda rng, n: orthogonal_init(rng, n) @ orthogonal_init(rng, n),
    "whitened": whitened,
    "nearest": nearest,
    "classical Gram-Schmidt": classical_gram_schmidt,
    "eigenvectors with random signs": lambda rng, n: (
        np.linalg.eigh((lambda A: A + A.T)(square(rng, n)))[1] * rng.choice([-1, 1], size=n)
    ),
    "a seed from rng": lambda rng, n: orthogonal_init(np.random.default_rng(rng.integers(2**32)), n),
    "a child of rng": lambda rng, n: orthogonal_init(rng.spawn(1)[0], n),
}


@for_each("name", OTHER_WAYS)
def test_a_right_orthogonal_init_passes_however_it_is_written(name):
    passes(ID, OTHER_WAYS[name], SEEDS[:2])


@pytest.mark.slow
@pytest.mark.parametrize("name", {**RIGHT, **OTHER_WAYS})
def test_right_matrices_pass_with_many_seeds(name):
    for seed in range(4, 24):
        assert exercise(ID).verdict({**RIGHT, **OTHER_WAYS}[name], seed).status == "passed"


# The notebook ---------------------------------------------------------------------------------------------------------


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

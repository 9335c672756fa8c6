"""Judge random orthogonal matrices: their form, the generator they come from, and their distribution.

Every test of the distribution compares a mean over all calls with its exact value for uniformly distributed matrices.
It fails beyond a bound from Bernstein's inequality, which holds for every number of calls: a right function exceeds it
with probability RISK at most, however it is written. With n = 8 there are about 4,000 such tests, mostly of pairs of
entries, so a right function fails a case with a probability below 1e-10. With n = 20 the calls are so few that no mean
can be beyond its bound: that case tests the form alone.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from grader.checking.case import Observation
from grader.checking.describe import describe
from grader.checking.verdict import Problem

# Of the entries of Q.T @ Q, at nearly all calls and at half of them: some right ways to make columns perpendicular lose
# many digits with the few matrices that are almost singular.
WORST, TYPICAL = 1e-4, 1e-9
PRECISION = 1e-6  # of a property by which a mistake is recognised
RISK = 1e-14  # that a right function exceeds the bound of one test
DISTRIBUTION = "distribution"  # the output by which a facet knows problems of the distribution


def largest(case):
    """Results of the right size, in both runs."""
    matrices = [np.zeros((case.inputs["n"],) * 2)] * case.inputs["draws"]
    return Observation(matrices, calls={"again": matrices, "rng": ["drawn"]})


# Form and source ------------------------------------------------------------------------------------------------------


def judge(case, observation):
    """The first thing that is wrong."""
    text = form_problem(case, observation.result)
    if text:
        return [Problem("judge", text)]
    Q = np.array(observation.result)  # (calls, n, n)
    text = orthogonality_problem(Q) or source_problem(observation, Q)
    if text:
        return [Problem("judge", text)]
    text = distribution_problem(Q)
    return [Problem("judge", text, DISTRIBUTION)] if text else []


def form_problem(case, results):
    n, calls = case.inputs["n"], case.inputs["draws"]
    if not isinstance(results, list) or len(results) != calls:
        return f"{calls} results, one for each call; got {describe(results)}"
    for k, result in enumerate(results):
        if result is None:
            return "a matrix, but your function returned None. Does it end with `return`?"
        if not (isinstance(result, np.ndarray) and result.shape == (n, n) and result.dtype == np.float64):
            return f"call {k}: a float64 array of shape {(n, n)}; got {describe(result)}"
        if not np.isfinite(result).all():
            return f"call {k}: finite numbers; got {result[~np.isfinite(result)][0]}"
    return ""


def orthogonality_problem(Q):
    n = Q.shape[1]
    gram = Q.swapaxes(1, 2) @ Q
    off = np.abs(gram - np.eye(n))
    largest = off.max(axis=(1, 2))
    several = (largest > WORST).sum() > 2 + len(Q) // 100
    if not several and n > 1 and not _whole_numbers(Q) and (Q.astype(np.float32) == Q).all():
        return "float64 all the way; your numbers are rounded to float32"
    if several or np.median(largest) > TYPICAL:
        k, i, j = (int(index) for index in np.argwhere(off > (WORST if several else TYPICAL))[0])
        what = f"column {i} of length 1" if i == j else f"columns {i} and {j} perpendicular"
        return f"call {k}: {what}, so `(Q.T @ Q)[{i}, {j}]` is {int(i == j)}; got {_digits(gram[k, i, j])}"
    return ""


def _digits(number):
    """A number that is clearly not 0 or 1 with three digits, another one with as many as show it."""
    return f"{number:.10g}" if abs(number - 1) < 1e-2 else f"{number:.3g}"


def source_problem(observation, Q):
    if not repeated(observation):
        return "the same matrices again from a new generator with the same seed; they were others"
    if not drawn(observation):
        return "matrices that are drawn from `rng`; nothing was drawn from it"
    # with n = 2, a matrix that comes again may show little about larger ones: the tests of the distribution tell more
    if len(Q) > 1 and (len(Q[0]) > 2 or (len(Q[0]) == 2 and _constant(Q))) and (Q[1:] == Q[:-1]).all(axis=(1, 2)).any():
        return "another matrix at each call; the same one came twice"
    return ""


def repeated(observation):
    """Whether a new generator with the same seed gave the same results."""
    again = observation.calls.get("again", [])
    return all(same(first, second) for first, second in zip(observation.result, again, strict=False))


def same(a, b):
    """Whether two results agree up to their last digits, which may depend on where the arrays are in memory."""
    return isinstance(b, np.ndarray) and a.shape == b.shape and np.allclose(a, b, rtol=0, atol=PRECISION)


def drawn(observation):
    return "drawn" in observation.calls.get("rng", [])


# Distribution ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Moment:
    """A quantity of a uniformly distributed matrix: its mean, a bound of its variance, and the numbers between which it
    lies. `text` describes it, with `{0}`, `{1}`, … for its place among the values and `{got}` for their mean.
    """

    text: str
    mean: float
    variance: float
    low: float
    high: float

    def bounds(self, calls):
        """The least and the largest mean over so many calls that is accepted, by Bernstein's inequality."""
        least, most = (self._deviation(calls, reach) for reach in (self.mean - self.low, self.high - self.mean))
        return self.mean - least, self.mean + most

    def _deviation(self, calls, reach):
        """The t with calls · t² / (2 · variance + 2/3 · reach · t) = log(2 / RISK)."""
        log = np.log(2 / RISK)
        b = log * 2 / 3 * reach
        return (b + np.sqrt(b * b + 8 * calls * log * self.variance)) / (2 * calls)


@lru_cache
def moments(n):
    """The tests: each as a Moment and a function from Q (calls, n, n) to its means over all calls, one per place."""
    square = 3 / (n * (n + 2))  # the mean of the fourth power of an entry
    fourth = _variance_of_fourth_powers(n)
    return (
        (
            Moment("the determinant 1 about as often as −1; its mean over all calls is {got:.2f}", 0, 1, -1, 1),
            lambda Q: np.where(np.linalg.det(Q) > 0, 1.0, -1.0).mean(),
        ),
        (
            Moment("entry [{0}, {1}] with mean 0; its mean over all calls is {got:.2f}", 0, 1 / n, -1, 1),
            lambda Q: Q.mean(axis=0),
        ),
        (
            Moment("a trace with mean 0; its mean over all calls is {got:.2f}", 0, 1, -n, n),
            lambda Q: np.trace(Q, axis1=1, axis2=2).mean(),
        ),
        (
            Moment(
                "entry [{0}, {1}] as large as all others; the mean of its square is {got:.2f}, not 1 / n",
                1 / n,
                square - 1 / n**2,
                0,
                1,
            ),
            lambda Q: (Q**2).mean(axis=0),
        ),
        (
            Moment(
                "entries [{0}, {1}] and [{2}, {3}] uncorrelated; the mean of their product is {got:.2f}, not 0",
                0,
                square,
                -1,
                1,
            ),
            _mean_products,
        ),
        (
            Moment(
                "column {0} in every direction equally often; the sum of its fourth powers has the mean {got:.3f}",
                n * square,
                fourth,
                1 / n,
                1,
            ),
            lambda Q: (Q**4).sum(axis=1).mean(axis=0),
        ),
        (
            Moment(
                "columns in every direction equally often; the sum of a column's fourth powers has the mean {got:.3f}",
                n * square,
                2 / n * fourth,  # simulated: between 1.1 / n and 1.8 / n of the variance for a single column
                1 / n,
                1,
            ),
            lambda Q: (Q**4).sum(axis=1).mean(),
        ),
    )


def _variance_of_fourth_powers(n):
    """The variance of the sum of the fourth powers of the entries of a unit vector with a random direction.

    The mean of a product of even powers is a product of odd numbers (105 for an eighth power, 3 · 3 for two fourth
    powers) over n (n + 2) (n + 4) (n + 6).
    """
    mean_of_square = (105 * n + 9 * n * (n - 1)) / (n * (n + 2) * (n + 4) * (n + 6))
    return max(mean_of_square - (3 / (n + 2)) ** 2, 0.0)


def _mean_products(Q):
    """The mean products of all pairs of different entries, (n, n, n, n); 0 for an entry with itself."""
    calls, n, _ = Q.shape
    flat = Q.reshape(calls, n * n)
    products = flat.T @ flat / calls
    np.fill_diagonal(products, 0)
    return products.reshape(n, n, n, n)


def distribution_problem(Q):
    calls, n, _ = Q.shape
    for moment, means in moments(n):
        mean = np.asarray(means(Q))
        low, high = moment.bounds(calls)
        wrong = (mean < low) | (mean > high)
        if wrong.any():
            place = [int(index) for index in np.argwhere(wrong)[0]]
            return moment.text.format(*place, got=mean[tuple(place)])
    return ""


# Mistakes -------------------------------------------------------------------------------------------------------------
# Each matches a case if the case shows it, or is too small to show the difference: with n = 1 most of them are alike.


def shown(match):
    """A match for results of the right form: `match(case, observation, Q)` decides."""

    def matches(case, observation):
        if form_problem(case, observation.result):
            return False
        return bool(match(case, observation, np.array(observation.result)))

    return matches


def not_orthogonal(match):
    """A match for matrices that are not orthogonal: `match(Q, case)` decides."""
    return shown(lambda case, observation, Q: bool(orthogonality_problem(Q)) and match(Q, case))


def skewed(match):
    """A match for orthogonal matrices from `rng` with another distribution: `match(Q, case)` decides."""
    return shown(
        lambda case, observation, Q: (
            not orthogonality_problem(Q) and not source_problem(observation, Q) and match(Q, case)
        )
    )


def _random_matrix(Q, case):
    """Whether the first result is a multiple of numbers that come first from `rng`."""
    return any(_parallel(Q[0].ravel(), A.ravel()) for A in _first_numbers(case))


def _first_numbers(case):
    """What `rng` gives if it is first asked for a matrix: normal numbers, and uniform ones from 0 or around 0."""
    seed, n = case.inputs["rng"].params["seed"], case.inputs["n"]
    normal, uniform = np.random.default_rng(seed).normal(size=(n, n)), np.random.default_rng(seed).random((n, n))
    return normal, uniform, uniform - 0.5


def _parallel(a, b):
    return abs(abs(a @ b) - np.sqrt((a @ a) * (b @ b))) <= PRECISION * np.sqrt((a @ a) * (b @ b))


def _lengths_1(Q, case):
    lengths = [np.linalg.norm(Q, axis=axis) for axis in (1, 2)]
    return any((np.abs(each - 1) <= PRECISION).all() for each in lengths)


def _perpendicular(Q, case):
    """Whether all columns, or all rows, are perpendicular."""
    for M in (Q, Q.swapaxes(1, 2)):
        lengths = np.linalg.norm(M, axis=1)
        gram = np.abs(M.swapaxes(1, 2) @ M)
        gram[:, np.arange(len(M[0])), np.arange(len(M[0]))] = 0
        if (gram <= PRECISION * lengths[:, :, None] * lengths[:, None, :]).all():
            return True
    return False


def _triangular(Q):
    return (np.tril(Q, -1) == 0).all()


def _R_returned(Q, case):
    """Whether the first result is a triangular factor of the numbers that come first from `rng`."""
    return _triangular(Q) and any(np.allclose(Q[0].T @ Q[0], A.T @ A) for A in _first_numbers(case))


def _times_signs_of_R(Q, case):
    return _triangular(Q) and not _R_returned(Q, case) and (np.abs(Q) <= 1 + PRECISION).all()


def _whole_numbers(Q):
    return np.isin(Q, (-1, 0, 1)).all()


def _constant(Q):
    return (Q[0] == Q).all()


def _other_source(case, observation, Q):
    if _constant(Q) and len(Q[0]) > 1:
        return False
    return not drawn(observation) or not repeated(observation)


def _same_every_time(case, observation, Q):
    return _constant(Q) and (len(Q[0]) == 1 or not _whole_numbers(Q))


def _identity_or_permutation(case, observation, Q):
    return _whole_numbers(Q) and (drawn(observation) or _constant(Q))


def _signs_by_a_rule(Q, case):
    """Whether the leading entries have the same signs at every call, while reflections take Q to a diagonal matrix.

    For a uniformly distributed Q these signs are random and independent. A Q that is made of reflections has signs that
    their form prescribes, apart from the last.
    """
    if len(Q[0]) == 1:
        return _constant(Q)
    rest = Q.copy()
    while len(rest[0]) > 1:
        positive = rest[:, 0, 0] > 0
        if (positive != positive[0]).any():
            return False
        v = rest[:, :, 0].copy()  # the reflection along v takes the first column to (1, 0, …) or (-1, 0, …)
        v[:, 0] += np.where(positive, 1.0, -1.0)
        scale = 2 / np.einsum("ki,ki->k", v, v)
        rest -= scale[:, None, None] * v[:, :, None] * np.einsum("ki,kij->kj", v, rest)[:, None, :]
        rest = rest[:, 1:, 1:]
    return True


def _diagonal_positive(Q, case):
    return (np.diagonal(Q, axis1=1, axis2=2) > 0).all()


def _determinant_constant(Q, case):
    determinants = np.linalg.det(Q) > 0
    return (determinants == determinants[0]).all() and (
        len(Q[0]) == 1 or not (_signs_by_a_rule(Q, case) or _diagonal_positive(Q, case) or _eigenvectors(Q, case))
    )


def _uniform(Q, case):
    """Whether the first result comes from uniform numbers, column by column or as the nearest orthogonal matrix."""
    if len(Q[0]) > 2 and _signs_by_a_rule(Q, case):
        return False
    _, *uniform = _first_numbers(case)
    return any(_parallel(Q[0, :, 0], A[:, 0]) or np.allclose(Q[0].T @ A, A.T @ Q[0]) for A in uniform)


def _eigenvectors(Q, case):
    """Whether the first result contains the eigenvectors of a symmetric matrix made of the first numbers of `rng`."""
    for A in _first_numbers(case):
        lower, upper = np.tril(A), np.triu(A)
        for S in (A + A.T, A @ A.T, A.T @ A, lower + np.tril(A, -1).T, upper + np.triu(A, 1).T):
            D = Q[0].T @ S @ Q[0]
            if np.allclose(D, np.diag(np.diag(D)), atol=PRECISION):
                return True
    return False


MATCHES = {
    "random_matrix_returned": not_orthogonal(_random_matrix),
    "lengths_only": not_orthogonal(_lengths_1),
    "columns_not_of_length_1": not_orthogonal(
        lambda Q, case: _perpendicular(Q, case) and (len(Q[0]) == 1 or not _triangular(Q))
    ),
    "R_returned": not_orthogonal(_R_returned),
    "multiplied_by_signs_of_all_of_R": not_orthogonal(_times_signs_of_R),
    "numbers_not_from_rng": shown(_other_source),
    "same_matrix_every_time": shown(_same_every_time),
    "identity_or_permutation": shown(_identity_or_permutation),
    "signs_of_R_ignored": skewed(_signs_by_a_rule),
    "diagonal_of_Q_made_positive": skewed(_diagonal_positive),
    "determinant_never_changes": skewed(_determinant_constant),
    "starts_from_uniform_numbers": skewed(_uniform),
    "eigenvectors_of_a_symmetric_matrix": skewed(_eigenvectors),
}

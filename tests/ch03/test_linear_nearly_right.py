"""Work on spectral_radius, linear_gradient and scale_to_spectral_radius that no spec names.

What is nearly right must fail and get no wrong name: beside each stands the diagnosis that is true of it, where one is.
What is right in another way must pass.
"""

import functools

import numpy as np
import torch

from tests.loops import for_each
from tests.nearly_right import fails, passes

RADIUS, GRADIENT, SCALE = "spectral_radius", "linear_gradient", "scale_to_spectral_radius"

eigvals, eig, inv, norm = np.linalg.eigvals, np.linalg.eig, np.linalg.inv, np.linalg.norm


# spectral_radius ------------------------------------------------------------------------------------------------------


def radius(W):
    return np.abs(eigvals(W)).max()


def power_iteration(W, steps=200):
    v = np.ones(len(W))
    for _ in range(steps):
        v = W @ v
        v = v / norm(v)
    return abs(v @ W @ v)


def growth_of_a_vector(W, steps=500):
    return norm(np.linalg.matrix_power(W, steps) @ np.ones(len(W))) ** (1 / steps)


def compared_as_python_does(W):
    largest = 0
    for value in eigvals(W):
        if value.real > largest:
            largest = value.real
    return largest


def by_qr_iteration(W, steps=300):
    for _ in range(steps):
        Q, R = np.linalg.qr(W)
        W = R @ Q
    return np.abs(np.diag(W)).max()


WRONG_RADIUS = {
    "the first": (lambda W: abs(eig(W)[0][0]), {"one_eigenvalue_only"}),
    "the last": (lambda W: abs(eigvals(W)[-1]), {"one_eigenvalue_only"}),
    "the last when sorted": (lambda W: abs(np.sort(eigvals(W))[-1]), {"abs_after_max"}),
    "compared in a loop": (compared_as_python_does, set()),
    "the determinant": (lambda W: abs(np.linalg.det(W)), set()),
    "its root": (lambda W: abs(np.linalg.det(W)) ** (1 / len(W)), set()),
    "the trace": (lambda W: abs(np.trace(W)), {"sum_or_norm_for_max"}),
    "the diagonal": (lambda W: np.abs(np.diag(W)).max(), set()),
    "imaginary parts": (lambda W: np.abs(eigvals(W).imag).max(), set()),
    "real and imaginary part of the largest": (lambda W: np.abs(eigvals(W).real).max() ** 2, set()),
    "all added up": (lambda W: np.abs(eigvals(W)).sum(), {"sum_or_norm_for_max"}),
    "nuclear norm": (lambda W: norm(W, "nuc"), set()),
    "singular values of W.T @ W": (lambda W: norm(W.T @ W, 2), {"singular_value_squared"}),
    "eigenvalues of W @ W.T": (lambda W: radius(W @ W.T), {"singular_value_squared"}),
    "singular value by svd": (lambda W: np.linalg.svd(W)[1].max(), {"largest_singular_value"}),
    "singular value, smallest": (lambda W: norm(W, -2), set()),
    "with its sign": (lambda W: -radius(W), {"sign"}),
    "as a complex number": (lambda W: max(eigvals(W), key=abs), {"eigenvalue_returned"}),
    "the largest in size, with its sign": (
        lambda W: eigvals(W)[np.abs(eigvals(W)).argmax()].real,
        {"eigenvalue_returned"},
    ),
    "max and min": (lambda W: max(abs(eigvals(W).max()), abs(eigvals(W).min())), {"largest_and_smallest_compared"}),
    "power iteration": (power_iteration, set()),
    "a vector's growth": (growth_of_a_vector, set()),
    "QR iteration": (by_qr_iteration, set()),
    "the argument": (lambda W: int(np.abs(eigvals(W)).argmax()), set()),
    "the whole of eig": (lambda W: np.abs(eig(W)[0]), {"no_maximum"}),
    "max of eig": (lambda W: np.abs(eig(W)[1]).max(), {"eigenvectors_for_eigenvalues"}),
    "one too many": (lambda W: (radius(W), eigvals(W)), {"after: [0] missing"}),
    "rounded": (lambda W: round(float(radius(W)), 4), {"rounded"}),
    "float32": (lambda W: radius(W.astype("f4")), {"float32", "lost_precision"}),
    "absolute entries": (lambda W: radius(np.abs(W)), set()),
    "symmetric part doubled": (lambda W: np.abs(np.linalg.eigvalsh(W + W.T)).max(), set()),
    "symmetric part": (lambda W: np.abs(np.linalg.eigvalsh((W + W.T) / 2)).max(), {"symmetric_part"}),
    "singular value by eigvals": (lambda W: np.sqrt(radius(W.T @ W)), {"largest_singular_value"}),
    "mean of entries": (lambda W: np.abs(W).mean(), set()),
    "largest real part, complex left": (lambda W: eigvals(W)[eigvals(W).real.argmax()], {"abs_left_out"}),
    "cast": (lambda W: eigvals(W).astype(float).max(), {"largest_real_part"}),
    "abs of a cast": (lambda W: np.abs(eigvals(W).astype(float)).max(), {"imaginary_parts_ignored"}),
    "floor": (lambda W: max(radius(W), 1e-6), set()),
}

RIGHT_RADIUS = {
    "a NumPy scalar": radius,
    "an array without axes": lambda W: np.array(radius(W)),
    "of the transpose": lambda W: float(radius(W.T)),
    "the norm of the eigenvalues": lambda W: norm(eigvals(W), np.inf),
    "products with the conjugate": lambda W: np.sqrt((eigvals(W) * eigvals(W).conj()).real.max()),
    "hypot": lambda W: np.hypot(eigvals(W).real, eigvals(W).imag).max(),
    "largest by size": lambda W: abs(max(eigvals(W), key=abs)),
    "sorted": lambda W: sorted(abs(value) for value in eigvals(W))[-1],
    "roots of the characteristic polynomial": lambda W: np.abs(np.append(np.roots(np.poly(W)), 0)).max(),
    "PyTorch": lambda W: torch.linalg.eigvals(torch.from_numpy(W)).abs().max().item(),
    "by a power": lambda W: radius(np.linalg.matrix_power(W, 3)) ** (1 / 3),
    "Gelfand, with exact powers of two": lambda W: gelfand(W),
    "divided by the norm first": lambda W: radius(W / norm(W)) * norm(W),
    "a copy": lambda W: np.max(np.absolute(eig(W.copy()).eigenvalues)),
    "longdouble": lambda W: np.longdouble(radius(W)).astype(float),
}


def gelfand(W):
    exponent = 0.0
    for k in range(64):
        size = norm(W)
        if size == 0:
            return 0
        W = W / size
        exponent += np.log2(size) / 2**k
        W = W @ W
    return 2**exponent


# linear_gradient ------------------------------------------------------------------------------------------------------


def loop(W_hh, dh_T, lag, step=lambda dh, W: dh @ W.T, extra=0):
    dh = dh_T.copy()
    for _ in range(lag + extra):
        dh = step(dh, W_hh)
    return dh


def decomposed(matrix=lambda W: W.T, first=lambda Q: Q, last=inv, power=lambda e, n: e**n, end=np.real):
    """The reference solution with one of its parts exchanged."""

    def function(W_hh, dh_T, lag):
        e, Q = eig(matrix(W_hh))
        return end(dh_T @ first(Q) * power(e, lag) @ last(Q))

    return function


def in_place(W_hh, dh_T, lag):
    for _ in range(lag):
        dh_T[:] = dh_T @ W_hh.T
    return dh_T


def power_with_itself(W_hh, dh_T, lag):
    """Squares at every step: W, W², W⁴, …"""
    A = W_hh.T
    for _ in range(lag - 1):
        A = A @ A
    return dh_T @ A if lag else dh_T


def eigenvectors_as_rows(W_hh, dh_T, lag):
    e, Q = eig(W_hh.T)
    return (dh_T @ Q.T * e**lag @ inv(Q.T)).real


def column_with_the_row_s_order(W_hh, dh_T, lag):
    e, Q = eig(W_hh.T)
    return (Q @ (e**lag * (inv(Q) @ dh_T))).real


def every_lag(W_hh, dh_T, lag):
    return np.stack([loop(W_hh, dh_T, n) for n in range(lag + 1)])


def stops_at_zero(W_hh, dh_T, lag):
    if lag == 0:
        return np.zeros_like(dh_T)
    return loop(W_hh, dh_T, lag)


def with_logarithms(W_hh, dh_T, lag):
    e, Q = eig(W_hh.T)
    return (dh_T @ Q * np.exp(lag * np.log(np.abs(e))) @ inv(Q)).real


def with_logarithms_of_real_numbers(W_hh, dh_T, lag):
    e, Q = eig(W_hh.T)
    return (dh_T @ Q * np.exp(lag * np.log(e)) @ inv(Q)).real


def with_tanh(W_hh, dh_T, lag):
    return loop(W_hh, dh_T, lag, lambda dh, W: (dh * (1 - np.tanh(dh) ** 2)) @ W.T)


def normalised(W_hh, dh_T, lag):
    dh = loop(W_hh, dh_T, lag)
    return dh / norm(dh)


def summed(W_hh, dh_T, lag):
    return sum(loop(W_hh, dh_T, n) for n in range(lag + 1))


def largest_pair_only(W_hh, dh_T, lag):
    e, Q = eig(W_hh.T)
    e = np.where(np.isclose(np.abs(e), np.abs(e).max()), e, 0)
    return (dh_T @ Q * e**lag @ inv(Q)).real


FORWARD, EARLY = {"forward_instead_of_backward"}, {"real_part_too_early"}
WRONG_GRADIENT = {
    "loop, not transposed": (lambda W, dh, n: loop(W, dh, n, lambda d, W: d @ W), FORWARD),
    "loop with a column, transposed": (lambda W, dh, n: loop(W, dh, n, lambda d, W: W.T @ d), FORWARD),
    "matrix power, not transposed": (lambda W, dh, n: dh @ np.linalg.matrix_power(W, n), FORWARD),
    "decomposed as W_hh": (decomposed(matrix=lambda W: W), FORWARD),
    "a column": (column_with_the_row_s_order, FORWARD),
    "loop, one more": (lambda W, dh, n: loop(W, dh, n, extra=1), {"one_step_too_many"}),
    "loop, one fewer": (lambda W, dh, n: loop(W, dh, n, extra=-1), {"one_step_too_few"}),
    "matrix power, one fewer": (
        lambda W, dh, n: dh @ np.linalg.matrix_power(W.T, n - 1),
        {"one_step_too_few"},
    ),
    "one step only": (lambda W, dh, n: dh @ W.T, {"counterfactual: one lag"}),
    "no step": (lambda W, dh, n: dh.copy(), {"counterfactual: zero lag"}),
    "forward again": (lambda W, dh, n: dh @ np.linalg.matrix_power(inv(W.T), n), set()),
    "entry by entry": (lambda W, dh, n: loop(W, dh, n, lambda d, W: (d * W.T).sum(axis=1)), FORWARD),
    "W_hh without its upper half": (lambda W, dh, n: loop(np.tril(W), dh, n), set()),
    "the diagonal": (lambda W, dh, n: dh * np.diag(W) ** n, set()),
    "in place": (in_place, set()),
    "squared at every step": (power_with_itself, set()),
    "eigenvectors as rows": (eigenvectors_as_rows, {"eigenvectors_as_rows"}),
    "every lag": (every_lag, {"after: last entry along axis=-2 missing"}),
    "zeros for lag 0": (stops_at_zero, {"not_dh_T_at_lag_0"}),
    "logarithms of sizes": (with_logarithms, {"modulus_for_eigenvalue"}),
    "logarithms of real numbers": (with_logarithms_of_real_numbers, set()),
    "with a tanh": (with_tanh, set()),
    "normalised": (normalised, set()),
    "summed over lags": (summed, set()),
    "only the largest": (largest_pair_only, set()),
    "float32": (lambda W, dh, n: loop(W.astype("f4"), dh.astype("f4"), n), {"float32"}),
    "a list": (lambda W, dh, n: loop(W, dh, n).tolist(), set()),
    "a row": (lambda W, dh, n: loop(W, dh[None], n), {"after: squeeze of axis=-2 missing"}),
    "real eigenvalues": (decomposed(power=lambda e, n: e.real**n), EARLY),
    "real eigenvectors": (decomposed(first=np.real), EARLY),
    "real inverse": (decomposed(last=lambda Q: inv(Q).real), EARLY),
    "real part of Q, then its inverse": (
        decomposed(matrix=lambda W: W.T, first=np.real, last=lambda Q: inv(Q.real)),
        {None},
    ),
    "inverse of the real part": (decomposed(first=np.real, last=lambda Q: np.linalg.pinv(Q.real)), set()),
    "real everywhere": (
        decomposed(first=np.real, last=lambda Q: inv(Q).real, power=lambda e, n: (e**n).real),
        EARLY,
    ),
    "cast to float": (lambda W, dh, n: decomposed(power=lambda e, n: e.astype(float) ** n)(W, dh, n), EARLY),
    "imaginary part": (decomposed(end=np.imag), set()),
    "complex": (decomposed(end=lambda dh: dh), {"left_complex"}),
    "complex always": (decomposed(end=lambda dh: dh.astype(complex)), set()),
    "modulus": (decomposed(end=np.abs), {"abs_for_real_part"}),
    "conjugate transpose": (decomposed(last=lambda Q: Q.conj().T), {"transpose_for_inverse"}),
    "inverse first": (decomposed(first=inv, last=lambda Q: Q), {"Q_and_inverse_exchanged"}),
    "no inverse": (decomposed(last=lambda Q: np.eye(len(Q))), {"inverse_left_out"}),
    "no eigenvectors": (lambda W, dh, n: (dh * eig(W.T)[0] ** n).real, {"coordinates_left_out"}),
    "conjugate of Q": (decomposed(first=np.conj), set()),
    "twice Q": (decomposed(last=lambda Q: Q), set()),
    "twice the inverse": (decomposed(first=inv), set()),
    "pairs exchanged": (decomposed(power=lambda e, n: e.conj() ** n), set()),
    "a root": (decomposed(power=lambda e, n: e ** (1 / max(n, 1))), set()),
    "the exponential": (decomposed(power=lambda e, n: np.exp(n * e)), set()),
    "power of two": (decomposed(power=lambda e, n: n**e), set()),
    "sum": (decomposed(power=lambda e, n: e + n), set()),
    "eigh": (
        lambda W, dh, n: dh @ np.linalg.eigh(W.T)[1] * np.linalg.eigh(W.T)[0] ** n @ np.linalg.eigh(W.T)[1].T,
        {"eigh_used"},
    ),
    "singular values": (
        lambda W, dh, n: dh @ np.linalg.svd(W.T)[0] * np.linalg.svd(W.T)[1] ** n @ np.linalg.svd(W.T)[2],
        set(),
    ),
    "the largest singular value": (lambda W, dh, n: dh * norm(W, 2) ** n, set()),
    "the radius": (lambda W, dh, n: dh * radius(W) ** n, {"only_the_largest_eigenvalue"}),
    "entries powered": (lambda W, dh, n: dh @ (W**n).T, {"entries_powered"}),
    "np.power": (lambda W, dh, n: dh @ np.power(W, n), {"entries_powered"}),
    "times lag": (lambda W, dh, n: n * dh @ W.T, {"multiplied_by_lag"}),
    "the norm": (lambda W, dh, n: norm(loop(W, dh, n)), set()),
    "its sign": (lambda W, dh, n: -loop(W, dh, n), {"sign"}),
    "clipped": (lambda W, dh, n: np.clip(loop(W, dh, n), -1, 1), {"cut_off"}),
}
RIGHT_GRADIENT = {
    "loop": loop,
    "loop with a column": lambda W, dh, n: loop(W, dh, n, lambda d, W: W @ d),
    "matrix power": lambda W, dh, n: dh @ np.linalg.matrix_power(W.T, n),
    "matrix power, transposed last": lambda W, dh, n: dh @ np.linalg.matrix_power(W, n).T,
    "einsum": lambda W, dh, n: loop(W, dh, n, lambda d, W: np.einsum("j,ij->i", d, W)),
    "a diagonal matrix": lambda W, dh, n: (dh @ eig(W.T)[1] @ np.diag(eig(W.T)[0] ** n) @ inv(eig(W.T)[1])).real,
    "solve": lambda W, dh, n: np.linalg.solve(eig(W.T)[1].T, dh @ eig(W.T)[1] * eig(W.T)[0] ** n).real,
    "np.real": decomposed(),
    "pinv": decomposed(last=np.linalg.pinv),
    "inverse from the other side": decomposed(last=lambda Q: np.linalg.solve(Q, np.eye(len(Q)))),
    "columns of another length": decomposed(first=lambda Q: 3 * Q, last=lambda Q: inv(3 * Q)),
    "complex logarithms": decomposed(power=lambda e, n: np.exp(n * np.log(e.astype(complex)))),
    "a matrix first": lambda W, dh, n: dh @ functools.reduce(np.matmul, [W.T] * n, np.eye(len(W))),
    "PyTorch": lambda W, dh, n: (
        torch.from_numpy(dh) @ torch.linalg.matrix_power(torch.from_numpy(W.T.copy()), n)
    ).numpy(),
    "the step's own function": lambda W, dh, n: dh.copy() if n == 0 else loop(W, dh @ W.T, n - 1),
    "a view": lambda W, dh, n: np.stack([loop(W, dh, n)] * 2)[1],
    "dh_T itself for lag 0": lambda W, dh, n: dh if n == 0 else loop(W, dh, n),
    "real if close": lambda W, dh, n: np.real_if_close(decomposed(end=lambda d: d)(W, dh, n), tol=10**6),
}


# scale_to_spectral_radius ---------------------------------------------------------------------------------------------


def scaled_in_place(W, rho):
    W *= rho / radius(W)
    return W


def eigenvalues_replaced(W, rho):
    """Gives every eigenvalue the size rho."""
    e, Q = eig(W)
    return (Q * (rho * e / np.abs(e)) @ inv(Q)).real


def eigenvalues_clipped(W, rho):
    e, Q = eig(W)
    return (Q * np.where(np.abs(e) > rho, rho * e / np.abs(e), e) @ inv(Q)).real


def scaled_by_small_steps(W, rho):
    W = W.copy()
    while radius(W) > rho:
        W *= 0.99
    while radius(W) < rho:
        W *= 1.01
    return W


WRONG_SCALE = {
    "svd": (lambda W, rho: W * rho / np.linalg.svd(W)[1][0], {"divided_by_singular_value"}),
    "norm": (lambda W, rho: rho * W / norm(W), {"divided_by_frobenius_norm"}),
    "row sums": (lambda W, rho: rho * W / norm(W, np.inf), set()),
    "column sums": (lambda W, rho: rho * W / norm(W, 1), set()),
    "each row": (lambda W, rho: rho * W / norm(W, axis=1, keepdims=True), set()),
    "each column": (lambda W, rho: rho * W / norm(W, axis=0), set()),
    "largest entry": (lambda W, rho: rho * W / np.abs(W).max(), {"divided_by_largest_entry"}),
    "standard deviation": (lambda W, rho: rho * W / (W.std() * np.sqrt(len(W)) or 1), set()),
    "root of n": (lambda W, rho: rho * W / np.sqrt(len(W)), {"divided_by_root_of_H"}),
    "real part": (lambda W, rho: rho * W / eigvals(W).real.max(), {"divided_by_largest_real_part"}),
    "abs after max": (lambda W, rho: W * rho / abs(eigvals(W).max()), {"divided_by_largest_real_part"}),
    "complex": (lambda W, rho: W * rho / max(eigvals(W), key=abs), {"divided_by_eigenvalue"}),
    "largest in size, real part": (lambda W, rho: W * rho / max(eigvals(W), key=abs).real, {"divided_by_eigenvalue"}),
    "the first": (lambda W, rho: W * rho / abs(eigvals(W)[0]), {"one_eigenvalue_only"}),
    "mean": (lambda W, rho: W * rho / np.abs(eigvals(W)).mean(), {"not_the_largest_size"}),
    "smallest": (lambda W, rho: W * rho / np.abs(eigvals(W)).min(), {"not_the_largest_size"}),
    "determinant": (lambda W, rho: W * rho / abs(np.linalg.det(W)) ** (1 / len(W)), set()),
    "eigvalsh": (lambda W, rho: W * rho / np.abs(np.linalg.eigvalsh(W)).max(), {"eigvalsh_used"}),
    "times the radius": (lambda W, rho: W * rho * radius(W), set()),
    "to radius 1": (lambda W, rho: W / radius(W), {"counterfactual: one rho"}),
    "divided by both": (lambda W, rho: W / (rho * radius(W)), {"counterfactual: inverse rho"}),
    "divided by rho": (lambda W, rho: W / rho, {"divided_by_rho"}),
    "added": (lambda W, rho: W + (rho - radius(W)) * np.eye(len(W)), {"difference_added"}),
    "added everywhere": (lambda W, rho: W + (rho - radius(W)), {"difference_added"}),
    "root of the radius": (lambda W, rho: W * rho / np.sqrt(radius(W)), set()),
    "square of the ratio": (lambda W, rho: W * (rho / radius(W)) ** 2, set()),
    "only larger": (lambda W, rho: W if radius(W) < rho else W * rho / radius(W), {"only_shrinks"}),
    "only smaller": (lambda W, rho: W if radius(W) > rho else W * rho / radius(W), {"only_grows"}),
    "in place": (scaled_in_place, set()),
    "eigenvalues replaced": (eigenvalues_replaced, {"eigenvalues_changed_one_by_one"}),
    "eigenvalues clipped": (eigenvalues_clipped, {"eigenvalues_changed_one_by_one"}),
    "small steps": (scaled_by_small_steps, set()),
    "transposed": (lambda W, rho: (W * rho / radius(W)).T, {"transposed"}),
    "sign": (lambda W, rho: -W * rho / radius(W), {"sign"}),
    "positive": (lambda W, rho: np.abs(W) * rho / radius(W), {"after: absolute value"}),
    "the factor": (lambda W, rho: rho / radius(W), set()),
    "both": (lambda W, rho: (W * rho / radius(W), rho), {"after: [0] missing"}),
    "eps added": (lambda W, rho: W * rho / (radius(W) + 1e-6), set()),
    "symmetric": (lambda W, rho: (W + W.T) / 2 * rho / radius(W), set()),
    "a matrix product": (lambda W, rho: W @ np.full_like(W, rho / radius(W)), set()),
    "rounded": (lambda W, rho: np.round(W * rho / radius(W), 3), {"rounded"}),
}
RIGHT_SCALE = {
    "divided first": lambda W, rho: W / radius(W) * rho,
    "multiplied first": lambda W, rho: rho * W / radius(W),
    "by the inverse": lambda W, rho: W / (radius(W) / rho),
    "a copy in place": lambda W, rho: scaled_in_place(W.copy(), rho),
    "a matrix product": lambda W, rho: (rho / radius(W)) * np.eye(len(W)) @ W,
    "in two steps": lambda W, rho: (W / norm(W)) * (rho / radius(W / norm(W))),
    "Gelfand": lambda W, rho: W * rho / gelfand(W),
    "PyTorch": lambda W, rho: (
        torch.from_numpy(W) * (rho / torch.linalg.eigvals(torch.from_numpy(W)).abs().max())
    ).numpy(),
    "eigenvalues scaled": lambda W, rho: (eig(W)[1] * (eig(W)[0] * rho / radius(W)) @ inv(eig(W)[1])).real,
    "Fortran order": lambda W, rho: np.asfortranarray(W * (rho / radius(W))),
}


ARGUMENTS = {RADIUS: ("W",), GRADIENT: ("W_hh", "dh_T", "lag"), SCALE: ("W", "rho")}
WRONG = {RADIUS: WRONG_RADIUS, GRADIENT: WRONG_GRADIENT, SCALE: WRONG_SCALE}
RIGHT = {RADIUS: RIGHT_RADIUS, GRADIENT: RIGHT_GRADIENT, SCALE: RIGHT_SCALE}


def by_name(exercise_id, function):
    """A function whose parameters have other names, called as the checks do."""
    return lambda **inputs: function(*(inputs[name] for name in ARGUMENTS[exercise_id]))


@for_each(("exercise_id", "name"), [(e, name) for e, table in WRONG.items() for name in table])
def test_a_wrong_one_fails_and_gets_no_wrong_name(exercise_id, name):
    function, allowed = WRONG[exercise_id][name]
    fails(exercise_id, by_name(exercise_id, function), allowed or None)


@for_each(("exercise_id", "name"), [(e, name) for e, table in RIGHT.items() for name in table])
def test_a_right_one_passes_however_it_is_written(exercise_id, name):
    passes(exercise_id, by_name(exercise_id, RIGHT[exercise_id][name]))

"""Programs that the spec of `linear_gradient` does not contain; beside each wrong one is what it is told."""

import functools

import numpy as np
import torch

from grader.spec.trials import Trials, in_order

TRIALS = Trials()


eigvals, eig, inv, norm = np.linalg.eigvals, np.linalg.eig, np.linalg.inv, np.linalg.norm


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


def every_lag(W_hh, dh_T, lag):
    return np.stack([loop(W_hh, dh_T, n) for n in range(lag + 1)])


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


WRONG = {
    "one step only": (lambda W, dh, n: dh @ W.T, {"altered input: one lag"}),
    "no step": (lambda W, dh, n: dh.copy(), {"altered input: zero lag"}),
    "forward again": (lambda W, dh, n: dh @ np.linalg.matrix_power(inv(W.T), n), set()),
    "W_hh without its upper half": (lambda W, dh, n: loop(np.tril(W), dh, n), set()),
    "the diagonal": (lambda W, dh, n: dh * np.diag(W) ** n, set()),
    "in place": (in_place, set()),
    "squared at every step": (power_with_itself, set()),
    "every lag": (every_lag, {"after: last entry along axis=-2 missing"}),
    "logarithms of real numbers": (with_logarithms_of_real_numbers, set()),
    "with a tanh": (with_tanh, set()),
    "normalised": (normalised, set()),
    "summed over lags": (summed, set()),
    "only the largest": (largest_pair_only, set()),
    "float32": (lambda W, dh, n: loop(W.astype("f4"), dh.astype("f4"), n), {"float32"}),
    "a list": (lambda W, dh, n: loop(W, dh, n).tolist(), set()),
    "a row": (lambda W, dh, n: loop(W, dh[None], n), {"after: squeeze of axis=-2 missing"}),
    "real part of Q, then its inverse": (
        decomposed(matrix=lambda W: W.T, first=np.real, last=lambda Q: inv(Q.real)),
        {None, "real_part_too_early"},
    ),
    "inverse of the real part": (decomposed(first=np.real, last=lambda Q: np.linalg.pinv(Q.real)), set()),
    "imaginary part": (decomposed(end=np.imag), set()),
    "complex always": (decomposed(end=lambda dh: dh.astype(complex)), set()),
    "conjugate of Q": (decomposed(first=np.conj), set()),
    "twice Q": (decomposed(last=lambda Q: Q), set()),
    "twice the inverse": (decomposed(first=inv), set()),
    "pairs exchanged": (decomposed(power=lambda e, n: e.conj() ** n), set()),
    "a root": (decomposed(power=lambda e, n: e ** (1 / max(n, 1))), set()),
    "the exponential": (decomposed(power=lambda e, n: np.exp(n * e)), set()),
    "power of two": (decomposed(power=lambda e, n: n**e), set()),
    "sum": (decomposed(power=lambda e, n: e + n), set()),
    "singular values": (
        lambda W, dh, n: dh @ np.linalg.svd(W.T)[0] * np.linalg.svd(W.T)[1] ** n @ np.linalg.svd(W.T)[2],
        set(),
    ),
    "the largest singular value": (lambda W, dh, n: dh * norm(W, 2) ** n, set()),
    "the norm": (lambda W, dh, n: norm(loop(W, dh, n)), set()),
    "its sign": (lambda W, dh, n: -loop(W, dh, n), {"sign"}),
    "clipped": (lambda W, dh, n: np.clip(loop(W, dh, n), -1, 1), {"cut_off"}),
}


RIGHT = {
    "matrix power": lambda W, dh, n: dh @ np.linalg.matrix_power(W.T, n),
    "einsum": lambda W, dh, n: loop(W, dh, n, lambda d, W: np.einsum("j,ij->i", d, W)),
    "a diagonal matrix": lambda W, dh, n: (dh @ eig(W.T)[1] @ np.diag(eig(W.T)[0] ** n) @ inv(eig(W.T)[1])).real,
    "solve": lambda W, dh, n: np.linalg.solve(eig(W.T)[1].T, dh @ eig(W.T)[1] * eig(W.T)[0] ** n).real,
    "pinv": decomposed(last=np.linalg.pinv),
    "columns of another length": decomposed(first=lambda Q: 3 * Q, last=lambda Q: inv(3 * Q)),
    "complex logarithms": decomposed(power=lambda e, n: np.exp(n * np.log(e.astype(complex)))),
    "a matrix first": lambda W, dh, n: dh @ functools.reduce(np.matmul, [W.T] * n, np.eye(len(W))),
    "PyTorch": lambda W, dh, n: (
        torch.from_numpy(dh) @ torch.linalg.matrix_power(torch.from_numpy(W.T.copy()), n)
    ).numpy(),
}

TRIALS.all_wrong(WRONG, make=in_order("W_hh", "dh_T", "lag"))
TRIALS.all_right(RIGHT, make=in_order("W_hh", "dh_T", "lag"))


@TRIALS.wrong("gradient_as_a_column")
def Q_times_the_gradient(W_hh, dh_T, lag):
    sizes, Q = np.linalg.eig(W_hh.T)
    return np.real(Q.dot(dh_T) @ np.diag(sizes**lag) @ np.linalg.inv(Q))

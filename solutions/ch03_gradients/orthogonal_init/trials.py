"""Programs that the spec of `orthogonal_init` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.spec.trials import Trials
from solutions.ch03_gradients.initialisation import orthogonal_init

TRIALS = Trials()


def signs(R):
    return np.sign(np.diag(R))


def qr(A):
    Q, R = np.linalg.qr(A)
    return Q * signs(R)


def square(rng, n):
    return rng.normal(size=(n, n))


def decomposed(rule):
    """rule(Q, R) of a QR decomposition of normal numbers."""
    return lambda rng, n: rule(*np.linalg.qr(square(rng, n)))


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
    "first entry made positive": (decomposed(lambda Q, R: Q * np.sign(Q[0, 0])), "signs_of_R_ignored", ONE),
    "determinant corrected, signs not": (decomposed(lambda Q, R: Q * np.linalg.det(Q)), "signs_of_R_ignored", ONE),
    "uniform, no signs": (lambda rng, n: np.linalg.qr(rng.random((n, n)))[0], "signs_of_R_ignored", ONE),
    "one random sign": (lambda rng, n: np.linalg.qr(square(rng, n))[0] * rng.choice([-1, 1]), None, ONE),
    "sign of the trace of R": (decomposed(lambda Q, R: Q * np.sign(np.trace(R))), None, ONE),
    "sign of R[0, 0]": (decomposed(lambda Q, R: Q * np.sign(R[0, 0])), None, ONE),
    "first row made positive": (decomposed(lambda Q, R: Q * np.sign(Q[0])), None, ONE),
    "@ signs of all of R": (decomposed(lambda Q, R: Q @ np.sign(R)), None),
    "Q and R": (lambda rng, n: np.linalg.qr(square(rng, n)), None),
    "absolute values": (decomposed(lambda Q, R: abs(Q)), "lengths_only"),
    "Gram-Schmidt, first column only": (lambda rng, n: gram_schmidt(square(rng, n), back_to=1), "lengths_only"),
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
    "n or n + 1 reflections": (lambda rng, n: reflections(rng, n, n + rng.integers(2)), None, ONE),
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


OTHER_WAYS = {
    "signs of the rows": decomposed(lambda Q, R: Q * signs(R)[:, None]),  # they are random and independent of Q
    "transposed": lambda rng, n: orthogonal_init(rng, n).T,
    "negative diagonal": decomposed(lambda Q, R: -Q * signs(R)),
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

TRIALS.all_wrong(WRONG, earns=(), seeds=(0, 1))
TRIALS.all_right(OTHER_WAYS, seeds=(0, 1))

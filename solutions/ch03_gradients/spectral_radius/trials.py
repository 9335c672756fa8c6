"""Programs that the spec of `spectral_radius` does not contain; beside each wrong one is what it is told."""

import numpy as np
import torch

from grader.spec.trials import Trials, in_order

TRIALS = Trials()


eigvals, eig, inv, norm = np.linalg.eigvals, np.linalg.eig, np.linalg.inv, np.linalg.norm


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


WRONG = {
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
    "the largest in size, with its sign": (
        lambda W: eigvals(W)[np.abs(eigvals(W)).argmax()].real,
        {"eigenvalue_returned"},
    ),
    "max and min": (lambda W: max(abs(eigvals(W).max()), abs(eigvals(W).min())), {"largest_and_smallest_compared"}),
    "power iteration": (power_iteration, set()),
    "a vector's growth": (growth_of_a_vector, set()),
    "QR iteration": (by_qr_iteration, set()),
    "the argument": (lambda W: int(np.abs(eigvals(W)).argmax()), set()),
    "max of eig": (lambda W: np.abs(eig(W)[1]).max(), {"eigenvectors_for_eigenvalues"}),
    "one too many": (lambda W: (radius(W), eigvals(W)), {"after: [0] missing"}),
    "rounded": (lambda W: round(float(radius(W)), 4), {"rounded"}),
    "float32": (lambda W: radius(W.astype("f4")), {"float32", "lost_precision"}),
    "absolute entries": (lambda W: radius(np.abs(W)), set()),
    "symmetric part doubled": (lambda W: np.abs(np.linalg.eigvalsh(W + W.T)).max(), set()),
    "symmetric part": (lambda W: np.abs(np.linalg.eigvalsh((W + W.T) / 2)).max(), {"symmetric_part"}),
    "singular value by eigvals": (lambda W: np.sqrt(radius(W.T @ W)), {"largest_singular_value"}),
    "mean of entries": (lambda W: np.abs(W).mean(), set()),
    "cast": (lambda W: eigvals(W).astype(float).max(), {"largest_real_part"}),
    "abs of a cast": (lambda W: np.abs(eigvals(W).astype(float)).max(), {"imaginary_parts_ignored"}),
    "floor": (lambda W: max(radius(W), 1e-6), set()),
}


RIGHT = {
    "a NumPy scalar": radius,
    "of the transpose": lambda W: float(radius(W.T)),
    "products with the conjugate": lambda W: np.sqrt((eigvals(W) * eigvals(W).conj()).real.max()),
    "hypot": lambda W: np.hypot(eigvals(W).real, eigvals(W).imag).max(),
    "roots of the characteristic polynomial": lambda W: np.abs(np.append(np.roots(np.poly(W)), 0)).max(),
    "PyTorch": lambda W: torch.linalg.eigvals(torch.from_numpy(W)).abs().max().item(),
    "by a power": lambda W: radius(np.linalg.matrix_power(W, 3)) ** (1 / 3),
    "Gelfand, with exact powers of two": lambda W: gelfand(W),
    "divided by the norm first": lambda W: radius(W / norm(W)) * norm(W),
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


TRIALS.all_wrong(WRONG, make=in_order("W"))
TRIALS.all_right(RIGHT, make=in_order("W"))

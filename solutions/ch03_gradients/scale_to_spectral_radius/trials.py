"""Programs that the spec of `scale_to_spectral_radius` does not contain; beside each wrong one is what it is told."""

import numpy as np
import torch

from grader.spec.trials import Trials, in_order
from solutions.ch03_gradients.spectral_radius.trials import gelfand, radius

TRIALS = Trials()


eigvals, eig, inv, norm = np.linalg.eigvals, np.linalg.eig, np.linalg.inv, np.linalg.norm


def scaled_in_place(W, rho):
    W *= rho / radius(W)
    return W


def scaled_by_small_steps(W, rho):
    W = W.copy()
    while radius(W) > rho:
        W *= 0.99
    while radius(W) < rho:
        W *= 1.01
    return W


WRONG = {
    "row sums": (lambda W, rho: rho * W / norm(W, np.inf), set()),
    "column sums": (lambda W, rho: rho * W / norm(W, 1), set()),
    "each row": (lambda W, rho: rho * W / norm(W, axis=1, keepdims=True), set()),
    "each column": (lambda W, rho: rho * W / norm(W, axis=0), set()),
    "standard deviation": (lambda W, rho: rho * W / (W.std() * np.sqrt(len(W)) or 1), set()),
    "complex": (lambda W, rho: W * rho / max(eigvals(W), key=abs), {"divided_by_eigenvalue"}),
    "determinant": (lambda W, rho: W * rho / abs(np.linalg.det(W)) ** (1 / len(W)), set()),
    "times the radius": (lambda W, rho: W * rho * radius(W), set()),
    "to radius 1": (lambda W, rho: W / radius(W), {"altered input: one rho"}),
    "divided by both": (lambda W, rho: W / (rho * radius(W)), {"altered input: inverse rho"}),
    "root of the radius": (lambda W, rho: W * rho / np.sqrt(radius(W)), set()),
    "square of the ratio": (lambda W, rho: W * (rho / radius(W)) ** 2, set()),
    "in place": (scaled_in_place, set()),
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


RIGHT = {
    "divided first": lambda W, rho: W / radius(W) * rho,
    "multiplied first": lambda W, rho: rho * W / radius(W),
    "by the inverse": lambda W, rho: W / (radius(W) / rho),
    "in two steps": lambda W, rho: (W / norm(W)) * (rho / radius(W / norm(W))),
    "Gelfand": lambda W, rho: W * rho / gelfand(W),
    "PyTorch": lambda W, rho: (
        torch.from_numpy(W) * (rho / torch.linalg.eigvals(torch.from_numpy(W)).abs().max())
    ).numpy(),
    "eigenvalues scaled": lambda W, rho: (eig(W)[1] * (eig(W)[0] * rho / radius(W)) @ inv(eig(W)[1])).real,
}

TRIALS.all_wrong(WRONG, make=in_order("W", "rho"))
TRIALS.all_right(RIGHT, make=in_order("W", "rho"))

"""Builders of the inputs that are not plain values: callables and random generators. A student's process may see
them.

A case holds a `codec.Fixture`, the name of a builder here and its parameters; the driver builds the input anew for
each call of the student's function, and records the calls of a callable one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from inspect import Parameter, Signature
from typing import Any

import numpy as np

from grader.codec import encode, freeze

Array = np.ndarray[Any, Any]


def affine(*, weight: Any, bias: Any) -> Callable[[Any], Any]:
    """x (..., n) → x @ weight (n, m) + bias (m,)."""
    return lambda x: np.asarray(x) @ weight + bias


def rng(*, seed: int) -> np.random.Generator:
    """A random generator, started from this seed."""
    return np.random.default_rng(seed)


def quadratic(*, shape: Any, matrix: Any, linear: Any) -> Callable[[Any], Any]:
    """theta of this shape, its n entries as v → v @ matrix (n, n) @ v + linear (n,) @ v, a number."""

    def value(theta: Any) -> Any:
        v = _entries(theta, shape)
        return (v @ matrix @ v + linear @ v).item()

    return value


def tanh_sum(*, shape: Any, matrix: Any, bias: Any, weight: Any) -> Callable[[Any], Any]:
    """theta of this shape, its n entries as v → weight (m,) @ tanh(matrix (m, n) @ v + bias (m,)), a number."""
    return lambda theta: (weight @ np.tanh(matrix @ _entries(theta, shape) + bias)).item()


def _entries(theta: Any, shape: Any) -> Array:
    array = np.asarray(theta)
    if array.shape != tuple(shape):
        raise ValueError(f"this function takes an array of shape {tuple(shape)}, and got one of shape {array.shape}")
    return array.ravel()


def scripted(*, names: Any, results: Any) -> Callable[..., Any]:
    """A function of the arguments `names` that gives these results one after the other, in the end the last again.

    Asked the same as the time before, it answers the same, as a function would.
    """
    signature = Signature([Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names])
    asked, turn = b"", -1

    def answer(*args: Any, **kwargs: Any) -> Any:
        nonlocal asked, turn
        question = encode(dict(signature.bind(*args, **kwargs).arguments))
        if question != asked:
            asked, turn = question, min(turn + 1, len(results) - 1)
        return freeze(results[turn])

    answer.__signature__ = signature  # type: ignore[attr-defined]
    return answer


def next_token_network(*, eps: float) -> Callable[..., Any]:
    """A small tanh network that guesses the next token: its loss, its gradients by central differences, its state.

    params W_xh (V, H), W_hh (H, H), b_h (H,), W_hy (H, V), b_y (V,); inputs (T,) and targets (T,) ids; h_0 (1, H) →
    mean loss in nats, gradients like params, h_T (1, H). It runs forward only, in many copies at once of which each
    has one weight moved: that shows nobody how to go back.
    """

    @cache
    def moves(n: int, m: int) -> tuple[Array, Array, Array, Array]:
        sign, row, column = np.indices((2, n, m)).reshape(3, -1)
        return np.arange(row.size), row, column, eps * (1.0 - 2 * sign)

    def moved(weights: Array, features: Array) -> Array:
        """weights (n, m), features (n, 1 or 2nm) → (m, 2nm): in copy k one weight is moved, first all up, then down."""
        copies, row, column, step = moves(*weights.shape)
        product = np.empty((weights.shape[1], copies.size))
        product[:] = weights.T @ features
        product[column, copies] += step * features[row, copies % features.shape[1]]
        return product

    def slopes(losses: Array, weights: Array) -> Array:
        up, down = losses.reshape(2, *weights.shape)
        return (up - down) / (2 * eps)  # type: ignore[no-any-return]

    def loss_and_grads(params: Any, inputs: Any, targets: Any, h_0: Any) -> tuple[float, dict[str, Array], Array]:
        W = np.vstack([params["W_xh"], params["W_hh"], params["b_h"]])  # (V + H + 1, H): of x_t, h and 1 to the state
        U = np.vstack([params["W_hy"], params["b_y"]])  # (H + 1, V): of h and 1 to the logits
        V, H = np.shape(params["W_xh"])
        total = np.zeros(1 + 2 * W.size + 2 * U.size)  # of the network itself, of its copies with W moved and U moved
        features = np.zeros((V + H + 1, 1 + 2 * W.size))  # x_t, h_(t-1) and 1, a column for each
        features[V:-1], features[-1] = np.reshape(h_0, (-1, 1)), 1
        for t, target in enumerate(targets):
            features[:V], features[inputs[t]] = 0, 1
            before = np.hstack([W.T @ features[:, :1], moved(W, features[:, 1:])])
            features[V:-1] = np.tanh(before)
            state = features[V:]
            logits = np.hstack([U.T @ state, moved(U, state[:, :1])])  # (V, all)
            largest = logits.max(axis=0)
            total += np.log(np.exp(logits - largest).sum(axis=0)) - (logits[target] - largest)
        total /= len(targets)
        dW, dU = slopes(total[1 : 1 + 2 * W.size], W), slopes(total[1 + 2 * W.size :], U)
        grads = {"W_xh": dW[:V], "W_hh": dW[V:-1], "b_h": dW[-1], "W_hy": dU[:-1], "b_y": dU[-1]}
        h_T = features[V:-1, :1].T.copy()
        return float(total[0]), {name: g.reshape(np.shape(params[name])) for name, g in grads.items()}, h_T

    return loss_and_grads


BUILDERS: dict[str, Callable[..., Any]] = {
    "affine": affine,
    "next_token_network": next_token_network,
    "quadratic": quadratic,
    "rng": rng,
    "scripted": scripted,
    "tanh_sum": tanh_sum,
}

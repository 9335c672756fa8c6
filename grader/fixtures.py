"""Builders of the inputs that are not plain values: callables and random generators. A student's process may see
them.

A case holds a `codec.Fixture`, the name of a builder here and its parameters; the driver builds the input anew for
each call of the student's function, and records the calls of a callable one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
    mean loss in nats, gradients like params, h_T (1, H). It runs forward only, many times at once: it is slow, and
    shows nobody how to go back.
    """

    @cache
    def steps(*shape: int) -> Array:
        ahead = eps * np.eye(int(np.prod(shape)))
        return np.concatenate([ahead, -ahead]).reshape(-1, *shape)

    def loss_and_grads(params: Any, inputs: Any, targets: Any, h_0: Any) -> tuple[float, dict[str, Array], Array]:
        loss, h_T = _next_token_loss(params, inputs, targets, h_0)
        grads = {}
        for name, theta in params.items():
            n = theta.size
            losses, _ = _next_token_loss({**params, name: theta + steps(*theta.shape)}, inputs, targets, h_0)
            grads[name] = ((losses[:n] - losses[n:]) / (2 * eps)).reshape(theta.shape)
        return float(loss), grads, h_T

    return loss_and_grads


def _next_token_loss(params: Mapping[str, Array], inputs: Any, targets: Any, h_0: Any) -> tuple[Any, Array]:
    """The loss and the last state; any of the params may have one more axis in front, and the loss has it then."""
    from_x = np.take(params["W_xh"], inputs, axis=-2)  # (..., T, H)
    h_t, total = np.asarray(h_0), np.zeros(())
    for t, target in enumerate(targets):
        h_t = np.tanh(from_x[..., t : t + 1, :] + h_t @ params["W_hh"] + params["b_h"][..., None, :])  # (..., 1, H)
        logits = (h_t @ params["W_hy"] + params["b_y"][..., None, :])[..., 0, :]  # (..., V)
        largest = logits.max(axis=-1, keepdims=True)
        total = total + np.log(np.exp(logits - largest).sum(axis=-1)) - (logits[..., target] - largest[..., 0])
    return total / len(targets), h_t


BUILDERS: dict[str, Callable[..., Any]] = {
    "affine": affine,
    "next_token_network": next_token_network,
    "quadratic": quadratic,
    "rng": rng,
    "scripted": scripted,
    "tanh_sum": tanh_sum,
}

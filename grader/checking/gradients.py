"""Whether a gradient flows from a module's results to its weights, along every path.

A student's process sends the gradient of a weighted sum of a result's entries, for every weight, as arrays. Expected is
a number for each weight: how fast that sum changes if the weight moves in a fixed direction, computed from differences
of the oracle's results (`grader/spec/slopes.py`). The grader's own process compares the two. So nothing that runs
where a student's code does decides anything, and only the right gradients agree.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from grader.checking.tensors import WrongModuleError, array

PARTLY = "*"  # among the weights that no gradient reaches: all are reached, but not along every path
AGREE = 1e-6  # how much a slope may differ, relative to 1 + its size
FLAT = 1e-9  # a slope of at most this is none, so the weight need not be reached

Array = np.ndarray[Any, Any]


def weighting(shape: tuple[int, ...]) -> Array:
    """The factors of a result's entries, the same random numbers for each result of this shape."""
    return np.asarray(np.random.default_rng(len(shape)).standard_normal(shape))


def direction(name: str, shape: tuple[int, ...]) -> Array:
    """The direction, of length 1, in which a weight of this name and shape moves."""
    towards = np.asarray(np.random.default_rng(zlib.crc32(name.encode())).standard_normal(shape))
    return towards / np.linalg.norm(towards)


def gradients(name: str, value: Any, weights: Mapping[str, Any]) -> dict[str, Array | None]:
    """The gradient of the weighted sum of a result's entries for each weight, or None if none reaches it. Raises
    WrongModuleError.
    """
    import torch

    found: dict[str, Any] = dict.fromkeys(weights)
    able = {name: weight for name, weight in weights.items() if weight.requires_grad and value.requires_grad}
    if not able:
        return found
    factors = torch.from_numpy(weighting(tuple(value.shape))).to(value.dtype)
    try:
        tensors = torch.autograd.grad(value, [*able.values()], factors, retain_graph=True, allow_unused=True)
    except RuntimeError as error:
        raise WrongModuleError("GradientError", f"the gradient of {name} cannot be computed: {error}") from error
    return found | {n: None if t is None else array(t) for n, t in zip(able, tensors, strict=True)}


def unreached(slopes: Mapping[str, float], found: Any, weights: Mapping[str, Array]) -> list[str]:
    """The weights that no gradient reaches although the result depends on them; PARTLY if all are reached, but not as
    the result depends on them. `found` comes from a student's process.
    """
    arrays = found if isinstance(found, dict) else {}
    sizes = {name: _slope(arrays.get(name), name, weights[name].shape) for name in slopes}
    missing = [name for name, slope in slopes.items() if abs(slope) > FLAT and sizes[name] is None]
    if missing:
        return missing
    agree = (abs((sizes[name] or 0.0) - slope) <= AGREE * (1 + abs(slope)) for name, slope in slopes.items())
    return [] if all(agree) else [PARTLY]


def _slope(gradient: Any, name: str, shape: tuple[int, ...]) -> float | None:
    """How fast the sum changes in the weight's direction, by its gradient; None if it is missing or zero everywhere."""
    if not isinstance(gradient, np.ndarray) or gradient.shape != shape or gradient.dtype.kind != "f":
        return None
    return float((gradient * direction(name, shape)).sum()) if gradient.any() else None

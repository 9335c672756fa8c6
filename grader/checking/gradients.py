"""Whether a gradient flows from a module's results to its weights, along every path.

A weight that no gradient reaches is found by backpropagation. A path that is cut leaves other paths to the same weight,
so it shows only in numbers: if all weights are changed a little in a random direction, a result has to change as its
gradient says. One backward pass and one more call decide both, with the same random weighting of the result's entries.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from grader.checking.tensors import WrongModuleError

PARTLY = "*"  # among the weights that no gradient reaches: all are reached, but not along every path
STEP = 1e-7  # of a difference quotient of float64 values
AGREE = 1e-4  # how much it may differ from the gradient, relative to 1 + the contributions of all weights

Array = np.ndarray[Any, Any]
Gradients = dict[str, Any]  # the tensor for each weight, or None if no gradient reaches it


def gradients(name: str, value: Any, weights: Mapping[str, Any]) -> Gradients:
    """The gradient of a weighted sum of a result's entries for each weight. Raises WrongModuleError."""
    import torch

    found: Gradients = dict.fromkeys(weights)
    able = {name: weight for name, weight in weights.items() if weight.requires_grad and value.requires_grad}
    if not able:
        return found
    try:
        tensors = torch.autograd.grad(value, [*able.values()], _weighting(value), retain_graph=True, allow_unused=True)
    except RuntimeError as error:
        raise WrongModuleError("GradientError", f"the gradient of {name} cannot be computed: {error}") from error
    return found | dict(zip(able, tensors, strict=True))


def unreached_in(found: Gradients) -> list[str]:
    """The names of the weights that no gradient reaches."""
    return [name for name, gradient in found.items() if gradient is None]


def changed_a_little(arrays: Mapping[str, Array], names: Sequence[str]) -> dict[str, Array]:
    """The arrays of a case, those with these names moved by a small step in a random direction."""
    return {**arrays, **{name: arrays[name] + STEP * towards for name, towards in _direction(arrays, names)}}


def is_cut(value: Any, moved: Any, arrays: Mapping[str, Array], found: Gradients) -> bool:
    """Whether the gradients of a result disagree with the value `moved`, which the changed weights give."""
    import torch

    parts = [float((found[n] * torch.from_numpy(towards)).sum()) for n, towards in _direction(arrays, [*found])]
    quotient = float(((moved.detach() - value.detach()) * _weighting(value)).sum()) / STEP
    return abs(quotient - sum(parts)) > AGREE * (1 + sum(map(abs, parts)))


def _weighting(value: Any) -> Any:
    """The same random numbers for each result of this shape."""
    import torch

    return torch.randn(value.shape, dtype=value.dtype, generator=torch.Generator().manual_seed(0))


def _direction(arrays: Mapping[str, Array], names: Sequence[str]) -> Iterator[tuple[str, Array]]:
    rng = np.random.default_rng(0)
    for name in names:
        yield name, np.asarray(rng.standard_normal(arrays[name].shape))

"""Convert the inputs of torch modules to tensors, and their results to arrays. Importing this imports no PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.checking.module_cases import MAX_DEPTH


class WrongModuleError(Exception):
    """A problem of a student's module, described in the exercise's words. `kind` precedes the text in the report, like
    the type of an exception; problems of the same kind are considered the same mistake.
    """

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


def tensors(value: Any) -> Any:
    """A copy of an input with tensors in place of its arrays. They share no memory with the arrays."""
    import torch

    match value:
        case np.ndarray():
            return torch.from_numpy(value.copy())
        case list() | tuple():
            return type(value)(map(tensors, value))
        case dict():
            return {key: tensors(entry) for key, entry in value.items()}
    return value


def arrays(value: Any, depth: int = 0) -> Any:
    """A result with arrays in place of its tensors; other values are kept. Raises WrongModuleError if NumPy has no
    corresponding dtype.
    """
    import torch

    if isinstance(value, torch.Tensor):
        return array(value)
    if type(value) in (list, tuple) and depth < MAX_DEPTH:
        return type(value)(arrays(entry, depth + 1) for entry in value)
    if type(value) is dict and depth < MAX_DEPTH:
        return {key: arrays(entry, depth + 1) for key, entry in value.items()}
    return value


def array(tensor: Any) -> Any:
    """A tensor as an array, which may share its memory. Raises WrongModuleError."""
    try:
        return tensor.detach().resolve_conj().resolve_neg().numpy()
    except (TypeError, RuntimeError) as error:
        words = f"a {tensor.dtype} tensor was returned, whose values cannot be read: {error}"
        raise WrongModuleError("ResultError", words) from error

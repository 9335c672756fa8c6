"""What `tests/variations.py` changes inside a kernel, and how a cell's assertions are listed there.

`begin(…)` is the first cell of the varied page or notebook, `end()` its last. An assertion that does not hold is noted,
and the cell goes on with its next statement, so that one run lists all of them.
"""

from __future__ import annotations

import ast
import builtins
import json
import time
from typing import Any

import numpy as np

FAILED: list[str] = []
NOTE = "__unrolled_assert__"
_DRAWS = ("normal", "standard_normal", "uniform")


def begin(*names: str) -> None:
    """Vary this process: "moved weights", "shorter text", or nothing."""
    from IPython import get_ipython

    setattr(builtins, NOTE, FAILED.append)
    get_ipython().ast_transformers.append(_Assertions())
    for name in names:
        {"moved weights": move_weights, "shorter text": shorten_text}[name]()


def end() -> None:
    """Print what was noted, as JSON."""
    print(json.dumps({"failed": FAILED, "seconds": time.process_time()}))


class _Assertions(ast.NodeTransformer):
    """Note a failed assertion instead of raising."""

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        noted = ast.parse(f"if not 0: {NOTE}({ast.unparse(node.test)!r})").body[0]
        assert isinstance(noted, ast.If)
        noted.test = ast.UnaryOp(ast.Not(), node.test)
        return ast.fix_missing_locations(ast.copy_location(noted, node))


def smaller(values: Any) -> Any:
    """The same number or array, smaller by a relative 1e-12, or the next float32 towards 0."""
    if np.asarray(values).dtype == np.float32:
        return np.nextafter(values, np.float32(0))
    return values * (1 - 1e-12)


class _Moved(np.random.Generator):
    """Draws the same numbers, moved a little."""


def _moving(name: str) -> Any:
    draw = getattr(np.random.Generator, name)
    return lambda self, *args, **kwargs: smaller(draw(self, *args, **kwargs))


for _name in _DRAWS:
    setattr(_Moved, _name, _moving(_name))


def move_weights() -> None:
    """Move what NumPy and PyTorch draw from normal and uniform distributions: initial weights, above all."""
    default_rng = np.random.default_rng
    np.random.default_rng = lambda seed=None: _Moved(default_rng(seed).bit_generator)
    import torch

    def wrap(module: Any, name: str, into: bool) -> None:
        draw = getattr(module, name)

        def moved(*args: Any, **kwargs: Any) -> Any:
            drawn = draw(*args, **kwargs)
            with torch.no_grad():
                less = drawn * (1 - 1e-12)
                less = torch.where(less == drawn, torch.nextafter(drawn, torch.zeros_like(drawn)), less)
                return drawn.copy_(less) if into else less.requires_grad_(drawn.requires_grad)

        setattr(module, name, moved)

    for name in ("normal_", "uniform_"):
        wrap(torch.Tensor, name, into=True)
    for name in ("randn", "rand"):
        wrap(torch, name, into=False)


def shorten_text() -> None:
    """Leave a twentieth of the paragraphs out of the documentation that comes with this Python: that of tomorrow."""
    from pydoc_data.topics import topics

    rng = np.random.default_rng(0)
    for name, topic in topics.items():
        topics[name] = "\n\n".join(part for part in topic.split("\n\n") if rng.random() > 0.05)

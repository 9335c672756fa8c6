"""What an author writes in `solutions/CHAPTER/checks/ID.py`: how an exercise is checked.

The module defines `SPEC = Spec(...)` and hangs its misconceptions and alternatives on it:

    SPEC = Spec(outputs=[Output("y", ("B", "H"))], example=Case(...), cases=cases, oracle=oracle)

    @SPEC.misconception(keeps=["T = 1"])
    def forgot_the_bias(x, W, b):
        '''Tempting because the equation on the page leaves it out.'''
        return x @ W

    @SPEC.alternative
    def with_einsum(x, W, b):
        return np.einsum("bd,dh->bh", x, W) + b
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from grader.checking.case import DEFAULT_TOLERANCE, WHOLE, Case, Facet, Observation, Output, OwnJudge, Tolerance
from grader.checking.verdict import Problem
from grader.codec import Fixture

__all__ = [
    "Case",
    "Facet",
    "Fixture",
    "Misconception",
    "Observation",
    "Output",
    "OwnJudge",
    "Problem",
    "Spec",
    "Tolerance",
    "on_grid",
]

Function = TypeVar("Function", bound=Callable[..., Any])

GRID = 2.0**30


def on_grid(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Values of any shape, each as the nearest multiple of 2⁻³⁰, which is about 1e-9: for inputs that are computed.

    The inputs of a case are the same bytes on every machine. What is drawn (normal, uniform, integers, choice) is, and
    so is what is computed entry by entry with + − × ÷ √. But tanh, exp, log, sums of products, and what is drawn by
    way of them (dirichlet, gamma), differ in the last bit from CPU to CPU; on the grid they are alike. It is finer than
    float32, so that rounding to float32 still shows.
    """
    return np.rint(np.asarray(values, np.float64) * GRID) / GRID


@dataclass
class Misconception:
    """A named wrong implementation, in one or more variants, and the facets that one who holds it still earns."""

    id: str
    keeps: tuple[str, ...]
    variants: list[Callable[..., Any]] = field(default_factory=list)


@dataclass
class Spec:
    """How one exercise is checked.

    `example` is the first public case: tiny, with numbers of two decimals. `cases(rng)` gives the others, random
    float64, with sizes all different at least once and of size 1 at least once. `oracle` takes the case's inputs by
    name and returns what is due; it comes from PyTorch, a closed form, finite differences or a slow loop, never from
    the reference solution. Where no value is fixed leave it out, and write `judge` and `MATCHES` into a file
    `ID_judge.py` beside the spec (see `grader.checking.case.OwnJudge`).

    `why` tells in Markdown why the solution works. It is for the self-study edition of the book; students never get it.
    """

    outputs: Sequence[Output]
    example: Case
    cases: Callable[[np.random.Generator], Iterable[Case]]
    oracle: Callable[..., Any] | None = None
    facets: Sequence[Facet] = WHOLE
    tolerance: Tolerance = DEFAULT_TOLERANCE
    driver: str = "call"
    why: str = ""
    misconceptions: dict[str, Misconception] = field(default_factory=dict)
    alternatives: dict[str, Callable[..., Any]] = field(default_factory=dict)

    def misconception(self, name: str | None = None, keeps: Sequence[str] = ()) -> Callable[[Function], Function]:
        """Register a wrong implementation under its function's name, or as one more variant of `name`."""

        def register(function: Function) -> Function:
            key = name or function.__name__
            entry = self.misconceptions.setdefault(key, Misconception(key, tuple(keeps)))
            entry.variants.append(function)
            return function

        return register

    def alternative(self, function: Function) -> Function:
        """Register another right implementation."""
        self.alternatives[function.__name__] = function
        return function

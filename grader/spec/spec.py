"""How an exercise is checked, which its author writes in `solutions/CHAPTER/ID/spec.py`.

The module defines `SPEC = Spec(...)` and adds mistakes and alternatives to it:

    SPEC = Spec(outputs=[Output("y", ("B", "H"))], example=Case(...), cases=cases, oracle=oracle)

    SPEC.mistakes({"bias_forgotten": change("x @ W + b", "x @ W")}, keeps=["T = 1"])

    @SPEC.alternative
    def with_einsum(x, W, b):
        return np.einsum("bd,dh->bh", x, W) + b

What is said of the mistakes stands in `mistakes.md` beside it (`mistake_words.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from grader.checking.case import DEFAULT_TOLERANCE, WHOLE, Case, Facet, Observation, Output, OwnJudge, Tolerance
from grader.checking.module_cases import module_case
from grader.checking.verdict import Problem
from grader.codec import Fixture
from grader.spec.changes import Change, change
from grader.spec.gates import Gates

__all__ = [
    "Case",
    "Facet",
    "Fixture",
    "Gates",
    "Mistake",
    "Observation",
    "Output",
    "OwnJudge",
    "Problem",
    "Spec",
    "Tolerance",
    "change",
    "instead",
    "module_case",
    "on_grid",
]

Function = TypeVar("Function", bound=Callable[..., Any])
Way = Change | Callable[..., Any]

GRID = 2.0**30


def instead(was: str, becomes: Mapping[str, str]) -> dict[str, Change]:
    """A mistake for each name: `was` in the reference solution becomes this text."""
    return {name: change(was, text) for name, text in becomes.items()}


def on_grid(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Round values of any shape to the nearest multiple of 2⁻³⁰, which is about 1e-9. Use it for computed inputs.

    The inputs of a case must be the same bytes on every machine. This holds for drawn numbers (normal, uniform,
    integers, choice) and for numbers that are computed entry by entry with + − × ÷ √. However, the results of tanh,
    exp, log and sums of products, and numbers that are drawn with their help (dirichlet, gamma), differ between CPUs in
    the last bit; rounded to the grid, they are equal. The grid is finer than float32, so a solution that rounds to
    float32 is still detected.
    """
    return np.rint(np.asarray(values, np.float64) * GRID) / GRID


@dataclass
class Mistake:
    """A named mistake: the facets for which it still earns points, and the ways to make it, as changes to the
    reference solution or as functions (`ways`).

    `functions` are the `ways` as functions, in the same order; `load_spec` makes them.
    """

    id: str
    keeps: tuple[str, ...]
    ways: list[Way]
    functions: list[Callable[..., Any]] = field(default_factory=list)


@dataclass
class Spec:
    """How one exercise is checked.

    `example` is the first public case: tiny, with numbers of two decimals. `cases(rng)` generates the others, random
    float64, with all sizes different at least once and each size 1 at least once. `oracle` takes the case's inputs by
    name and returns the expected result; it uses PyTorch, a closed form, finite differences or a slow loop, never the
    reference solution. If no value is fixed, leave it out and write `judge`, `largest` and `MATCHES` into `judge.py`
    next to the spec (see `grader.checking.case.OwnJudge`).

    `gates` declares arrays that consist of a block for each gate, so that a student who takes the blocks in another
    order is told so.
    """

    outputs: Sequence[Output]
    example: Case
    cases: Callable[[np.random.Generator], Iterable[Case]]
    oracle: Callable[..., Any] | None = None
    facets: Sequence[Facet] = WHOLE
    tolerance: Tolerance = DEFAULT_TOLERANCE
    driver: str = "call"
    gates: Sequence[Gates] = ()
    named_mistakes: dict[str, Mistake] = field(default_factory=dict)
    alternatives: dict[str, Callable[..., Any]] = field(default_factory=dict)

    def mistakes(self, ways: Mapping[str, Way | Sequence[Way]], keeps: Sequence[str] = ()) -> None:
        """Register mistakes by name, each with its way or ways: a `change` to the reference solution, or a
        function with the exercise's arguments. `keeps` names the facets for which all of them still earn points. Raises
        ValueError.
        """
        strange = set(keeps) - {facet.name for facet in self.facets}
        for name, given in ways.items():
            for wrong, what in (
                (not name.isidentifier(), "its name is not an identifier"),
                (name in self.named_mistakes, "the name is used already; one mistake can have several ways"),
                (strange, f"it keeps {', '.join(sorted(strange))!r}, but no facet has that name"),
            ):
                if wrong:
                    raise ValueError(f"mistake {name!r}: {what}")
            its = list(given) if isinstance(given, Sequence) and not isinstance(given, Change) else [given]
            self.named_mistakes[name] = Mistake(name, tuple(keeps), its)

    def alternative(self, function: Function) -> Function:
        """Register another correct implementation."""
        self.alternatives[function.__name__] = function
        return function

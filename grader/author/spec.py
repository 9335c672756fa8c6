"""How an exercise is checked, which its author writes in `solutions/CHAPTER/checks/ID.py`.

The module defines `SPEC = Spec(...)` and adds mistakes and alternatives to it:

    SPEC = Spec(outputs=[Output("y", ("B", "H"))], example=Case(...), cases=cases, oracle=oracle)

    SPEC.mistake(
        "bias_forgotten",
        "The bias is missing: add `b` to every row.",
        change("x @ W + b", "x @ W"),
        tempts="The equation on the page leaves it out.",
        keeps=["T = 1"],
    )

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

from grader.author.changes import Change, change
from grader.author.gates import Gates
from grader.checking.case import DEFAULT_TOLERANCE, WHOLE, Case, Facet, Observation, Output, OwnJudge, Tolerance
from grader.checking.module_cases import module_case
from grader.checking.verdict import Problem
from grader.codec import Fixture

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
    "module_case",
    "on_grid",
]

Function = TypeVar("Function", bound=Callable[..., Any])

GRID = 2.0**30


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
    """A named mistake: the message for the student, why it tempts, the facets for which it still earns points, and its
    variants, written as changes to the reference solution or as functions (`ways`).

    `variants` are the `ways` as functions, in the same order; `record.load_spec` makes them.
    """

    id: str
    message: str
    tempts: str
    keeps: tuple[str, ...]
    ways: list[Change | Callable[..., Any]]
    variants: list[Callable[..., Any]] = field(default_factory=list)


@dataclass
class Spec:
    """How one exercise is checked.

    `example` is the first public case: tiny, with numbers of two decimals. `cases(rng)` generates the others, random
    float64, with all sizes different at least once and each size 1 at least once. `oracle` takes the case's inputs by
    name and returns the expected result; it uses PyTorch, a closed form, finite differences or a slow loop, never the
    reference solution. If no value is fixed, leave it out and write `judge`, `largest` and `MATCHES` into a file
    `ID_judge.py` next to the spec (see `grader.checking.case.OwnJudge`).

    `gates` declares arrays that consist of a block for each gate, so that a student who takes the blocks in another
    order is told so.

    `why` says in Markdown why the solution works. It is for the self-study edition of the book; students never get it.
    """

    outputs: Sequence[Output]
    example: Case
    cases: Callable[[np.random.Generator], Iterable[Case]]
    oracle: Callable[..., Any] | None = None
    facets: Sequence[Facet] = WHOLE
    tolerance: Tolerance = DEFAULT_TOLERANCE
    driver: str = "call"
    gates: Sequence[Gates] = ()
    why: str = ""
    misconceptions: dict[str, Mistake] = field(default_factory=dict)
    alternatives: dict[str, Callable[..., Any]] = field(default_factory=dict)

    def mistake(
        self,
        name: str,
        message: str,
        *ways: Change | Callable[..., Any],
        tempts: str,
        keeps: Sequence[str] = (),
    ) -> Callable[[Function], Function]:
        """Register a mistake: its name, its message for the student (one paragraph of Markdown), and its variants, each
        a `change` to the reference solution or a function with the exercise's arguments.

        `tempts` says why students make it; a student who has made it reads this in the mistake diary. `keeps` names the
        facets for which it still earns points. The return value is a decorator, which adds a function as one more
        variant. Raises ValueError.
        """
        message, tempts = (" ".join(text.split()) for text in (message, tempts))
        strange = set(keeps) - {facet.name for facet in self.facets}
        for wrong, what in (
            (not name.isidentifier(), "its name is not an identifier"),
            (name in self.misconceptions, "the name is used already; one mistake can have several variants"),
            (not message, "it has no message; say what is wrong and what to do"),
            (not tempts, "`tempts` is empty; say why students make this mistake"),
            (strange, f"it keeps {', '.join(sorted(strange))!r}, but no facet has that name"),
        ):
            if wrong:
                raise ValueError(f"mistake {name!r}: {what}")
        entry = Mistake(name, message, tempts, tuple(keeps), list(ways))
        self.misconceptions[name] = entry

        def one_more_way(function: Function) -> Function:
            entry.ways.append(function)
            return function

        return one_more_way

    def alternative(self, function: Function) -> Function:
        """Register another correct implementation."""
        self.alternatives[function.__name__] = function
        return function

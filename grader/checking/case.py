"""The values that flow through a check: cases and observations, and `Checks`, all that one exercise is checked with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.codec import CodecError, Raised

if TYPE_CHECKING:
    from grader.checking.verdict import Problem


@dataclass(frozen=True)
class Output:
    """A named result. `axes` names its dimensions by the course's symbols, e.g. ('B', 'T', 'H'); `backward` says that
    its time steps are computed from the last to the first.
    """

    name: str
    axes: tuple[str, ...] = ()
    backward: bool = False


@dataclass(frozen=True)
class Facet:
    """A named part of an exercise that earns its share of the points, all or nothing.

    `outputs` (default all) and `kinds`, the kinds of case it is judged on (default all), say which part.
    """

    name: str
    share: float = 1.0
    outputs: tuple[str, ...] | None = None
    kinds: tuple[str, ...] | None = None

    def covers(self, case: Case, output: str | None) -> bool:
        """Whether this facet is judged on this output of this case; `None` is the result as a whole."""
        return (self.kinds is None or case.kind in self.kinds) and (
            output is None or self.outputs is None or output in self.outputs
        )


WHOLE = (Facet("result"),)


@dataclass(frozen=True)
class Case:
    """One call of the student's function: its sizes by symbol, its named inputs, and its kind (see Facet)."""

    sizes: Mapping[str, int]
    inputs: Mapping[str, Any]
    kind: str = "ordinary"

    @property
    def name(self) -> str:
        """How a report names the case: 'B=2, D=3, H=4', and its kind where the sizes do not tell it: '…: large'."""
        sizes = [f"{symbol}={size}" for symbol, size in self.sizes.items()]
        if self.kind == "ordinary" or self.kind.replace(" ", "") in sizes:
            return ", ".join(sizes)
        return f"{', '.join(sizes)}: {self.kind}"


@dataclass(frozen=True)
class Observation:
    """What came of driving a function on a case, in the codec's plain values.

    `result` is what it returned, `raised` what it raised instead, `changed` the inputs it changed in place, and `calls`
    the arguments of every call of each callable input, in order; for a random generator ["drawn"], or [] if it was not.
    """

    result: Any = None
    raised: Raised | None = None
    changed: tuple[str, ...] = ()
    calls: Mapping[str, list[Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Tolerance:
    """Two numbers are equal where abs(got - expected) <= absolute + relative * abs(expected)."""

    relative: float = 1e-9
    absolute: float = 1e-11


DEFAULT_TOLERANCE = Tolerance()


def observation_tree(observation: Observation) -> dict[str, Any]:
    """An observation as a tree for the codec."""
    return {
        "result": observation.result,
        "raised": observation.raised,
        "changed": list(observation.changed),
        "calls": dict(observation.calls),
    }


def observation_from_tree(tree: Any) -> Observation:
    """The inverse, for trees that anybody may have written. Raises CodecError."""
    match tree:
        case {
            "result": result,
            "raised": None | Raised() as raised,
            "changed": list() as changed,
            "calls": dict() as calls,
        }:
            names = [*changed, *calls]
            if len(tree) == 4 and all(type(n) is str for n in names) and all(type(c) is list for c in calls.values()):
                return Observation(result, raised, tuple(changed), calls)
    raise CodecError("not an observation")


Judge = Callable[[Case, Observation], Sequence["Problem"]]
Match = Callable[[Case, Observation], bool]


@dataclass(frozen=True)
class OwnJudge:
    """How results are judged that no recorded value fixes: a random one, a trained model.

    `judge` says what is wrong with one case; `matches` names for each misconception whether one case shows it.
    """

    judge: Judge
    matches: Mapping[str, Match]


@dataclass(frozen=True)
class Counterfactual:
    """What the oracle gives where inputs are mistaken in one way in every case.

    `slips` are the ways that give this, each as its name and the words it is told with; `marks` (cases, outputs) say in
    float32 how far each result is from the expected one, see `grader.checking.diagnose.counterfactual`.
    """

    slips: tuple[tuple[str, tuple[str, ...]], ...]
    marks: np.ndarray[Any, Any]


@dataclass(frozen=True)
class Checks:
    """All that one exercise is checked with on one set of cases: the public ones, or a term's hidden ones.

    `expected` holds an Observation for each case, and `misconceptions` what each named wrong implementation gives on
    the same cases: for each id one or more variants, each with an Observation for each case. `counterfactuals` tell
    what comes out where an input is mistaken. All are empty where `own` judges.
    """

    id: str
    driver: str
    outputs: tuple[Output, ...]
    tolerance: Tolerance
    facets: tuple[Facet, ...]
    cases: tuple[Case, ...]
    expected: tuple[Observation, ...] = ()
    misconceptions: Mapping[str, tuple[tuple[Observation, ...], ...]] = field(default_factory=dict)
    own: OwnJudge | None = None
    counterfactuals: tuple[Counterfactual, ...] = ()

"""The values that flow through a check: cases and observations, and `Checks`, all that one exercise is checked with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.codec import CodecError, Raised, encode

if TYPE_CHECKING:
    from grader.checking.verdict import Problem


TIME_AXES = {"T": "time step", "S": "source position"}  # the first that a result has is its time


@dataclass(frozen=True)
class Output:
    """A named result. `axes` names its dimensions by the course's symbols, e.g. ('B', 'T', 'H'); `backward` says that
    its time steps are computed from the last to the first.
    """

    name: str
    axes: tuple[str, ...] = ()
    backward: bool = False

    @property
    def time(self) -> str | None:
        """The symbol of its time axis, or None."""
        return next((symbol for symbol in TIME_AXES if symbol in self.axes), None)

    def time_axis(self, ndim: int) -> int | None:
        """Which axis of an array with so many is its time; None where it has none, or where `axes` are not its own."""
        return self.axes.index(self.time) if self.time is not None and len(self.axes) == ndim else None


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
    `unreached` holds, by the name of a result, the weights that no gradient reaches from it, if there are any.
    """

    result: Any = None
    raised: Raised | None = None
    changed: tuple[str, ...] = ()
    calls: Mapping[str, list[Any]] = field(default_factory=dict)
    unreached: Mapping[str, list[str]] = field(default_factory=dict)


# What sums of some hundred terms may differ by in float32, complex64 and float16: tens of units in the last place.
_NARROW = {"f4": (1e-5, 1e-6), "c8": (1e-5, 1e-6), "f2": (1e-2, 1e-3)}


@dataclass(frozen=True)
class Tolerance:
    """Two numbers are equal where abs(got - expected) <= absolute + relative * abs(expected)."""

    relative: float = 1e-9
    absolute: float = 1e-11

    def of(self, dtype: np.dtype[Any]) -> Tolerance:
        """The tolerance where numbers of this dtype are due: of narrow ones not less than they need."""
        if dtype.str[1:] not in _NARROW:
            return self
        relative, absolute = _NARROW[dtype.str[1:]]
        return Tolerance(max(self.relative, relative), max(self.absolute, absolute))


DEFAULT_TOLERANCE = Tolerance()


def observation_tree(observation: Observation) -> dict[str, Any]:
    """An observation as a tree for the codec."""
    tree = {
        "result": observation.result,
        "raised": observation.raised,
        "changed": list(observation.changed),
        "calls": dict(observation.calls),
    }
    return tree | ({"unreached": dict(observation.unreached)} if observation.unreached else {})


def observation_from_tree(tree: Any) -> Observation:
    """The inverse, for trees that anybody may have written. Raises CodecError."""
    match tree:
        case {
            "result": result,
            "raised": None | Raised() as raised,
            "changed": list() as changed,
            "calls": dict() as calls,
        }:
            unreached = tree.get("unreached", {})
            if (
                len(tree) == 4 + ("unreached" in tree)
                and type(unreached) is dict
                and all(type(each) is list for each in (*calls.values(), *unreached.values()))
                and all(
                    type(n) is str for n in (*changed, *calls, *unreached, *chain.from_iterable(unreached.values()))
                )
            ):
                return Observation(result, raised, tuple(changed), calls, unreached)
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

    `fixtures` is the text of the chapter's own builders of inputs (see `grader/checking/fixtures.py`).

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
    fixtures: str = ""
    counterfactuals: tuple[Counterfactual, ...] = ()
    _calls: dict[int, str] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def same_inputs(self) -> tuple[tuple[int, ...], ...]:
        """The indices of the cases that have the same inputs, for inputs that occur more than once."""
        groups: dict[bytes, list[int]] = {}
        for index, case in enumerate(self.cases):
            if case.inputs:
                groups.setdefault(encode(dict(case.inputs)), []).append(index)
        return tuple(tuple(group) for group in groups.values() if len(group) > 1)

    def call_text(self, index: int, written: Callable[[str, Case], str]) -> str:
        """How the call of a case is written, by `written`: the same for a whole class, and so made once."""
        if index not in self._calls:
            self._calls[index] = written(self.id, self.cases[index])
        return self._calls[index]

"""The values of a check: cases, observations, and `Checks`, everything needed to check one exercise."""

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


TIME_AXES = {"T": "time step", "S": "source position"}  # the first of these among a result's axes is its time axis


@dataclass(frozen=True)
class Output:
    """A named result. `axes` contains the symbols of its dimensions, e.g. ('B', 'T', 'H'); `backward` says that its
    time steps are computed from the last to the first.
    """

    name: str
    axes: tuple[str, ...] = ()
    backward: bool = False

    @property
    def time(self) -> str | None:
        """The symbol of the time axis, or None."""
        return next((symbol for symbol in TIME_AXES if symbol in self.axes), None)

    def time_axis(self, ndim: int) -> int | None:
        """The index of the time axis in an array of `ndim` axes; None without one, or if `axes` has another length."""
        return self.axes.index(self.time) if self.time is not None and len(self.axes) == ndim else None


@dataclass(frozen=True)
class Facet:
    """A named part of an exercise that earns its share of the points, all or nothing.

    It is judged on the named `outputs` and on cases of the named `kinds`; None stands for all. It is earned only if
    what proves it is right too: for each pair in `proof`, an output on cases of a kind. A state that is detached, for
    example, is proved by the results and gradients of the call that continues from it.
    """

    name: str
    share: float = 1.0
    outputs: tuple[str, ...] | None = None
    kinds: tuple[str, ...] | None = None
    proof: tuple[tuple[str, str], ...] = ()

    def covers(self, case: Case, output: str | None) -> bool:
        """Whether this facet is judged on this output of this case. An `output` of None is the result as a whole."""
        judged = (self.kinds is None or case.kind in self.kinds) and (
            output is None or self.outputs is None or output in self.outputs
        )
        return judged or (output, case.kind) in self.proof


WHOLE = (Facet("result"),)


@dataclass(frozen=True, eq=False)
class Case:
    """One call of the student's function: the sizes by symbol, the named inputs, and the kind of case (see `Facet`). A
    case equals only itself, because arrays among the inputs have no truth value; so it can be the key of a cache.
    """

    sizes: Mapping[str, int]
    inputs: Mapping[str, Any]
    kind: str = "ordinary"

    @property
    def name(self) -> str:
        """The name of the case in a report: 'B=2, D=3, H=4', with its kind unless the sizes show it: '…: large'."""
        sizes = [f"{symbol}={size}" for symbol, size in self.sizes.items()]
        if self.kind == "ordinary" or self.kind.replace(" ", "") in sizes:
            return ", ".join(sizes)
        return f"{', '.join(sizes)}: {self.kind}"


@dataclass(frozen=True)
class Observation:
    """The outcome of running a function on a case, as plain values of the codec.

    `result` is the return value, or `raised` the exception. `changed` names the inputs that were changed in place.
    `calls` maps each callable input to the arguments of its calls, in order, and each random generator to ["drawn"] if
    numbers were drawn from it, otherwise to [].

    Of torch modules: `gradients` maps each learning result to the gradient of each weight, or, if it is expected, to
    the slopes of `grader.checking.gradients`; `outcomes` maps each random result that is expected to its values for
    every mask. `settle.py` compares them: afterwards, `unreached` maps each result from which some weights get no
    gradient to the names of these weights, or to `gradients.PARTLY`, and `settled` is true.
    """

    result: Any = None
    raised: Raised | None = None
    changed: tuple[str, ...] = ()
    calls: Mapping[str, list[Any]] = field(default_factory=dict)
    unreached: Mapping[str, list[str]] = field(default_factory=dict)
    gradients: Mapping[str, Any] = field(default_factory=dict)
    outcomes: Mapping[str, Any] = field(default_factory=dict)
    settled: bool = False


# Relative and absolute tolerance by dtype: sums of some hundred terms can differ by tens of units in the last place.
_NARROW = {"f4": (1e-5, 1e-6), "c8": (1e-5, 1e-6), "f2": (1e-2, 1e-3)}


@dataclass(frozen=True)
class Tolerance:
    """Two numbers are equal if abs(got - expected) <= absolute + relative * abs(expected)."""

    relative: float = 1e-9
    absolute: float = 1e-11

    def of(self, dtype: np.dtype[Any]) -> Tolerance:
        """The tolerance for numbers expected in this dtype; `_NARROW` gives the least for dtypes of few bits."""
        if dtype.str[1:] not in _NARROW:
            return self
        relative, absolute = _NARROW[dtype.str[1:]]
        return Tolerance(max(self.relative, relative), max(self.absolute, absolute))


DEFAULT_TOLERANCE = Tolerance()


OPTIONAL = ("unreached", "gradients", "outcomes")  # parts of an observation that are left out if they are empty


def observation_tree(observation: Observation) -> dict[str, Any]:
    """Convert an observation into a tree for the codec."""
    tree = {
        "result": observation.result,
        "raised": observation.raised,
        "changed": list(observation.changed),
        "calls": dict(observation.calls),
    }
    return tree | {name: dict(found) for name in OPTIONAL if (found := getattr(observation, name))}


def observation_from_tree(tree: Any) -> Observation:
    """Convert a tree, which need not be trusted, back into an observation. Raises CodecError if it has another form."""
    match tree:
        case {
            "result": result,
            "raised": None | Raised() as raised,
            "changed": list() as changed,
            "calls": dict() as calls,
        }:
            more = {name: tree[name] for name in OPTIONAL if name in tree}
            unreached = more.get("unreached", {})
            if (
                len(tree) == 4 + len(more)
                and all(type(each) is dict for each in more.values())
                and all(type(each) is list for each in (*calls.values(), *unreached.values()))
                and all(type(n) is str for n in (*changed, *calls, *chain.from_iterable(unreached.values())))
                and all(type(name) is str for each in more.values() for name in each)
            ):
                return Observation(result, raised, tuple(changed), calls, **more)
    raise CodecError("not an observation")


Judge = Callable[[Case, Observation], Sequence["Problem"]]
Match = Callable[[Case, Observation], bool]
Largest = Callable[[Case], Observation]


@dataclass(frozen=True)
class OwnJudge:
    """The code that judges results without a recorded value, such as random numbers or a trained model.

    `judge` returns the problems of one case. `matches` maps each mistake to a function that says whether one case
    shows it. `largest` returns, for a case, a result and calls of the expected size, and as many calls of each callable
    input as the judge can use. Both functions see only results and calls that are not much larger, and never more calls
    (see `grader.checking.sizes`), because these come from a student's process.
    """

    judge: Judge
    matches: Mapping[str, Match]
    largest: Largest = lambda case: Observation()


@dataclass(frozen=True)
class AlteredInput:
    """The oracle's results on cases in which an input is altered in the same way in every case.

    `alterations` contains what leads to these results, each as its name and the words that its message is
    filled with. `fingerprints` (cases, outputs) are the distances, in float32, of these results' fingerprints from the
    expected ones; see `grader.checking.diagnose.altered_input`.
    """

    alterations: tuple[tuple[str, tuple[str, ...]], ...]
    fingerprints: np.ndarray[Any, Any]


@dataclass(frozen=True)
class Checks:
    """Everything needed to check one exercise on one set of cases: the public cases, or the hidden cases of a term.

    `fixtures` is the source of the chapter's own builders of inputs (see `grader/checking/fixtures.py`).

    `expected` contains an Observation for each case. `mistakes` maps the id of each mistake to one or more
    ways to make it, each of them with an Observation for each case. `altered_inputs` contains the results with altered
    inputs. All three are empty if `own` judges the results.
    """

    id: str
    driver: str
    outputs: tuple[Output, ...]
    tolerance: Tolerance
    facets: tuple[Facet, ...]
    cases: tuple[Case, ...]
    expected: tuple[Observation, ...] = ()
    mistakes: Mapping[str, tuple[tuple[Observation, ...], ...]] = field(default_factory=dict)
    own: OwnJudge | None = None
    fixtures: str = ""
    altered_inputs: Sequence[AlteredInput] = ()

    @cached_property
    def same_inputs(self) -> tuple[tuple[int, ...], ...]:
        """Groups of indices of cases that have the same inputs. Cases whose inputs occur only once are left out."""
        groups: dict[bytes, list[int]] = {}
        for index, case in enumerate(self.cases):
            if case.inputs:
                groups.setdefault(encode(dict(case.inputs)), []).append(index)
        return tuple(tuple(group) for group in groups.values() if len(group) > 1)

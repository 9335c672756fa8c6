"""The cases of torch modules: how they are made, and the calls that they describe.

The release gives `__init__` with its submodules, the student writes `forward`. The inputs of a case are the arguments
of the call of `forward` whose results are judged, and in addition:

- `init`: the constructor's arguments;
- `weights`: a float64 array for each name of the module's `state_dict`;
- `run`: a dict with `mode` ("eval" or "train"); `before`, the arguments of earlier calls, in order; `carry`, which maps
  an argument of each later call to the result of the previous call that it takes; `between`, the arguments of calls
  after those, which take and give nothing;
  `returns`, which maps the name of each result to what is observed of it; and `computed`, if there are any, the
  arguments of the judged call that another network computes, so that a gradient has to reach them too.

`modules.py` runs these cases and says what can be observed of a result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from grader.checking.case import Case
from grader.codec import Fixture

OUTCOMES = 4  # seeds for which a result that has to be random is observed
MODES = ("eval", "train")
OBSERVED = ("tensor", "learning", "tensors", "detached", "random")
DRIVER_INPUTS = ("init", "weights", "run")  # inputs that are not arguments of `forward`
MAX_DEPTH = 20  # of nested values


@dataclass(frozen=True)
class ModuleCall:
    """One call of `forward`: its arguments, and those that take a result of the last call that gives some, each with
    the name of that result. A call in between gives none: later calls do not take its results.
    """

    arguments: Mapping[str, Any]
    takes: Mapping[str, str]
    gives: bool = True


def module_calls(case: Case) -> list[ModuleCall]:
    """All calls of a case in order; the results of the last one are judged."""
    run = case.inputs["run"]
    judged = {name: value for name, value in case.inputs.items() if name not in DRIVER_INPUTS}
    *before, last = [
        ModuleCall(given, run["carry"] if number else {}) for number, given in enumerate([*run["before"], judged])
    ]
    return [*before, *(ModuleCall(given, {}, gives=False) for given in run["between"]), last]


def is_of_module(case: Case) -> bool:
    """Whether the driver "module" runs this case."""
    return case.inputs.keys() >= set(DRIVER_INPUTS)


def learned_from(case: Case) -> dict[str, Any]:
    """What a gradient has to reach, by name: all weights, and the arguments that another network computes."""
    return {**case.inputs["weights"], **{name: case.inputs[name] for name in case.inputs["run"].get("computed", ())}}


def values_only(case: Case) -> Case:
    """The same case, with no gradient observed."""
    run = case.inputs["run"]
    returns = {name: "tensor" if word == "learning" else word for name, word in run["returns"].items()}
    return replace(case, inputs={**case.inputs, "run": {**run, "returns": returns}})


def module_case(
    sizes: Mapping[str, int],
    *,
    init: Mapping[str, Any],
    weights: Mapping[str, Any],
    forward: Mapping[str, Any],
    returns: Mapping[str, str],
    before: Sequence[Mapping[str, Any]] = (),
    carry: Mapping[str, str] | None = None,
    between: Sequence[Mapping[str, Any]] = (),
    computed: Sequence[str] = (),
    mode: str = "eval",
    kind: str = "ordinary",
) -> Case:
    """Create a case for the driver "module". Raises ValueError if the driver cannot run it.

    `forward` contains the arguments of the call whose results are judged and `before` those of earlier calls. The
    docstring of this module describes the other arguments.
    """
    carry = dict(carry or {})
    given = (forward, *before, *between)
    taken = [name for name in (*DRIVER_INPUTS, *carry) if any(name in arguments for arguments in given)]
    if taken:
        raise ValueError(f"an argument of forward cannot be called {taken[0]!r}: the driver uses that name itself")
    unknown = [word for word in returns.values() if word not in OBSERVED]
    if unknown or not returns:
        raise ValueError(f"returns={dict(returns)!r}: name each result, with one of {', '.join(OBSERVED)}")
    if mode not in MODES:
        raise ValueError(f"mode={mode!r}: a module is driven in one of {', '.join(MODES)}")
    if any(result not in returns for result in carry.values()):
        raise ValueError(f"carry={carry!r}: each argument takes a result that `returns` names")
    whole = [name for name in computed if getattr(forward.get(name), "dtype", None) != np.float64]
    if whole:
        raise ValueError(f"computed={list(computed)!r}: {whole[0]!r} is no float64 array of the judged call")
    strange = [n for n, w in weights.items() if not isinstance(w, np.ndarray) or w.dtype in (np.float32, np.float16)]
    if strange:
        raise ValueError(f"weights[{strange[0]!r}] has to be a float64 array")
    if any(isinstance(leaf, Fixture) for leaf in leaves(list(given))):
        raise ValueError("forward takes no fixtures: give it arrays and plain values")
    run = {
        "mode": mode,
        "before": [dict(each) for each in before],
        "carry": carry,
        "between": [dict(each) for each in between],
        "returns": dict(returns),
    } | ({"computed": list(computed)} if computed else {})
    return Case(sizes, {"init": dict(init), "weights": dict(weights), **forward, "run": run}, kind)


def leaves(value: Any, depth: int = 0) -> Iterator[Any]:
    """The values that nested lists, tuples and dicts contain."""
    if isinstance(value, list | tuple | dict) and depth < MAX_DEPTH:
        for entry in value.values() if isinstance(value, dict) else value:
            yield from leaves(entry, depth + 1)
    else:
        yield value

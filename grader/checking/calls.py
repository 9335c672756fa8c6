"""How a call is written in a report: as Python to be pasted where the case is tiny, else with shapes for arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from grader.checking.case import Case
from grader.checking.numbers import given as in_few_digits
from grader.codec import Fixture

TINY = 20  # numbers in a case's arrays, up to which a report writes them out
LONG = 1_000  # characters of a call, beyond which a report does not write it out
SHORT = 60  # characters of one plain argument in a call that is not written out
NESTED = 160  # and of one that holds arrays


def call_text(name: str, case: Case) -> str:
    """How the function was called. A tiny case is written out in full, to be pasted and followed by hand."""
    if numbers(case.inputs) <= TINY:
        inner = ",\n".join(f"  {key}={literal(value)}" for key, value in case.inputs.items())
        if len(inner) <= LONG:
            return f"{name}(\n{inner})"
    return f"{name}({', '.join(f'{key}{shape(value)}' for key, value in case.inputs.items())})"


def module_text(name: str, case: Case) -> str:
    """How a torch module was made and called (see `modules.py`): lines to be pasted where the case is tiny."""
    inputs = dict(case.inputs)
    init, weights, run = (inputs.pop(own) for own in ("init", "weights", "run"))
    calls = [*run["before"], inputs]
    tiny = numbers([weights, calls]) <= TINY
    made = ", ".join(f"{key}={literal(value)}" for key, value in init.items())
    lines = [f"model = {name}({made}).double().{run['mode']}()"]
    if tiny:
        entries = "".join(f"  {key!r}: {_tensor(value)},\n" for key, value in weights.items())
        lines.append(f"model.load_state_dict({{\n{entries}}})")
    else:
        lines.append("model.load_state_dict(weights)")
    for index, arguments in enumerate(calls):
        given = [f"{key}={_tensor(value)}" if tiny else f"{key}{shape(value)}" for key, value in arguments.items()]
        given += [f"{key}={result}" for key, result in run["carry"].items() if index]
        inner = ",".join(f"\n  {each}" for each in given) if tiny and len(given) > 1 else ", ".join(given)
        lines.append(f"{', '.join(run['returns'])} = model({inner})")
    return "\n".join(lines)


def _tensor(value: Any) -> str:
    """Python for a value of a module's: with tensors for arrays."""
    match value:
        case np.ndarray():
            dtype = ", dtype=torch.float64" if value.dtype == np.float64 else ""
            return f"torch.tensor({in_few_digits(value)}{dtype})"
        case list() | tuple() | dict():
            return _container(value, _tensor)
    return repr(in_few_digits(value))


def numbers(inputs: Any) -> int:
    """How many numbers stand in the arrays of these inputs, however deep."""
    return sum(leaf.size for leaf in _leaves(inputs) if isinstance(leaf, np.ndarray))


def literal(value: Any) -> str:
    """Python for a value, but for a function that has no short one."""
    match value:
        case np.ndarray():
            return f"np.array({in_few_digits(value)})"
        case Fixture("rng", {"seed": seed}):
            return f"np.random.default_rng({seed})"
        case Fixture("quadratic", {"matrix": matrix, "linear": linear}):
            v = "theta.ravel()"
            return f"lambda theta: {v} @ {literal(matrix)} @ {v} + {literal(linear)} @ {v}"
        case Fixture():
            return "(a function)"
        case list() | tuple() | dict():
            return _container(value, literal)
    return repr(in_few_digits(value))


def shape(value: Any) -> str:
    """What stands behind an argument's name in a call that is not written out: ' (4, 6)', '=3', ' (a function)'."""
    if isinstance(value, np.ndarray | Fixture):
        return f" {_in_short(value)}"
    if not any(isinstance(leaf, np.ndarray | Fixture) for leaf in _leaves(value)):
        return f"={in_few_digits(value)!r}"[:SHORT]
    text = f"={_in_short(value)}"
    return text if len(text) <= NESTED else f"{text[:NESTED]}…"


def _in_short(value: Any) -> str:
    match value:
        case np.ndarray():
            return str(value.shape)
        case Fixture("rng"):
            return "(a random generator)"
        case Fixture():
            return "(a function)"
        case list() | tuple() | dict():
            return _container(value, _in_short)
    return repr(in_few_digits(value))


def _container(value: Any, written: Callable[[Any], str]) -> str:
    """A list, tuple or dict as Python writes it, each entry `written` in its own way."""
    match value:
        case list():
            return f"[{', '.join(map(written, value))}]"
        case tuple():
            return f"({', '.join(map(written, value))}{',' * (len(value) == 1)})"
    return f"{{{', '.join(f'{key!r}: {written(entry)}' for key, entry in value.items())}}}"


def _leaves(value: Any) -> Iterator[Any]:
    match value:
        case list() | tuple():
            for entry in value:
                yield from _leaves(entry)
        case dict():
            for entry in value.values():
                yield from _leaves(entry)
        case _:
            yield value

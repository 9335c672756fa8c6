"""Write calls for reports: a tiny case as Python that can be pasted, any other case with the shapes of its arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from grader.checking.case import Case
from grader.checking.module_cases import DRIVER_INPUTS, module_calls
from grader.checking.numbers import in_few_digits
from grader.codec import Fixture

TINY = 20  # a call is written out if its arrays contain at most this many numbers
TINY_MODULE = 24  # the same for a module, with its weights: an LSTM of one unit with an embedding and a head
LONG = 1_000  # and if its text has at most this many characters
SHORT = 60  # in other calls: the characters of a plain argument that are shown
NESTED = 160  # and of an argument that contains arrays


def call_text(name: str, case: Case) -> str:
    """The call as Python text. A tiny case is written out in full, so that it can be pasted and followed by hand."""
    if numbers(case.inputs) <= TINY:
        inner = ",\n".join(f"  {key}={literal(value)}" for key, value in case.inputs.items())
        if len(inner) <= LONG:
            return f"{name}(\n{inner})"
    return f"{name}({', '.join(f'{key}{shape(value)}' for key, value in case.inputs.items())})"


def draws_text(name: str, case: Case) -> str:
    """The calls of the driver "draws" as Python text, with each random generator on a line of its own."""
    inputs = dict(case.inputs)
    number = inputs.pop("draws")
    generators = {key: value for key, value in inputs.items() if isinstance(value, Fixture) and value.kind == "rng"}
    lines = [f"{key} = {literal(value)}" for key, value in generators.items()]
    arguments = [key if key in generators else f"{key}{shape(value)}" for key, value in inputs.items()]
    return "\n".join([*lines, f"[{name}({', '.join(arguments)}) for _ in range({number})]"])


def module_text(name: str, case: Case) -> str:
    """The lines that create and call a torch module (see `module_cases.py`). A tiny case is written out in full."""
    init, weights, run = (case.inputs[own] for own in DRIVER_INPUTS)
    calls = module_calls(case)
    tiny = numbers([weights, [call.arguments for call in calls]]) <= TINY_MODULE
    made = ", ".join(f"{key}={literal(value)}" for key, value in init.items())
    lines = [f"model = {name}({made}).double().{run['mode']}()"]
    if tiny:
        entries = "".join(f"  {key!r}: {_tensor(value)},\n" for key, value in weights.items())
        lines.append(f"model.load_state_dict({{\n{entries}}})")
    else:
        lines.append("model.load_state_dict(weights)")
    for call in calls:
        given = [f"{key}={_tensor(value)}" if tiny else f"{key}{shape(value)}" for key, value in call.arguments.items()]
        given += [f"{key}={result}" for key, result in call.takes.items()]
        inner = ",".join(f"\n  {each}" for each in given) if tiny and len(given) > 1 else ", ".join(given)
        results = f"{', '.join(run['returns'])} = " if call.gives else ""
        lines.append(f"{results}model({inner})")
    return "\n".join(lines)


def _tensor(value: Any) -> str:
    """A value as Python text, with tensors in place of arrays."""
    match value:
        case np.ndarray():
            dtype = ", dtype=torch.float64" if value.dtype == np.float64 else ""
            return f"torch.tensor({in_few_digits(value)}{dtype})"
        case list() | tuple() | dict():
            return _container(value, _tensor)
    return repr(in_few_digits(value))


def numbers(inputs: Any) -> int:
    """The total size of all arrays in these inputs, at any depth."""
    return sum(leaf.size for leaf in _leaves(inputs) if isinstance(leaf, np.ndarray))


def literal(value: Any) -> str:
    """A value as Python text, or '(a function)' for a callable without a short expression."""
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
    """The text after an argument's name in a call that is not written out: ' (4, 6)', '=3', ' (a function)'."""
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


def _container(value: Any, entry_text: Callable[[Any], str]) -> str:
    """A list, tuple or dict as Python text, with each entry formatted by `entry_text`."""
    match value:
        case list():
            return f"[{', '.join(map(entry_text, value))}]"
        case tuple():
            return f"({', '.join(map(entry_text, value))}{',' * (len(value) == 1)})"
    return f"{{{', '.join(f'{key!r}: {entry_text(entry)}' for key, entry in value.items())}}}"


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

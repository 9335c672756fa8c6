"""Gates: the blocks of an array, one for each gate, and the alterations with which students mix them up.

The altered_cases made here are recorded like those of all exercises, see `altered_inputs.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import Any

import numpy as np

from grader.checking.case import Case, Observation, Output
from grader.checking.compare import Array, named_outputs
from grader.checking.verdict import Problem
from grader.spec.altered_inputs import AlteredCases, Oracle
from grader.spec.changes import Change

Order = tuple[str, ...]
Way = Change | Callable[..., Any]  # a change to the reference solution, or a function
Rearranged = Callable[[Array], Array]


@dataclass(frozen=True)
class Gates:
    """Arrays whose last axis consists of blocks of equal width, one for each gate.

    `names` are the gates in the order of their blocks: "ifgo", or a list of words. `inputs` are the arguments that
    consist of such blocks, or the keys of dicts in the arguments. `outputs` are the results that do, whose blocks a
    student with another order in mind also puts into that order.
    `inside` maps the name of an array inside the solution to a function: it takes the names in another order and
    returns the change to the reference solution that puts the blocks of that array into this order.
    """

    names: Sequence[str]
    inputs: Sequence[str]
    outputs: Sequence[str] = ()
    inside: Mapping[str, Callable[[Order], Way]] = field(default_factory=dict)

    def other_orders(self) -> list[Order]:
        """All orders of the names but the right one."""
        return [order for order in permutations(self.names) if order != tuple(self.names)]

    def ways(self) -> Iterator[tuple[str, Order, Way]]:
        """Each array inside the solution, in each other order, with the change that puts it into this order."""
        for name, change in self.inside.items():
            yield from ((name, order, change(order)) for order in self.other_orders())

    def problem(self, cases: Sequence[Case], outputs: Sequence[Output]) -> str | None:
        """What does not fit these cases and outputs, or None."""
        if len(set(self.names)) < max(len(self.names), 2):
            return f"the gates {', '.join(self.names)} need at least two names, all of them different"
        for name in self.inputs:
            found = [a for case in cases for a in _arrays(case.inputs, name)]
            if not found:
                return f"no case has an input or a key {name!r}"
            widths = {a.shape[-1] if a.ndim else 1 for a in found}
            if any(width % len(self.names) for width in widths):
                return f"the last axis of {name!r} is not made of {len(self.names)} blocks of equal width"
        for name in self.outputs:
            if name not in {output.name for output in outputs}:
                return f"there is no output {name!r}"
        return None


def altered_gates(
    gates: Gates,
    cases: Sequence[Case],
    outputs: Sequence[Output],
    oracle: Oracle,
    inside: Sequence[tuple[str, Order, Oracle]] = (),
) -> Iterator[AlteredCases]:
    """Every alteration of these gates: the blocks in each other order in the inputs, in the outputs and in both; two
    gates with the same block; a block with the opposite sign; gates that alternate column by column. `inside` has the
    changed solutions of `Gates.ways`, as functions of a case.
    """
    names, right = tuple(gates.names), ", ".join(gates.names)
    given, returned = _listed(gates.inputs), _listed(gates.outputs)

    def made(name: str, words: tuple[str, ...], read: Rearranged, write: Rearranged | None = None) -> AlteredCases:
        altered = (replace(case, inputs=_changed(case.inputs, gates.inputs, read)) for case in cases)
        run = None
        if write is not None:
            run = lambda case: _written(oracle(case), outputs, gates.outputs, write)  # noqa: E731
        return AlteredCases(
            name, words, tuple(altered), len(gates.inputs) + len(gates.outputs) * (write is not None), run
        )

    def block_order(indices: Sequence[int]) -> Rearranged:
        return lambda a: np.concatenate([np.split(a, len(names), axis=-1)[i] for i in indices], axis=-1)

    for order in gates.other_orders():
        read, write = block_order([order.index(n) for n in names]), block_order([names.index(n) for n in order])
        yield made("read", (", ".join(order), given, right), read)
        if gates.outputs:
            yield made(
                "read_and_written", (", ".join(order), _listed([*gates.inputs, *gates.outputs]), right), read, write
            )
            yield replace(
                made("written", (", ".join(order), returned, right), lambda a: a, write), inputs=len(gates.outputs)
            )
    for name, order, run in inside:
        yield AlteredCases("written", (", ".join(order), f"`{name}`", right), tuple(cases), 1, run)
    for one, other in permutations(range(len(names)), 2):
        indices = [other if i == one else i for i in range(len(names))]
        yield made("same_block", (names[one], names[other], given), block_order(indices))
    for i, name in enumerate(names):
        flipped = _flipped(i, len(names))
        yield made("opposite", (name, given), flipped)
        if gates.outputs:
            yield made("opposite", (name, given), flipped, flipped)
    yield made("alternating", (given,), lambda a: _alternating(a, len(names)))


def _flipped(index: int, number: int) -> Rearranged:
    signs = [-1 if i == index else 1 for i in range(number)]
    return lambda a: a * np.repeat(signs, a.shape[-1] // number)


def _alternating(a: Array, number: int) -> Array:
    return a.reshape(*a.shape[:-1], -1, number).swapaxes(-1, -2).reshape(a.shape)


def _listed(names: Sequence[str]) -> str:
    return " and ".join(", ".join(f"`{name}`" for name in names).rsplit(", ", 1))


def _arrays(value: Any, name: str) -> list[Array]:
    """The arrays with this name, as keys of dicts at any depth."""
    found: list[Array] = []
    _changed(value, [name], lambda a: found.append(a) or a)  # type: ignore[func-returns-value]
    return found


def _changed(value: Any, names: Sequence[str], change: Rearranged) -> Any:
    """A copy of dicts and lists in which the arrays with these names are changed."""
    if isinstance(value, Mapping):
        return {
            key: change(item) if key in names and isinstance(item, np.ndarray) else _changed(item, names, change)
            for key, item in value.items()
        }
    return [_changed(item, names, change) for item in value] if isinstance(value, list) else value


def _written(
    observation: Observation, outputs: Sequence[Output], names: Sequence[str], change: Rearranged
) -> Observation:
    """The observation with these outputs changed."""
    values = named_outputs(tuple(outputs), observation.result)
    if observation.raised is not None or isinstance(values, Problem):
        return observation
    results = tuple(change(value) if name in names else value for name, value in values.items())
    return replace(observation, result=results if len(outputs) > 1 else results[0])

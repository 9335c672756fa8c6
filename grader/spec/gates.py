"""Gates: the blocks of an array, one for each gate, and the alterations with which students mix them up.

The altered cases made here are recorded like those of all exercises, see `altered_inputs.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, permutations
from typing import Any

import numpy as np

from grader.checking.case import Case, Observation, Output
from grader.checking.compare import Array, named_outputs
from grader.checking.verdict import Problem
from grader.spec.altered_inputs import AlteredCases, Oracle
from grader.spec.changes import Change

Order = tuple[str, ...]
Way = Change | Callable[..., Any]  # a change to the reference solution, or a function
Rearrange = Callable[[Array], Array]
Inside = tuple[str, Order, Oracle]  # an array inside the solution, an order, and the solution with the array in it


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
    gates: Gates, cases: Sequence[Case], outputs: Sequence[Output], oracle: Oracle, inside: Sequence[Inside] = ()
) -> Iterator[AlteredCases]:
    """Every alteration of these gates: the blocks in each other order in the inputs, in the outputs and in both; two
    gates with the same block; a block with the opposite sign; gates that alternate column by column. `inside` has the
    changed solutions of `Gates.ways`, as functions of a case.
    """
    names, right = tuple(gates.names), ", ".join(gates.names)
    given, returned = _listed(gates.inputs), _listed(gates.outputs)
    altered = partial(_altered, gates, cases, outputs, oracle)
    for order in gates.other_orders():
        this = ", ".join(order)
        read = partial(_of_blocks, indices=[order.index(name) for name in names])
        write = partial(_of_blocks, indices=[names.index(name) for name in order])
        yield altered("read", (this, given, right), read)
        if gates.outputs:
            yield altered("read_and_written", (this, _listed([*gates.inputs, *gates.outputs]), right), read, write)
            yield altered("written", (this, returned, right), None, write)
    for name, order, run in inside:
        yield AlteredCases("written", (", ".join(order), f"`{name}`", right), tuple(cases), 1, run)
    for one, other in permutations(range(len(names)), 2):
        indices = [other if i == one else i for i in range(len(names))]
        yield altered("same_block", (names[one], names[other], given), partial(_of_blocks, indices=indices))
    for i, name in enumerate(names):
        flip = partial(_flipped, index=i, number=len(names))
        yield altered("opposite", (name, given), flip)
        if gates.outputs:
            yield altered("opposite", (name, given), flip, flip)
    yield altered("alternating", (given,), partial(_alternating, number=len(names)))


def _altered(
    gates: Gates,
    cases: Sequence[Case],
    outputs: Sequence[Output],
    oracle: Oracle,
    name: str,
    words: tuple[str, ...],
    read: Rearrange | None,
    write: Rearrange | None = None,
) -> AlteredCases:
    """The alteration in which the gates' inputs are rearranged by `read` and their outputs by `write`; None leaves them
    as they are.
    """
    affected, run = 0, None
    if read is not None:
        affected += len(gates.inputs)
        cases = [replace(case, inputs=_changed(case.inputs, gates.inputs, read)) for case in cases]
    if write is not None:
        affected += len(gates.outputs)
        run = partial(_run_and_write, oracle=oracle, outputs=outputs, names=gates.outputs, write=write)
    return AlteredCases(name, words, tuple(cases), affected, run)


def _of_blocks(a: Array, indices: Sequence[int]) -> Array:
    """An array put together from its blocks with these indices; it has as many blocks as there are indices."""
    blocks = np.split(a, len(indices), axis=-1)
    return np.concatenate([blocks[i] for i in indices], axis=-1)


def _flipped(a: Array, index: int, number: int) -> Array:
    """An array of so many blocks, with the opposite sign in the block with this index."""
    signs = [-1 if i == index else 1 for i in range(number)]
    return np.asarray(a * np.repeat(signs, a.shape[-1] // number))


def _alternating(a: Array, number: int) -> Array:
    return a.reshape(*a.shape[:-1], -1, number).swapaxes(-1, -2).reshape(a.shape)


def _listed(names: Sequence[str]) -> str:
    return " and ".join(", ".join(f"`{name}`" for name in names).rsplit(", ", 1))


def _arrays(value: Any, name: str) -> Iterator[Array]:
    """The arrays with this name, as keys of dicts at any depth."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from [item] if key == name and isinstance(item, np.ndarray) else _arrays(item, name)
    elif isinstance(value, list):
        yield from chain.from_iterable(_arrays(item, name) for item in value)


def _changed(value: Any, names: Sequence[str], change: Rearrange) -> Any:
    """A copy of dicts and lists in which the arrays with these names are changed."""
    if isinstance(value, Mapping):
        return {
            key: change(item) if key in names and isinstance(item, np.ndarray) else _changed(item, names, change)
            for key, item in value.items()
        }
    return [_changed(item, names, change) for item in value] if isinstance(value, list) else value


def _run_and_write(
    case: Case, oracle: Oracle, outputs: Sequence[Output], names: Sequence[str], write: Rearrange
) -> Observation:
    """The observation on a case, with the outputs of these names rearranged."""
    observation = oracle(case)
    values = named_outputs(tuple(outputs), observation.result)
    if observation.raised is not None or isinstance(values, Problem):
        return observation
    results = tuple(write(value) if name in names else value for name, value in values.items())
    return replace(observation, result=results if len(outputs) > 1 else results[0])

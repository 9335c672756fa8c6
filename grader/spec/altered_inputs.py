"""Alterations: an exercise's cases with an input changed in the same way in every case. Only the release uses them.

The fingerprints of the oracle's results on them are recorded; `checking/diagnose/altered_input.py` has the words for
each alteration.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, combinations
from typing import Any

import numpy as np

from grader.checking.case import TIME_AXES, AlteredInput, Case, Checks, Observation
from grader.checking.compare import Array, close
from grader.checking.diagnose.altered_input import fingerprints, is_one_number, leaves, same, softmax
from grader.checking.module_cases import is_of_module
from grader.checking.observing import same_bytes
from grader.codec import Fixture

Sizes = Mapping[str, int]
Alteration = tuple[str, Callable[[Any, Sizes], Any]]  # its name in altered_input.WORDS, and the change of a value
Oracle = Callable[[Case], Observation]
Path = tuple[str | None, ...]  # into an input: the key of a dict, or None for every entry of a list

TIME = tuple(TIME_AXES)  # the axes along which a network is unrolled
SECONDS = 10.0  # for the oracle on a case, which usually takes milliseconds but may never end on altered inputs


# The likely alterations for each kind of value, each in all its forms.
ALTERATIONS: dict[str, tuple[Alteration, ...]] = {
    "f": (
        ("zeros", lambda a, s: np.zeros_like(a)),
        ("ones", lambda a, s: np.ones_like(a)),
        ("doubled", lambda a, s: 2 * a),
        ("negated", lambda a, s: -a),
        ("transposed", lambda a, s: a.swapaxes(-1, -2)),
        ("softmax", lambda a, s: softmax(a, -1)),
    ),
    "i": (
        ("more", lambda a, s: a + 1),
        ("more", lambda a, s: np.minimum(a + 1, max(a.max(), s.get("T", 0)))),
        ("less", lambda a, s: a - 1),
        ("less", lambda a, s: np.maximum(a - 1, min(a.min(), 1))),
        ("zeros", lambda a, s: np.zeros_like(a)),
        ("all_T", lambda a, s: np.full_like(a, s["T"])),
        ("all_S", lambda a, s: np.full_like(a, s["S"])),
    ),
    "b": (
        ("true", lambda a, s: np.ones_like(a)),
        ("inverted", lambda a, s: ~a),
        ("transposed", lambda a, s: a.swapaxes(-1, -2)),
    ),
    "int": (
        ("zero", lambda v, s: 0),
        ("one", lambda v, s: 1),
        ("more", lambda v, s: v + 1),
        ("less", lambda v, s: v - 1),
    ),
    "float": (
        ("zero", lambda v, s: 0.0),
        ("one", lambda v, s: 1.0),
        ("negated", lambda v, s: -v),
        ("inverse", lambda v, s: 1 / v),
        ("one_minus", lambda v, s: 1 - v),
    ),
    "bool": (("inverted", lambda v, s: not v), ("true", lambda v, s: True), ("false", lambda v, s: False)),
    "list": (
        ("reversed", lambda v, s: v[::-1]),
        ("first", lambda v, s: v[:1]),
        ("last", lambda v, s: v[-1:]),
        ("without_first", lambda v, s: v[1:]),
        ("without_last", lambda v, s: v[:-1]),
    ),
    "dict": (("counts", lambda v, s: {key: 1 if type(n) is int else n for key, n in v.items()}),),
}


def alterations_in_time(axis: int) -> Iterator[Alteration]:
    """The alterations along a time axis."""

    def moved(a: Array, s: Sizes, by: int, fill: str) -> Array:
        """Shifted by one position; the free one gets 0, keeps its value, or gets the value that was shifted out."""
        b, edge = np.moveaxis(np.roll(a, by, axis), axis, 0), 0 if by > 0 else -1
        if fill != "around":
            b[edge] = 0 if fill == "zero" else np.take(a, edge, axis)
        return np.moveaxis(b, 0, axis)

    def without(a: Array, s: Sizes, step: int) -> Array:
        b = np.moveaxis(a.copy(), axis, 0)
        b[step] = 0
        return np.moveaxis(b, 0, axis)

    for alteration, by in (("late", 1), ("early", -1)):
        yield from ((alteration, partial(moved, by=by, fill=fill)) for fill in ("zero", "kept", "around"))
    yield "backward", lambda a, s: np.flip(a, axis)
    for alteration, step in (("first_step", 0), ("last_step", -1)):
        yield alteration, partial(spread, axis=axis, index=step)
        yield f"{alteration}_zero", partial(without, step=step)


# Time before batch where the batch comes first, on the way into a flat order and on the way out of it.
MIXED: tuple[Alteration, ...] = (
    ("mixed", lambda a, s: a.swapaxes(0, 1).reshape(a.shape)),
    ("mixed", lambda a, s: a.reshape(a.shape[1], a.shape[0], *a.shape[2:]).swapaxes(0, 1)),
)


def spread(a: Array, s: Sizes, axis: int, index: int) -> Array:
    return np.repeat(np.take(a, [index], axis), a.shape[axis], axis)


@dataclass(frozen=True)
class AlteredCases:
    """All cases with the same alteration. `words` describe it in messages, `inputs` is the number of inputs it affects,
    `run` replaces the oracle if more than an input is altered.
    """

    alteration: str
    words: tuple[str, ...]
    cases: tuple[Case, ...]
    inputs: int = 1
    run: Oracle | None = None


def altered_cases(cases: Sequence[Case], defaults: Mapping[str, Any]) -> Iterator[AlteredCases]:
    """Every alteration. `defaults` are the values of the optional arguments."""
    cases = [_with(case, **{**defaults, **case.inputs}) for case in cases]
    names = list(dict.fromkeys(name for case in cases for name in case.inputs))
    for name, value in defaults.items():
        yield AlteredCases("default", (f"`{name}`",), tuple(_with(case, **{name: value}) for case in cases))
    for name in names:
        yield from _of_one(name, cases)
    for one, other in combinations(names, 2):
        pairs = [(case.inputs.get(one), case.inputs.get(other)) for case in cases]
        if all(_alike(*pair) for pair in pairs):
            for alteration, words, order in (
                ("exchanged", (one, other), (1, 0)),
                ("in_place_of", (one, other), (0, 0)),
                ("in_place_of", (other, one), (1, 1)),
            ):
                altered = (
                    _with(c, **{one: p[order[0]], other: p[order[1]]}) for c, p in zip(cases, pairs, strict=True)
                )
                yield AlteredCases(alteration, tuple(f"`{word}`" for word in words), tuple(altered), inputs=2)
    yield from _of_the_whole(names, cases)


def _with(case: Case, **inputs: Any) -> Case:
    return replace(case, inputs={**case.inputs, **inputs})


def _kind(value: Any) -> str:
    return value.dtype.kind if isinstance(value, np.ndarray) else type(value).__name__


def _alike(a: Any, b: Any) -> bool:
    """Whether one value could be mistaken for the other."""
    if isinstance(a, Fixture) and isinstance(b, Fixture):
        return a.kind == b.kind
    return _kind(a) == _kind(b) in ("f", "i", "int", "float", "str") and np.shape(a) == np.shape(b)


def _of_one(name: str, cases: Sequence[Case]) -> Iterator[AlteredCases]:
    """The alterations on an input, or on the same part of all its entries."""
    values = [case.inputs.get(name) for case in cases]
    for path in dict.fromkeys(path for value in values for path in _paths(value)):
        parts = [(case.sizes, part) for case, value in zip(cases, values, strict=True) for part in _parts(value, path)]
        kinds = {_kind(part) for _, part in parts}
        alterations = list(ALTERATIONS.get(kinds.pop(), ())) if len(kinds) == 1 else []
        axes = _axes(parts)
        alterations += MIXED if axes[:1] == ["B"] and axes[1:2] and axes[1] in TIME else ()
        for axis, symbol in enumerate(axes):
            alterations += alterations_in_time(axis) if symbol in TIME else ()
            alterations += [("first_row", partial(spread, axis=axis, index=0))] if symbol == "B" else []
        key = next((key for key in path if key is not None), None)
        words = f"`{key}` in `{name}`" if key else f"each entry of `{name}`" if path else f"`{name}`"
        if key and name == "weights" and is_of_module(cases[0]):
            words = f"`self.{key}`"
        for alteration, change in alterations:
            new = (
                _changed(value, path, partial(_mistaken, change=change, sizes=case.sizes))
                for case, value in zip(cases, values, strict=True)
            )
            yield AlteredCases(
                alteration, (words,), tuple(_with(c, **{name: v}) for c, v in zip(cases, new, strict=True))
            )


def _paths(value: Any) -> Iterator[Path]:
    yield ()
    if isinstance(value, list):
        yield from ((None, *path) for path in _paths(value[0] if value else None))
    if isinstance(value, dict):
        yield from ((key,) for key, item in value.items() if isinstance(item, np.ndarray))


def _changed(value: Any, path: Path, change: Callable[[Any], Any]) -> Any:
    """A value with its parts at this path changed. None, which stands for a missing argument, is kept."""
    if value is None or not path:
        return None if value is None else change(value)
    if path[0] is None and isinstance(value, list):
        return [_changed(entry, path[1:], change) for entry in value]
    if isinstance(value, dict) and path[0] in value:
        return {**value, path[0]: _changed(value[path[0]], path[1:], change)}
    return value


def _parts(value: Any, path: Path) -> list[Any]:
    """The parts of a value at this path, which `_changed` would change."""
    if value is None or not path:
        return [] if value is None else [value]
    if path[0] is None and isinstance(value, list):
        return [part for entry in value for part in _parts(entry, path[1:])]
    return _parts(value[path[0]], path[1:]) if isinstance(value, dict) and path[0] in value else []


def _mistaken(value: Any, change: Callable[[Any, Sizes], Any], sizes: Sizes) -> Any:
    try:
        with np.errstate(all="ignore"):
            return change(value, sizes)
    except (ValueError, IndexError, KeyError, ZeroDivisionError):  # an array of one axis has no transpose
        return value


def _axes(parts: Sequence[tuple[Sizes, Any]]) -> list[str]:
    """The symbol of each axis of arrays, if exactly one of the cases' sizes fits it everywhere; otherwise ''."""
    if not parts or not all(isinstance(a, np.ndarray) and a.ndim == parts[0][1].ndim for _, a in parts):
        return []
    fitting = [
        [s for s in parts[0][0] if all(sizes.get(s) == a.shape[i] for sizes, a in parts)]
        for i in range(parts[0][1].ndim)
    ]
    return [symbols[0] if len(symbols) == 1 else "" for symbols in fitting]


def _of_the_whole(names: Sequence[str], cases: Sequence[Case]) -> Iterator[AlteredCases]:
    """All inputs reduced to their first or last sequence or step."""
    for symbol, what in (("B", "row of the batch"), *TIME_AXES.items()):
        axes = {name: _axes([(case.sizes, case.inputs.get(name)) for case in cases]) for name in names}
        where = {name: symbols.index(symbol) for name, symbols in axes.items() if symbol in symbols}
        for alteration, entry in (("only_first", slice(0, 1)), ("only_last", slice(-1, None))):
            if where:
                altered = (
                    _with(
                        case,
                        **{
                            name: case.inputs[name][(*[slice(None)] * axis, entry)].copy()
                            for name, axis in where.items()
                        },
                    )
                    for case in cases
                )
                yield AlteredCases(alteration, (what,), tuple(altered), inputs=len(names))


# The oracle's results -------------------------------------------------------------------------------------------------


def altered_inputs(
    checks: Checks, defaults: Mapping[str, Any], oracle: Oracle, more: Iterable[AlteredCases] = ()
) -> tuple[AlteredInput, ...]:
    """The results of each alteration, and of `more`, unless a simpler diagnosis covers them; `checks` has the expected
    results. Alterations that give the same in every case are merged and described by those with the fewest inputs.
    """
    expected, spread = fingerprints(checks, checks.expected)
    known = [({**defaults, **c.inputs}, result) for c, result in zip(checks.cases, checks.expected, strict=True)]
    groups: list[tuple[Array, list[AlteredCases]]] = []
    for one in chain(altered_cases(checks.cases, defaults), more):
        answers = _answers(one, oracle, known)
        if len(answers) < len(checks.cases) or not _needs_own_diagnosis(checks, answers):
            continue
        distances = fingerprints(checks, answers)[0] - expected
        distances = np.where(np.abs(distances) <= spread, 0, distances).astype(np.float32)
        group = next((group for others, group in groups if same(distances, others, spread).all()), None)
        if group is None:
            groups.append((distances, [one]))
        else:
            group.append(one)
    return tuple(AlteredInput(_representatives(group), distances) for distances, group in groups)


def _representatives(group: Sequence[AlteredCases]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """One alteration for each set of inputs, among those with the fewest inputs."""
    fewest = min(a.inputs for a in group)
    return tuple({a.words: (a.alteration, a.words) for a in reversed(group) if a.inputs == fewest}.values())[::-1]


def _needs_own_diagnosis(checks: Checks, answers: Sequence[Observation]) -> bool:
    """Whether simpler diagnoses leave these results unexplained: some are wrong, and these are neither the same number
    everywhere nor the expected ones transposed or times a factor.
    """
    wrong = []
    for expected, answer in zip(checks.expected, answers, strict=True):
        if answer.raised is None:
            pairs = leaves(expected.result), leaves(answer.result)
            if [a.shape for a in pairs[0]] != [a.shape for a in pairs[1]]:
                return True
            wrong += [(a, b) for a, b in zip(*pairs, strict=True) if not close(a, b, checks.tolerance).all()]
    if is_one_number(b for _, b in wrong) or any(a.dtype.kind != "f" for a, _ in wrong):
        return not is_one_number(b for _, b in wrong)
    with np.errstate(all="ignore"):
        factor = sum(np.sum(a * b) for a, b in wrong) / sum(np.sum(a * a) for a, _ in wrong)
        plain = [
            all(a.ndim == 2 and a.shape == b.T.shape and close(a, b.T, checks.tolerance).all() for a, b in wrong),
            all(close(factor * a, b, checks.tolerance).all() for a, b in wrong),
        ]
    return not any(plain)


def _answers(
    altered: AlteredCases, oracle: Oracle, known: Sequence[tuple[Mapping[str, Any], Observation]]
) -> list[Observation]:
    """The results of altered cases, up to a case on which the oracle does not finish in time. `known` has the inputs
    and the result of each case as it was, because many altered_cases leave some cases as they are.
    """
    answers: list[Observation] = []
    for case, (inputs, result) in zip(altered.cases, known, strict=True):
        if altered.run is None and _are_the_same(case.inputs, inputs):
            answers.append(result)
            continue
        with suppress(TimeoutError), _time_limit(SECONDS):
            answers.append((altered.run or oracle)(case))
        raised = answers[-1].raised if answers else None
        if raised is not None and raised.type == "TimeoutError":  # the driver has caught it
            return answers[:-1]
    return answers


def _are_the_same(inputs: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
    return inputs.keys() == others.keys() and all(
        value is others[name] or same_bytes(value, others[name]) for name, value in inputs.items()
    )


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in a block that takes longer. In other threads than the main one there is no limit."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

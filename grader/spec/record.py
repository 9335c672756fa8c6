"""Compute the checks of an exercise: run the spec's oracle and mistakes on its cases, and record the public ones
in a data folder.
"""

from __future__ import annotations

import inspect
import sys
import zlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import cached_property, partial
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import Any, overload

import numpy as np

from grader.checking.case import AlteredInput, Checks, Observation, Tolerance
from grader.checking.compare import agree, close, named_outputs
from grader.checking.describe import describe, remedy
from grader.checking.drivers import DRIVERS, drive
from grader.checking.gradients import AGREE
from grader.checking.settle import settled, with_outcomes
from grader.checking.verdict import Problem
from grader.codec import CodecError, Raised, decode, deflate, encode, first_opaque, freeze, inflate
from grader.errors import ExpectedError
from grader.files import write_whole
from grader.manifest import Manifest, Place, load_manifest
from grader.messages import MessageError, Messages, parse_messages
from grader.released import (
    CASES,
    FIXTURES,
    MESSAGES,
    OUTPUTS,
    OWN_JUDGE,
    cases_tree,
    load_own_judge,
    outputs_tree,
    read_fixtures,
    with_results,
)
from grader.sources import load_module as load_from_text
from grader.sources import read_course_from_text
from grader.spec.altered_inputs import Oracle, altered_inputs
from grader.spec.changes import Change, ChangeError, define, plain_code
from grader.spec.folders import (
    MISTAKES,
    WAYS,
    fixtures_path,
    hints_path,
    judge_path,
    mistakes_path,
    reference_path,
    spec_path,
    ways_path,
)
from grader.spec.gates import Gates, Order, altered_gates
from grader.spec.mistake_words import read_mistake_words
from grader.spec.slopes import slopes
from grader.spec.spec import Spec

PUBLIC_SEED = 0
RAISES = "raises "  # how the kind of a case begins whose expected outcome is an exception: "raises IndexError"
FEW = 3  # exercises that are recorded sooner than other processes have started
SETTLED = 0.1  # of an exercise's tolerance: recorded outputs that differ by at most this are kept
SLOPES = {"gradients": Tolerance(AGREE, AGREE)}  # a part of an observation that is judged with a tolerance of its own


class SpecError(ExpectedError):
    """A check's source under `solutions/` is missing or wrong; the message says which and what to do."""


def load_spec(root: Path, place: Place) -> Spec:
    """The `SPEC` of `solutions/CHAPTER/ID/spec.py`, with what `mistakes.py` adds to it, its changes made in the
    reference solution, its mistakes in the order of `mistakes.md`. Raises SpecError, MessageError.
    """
    path = spec_path(root, place)
    module = load_module(path, f"_checks_{place.exercise.id}")
    spec = getattr(module, "SPEC", None)
    if not isinstance(spec, Spec):
        raise SpecError(f"{path}: defines no SPEC; write `SPEC = Spec(...)`, see CONTRIBUTING.md")
    if ways_path(root, place).exists():
        if spec.named_mistakes:
            raise SpecError(f"{path}: has mistakes beside {WAYS}; move them there")
        path = ways_path(root, place)
        sys.modules[f"solutions.{place.chapter.id}.{place.exercise.id}.spec"] = module
        try:
            load_module(path, f"_mistakes_{place.exercise.id}")
        finally:
            del sys.modules[f"solutions.{place.chapter.id}.{place.exercise.id}.spec"]
    names, written = spec.named_mistakes.keys(), mistakes_path(root, place)
    told = read_mistake_words(written).messages
    for name in sorted(names ^ told.keys()):
        raise SpecError(f"{written}: {name} is {'not a mistake of the spec' if name in told else 'missing'}")
    spec.named_mistakes = {name: spec.named_mistakes[name] for name in told}
    _make_functions(root, place, spec, path)
    return spec


def _make_functions(root: Path, place: Place, spec: Spec, path: Path) -> None:
    """Make the ways of each mistake as functions. Raises SpecError, which lists all changes that no longer fit."""
    name, problems, code = place.exercise.id, [], ""
    if any(isinstance(way, Change) for entry in spec.named_mistakes.values() for way in entry.ways):
        module, code = reference_module(root, place), reference_code(root, place)
    for entry in spec.named_mistakes.values():
        if not entry.ways:
            problems.append(f"{path}: mistake {entry.id!r} has no ways; add a change or a function")
        for number, way in enumerate(entry.ways, 1):
            if not isinstance(way, Change):
                entry.functions.append(way)
                continue
            try:
                entry.functions.append(define(name, way.apply(code), module, f"{name}, {entry.id} {number}"))
            except ChangeError as error:
                problems.append(f"{path}: mistake {entry.id!r}, way {number}: {error}")
    if problems:
        raise SpecError("\n".join([*problems, *([f"The code is\n{code}"] if code else [])]))


def load_messages(root: Path, place: Place) -> Messages:
    """The hints and the messages of the mistakes. Raises MessageError."""
    return parse_messages(messages_text(root, place), str(hints_path(root, place)))


def messages_text(root: Path, place: Place) -> str:
    """Hints and messages in one Markdown text, as they are released. Raises MessageError."""
    path, words = hints_path(root, place), read_mistake_words(mistakes_path(root, place))
    if not path.exists():
        raise MessageError(f"{path}: is missing; write three hints there")
    hints = path.read_text("utf-8")
    written = parse_messages(hints, str(path))
    if written.mistakes or written.tempting:
        raise MessageError(f"{path}: the messages of mistakes belong into {MISTAKES}")
    told = [
        f"## Mistake: {name}\n\n{message}\n\n## Tempting: {name}\n\n{words.tempts[name]}\n"
        for name, message in words.messages.items()
    ]
    return "\n".join([hints.rstrip() + "\n", *told])


def load_module(path: Path, name: str) -> ModuleType:
    """A Python file of the course, read from its text, as a module that others cannot import. Raises SpecError."""
    if not path.exists():
        raise SpecError(f"{path}: is missing; CONTRIBUTING.md describes its contents")
    read_course_from_text()
    try:
        return load_from_text(path, name)
    except Exception as error:
        raise SpecError(f"{path}: cannot be imported: {type(error).__name__}: {error}") from error


def reference_module(root: Path, place: Place) -> ModuleType:
    """The notebook's source as a module. Raises SpecError."""
    return load_module(reference_path(root, place), f"_reference_{place.notebook.name}")


def reference(root: Path, place: Place) -> Callable[..., Any]:
    """The reference solution: a function, or a class. Raises SpecError."""
    function = getattr(reference_module(root, place), place.exercise.id, None)
    if function is None:
        raise SpecError(f"{reference_path(root, place)}: defines no {place.exercise.id}")
    return function  # type: ignore[no-any-return]


def reference_code(root: Path, place: Place) -> str:
    """The reference solution's plain code: without docstrings, comments and blank lines. Raises SpecError."""
    path = reference_path(root, place)
    try:
        return plain_code(path.read_text("utf-8"), place.exercise.id)
    except KeyError:
        raise SpecError(f"{path}: defines no {place.exercise.id}") from None


def draw_checks(root: Path, place: Place, spec: Spec, seed: int, example: bool) -> Checks:
    """The cases of this seed, preceded by the example if asked, without expected values, so no function is run."""
    name = place.exercise.id
    own_path = judge_path(root, place)
    own = load_own_judge(own_path) if own_path.exists() else None
    if (own is None) == (spec.oracle is None):
        raise SpecError(f"{spec_path(root, place)}: needs either an oracle or a file {own_path.name}, not both")
    if own is not None:
        for mistake in sorted(set(own.matches) ^ set(spec.named_mistakes)):
            lacking = "the spec has no mistake" if mistake in own.matches else "`MATCHES` has no entry"
            raise SpecError(f"{own_path}: {lacking} {mistake!r}; the names of both must be the same")
    generated = spec.cases(np.random.default_rng([seed, zlib.crc32(name.encode())]))
    cases = tuple([spec.example, *generated] if example else generated)
    for case in cases:
        for key, value in case.inputs.items():
            _refuse_opaque(f"{name}: case {case.name!r}: its input", key, freeze(value))
    return Checks(
        id=name,
        driver=spec.driver,
        outputs=tuple(spec.outputs),
        tolerance=spec.tolerance,
        facets=tuple(spec.facets),
        cases=cases,
        own=own,
        fixtures=read_fixtures(fixtures_path(root, place.chapter)),
    )


def mistaken(function: Callable[..., Any], checks: Checks) -> tuple[Observation, ...]:
    """The observations of a mistake. Only the type of an exception is kept, because its text and lines would show
    the source. Gradients are observed only if all values are right, because otherwise the values identify it.
    """
    values_only, found = DRIVERS[checks.driver].values_only, None
    if values_only is not None:
        found = _observe(function, checks.driver, replace(checks, cases=tuple(map(values_only, checks.cases))))
        outputs = tuple(output.name for output in checks.outputs)
        pairs = zip(checks.expected, found, strict=True)
        found = None if all(agree(due, given, outputs, checks) for due, given in pairs) else found
    if found is None:
        found = _observe(function, checks.driver, checks)
    return tuple(replace(o, raised=Raised(o.raised.type, "")) if o.raised else o for o in found)


def make_checks(root: Path, place: Place, seed: int, example: bool, spec: Spec | None = None) -> Checks:
    """The checks on the cases of this seed, preceded by the example if asked. Runs the oracle; it may import torch. The
    spec is loaded unless it is given.
    """
    spec = spec or load_spec(root, place)
    drawn = draw_checks(root, place, spec, seed, example)
    if spec.oracle is None:
        return drawn
    _use_one_thread()
    checks, oracle = replace(drawn, expected=_expected(spec.oracle, drawn)), _of_case(spec.oracle, "call", drawn)
    defaults, gates = defaults_of(spec.oracle), _of_gates(root, place, spec, drawn)
    return replace(
        checks,
        altered_inputs=_WhenNeeded(
            lambda: altered_inputs(
                checks,
                defaults,
                oracle,
                (cases for of, ways in gates for cases in altered_gates(of, drawn.cases, drawn.outputs, oracle, ways)),
            )
        ),
        mistakes={
            key: tuple(mistaken(function, checks) for function in entry.functions)
            for key, entry in spec.named_mistakes.items()
        },
    )


class _WhenNeeded(Sequence[AlteredInput]):
    """Altered inputs that are computed when they are first looked at: many runs never need them."""

    def __init__(self, compute: Callable[[], Sequence[AlteredInput]]) -> None:
        self._compute = compute

    @cached_property
    def _computed(self) -> Sequence[AlteredInput]:
        return self._compute()

    @overload
    def __getitem__(self, index: int) -> AlteredInput: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[AlteredInput]: ...
    def __getitem__(self, index: int | slice) -> AlteredInput | Sequence[AlteredInput]:
        return self._computed[index]

    def __len__(self) -> int:
        return len(self._computed)


def _of_gates(
    root: Path, place: Place, spec: Spec, drawn: Checks
) -> list[tuple[Gates, list[tuple[str, Order, Oracle]]]]:
    """The gates of the exercise, each with the ways to use another order inside the solution. Raises SpecError."""
    found = []
    where = f"{spec_path(root, place)}: `gates`"
    for gates in spec.gates:
        problem = gates.problem(drawn.cases, drawn.outputs)
        if problem is not None:
            raise SpecError(f"{where}: {problem}")
        module, code = reference_module(root, place), reference_code(root, place)
        inside = []
        for name, order, way in gates.ways():
            what = f"`{name}` in the order {', '.join(order)}"
            if isinstance(way, Change):
                try:
                    way = define(place.exercise.id, way.apply(code), module, what)
                except ChangeError as error:
                    raise SpecError(f"{where}: {what}: {error}\nThe code is\n{code}") from error
            inside.append((name, order, _of_case(way, drawn.driver, drawn)))
        found.append((gates, inside))
    return found


def public_checks(root: Path, place: Place) -> Checks:
    """The checks in a student's notebook: the example and the cases of the public seed."""
    return make_checks(root, place, PUBLIC_SEED, example=True)


def _use_one_thread() -> None:
    """Let PyTorch use one thread, because the oracles' arrays are small and more threads would only cost time."""
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


def defaults_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The optional arguments of a function, with their default values."""
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}


def _of_case(function: Callable[..., Any], driver: str, drawn: Checks) -> Oracle:
    """A function from a case to the observation on it."""
    return lambda case: _observe(function, driver, replace(drawn, cases=(case,)))[0]


def _observe(function: Callable[..., Any], driver: str, drawn: Checks) -> tuple[Observation, ...]:
    """The observation on each case, without the calls that the function makes to callable inputs."""
    found = [replace(drive(driver, function, case, drawn.fixtures), calls={}) for case in drawn.cases]
    if drawn.driver == "module" and driver == "call":  # an oracle
        found = [with_outcomes(case, drawn.outputs, each) for case, each in zip(drawn.cases, found, strict=True)]
    return settled(drawn, found) if driver == drawn.driver else tuple(found)


def _expected(oracle: Callable[..., Any], drawn: Checks) -> tuple[Observation, ...]:
    observations = _observe(oracle, "call", drawn)  # an oracle is called directly, whatever students have to write
    for case, observation in zip(drawn.cases, observations, strict=True):
        raised = observation.raised
        due = case.kind.removeprefix(RAISES) if case.kind.startswith(RAISES) else ""
        if raised is not None and raised.type != due:
            raise SpecError(f"{drawn.id}: its oracle raises {raised.type} on case {case.name!r}: {raised.text}")
        if raised is None and due:
            raise SpecError(f"{drawn.id}: its oracle does not raise {due} on case {case.name!r}")
        if raised is not None:
            continue
        outputs = named_outputs(drawn.outputs, observation.result)
        if isinstance(outputs, Problem):
            raise SpecError(f"{drawn.id}: its oracle does not return its outputs on case {case.name!r}: {outputs.text}")
        for key, value in observation.outcomes.items():
            if not isinstance(value, np.ndarray) or value.dtype != np.float64 or value.ndim < 2:
                raise SpecError(
                    f"{drawn.id}: case {case.name!r}: {key} is random, so its oracle has to return the results for "
                    f"every mask of dropout as one array, along a new first axis; it returns {describe(value)}"
                )
        for key, value in outputs.items():
            _refuse_opaque(f"{drawn.id}: case {case.name!r}: its oracle's", key, value)
    if drawn.driver == "module":
        of_case = _of_case(oracle, "call", drawn)
        pairs = zip(drawn.cases, observations, strict=True)
        observations = tuple(replace(o, gradients=slopes(case, drawn.outputs, of_case)) for case, o in pairs)
    return tuple(replace(o, raised=Raised(o.raised.type, o.raised.text)) if o.raised else o for o in observations)


def _refuse_opaque(whose: str, name: str, value: Any) -> None:
    """Refuse a value that the codec cannot store, because it would equal any other of its type. Raises SpecError."""
    found = first_opaque(value, name)
    if found is not None:
        place, opaque = found
        raise SpecError(
            f"{whose} `{place}` is {describe(opaque)}, which cannot be recorded{remedy(opaque)}. "
            "Use arrays, numbers, strings, None, and lists, tuples and dicts of these."
        )


def record(root: Path, data: Path, workers: int = 1, which: Mapping[str, bool] | None = None) -> list[Path]:
    """Write the data folder of the whole course, computed by so many processes; return the changed files. Outputs that
    agree with the recorded ones to a tenth of the exercise's tolerance keep their old bytes.

    With `which`, only these exercises are recorded, and of those with False the hints and messages alone.
    """
    manifest = load_manifest(root / "course.toml")
    places = [place for name, place in manifest.places.items() if which is None or name in which]
    whole = [which is None or which[place.exercise.id] for place in places]
    files = {data / "course.toml": (root / "course.toml").read_bytes()}
    if workers == 1 or sum(whole) <= FEW:
        for place, everything in zip(places, whole, strict=True):
            files |= _files_of(root, data, place, everything)
    else:
        # `spawn`, because a fork has no copies of PyTorch's threads
        with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
            for found in pool.map(_files_of, repeat(root), repeat(data), places, whole):
                files |= found
    for chapter in manifest.chapters:
        path = fixtures_path(root, chapter)
        files |= {data / FIXTURES.format(chapter.id): path.read_bytes()} if path.exists() else {}
    for place in manifest.places.values():
        path = judge_path(root, place)
        files |= {data / OWN_JUDGE.format(place.exercise.id): path.read_bytes()} if path.exists() else {}
    changed = [path for path, content in files.items() if not path.exists() or path.read_bytes() != content]
    for path in changed:
        write_whole(path, files[path])
    dropped = [path for kind in (OWN_JUDGE, FIXTURES) for path in data.glob(kind.format("*")) if path not in files]
    for path in sorted({*stray(data, manifest), *dropped}):
        path.unlink()
        changed.append(path)
    return changed


def stray(data: Path, manifest: Manifest) -> list[Path]:
    """Files of a data folder that belong to no exercise."""
    known = {"course.toml", "__init__.py"} | {
        pattern.format(name) for name in manifest.places for pattern in (CASES, OUTPUTS, MESSAGES, OWN_JUDGE)
    }
    known |= {FIXTURES.format(chapter.id) for chapter in manifest.chapters}
    return sorted(path for path in data.glob("*") if path.is_file() and path.name not in known)


def _files_of(root: Path, data: Path, place: Place, everything: bool) -> dict[Path, bytes]:
    name = place.exercise.id
    files = {data / MESSAGES.format(name): messages_text(root, place).encode()}
    if everything:
        checks = make_checks(root, place, PUBLIC_SEED, example=True)
        cases, outputs = data / CASES.format(name), data / OUTPUTS.format(name)
        files[cases] = _kept_or_new(cases, cases_tree(checks), lambda old, new: encode(old) == encode(new))
        files[outputs] = _kept_or_new(outputs, outputs_tree(checks), partial(_agree, tolerance=checks.tolerance))
    return files


def _kept_or_new(path: Path, new: Any, means_the_same: Callable[[Any, Any], bool]) -> bytes:
    """The bytes on file if they mean the same: compressed bytes differ between builds of zlib."""
    try:
        old = path.read_bytes()
        kept = means_the_same(inflate(old), decode(encode(new)))
    except (OSError, CodecError, KeyError, IndexError, TypeError):  # or those of another version
        kept = False
    return old if kept else deflate(new)


def _agree(old: Any, new: Any, tolerance: Tolerance) -> bool:
    """Whether the outputs are the same up to what floating-point results differ between CPUs. The allowed difference is
    a small part of the judge's tolerance, so a correct answer agrees with both.
    """
    return same(with_results(old), with_results(new), tolerance)


def same(a: Any, b: Any, tolerance: Tolerance) -> bool:
    """Whether two trees have the same form, and equal values up to a part of a tolerance in floating point."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return (a.dtype, a.shape) == (b.dtype, b.shape) and bool(close(a, b, tolerance, SETTLED).all())
    if isinstance(a, float):
        return bool(close(np.asarray(a), np.asarray(b), tolerance, SETTLED))
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(same(x, y, tolerance) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key], SLOPES.get(key, tolerance)) for key in a)
    return bool(a == b)

"""From a spec to checks: run its oracle and its misconceptions on its cases, and record the public ones in a data
folder.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
import zlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from grader.author.alterations import counterfactuals
from grader.author.spec import Spec
from grader.checking.case import Case, Checks, Observation
from grader.checking.drivers import drive
from grader.codec import CodecError, Raised, decode, encode
from grader.files import write_whole
from grader.manifest import Manifest, Place, load_manifest
from grader.messages import Messages, parse_messages
from grader.released import (
    CASES,
    MESSAGES,
    OUTPUTS,
    OWN_JUDGE,
    cases_tree,
    load_own_judge,
    outputs_tree,
)

PUBLIC_SEED = 0
AGREEMENT = 1e-10


class SpecError(Exception):
    """A check's source under `solutions/` is missing or wrong; the message says which and what to do."""


def checks_folder(root: Path, place: Place) -> Path:
    return root / "solutions" / place.chapter.id / "checks"


def load_spec(root: Path, place: Place) -> Spec:
    """The `SPEC` of `solutions/CHAPTER/checks/ID.py`. Raises SpecError."""
    path = checks_folder(root, place) / f"{place.exercise.id}.py"
    module = load_module(path, f"_checks_{place.exercise.id}")
    spec = getattr(module, "SPEC", None)
    if not isinstance(spec, Spec):
        raise SpecError(f"{path}: defines no SPEC; write `SPEC = Spec(...)`, see CONTRIBUTING.md")
    return spec


def load_messages(root: Path, place: Place) -> Messages:
    """The hints and messages of `solutions/CHAPTER/checks/ID.md`. Raises SpecError, MessageError."""
    path = checks_folder(root, place) / MESSAGES.format(place.exercise.id)
    if not path.exists():
        raise SpecError(f"{path}: is missing; write three hints and a message for each misconception there")
    return parse_messages(path.read_text("utf-8"), str(path))


def load_module(path: Path, name: str) -> ModuleType:
    """A Python file of the course as a module that no one else can import. Raises SpecError."""
    if not path.exists():
        raise SpecError(f"{path}: is missing; CONTRIBUTING.md says what it holds")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise SpecError(f"{path}: cannot be imported: {type(error).__name__}: {error}") from error
    return module


def reference(root: Path, place: Place) -> Callable[..., Any]:
    """The reference solution. Raises SpecError."""
    path = root / "solutions" / place.chapter.id / f"{place.notebook.name}.py"
    module = load_module(path, f"_reference_{place.notebook.name}")
    function = getattr(module, place.exercise.id, None)
    if function is None:
        raise SpecError(f"{path}: defines no {place.exercise.id}")
    return function  # type: ignore[no-any-return]


def draw_checks(root: Path, place: Place, spec: Spec, seed: int, example: bool) -> Checks:
    """The cases of this seed, with the example in front if asked; nothing that is due on them, so nothing is run."""
    name = place.exercise.id
    own_path = checks_folder(root, place) / OWN_JUDGE.format(name)
    own = load_own_judge(own_path) if own_path.exists() else None
    if (own is None) == (spec.oracle is None):
        raise SpecError(
            f"{own_path.with_name(name + '.py')}: needs either an oracle or a file {own_path.name}, not both"
        )
    generated = spec.cases(np.random.default_rng([seed, zlib.crc32(name.encode())]))
    return Checks(
        id=name,
        driver=spec.driver,
        outputs=tuple(spec.outputs),
        tolerance=spec.tolerance,
        facets=tuple(spec.facets),
        cases=tuple([spec.example, *generated] if example else generated),
        own=own,
    )


def make_checks(root: Path, place: Place, seed: int, example: bool) -> Checks:
    """Checks on the cases of this seed, with the example in front if asked. Runs the oracle: it may import torch."""
    spec = load_spec(root, place)
    drawn = draw_checks(root, place, spec, seed, example)
    if spec.oracle is None:
        return drawn
    _work_alone()
    oracle, due = spec.oracle, replace(drawn, expected=_expected(spec.oracle, spec, drawn.cases, drawn.id))
    return replace(
        due,
        counterfactuals=counterfactuals(due, defaults_of(oracle), lambda case: _observe(oracle, spec, [case])[0]),
        misconceptions={
            key: tuple(_mistaken(function, spec, drawn.cases) for function in entry.variants)
            for key, entry in spec.misconceptions.items()
        },
    )


def public_checks(root: Path, place: Place) -> Checks:
    """What a student's notebook checks with: the example and the cases of the public seed."""
    return make_checks(root, place, PUBLIC_SEED, example=True)


def _work_alone() -> None:
    """PyTorch with one thread: an oracle's arrays are small, and threads that wait for one another cost more."""
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


def defaults_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The arguments that a call may leave out, and what they are then."""
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}


def _observe(function: Callable[..., Any], spec: Spec, cases: Iterable[Case]) -> tuple[Observation, ...]:
    """What comes of each case. How it calls what it is given is its own affair, and not kept."""
    return tuple(replace(drive(spec.driver, function, case), calls={}) for case in cases)


def _mistaken(function: Callable[..., Any], spec: Spec, cases: Iterable[Case]) -> tuple[Observation, ...]:
    """What a misconception gives. Of an exception the type is kept alone: its text and lines would show the source."""
    return tuple(
        replace(o, raised=Raised(o.raised.type, "")) if o.raised else o for o in _observe(function, spec, cases)
    )


def _expected(oracle: Callable[..., Any], spec: Spec, cases: tuple[Case, ...], name: str) -> tuple[Observation, ...]:
    observations = _observe(oracle, spec, cases)
    for case, observation in zip(cases, observations, strict=True):
        if observation.raised is not None:
            raised = observation.raised
            raise SpecError(f"{name}: its oracle raises {raised.type} on case {case.name!r}: {raised.text}")
    return observations


def record(root: Path, data: Path) -> list[Path]:
    """Write the data folder of the whole course; return what changed. Outputs that agree to 1e-10 keep their old
    bytes.
    """
    manifest = load_manifest(root / "course.toml")
    files = {data / "course.toml": (root / "course.toml").read_bytes()}
    for place in manifest.places.values():
        files |= _files_of(root, data, place)
    changed = [path for path, content in files.items() if not path.exists() or path.read_bytes() != content]
    for path in changed:
        write_whole(path, files[path])
    dropped = [path for path in data.glob(OWN_JUDGE.format("*")) if path not in files]
    for path in sorted({*stray(data, manifest), *dropped}):
        path.unlink()
        changed.append(path)
    return changed


def stray(data: Path, manifest: Manifest) -> list[Path]:
    """Files of a data folder that belong to no exercise."""
    known = {"course.toml", "__init__.py"} | {
        pattern.format(name) for name in manifest.places for pattern in (CASES, OUTPUTS, MESSAGES, OWN_JUDGE)
    }
    return sorted(path for path in data.glob("*") if path.is_file() and path.name not in known)


def _files_of(root: Path, data: Path, place: Place) -> dict[Path, bytes]:
    name = place.exercise.id
    checks = public_checks(root, place)
    _check_messages(root, place, checks)
    outputs = data / OUTPUTS.format(name)
    files = {
        data / CASES.format(name): encode(cases_tree(checks)),
        outputs: _settled(outputs, encode(outputs_tree(checks))),
        data / MESSAGES.format(name): (checks_folder(root, place) / MESSAGES.format(name)).read_bytes(),
    }
    own_path = checks_folder(root, place) / OWN_JUDGE.format(name)
    if own_path.exists():
        files[data / own_path.name] = own_path.read_bytes()
    return files


def _check_messages(root: Path, place: Place, checks: Checks) -> None:
    """Every misconception has its message and no message is left over: a slip stops the release, not a student."""
    told = set(load_messages(root, place).mistakes)
    due = set(checks.own.matches if checks.own else checks.misconceptions)
    path = checks_folder(root, place) / MESSAGES.format(place.exercise.id)
    for name in sorted(due ^ told):
        what = "add the heading" if name in due else "no misconception has that name; rename or remove the heading"
        raise SpecError(f"{path}: {what} '## Mistake: {name}'")


def _settled(path: Path, new: bytes) -> bytes:
    """The old bytes where they say the same to 1e-10: floating point differs between CPUs."""
    try:
        old = path.read_bytes()
        return old if same(decode(old), decode(new)) else new
    except (OSError, CodecError):
        return new


def same(a: Any, b: Any) -> bool:
    """Whether two trees have the same form, and equal values up to 1e-10 in floating point."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        if (a.dtype, a.shape) != (b.dtype, b.shape):
            return False
        if a.dtype.kind not in "fc":
            return bool((a == b).all())
        agreement = max(AGREEMENT, 10 * float(np.finfo(a.dtype).eps))  # what is kept in float32 is no more precise
        return bool(np.allclose(a, b, agreement, AGREEMENT, equal_nan=True))
    if isinstance(a, float):
        return bool(np.isclose(a, b, AGREEMENT, AGREEMENT, equal_nan=True))
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return bool(a == b)

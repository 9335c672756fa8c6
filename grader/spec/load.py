"""Load what an author wrote of an exercise: its spec, the reference solution, its hints and messages."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from grader.errors import ExpectedError
from grader.manifest import Place
from grader.messages import MessageError, Messages, parse_messages
from grader.sources import load_module as load_from_text
from grader.sources import read_course_from_text
from grader.spec.changes import Change, ChangeError, define, plain_code
from grader.spec.folders import MISTAKES, WAYS, hints_path, mistakes_path, reference_path, spec_path, ways_path
from grader.spec.mistake_words import read_mistake_words
from grader.spec.spec import Spec


class SpecError(ExpectedError):
    """A check's source under `solutions/` is missing or wrong; the message says which and what to do."""


def load_spec(root: Path, place: Place) -> Spec:
    """The `SPEC` of `solutions/CHAPTER/ID/spec.py`, with what `mistakes.py` adds to it, its changes made in the
    reference solution, its mistakes in the order of `mistakes.md`. Raises SpecError, MessageError.
    """
    path = spec_path(root, place)
    module, spec = _written_spec(root, place)
    if ways_path(root, place).exists():
        if spec.named_mistakes:
            raise SpecError(f"{path}: has mistakes beside {WAYS}; move them there")
        path = ways_path(root, place)
        with specs_of(root, {f"solutions.{place.chapter.id}.{place.exercise.id}.spec": module}):
            load_module(path, f"_mistakes_{place.exercise.id}")
    names, written = spec.named_mistakes.keys(), mistakes_path(root, place)
    told = read_mistake_words(written).messages
    for name in sorted(names ^ told.keys()):
        raise SpecError(f"{written}: {name} is {'not a mistake of the spec' if name in told else 'missing'}")
    spec.named_mistakes = {name: spec.named_mistakes[name] for name in told}
    _make_functions(root, place, spec, path)
    return spec


def load_oracle(root: Path, place: Place) -> Callable[..., Any]:
    """The oracle of an exercise alone. Raises SpecError if it cannot be loaded, or if the exercise has none."""
    _, spec = _written_spec(root, place)
    if spec.oracle is None:
        raise SpecError(f"{spec_path(root, place)}: has no oracle, because its exercise has a judge of its own")
    return spec.oracle


def _written_spec(root: Path, place: Place) -> tuple[ModuleType, Spec]:
    """The module `spec.py` of an exercise, and its `SPEC` as it is written there. Raises SpecError."""
    path = spec_path(root, place)
    with specs_of(root):
        module = load_module(path, f"_checks_{place.exercise.id}")
    spec = getattr(module, "SPEC", None)
    if not isinstance(spec, Spec):
        raise SpecError(f"{path}: defines no SPEC; write `SPEC = Spec(...)`, see CONTRIBUTING.md")
    return module, spec


@contextmanager
def specs_of(root: Path, own: Mapping[str, ModuleType] | None = None) -> Iterator[None]:
    """What a spec, or a chapter's exam, imports from `solutions` comes from this course, whatever another one or a test
    has imported.
    """
    others = {name: sys.modules.pop(name) for name in [*sys.modules] if name.partition(".")[0] == "solutions"}
    sys.modules.update(own or {})
    sys.path.insert(0, str(root))
    try:
        yield
    finally:
        sys.path.remove(str(root))
        for name in [name for name in sys.modules if name.partition(".")[0] == "solutions"]:
            del sys.modules[name]
        sys.modules.update(others)


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

"""What all drivers share: new copies of the inputs for each call, and the outcome of a call as plain values."""

from __future__ import annotations

import inspect
import linecache
import os
import sysconfig
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from grader.checking.fixtures import Builders
from grader.codec import MAX_LINES, CodecError, Fixture, Line, Opaque, Raised, encode, freeze, readable

_NOT_THE_STUDENTS = (
    "<frozen",
    str(Path(__file__).parents[1]) + os.sep,
    *{sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")},
    *{os.path.dirname(str(module.__file__)) + os.sep for module in (os, np)},  # sysconfig is wrong in a browser
)
_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>")  # frames of their own before Python 3.12


@dataclass
class FreshInputs:
    """Copies of a case's inputs for one call. Fixtures at any depth are replaced by what their builders return.

    What was built is stored by its location ("f", "layers[0]"). Callables record their calls, and the state of each
    random generator is stored so that later draws can be detected.
    """

    given: Mapping[str, Any]
    builders: Builders
    inputs: dict[str, Any] = field(init=False)
    _built: dict[str, Any] = field(init=False, default_factory=dict)
    _calls: dict[str, list[Any]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.inputs = {name: self._copy(name, value) for name, value in self.given.items()}
        generators = {place: built for place, built in self._built.items() if hasattr(built, "bit_generator")}
        self._generators = {place: (generator, _position(generator)) for place, generator in generators.items()}

    @property
    def calls(self) -> dict[str, list[Any]]:
        """The arguments of each call of a callable input; for a generator ["drawn"] if numbers were drawn, else []."""
        drawn = {place: _position(generator) != start for place, (generator, start) in self._generators.items()}
        return self._calls | {place: ["drawn"] * moved for place, moved in drawn.items()}

    @property
    def changed(self) -> tuple[str, ...]:
        """The names of the inputs that the call changed in place."""
        return tuple(name for name, before in self.given.items() if not self._is_same(name, before, self.inputs[name]))

    def _copy(self, place: str, value: Any) -> Any:
        if isinstance(value, Fixture):
            built = self.builders[value.kind](**freeze(value.params))
            if callable(built):
                built = _recorded(built, self._calls.setdefault(place, []))
            self._built[place] = built
            return built
        if not _holds_fixture(value):
            return freeze(value)
        if isinstance(value, dict):
            return {key: self._copy(f"{place}[{key!r}]", entry) for key, entry in value.items()}
        return type(value)(self._copy(f"{place}[{index}]", entry) for index, entry in enumerate(value))

    def _is_same(self, place: str, before: Any, after: Any) -> bool:
        if isinstance(before, Fixture):
            return after is self._built[place]
        if not _holds_fixture(before):
            return same_bytes(before, after)
        if type(after) is not type(before) or len(after) != len(before):
            return False
        if isinstance(before, dict):
            keys = zip(before, after, strict=True)
            return all(type(a) is type(b) and a == b for a, b in keys) and all(
                self._is_same(f"{place}[{key!r}]", entry, after[key]) for key, entry in before.items()
            )
        pairs = zip(before, after, strict=True)
        return all(self._is_same(f"{place}[{index}]", b, a) for index, (b, a) in enumerate(pairs))


def _holds_fixture(value: Any) -> bool:
    match value:
        case list() | tuple():
            return any(map(_holds_fixture, value))
        case dict():
            return any(map(_holds_fixture, value.values()))
    return isinstance(value, Fixture)


def _position(generator: Any) -> Any:
    """The state of a generator. It changes if numbers are drawn or child generators are spawned."""
    seeds = generator.bit_generator.seed_seq
    return generator.bit_generator.state, getattr(seeds, "n_children_spawned", 0)


def _recorded(function: Callable[..., Any], calls: list[Any]) -> Callable[..., Any]:
    names = _names_of_parameters(function)

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        if kwargs or len(args) != len(names):
            arguments: dict[str, Any] = inspect.signature(function).bind(*args, **kwargs).arguments
        else:
            arguments = dict(zip(names, args, strict=True))
        calls.append({name: plain(value) for name, value in arguments.items()})
        return function(**arguments)

    return wrapped


def _names_of_parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the parameters of a plain function, for calls by position; none for any other callable, and if one
    of them is keyword-only or takes several arguments.
    """
    if not isinstance(function, FunctionType) or hasattr(function, "__wrapped__"):
        return ()
    code = function.__code__
    several = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    return () if several or code.co_kwonlyargcount else code.co_varnames[: code.co_argcount]


def same_bytes(before: Any, after: Any) -> bool:
    """Whether two values are equal in every bit, dtype and shape. An unreadable value equals nothing."""
    if isinstance(before, np.ndarray) and isinstance(after, np.ndarray):
        same_kind = (before.dtype, before.shape) == (after.dtype, after.shape)
        return same_kind and before.tobytes() == after.tobytes()
    if type(before) is type(after) is dict and all(type(key) is str for key in (*before, *after)):
        return [*before] == [*after] and all(map(same_bytes, before.values(), after.values()))
    try:
        return encode(before) == encode(after)
    except Exception:  # the student replaced it with an unreadable value
        return False


def plain(result: object) -> Any:
    """The result as plain values of the codec, or an Opaque that says why this is impossible."""
    try:
        return freeze(result)
    except CodecError as error:
        return Opaque(type(result).__name__, f"({error})")
    except Exception:  # a student's own type may raise anything when it is read
        return Opaque(type(result).__name__, "(it could not be read)")


def caught(error: BaseException) -> Raised:
    """An exception as its type, its text and the last lines of the traceback that are the student's own code."""
    try:
        text = str(error)
    except Exception:
        text = "(its text could not be read)"
    frames: list[tuple[CodeType, int]] = []
    for frame, line in traceback.walk_tb(error.__traceback__):
        code = frame.f_code
        if not is_the_students(code):
            continue
        if frames and code.co_name in _COMPREHENSIONS:
            frames[-1] = frames[-1][0], line
        else:
            frames.append((code, line))
    lines = tuple(
        Line(line, readable(code.co_name), readable(linecache.getline(code.co_filename, line).strip()))
        for code, line in frames[-MAX_LINES:]
    )
    return Raised(readable(type(error).__name__), readable(text[:500]), lines)


def is_the_students(code: CodeType) -> bool:
    """Whether code was written by a student: it belongs neither to the grader nor to Python or a library."""
    return not code.co_filename.startswith(_NOT_THE_STUDENTS)


def cannot_be_called(function: Any, inputs: Mapping[str, Any], name: str = "the function") -> str:
    """Why `function` cannot be called with these inputs by keyword, in the exercise's words; empty if it can."""
    names = ", ".join(inputs)
    try:
        # the wrapper's own signature, because it may take arguments that the wrapped function does not
        signature = inspect.signature(function, follow_wrapped=False)
    except (TypeError, ValueError):
        return ""
    try:
        signature.bind(**inputs)
    except TypeError:
        left_out = [name for name, p in signature.parameters.items() if name not in inputs and p.default is p.empty]
        hint = ""
        if left_out and signature.parameters.keys() > inputs.keys():  # the only fault: a missing default
            hint = f"; here `{left_out[0]}` is left out, so it needs a default"
        return f"{name} must take ({names}); yours takes {signature}{hint}"
    return ""

"""Programs that the spec of an exercise does not contain: nearly right ones, each with what is true of it, and ones
that are right in another way. `solutions/CHAPTER/ID/trials.py` has them, `tests/test_trials.py` judges them.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader.manifest import Place
from grader.spec.changes import Change, define
from grader.spec.folders import trials_path
from grader.spec.load import SpecError, load_module, reference_code, reference_module

IMPORTS = """\
import numpy as np
import torch
import torch.nn.functional as F
from torch.nn.utils import rnn


"""
SEEDS = (0, 1, 2)  # 0 has the public cases, the others stand for hidden ones
Make = Callable[[Any], Any]


def replaced(text: str, *pairs: tuple[str, str]) -> str:
    """The text with the first of each pair, which occurs exactly once, replaced by the second. Raises ValueError."""
    for old, new in pairs:
        if text.count(old) != 1:
            raise ValueError(f"{old!r} occurs {text.count(old)} times, not once")
        text = text.replace(old, new)
    return text


def module_cell(name: str, init: str, arguments: str, forward: str) -> str:
    """The cell of a student's torch module: this `__init__`, and a `forward(self, …)` with these arguments and body."""
    body = textwrap.indent(textwrap.dedent(forward).strip(), "    ")
    methods = f"{init.strip()}\n\ndef forward(self, {arguments}):\n{body}\n"
    return f"{IMPORTS}class {name}(torch.nn.Module):\n" + textwrap.indent(methods, "    ")


@dataclass(frozen=True)
class Trial:
    """One program. A wrong one is told one of `told`: ids of a diagnosis, with or without "altered input: ", followed
    by " For scores" if the report says that it is about this result only, or None for no likely cause. It earns these
    points, or those of these facets only.
    """

    title: str
    program: Any
    right: bool
    told: frozenset[str | None] = frozenset()
    earns: float | frozenset[str] | None = None
    seeds: tuple[int, ...] = SEEDS
    says: str = ""  # words of the first problem on the public cases


class Trials:
    """The programs of one exercise. Each is a function, a class, the text of a cell that defines it, or a change to the
    solution: a Change, or a list of its pairs.
    """

    def __init__(self) -> None:
        self.all: list[Trial] = []

    def wrong(
        self,
        told: str | Collection[str | None] | None = None,
        earns: float | Collection[str] | None = None,
        seeds: Iterable[int] = SEEDS,
    ) -> Callable[[Any], Any]:
        """A decorator: this program fails, and is told so."""

        def register(program: Any) -> Any:
            self._add(Trial(program.__name__, program, False, _names(told), _points(earns), tuple(seeds)))
            return program

        return register

    def right(self, program: Any) -> Any:
        """A decorator: this program passes, and earns everything."""
        self._add(Trial(program.__name__, program, True))
        return program

    def all_wrong(
        self,
        table: Mapping[str, tuple[Any, ...]],
        make: Make | None = None,
        earns: float | Collection[str] | None = None,
        seeds: Iterable[int] = SEEDS,
        says: Mapping[str, str] | None = None,
    ) -> None:
        """Under each title a program, what it is told, and what it earns if that matters and is not `earns`. `make`
        makes programs of other things; `says` has words of the first problem on the public cases, by title.
        """
        unknown = (says or {}).keys() - table.keys()
        if unknown:
            raise ValueError(f"no such program: {', '.join(sorted(unknown))}")
        for title, (program, told, *own) in table.items():
            made, points = (make(program) if make else program), _points(own[0] if own else earns)
            self._add(Trial(title, made, False, _names(told), points, tuple(seeds), (says or {}).get(title, "")))

    def all_right(
        self, table: Mapping[str, Any] | list[Any], make: Make | None = None, seeds: Iterable[int] = SEEDS
    ) -> None:
        """Programs that pass, under titles or as functions with names of their own."""
        programs = {each.__name__: each for each in table} if isinstance(table, list) else table
        for title, program in programs.items():
            self._add(Trial(title, make(program) if make else program, True, seeds=tuple(seeds)))

    def _add(self, trial: Trial) -> None:
        if any((trial.title, trial.right) == (other.title, other.right) for other in self.all):
            raise ValueError(f"two programs are called {trial.title!r}")
        self.all.append(trial)


def _names(told: str | Collection[str | None] | None) -> frozenset[str | None]:
    """What may be told; an empty collection is no likely cause."""
    return frozenset({told} if told is None or isinstance(told, str) else told or {None})


def _points(earns: float | Collection[str] | None) -> float | frozenset[str] | None:
    return earns if earns is None or isinstance(earns, float | int) else frozenset(earns)


def in_order(*names: str) -> Make:
    """Makes a function of positional arguments one that is called by these names, as the checks do."""
    return lambda function: lambda **inputs: function(*(inputs[name] for name in names))


def load_trials(root: Path, place: Place) -> tuple[Trial, ...]:
    """The programs of an exercise, none if its folder has no `trials.py`; changes are made in the solution.

    Raises SpecError, ChangeError.
    """
    path, name = trials_path(root, place), place.exercise.id
    if not path.exists():
        return ()
    trials = getattr(load_module(path, f"_trials_{name}"), "TRIALS", None)
    if not isinstance(trials, Trials) or not trials.all:
        raise SpecError(f"{path}: defines no TRIALS; write `TRIALS = Trials()` and register programs")
    module, code = reference_module(root, place), reference_code(root, place)

    def made(program: Any, title: str) -> Any:
        if isinstance(program, list):
            program = Change(tuple(program))
        text = program.apply(code) if isinstance(program, Change) else program
        return define(name, text, module, f"{name}, {title}") if isinstance(text, str) else program

    return tuple(replace(trial, program=made(trial.program, trial.title)) for trial in trials.all)

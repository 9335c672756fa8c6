"""All known work on an exercise: the solution, the alternatives, the mistakes, and slips that any exercise may have."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from grader.author.standalone import renamed, standalone
from grader.checking.drivers import drive
from grader.manifest import Exercise, Place
from grader.released import read_fixtures
from grader.spec.folders import fixtures_path
from grader.spec.load import load_spec, reference
from grader.spec.spec import Spec

ALTERNATIVE, MISTAKE, ENDLESS = "alternative", "mistake", "runs forever"
# Slips that do not depend on the exercise: each changes a right result or replaces it.
SLIPS: dict[str, tuple[str, str]] = {
    "returns None": ("result", "failed"),
    "returns a list": ("return result.tolist()", "failed"),
    "returns NaN": ("return result * np.nan", "failed"),
    "one axis too many": ("return result[None]", "failed"),
    "float32": ("return result.astype(np.float32)", "failed"),
    "changes its input": ("{array} += 1\nreturn result", "failed"),
    "raises SystemExit": ("raise SystemExit(0)", "error"),
    "raises an exception": ("raise RuntimeError('not my day')", "error"),
    ENDLESS: ("while True:\n    pass", "timeout"),
    "ends the process": ("import os\nos._exit(0)", "error"),
    "prints a megabyte": ("print('x' * 1_000_000)\nreturn result", "passed"),
}
_DIAGNOSES = {"float32": "float32"}


@dataclass(frozen=True)
class Work:
    """The cell of one exercise, what it is, and the expected result. `code` is the cell's source or a function that
    makes it, or None if the stub is left. `diagnosis` is None if any is accepted.
    """

    what: str
    code: str | Callable[[], str] | None
    points: float
    status: str
    diagnosis: str | None = None

    @cached_property
    def source(self) -> str | None:
        """The source of the cell; None if the stub is left."""
        return self.code() if callable(self.code) else self.code

    @property
    def form(self) -> str:
        """What it is, without the name of the alternative or the mistake."""
        return next((form for form in (ALTERNATIVE, MISTAKE) if self.what.startswith(f"{form} ")), self.what)


def all_work(root: Path, place: Place) -> list[Work]:
    """All known work on one exercise; the first is right and does not depend on other cells."""
    spec, exercise = load_spec(root, place), place.exercise
    points = float(exercise.points)
    right = [
        Work(f"{ALTERNATIVE} {name}", partial(standalone, function, exercise.id), points, "passed")
        for name, function in spec.alternatives.items()
    ]
    if not exercise.needs:
        right.append(Work("reference", partial(standalone, reference(root, place), exercise.id), points, "passed"))
    wrong = [
        Work(
            f"{MISTAKE} {name}" + (f" {number}" if len(entry.functions) > 1 else ""),
            partial(standalone, function, exercise.id),
            _kept(spec, entry.keeps, points),
            "",
            name,
        )
        for name, entry in spec.named_mistakes.items()
        for number, function in enumerate(entry.functions, 1)
    ]
    builders = read_fixtures(fixtures_path(root, place.chapter))
    broken = list(slips(right[0].source or "", exercise, spec, builders))
    if not broken and inspect.isfunction(next(iter(spec.alternatives.values()), None)):
        broken = [Work(ENDLESS, f"def {exercise.id}(*_, **__):\n    while True:\n        pass\n", 0.0, "timeout")]
    return [*right, Work("stub", None, 0.0, "unimplemented"), *wrong, *broken]


def _kept(spec: Spec, keeps: tuple[str, ...], points: float) -> float:
    return points * sum(f.share for f in spec.facets if f.name in keeps) / sum(f.share for f in spec.facets)


def slips(right: str, exercise: Exercise, spec: Spec, fixtures: str = "") -> Iterator[Work]:
    """Slips added to a right solution, for functions that return one array."""
    if len(spec.outputs) != 1 or not spec.outputs[0].axes:
        return
    due = drive(spec.driver, next(iter(spec.alternatives.values()), None), spec.example, fixtures).result
    definition = ast.parse(right).body[-1]
    if not isinstance(due, np.ndarray) or not isinstance(definition, ast.FunctionDef):
        return
    names = [argument.arg for argument in definition.args.args]
    inputs = spec.example.inputs.items()
    array = next((n for n, value in inputs if isinstance(value, np.ndarray) and value.dtype.kind in "fi"), None)
    source = renamed(right, {exercise.id: f"right_{exercise.id}"})
    for what, (lines, status) in SLIPS.items():
        if array is None and "{array}" in lines:
            continue
        body = textwrap.indent(lines.format(array=array), "    ")
        call = f"right_{exercise.id}({', '.join(names)})"
        text = f"{source}\n\n\ndef {exercise.id}({ast.unparse(definition.args)}):\n    result = {call}\n{body}\n"
        points = float(exercise.points) if status == "passed" else 0.0
        yield Work(what, text, points, status, _DIAGNOSES.get(what) if due.dtype.kind == "f" else None)
    yield Work("wrong arity", f"def {exercise.id}({names[0]}, another):\n    return {names[0]}\n", 0.0, "error")

"""What `check` reports of every program that the course knows of an exercise: run by the tests in this Python, and in a
page's Python under Node, where the reports have to be the same.

There, PyTorch is not needed: oracles are not run, because the public checks are recorded. Programs that use it are left
out.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
import types
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

MUTANTS = 12


class _Anything(type):
    """Of a class that stands for whatever is taken from `torch` while specs are imported, or is derived from it."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return cls

    def __call__(cls, *_: Any, **__: Any) -> Any:
        return cls


def programs(root: Path, name: str) -> Iterator[tuple[str, Any]]:
    """The solution, other right ones, every way of every mistake, the trials, and some mutants."""
    from grader.released import COURSE
    from grader.spec.changes import define
    from grader.spec.load import load_spec, reference, reference_code, reference_module
    from grader.spec.trials import load_trials
    from tests.mutants import bounded, mutants

    place = COURSE.manifest.place(name)
    spec = load_spec(root, place)
    yield "right: reference", reference(root, place)
    yield from ((f"right: {which}", function) for which, function in spec.alternatives.items())
    for entry in spec.named_mistakes.values():
        yield from ((f"way: {entry.id} {number}", way) for number, way in enumerate(entry.functions, 1))
    yield from ((f"trial: {trial.title}", trial.program) for trial in load_trials(root, place))
    made = mutants(reference_code(root, place))
    module = reference_module(root, place)
    for what, changed in islice(made, MUTANTS):
        yield f"mutant: {what}", define(name, bounded(changed), module, f"mutant of {name}")


def reports(root: Path, name: str) -> dict[str, list[str]]:
    """Of each program its result: status, points and the id of the diagnosis; and the report as text, in which the two
    names of the default integer are one, and an exception is only its type, whose text is Python's or NumPy's.
    """
    from grader.checking.evaluate import evaluate, observe
    from grader.released import COURSE
    from grader.render.text import verdict_text

    place, checks, messages = COURSE.manifest.place(name), COURSE.checks(name), COURSE.messages(name).mistakes
    found = {}
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        for title, program in programs(root, name):
            if not _uses_torch(program):
                verdict = evaluate(place, checks, messages, observe(checks, program))
                text = re.sub(r"\bint32\b", "int64", verdict_text(verdict))
                text = re.sub(r"(stopped with +\w+).*", r"\1", text)
                cause = verdict.diagnosis.id if verdict.diagnosis else ""
                found[title] = [f"{verdict.status} {verdict.earned} {cause}", text]
    return found


def _uses_torch(program: Any) -> bool:
    """Whether a program uses PyTorch, itself or in a function that it calls."""
    waiting, seen = [program], set()
    while waiting:
        function = waiting.pop()
        if not isinstance(function, types.FunctionType) or function in seen:
            continue
        seen.add(function)
        codes = [function.__code__]
        for code in codes:
            codes += [inner for inner in code.co_consts if isinstance(inner, types.CodeType)]
            if "torch" in code.co_names:
                return True
            waiting += [function.__globals__.get(name) for name in code.co_names]
        waiting += [cell.cell_contents for cell in function.__closure__ or ()]
    return False


def in_page(name: str) -> str:
    """The same in a page's Python, where the course is at /course: JSON."""
    for module in ("torch", "torch.nn", "torch.nn.functional", "torch.nn.utils", "torch.nn.utils.rnn"):
        sys.modules.setdefault(module, _Anything(module, (), {}))  # type: ignore[arg-type]
    return json.dumps(reports(Path("/course"), name))

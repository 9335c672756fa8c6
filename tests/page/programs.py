"""What `check` reports of every program that the course knows of an exercise: run by the tests in this Python, and in a
page's Python under Node, where the reports have to be the same.

There, no PyTorch is needed: oracles are not run, because the public checks are recorded.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import types
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

MUTANTS = 12


class _NotHere(types.ModuleType):
    """Stands for `torch` while specs are imported. What is taken from it can be called only by an oracle."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: None


def programs(root: Path, name: str) -> Iterator[tuple[str, Any]]:
    """The solution, other right ones, every way of every mistake, the trials, and some mutants."""
    from grader.author.changes import define
    from grader.author.record import load_spec, reference, reference_code, reference_module
    from grader.author.trials import load_trials
    from grader.released import COURSE
    from tests.mutants import bounded, mutants

    place = COURSE.manifest.place(name)
    spec = load_spec(root, place)
    yield "right: reference", reference(root, place)
    yield from ((f"right: {which}", function) for which, function in spec.alternatives.items())
    for entry in spec.misconceptions.values():
        yield from ((f"way: {entry.id} {number}", way) for number, way in enumerate(entry.variants, 1))
    yield from ((f"trial: {trial.title}", trial.program) for trial in load_trials(root, place))
    made = mutants(reference_code(root, place))
    module = reference_module(root, place)
    for what, changed in islice(made, MUTANTS):
        yield f"mutant: {what}", define(name, bounded(changed), module, f"mutant of {name}")


def reports(root: Path, name: str) -> dict[str, str]:
    """The report of each program, as text."""
    from grader.checking.evaluate import evaluate, observe
    from grader.released import COURSE
    from grader.render.text import verdict_text

    place, checks, messages = COURSE.manifest.place(name), COURSE.checks(name), COURSE.messages(name).mistakes
    found = {}
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        for title, program in programs(root, name):
            found[title] = verdict_text(evaluate(place, checks, messages, observe(checks, program)))
    return found


def in_page(name: str) -> str:
    """The same in a page's Python, where the course is at /course: JSON."""
    if "/course" not in sys.path:
        sys.path.insert(0, "/course")
        sys.dont_write_bytecode = True
        sys.modules["torch"] = _NotHere("torch")
        for loaded in [each for each in sys.modules if each.partition(".")[0] == "grader"]:
            del sys.modules[loaded]  # from here on the course's own, which has what authors use
    return json.dumps(reports(Path("/course"), name))

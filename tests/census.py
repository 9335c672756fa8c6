"""What every program that the course knows of is told: `python -m tests.census FILE` writes it, and with `--against
OTHER` prints each difference from an earlier one. A change that is to change no report is judged by it.

The programs are the solution, the stub, other right solutions, every way of every mistake, the trials, the slips of the
transcripts, and thirty mutants, on each seed of the tests.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import sys
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

from grader.checking.drivers import drive
from grader.manifest import load_manifest
from grader.released import read_fixtures
from grader.render.text import verdict_text
from grader.spec.changes import Change, define
from grader.spec.folders import fixtures_path
from grader.spec.load import reference, reference_code, reference_module
from grader.spec.trials import load_trials
from tests.conftest import ROOT, SEEDS, exercise
from tests.golden.slips import SLIPS
from tests.mutants import bounded, mutants
from tests.mutants_tried import COSTLY

MUTANTS = 30
Told = dict[str, list[Any]]  # by "kind: name", for each seed: status, points, diagnosis, a digest of the report


def programs(name: str) -> Iterator[tuple[str, Any]]:
    """All programs of an exercise."""
    subject = exercise(name)
    place, spec = subject.place, subject.spec
    code, module = reference_code(ROOT, place), reference_module(ROOT, place)
    yield "right: reference", reference(ROOT, place)
    yield from ((f"right: {which}", function) for which, function in spec.alternatives.items())
    for entry in spec.named_mistakes.values():
        yield from ((f"way: {entry.id} {number}", way) for number, way in enumerate(entry.functions, 1))
    for trial in load_trials(ROOT, place):
        yield f"{'right' if trial.right else 'wrong'} trial: {trial.title}", trial.program
    for title, slip in SLIPS.get(name, {}).items():
        if isinstance(slip, Change):
            yield f"slip: {title}", define(name, slip.apply(code), module, f"census {name}")
    fixtures = read_fixtures(fixtures_path(ROOT, place.chapter))
    made = ((what, define(name, bounded(changed), module, f"mutant of {name}")) for what, changed in mutants(code))
    running = (each for each in made if drive(spec.driver, each[1], spec.example, fixtures).raised is None)
    yield from ((f"mutant: {what}", each) for what, each in islice(running, MUTANTS // COSTLY.get(name, 1)))


def told(name: str, function: Any, seed: int) -> list[Any]:
    """What a program is told on the cases of one seed."""
    found = exercise(name).verdict(function, seed)
    report = hashlib.sha256(verdict_text(found).encode()).hexdigest()[:16]
    return [found.status, found.earned, found.diagnosis and found.diagnosis.id, report]


def census_of(name: str) -> Told:
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):  # of what the programs print
        warnings.simplefilter("ignore")
        return {what: [told(name, function, seed) for seed in SEEDS] for what, function in programs(name)}


def differences(old: dict[str, Told], new: dict[str, Told]) -> Iterator[str]:
    for name in sorted(old.keys() | new.keys()):
        before, after = old.get(name, {}), new.get(name, {})
        for what in sorted(before.keys() | after.keys()):
            if before.get(what) != after.get(what):
                yield f"{name}: {what}: {before.get(what, 'missing')} -> {after.get(what, 'missing')}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--only", nargs="*", help="these exercises")
    options = parser.parse_args()
    names = options.only or list(load_manifest(ROOT / "course.toml").places)
    with ProcessPoolExecutor() as pool:
        found = dict(zip(names, pool.map(census_of, names), strict=True))
    options.file.write_text(json.dumps(found, indent=1, sort_keys=True), "utf-8")
    if options.against is not None:
        lines = list(differences(json.loads(options.against.read_text("utf-8")), found))
        print("\n".join([*lines, f"{len(lines)} differences"]))
        sys.exit(bool(lines))


if __name__ == "__main__":
    main()

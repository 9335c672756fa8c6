"""Read what `grader release` recorded in a data folder: the manifest, and the cases, outputs and messages of each
exercise.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from grader.checking.case import (
    AlteredInput,
    Case,
    Checks,
    Facet,
    Observation,
    Output,
    OwnJudge,
    Tolerance,
    observation_from_tree,
    observation_tree,
)
from grader.codec import encode, inflate
from grader.manifest import Chapter, Manifest, load_manifest
from grader.messages import Messages, parse_messages
from grader.sources import load_module

CASES, OUTPUTS, MESSAGES, OWN_JUDGE = "{}.cases.msgpack.zlib", "{}.outputs.msgpack.zlib", "{}.md", "{}_judge.py"
FIXTURES = "{}_fixtures.py"  # one per chapter


class Released:
    """A data folder: the course's own is `COURSE`, tests use others."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.messages = cache(self._messages)
        self.checks = cache(self._checks)

    @cached_property
    def manifest(self) -> Manifest:
        return load_manifest(self.folder / "course.toml")

    def _messages(self, exercise_id: str) -> Messages:
        """Hints and mistake messages. Raises UnknownIdError."""
        self.manifest.place(exercise_id)
        path = self.folder / MESSAGES.format(exercise_id)
        return parse_messages(path.read_text("utf-8"), path.name)

    def first_hints(self, chapter: Chapter) -> dict[str, str]:
        """The first hint of each exercise of a chapter. Raises UnknownIdError."""
        return {exercise.id: self.messages(exercise.id).hints[0] for exercise in chapter.exercises}

    def driver(self, exercise_id: str) -> str:
        """How an exercise is run (`grader.checking.drivers`): "module" if it is a PyTorch module. Raises OSError."""
        return str(self._cases(exercise_id)["driver"])

    def _cases(self, exercise_id: str) -> Any:
        return inflate((self.folder / CASES.format(exercise_id)).read_bytes())

    def _checks(self, exercise_id: str) -> Checks:
        """The recorded public checks. Raises UnknownIdError."""
        chapter = self.manifest.place(exercise_id).chapter
        cases = self._cases(exercise_id)
        outputs = inflate((self.folder / OUTPUTS.format(exercise_id)).read_bytes())
        own_path = self.folder / OWN_JUDGE.format(exercise_id)
        own = load_own_judge(own_path) if own_path.exists() else None
        fixtures = read_fixtures(self.folder / FIXTURES.format(chapter.id))
        return checks_from_trees(exercise_id, cases, outputs, own, fixtures)


COURSE = Released(Path(__file__).parent / "data")


def cases_tree(checks: Checks) -> dict[str, Any]:
    """The part of the checks that does not depend on the oracle, as a tree with the same bytes on every machine."""
    return {
        "driver": checks.driver,
        "outputs": [[output.name, list(output.axes), output.backward] for output in checks.outputs],
        "tolerance": [checks.tolerance.relative, checks.tolerance.absolute],
        "facets": [
            [f.name, f.share, f.outputs and list(f.outputs), f.kinds and list(f.kinds), *map(list, f.proof)]
            for f in checks.facets
        ],
        "cases": [[dict(case.sizes), dict(case.inputs), case.kind] for case in checks.cases],
    }


def outputs_tree(checks: Checks) -> dict[str, Any]:
    """The outputs of the oracle, of the mistakes and for altered inputs, as a tree. Each distinct result is there once,
    in "results"; everywhere else stands its index.
    """
    results: dict[bytes, tuple[int, Any]] = {}

    def index(observation: Observation) -> int:
        tree = observation_tree(observation)
        return results.setdefault(encode(tree), (len(results), tree))[0]

    runs = [checks.expected, *(way for ways in checks.mistakes.values() for way in ways)]
    # case by case: like results, side by side, compress well
    rows = [[index(run[case]) for run in runs] for case in range(len(checks.expected))]
    numbered = iter([[row[run] for row in rows] for run in range(len(runs))])
    return {
        "results": [tree for _, tree in results.values()],
        "expected": next(numbered),
        "mistakes": {name: [next(numbered) for _ in ways] for name, ways in checks.mistakes.items()},
        "altered": [[[alteration, *words] for alteration, words in c.alterations] for c in checks.altered_inputs],
        "marks": np.array([c.fingerprints for c in checks.altered_inputs], np.float32),
    }


def with_results(outputs: Any) -> dict[str, Any]:
    """An outputs tree in which each result stands in place of its index. Two machines may number results that differ by
    a rounding error in two ways, so this is what can be compared.
    """
    results = outputs["results"]
    return {
        "expected": [results[index] for index in outputs["expected"]],
        "mistakes": {
            name: [[results[index] for index in way] for way in ways] for name, ways in outputs["mistakes"].items()
        },
        "altered": outputs["altered"],
        "marks": outputs["marks"],
    }


def checks_from_trees(exercise_id: str, cases: Any, outputs: Any, own: OwnJudge | None, fixtures: str) -> Checks:
    """The inverse of `cases_tree` and `outputs_tree`."""
    results = [observation_from_tree(tree) for tree in outputs["results"]]

    def observations(indices: Iterable[int]) -> tuple[Observation, ...]:
        return tuple(results[index] for index in indices)

    return Checks(
        id=exercise_id,
        driver=cases["driver"],
        outputs=tuple(Output(name, tuple(axes), backward) for name, axes, backward in cases["outputs"]),
        tolerance=Tolerance(*cases["tolerance"]),
        facets=tuple(
            Facet(name, share, outs and tuple(outs), kinds and tuple(kinds), tuple((o, kind) for o, kind in proof))
            for name, share, outs, kinds, *proof in cases["facets"]
        ),
        cases=tuple(Case(sizes, inputs, kind) for sizes, inputs, kind in cases["cases"]),
        expected=observations(outputs["expected"]),
        mistakes={name: tuple(map(observations, ways)) for name, ways in outputs["mistakes"].items()},
        own=own,
        fixtures=fixtures,
        altered_inputs=tuple(
            AlteredInput(tuple((alteration, tuple(words)) for alteration, *words in alterations), fingerprints)
            for alterations, fingerprints in zip(outputs["altered"], outputs["marks"], strict=True)
        ),
    )


def read_fixtures(path: Path) -> str:
    """The source of a chapter's own fixtures, which build inputs; empty if it has none."""
    return path.read_text("utf-8") if path.exists() else ""


def load_own_judge(path: Path) -> OwnJudge:
    """The `judge`, `largest` and `MATCHES` from an `ID_judge.py`."""
    module = load_module(path, path.stem)
    return OwnJudge(module.judge, getattr(module, "MATCHES", {}), module.largest)

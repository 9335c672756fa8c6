"""How a program of `solutions/CHAPTER/ID/trials.py` is judged: what is not as its file says."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from grader.checking.verdict import Diagnosis, Verdict
from grader.spec.trials import Trial, load_trials
from tests.conftest import ROOT, exercise


def program(exercise_id: str, title: str) -> Any:
    """The program of this title."""
    (found,) = (trial.program for trial in load_trials(ROOT, exercise(exercise_id).place) if trial.title == title)
    return found


def told(diagnosis: Diagnosis | None, messages: Mapping[str, str]) -> str | None:
    """The id of a diagnosis, and what it is about if the report says so before its message, which may begin so too."""
    if diagnosis is None:
        return None
    text = diagnosis.text.removesuffix(messages.get(diagnosis.id, ""))
    about = text.partition(": ")[0] if text.startswith("For ") else ""
    return f"{diagnosis.id} {about}".rstrip()


def problems(name: str, trial: Trial) -> Iterator[str]:
    """What is not as the trial says, with each of its seeds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        verdicts = {seed: exercise(name).verdict(trial.program, seed) for seed in trial.seeds}
    for seed, verdict in verdicts.items():
        yield from (f"{trial.title}: {found} with seed {seed}" for found in _problems(name, trial, verdict))
    first = verdicts[trial.seeds[0]].first_problem
    if trial.says and not (first and trial.says in first[1].text):
        yield f"{trial.title}: does not say {trial.says!r} with seed {trial.seeds[0]}"


def _problems(name: str, trial: Trial, verdict: Verdict) -> Iterator[str]:
    if trial.right:
        if (verdict.status, verdict.earned) != ("passed", verdict.points):
            yield f"is {verdict.status} and earns {verdict.earned:g} of {verdict.points:g}: {verdict.first_problem}"
        return
    if verdict or verdict.earned >= verdict.points:
        yield f"{verdict.status}, earns {verdict.earned:g} of {verdict.points:g}"
    its = told(verdict.diagnosis, exercise(name).messages.mistakes)
    if not {its, its and its.removeprefix("altered input: ")} & trial.told:
        yield f"is told {its!r}"
    kept = {facet.name for facet in verdict.facets if facet.earned}
    if isinstance(trial.earns, frozenset) and kept != trial.earns:
        yield f"keeps {kept}"
    if isinstance(trial.earns, float | int) and verdict.earned != trial.earns:
        yield f"earns {verdict.earned}"

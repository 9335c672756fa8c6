"""The programs of `solutions/CHAPTER/ID/trials.py`: a nearly right one fails and is given no false name, one that is
right in another way passes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from grader.manifest import load_manifest
from grader.spec.folders import trials_path
from grader.spec.trials import Trial, Trials, load_trials
from tests.conftest import ROOT, exercise
from tests.trials_judged import problems

PLACES = load_manifest(ROOT / "course.toml").places
WITH_TRIALS = [name for name, place in PLACES.items() if trials_path(ROOT, place).exists()]


@pytest.mark.parametrize("name", WITH_TRIALS)
def test_what_is_nearly_right_fails_with_a_true_name_and_what_is_right_passes(name: str) -> None:
    found = [problem for trial in load_trials(ROOT, PLACES[name]) for problem in problems(name, trial)]
    assert not found, "\n".join(found)


@pytest.fixture
def negated() -> Trial:
    """A true trial: `rnn_step` with the opposite sign."""
    trials = Trials()
    trials.all_wrong({"negated": (lambda **inputs: -exercise("rnn_step").spec.oracle(**inputs), "sign", 0)})
    assert not list(problems("rnn_step", trials.all[0]))
    return trials.all[0]


PLANTED = {
    "is told 'sign' with seed 0": {"told": frozenset({"negated"})},
    "earns 0.0 with seed 0": {"earns": 1},
    "keeps set() with seed 0": {"earns": frozenset({"result"})},
    "does not say 'shape' with seed 0": {"says": "shape"},
    "is failed and earns 0 of 2": {"right": True},
}


@pytest.mark.parametrize("said", PLANTED)
def test_a_trial_that_says_what_is_not_true_is_found(said: str, negated: Trial) -> None:
    assert any(said in problem for problem in problems("rnn_step", replace(negated, **PLANTED[said])))


def test_a_right_program_that_is_said_to_be_wrong_is_found(negated: Trial) -> None:
    right = replace(negated, program=lambda **inputs: exercise("rnn_step").spec.oracle(**inputs))
    assert any("passed, earns 2 of 2" in problem for problem in problems("rnn_step", right))


def test_two_programs_of_one_title_are_refused() -> None:
    trials = Trials()
    trials.all_right({"same": abs})
    with pytest.raises(ValueError, match="two programs are called 'same'"):
        trials.all_right({"same": abs})
    with pytest.raises(ValueError, match="no such program: other"):
        trials.all_wrong({"one": (abs, None)}, says={"other": "words"})


def test_a_program_that_is_wrong_on_the_public_cases_only_is_found(negated: Trial) -> None:
    subject = exercise("rnn_step")
    public = {case.inputs["W_xh"].tobytes() for case in subject.checks(0).cases}

    def student(**inputs: Any) -> Any:
        return (negated.program if inputs["W_xh"].tobytes() in public else subject.spec.oracle)(**inputs)

    assert any(
        "passed, earns 2 of 2 with seed 1" in problem
        for problem in problems("rnn_step", replace(negated, program=student))
    )

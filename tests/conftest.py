"""What several test modules share: the course's exercises with their specs, and a session of a student's own."""

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import grader.student
from grader.author.release import checks_of
from grader.checking.case import Checks
from grader.checking.evaluate import evaluate, observe
from grader.checking.verdict import Verdict
from grader.imports import skip_iri_grammar
from grader.manifest import Place, load_manifest
from grader.messages import Messages
from grader.spec.load import load_messages, load_spec
from grader.spec.spec import Spec
from tests.shared_hidden import own_hidden, share  # noqa: F401 - a fixture
from tests.whole_runs import (  # noqa: F401 - hooks
    pytest_collection_modifyitems,
    pytest_terminal_summary,
    pytest_xdist_auto_num_workers,
)

os.environ["UNROLLED_DIARY"] = ""  # no test writes into the diary of whoever runs it
ROOT = Path(__file__).parents[1]
share()
SEEDS = (0, 1, 2)  # 0 has the public cases; the others stand for hidden ones
skip_iri_grammar()
# What a script starts in the background ignores Ctrl-C, and so would the commands that tests interrupt.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@dataclass(frozen=True)
class Exercise:
    """One exercise of the course, to be checked on the public cases (seed 0) or on those of another seed."""

    place: Place
    spec: Spec
    messages: Messages
    checks: Callable[[int], Checks]

    def verdict(self, function: Any, seed: int = 0, wrong_needs: tuple[str, ...] = ()) -> Verdict:
        checks = self.checks(seed)
        return evaluate(self.place, checks, self.messages.mistakes, observe(checks, function), wrong_needs)


@cache
def exercise(exercise_id: str) -> Exercise:
    """The exercise with its spec; its oracle needs torch."""
    place = load_manifest(ROOT / "course.toml").place(exercise_id)
    return Exercise(
        place,
        load_spec(ROOT, place),
        load_messages(ROOT, place),
        cache(lambda seed: checks_of(ROOT, place, seed)),
    )


@pytest.fixture(scope="session")
def rnn_step() -> Exercise:
    return exercise("rnn_step")


@pytest.fixture(scope="session")
def rnn_forward() -> Exercise:
    return exercise("rnn_forward")


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> None:
    """A notebook's session in which nothing is checked yet, outside nbgrader."""
    monkeypatch.setattr(grader.student, "_latest", {})
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)

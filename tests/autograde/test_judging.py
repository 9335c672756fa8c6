"""Judging has limits of its own: what a student returned costs others nothing, whatever it is."""

import os
import signal
import time
from contextlib import suppress

import numpy as np
import pytest

from grader.checking.verdict import Verdict
from grader.grading import judging
from grader.grading.judging import JudgeError, VerdictCache, judged
from grader.running.processes import WorkerError


def verdict(name, note=""):
    return Verdict(name, "A title", "failed", 0.0, 1.0, "A page", note=note)


def endless():
    while True:
        time.monotonic()


def in_numpy():
    """One call of C code, during which no signal is handled in Python."""
    return np.linalg.eigvals(np.random.default_rng(0).normal(size=(6000, 6000)))


def greedy():
    return np.ones(4 * judging.MEMORY // 8)


def greedy_in_pieces():
    held = []
    while True:
        held.append([0.1] * 1_000_000)


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(judging, "SECONDS", 1)


def judge_three(work, cache=None):
    """Judge a, b and c, where b takes `work`."""

    def find_all(judge):
        def find(name):
            if name == "b":
                work()
            return verdict(name)

        return [judge((name, True, "digest"), lambda name=name: find(name)).note for name in "abc"]

    return judged(find_all, VerdictCache() if cache is None else cache, lambda name: verdict(name, "too large"))


@pytest.mark.parametrize("work", [endless, in_numpy, greedy, greedy_in_pieces])
def test_what_exceeds_a_limit_is_wrong_and_named_and_the_others_are_judged(work):
    assert judge_three(work) == (["", "too large", ""], ["b"])


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_a_copy_that_others_end_says_nothing_about_an_exercise(tmp_path, number):
    """As the kernel does where memory is short."""

    def end_once():
        with suppress(FileExistsError):
            (tmp_path / "begun").touch(exist_ok=False)
            os.kill(os.getpid(), number)

    assert judge_three(end_once) == (["", "", ""], [])


def test_a_copy_that_is_always_ended_is_no_ones_fault():
    cache = VerdictCache()
    with pytest.raises(WorkerError, match="the process that judges was ended 3 times, by SIGKILL"):
        judge_three(lambda: os.kill(os.getpid(), signal.SIGKILL), cache)
    assert judge_three(lambda: None, cache) == (["", "", ""], [])


def test_memory_that_runs_out_before_any_exercise_is_no_ones_fault():
    worker = os.getpid()

    def find_all(judge):
        if os.getpid() != worker:
            raise MemoryError
        return judge(("a", True, "digest"), lambda: verdict("a"))

    with pytest.raises(WorkerError, match="3 times, with the status 3"):
        judged(find_all, VerdictCache(), lambda name: verdict(name, "too large"))


def test_what_is_known_needs_no_other_process(monkeypatch):
    cache = VerdictCache()
    assert judge_three(lambda: None, cache) == (["", "", ""], [])
    monkeypatch.setattr(os, "fork", None)
    assert judge_three(endless, cache) == (["", "", ""], [])


def test_a_judge_that_fails_says_where():
    with pytest.raises(JudgeError, match=r"ZeroDivisionError: division by zero \(test_judging.py:\d+\)"):
        judge_three(lambda: 1 / 0)


def test_a_copy_that_neither_computes_nor_answers_is_no_ones_fault(monkeypatch):
    monkeypatch.setattr(judging, "PATIENCE", 1)
    with pytest.raises(WorkerError, match="did not answer"):
        judge_three(lambda: time.sleep(60))

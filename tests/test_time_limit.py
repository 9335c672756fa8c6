"""The limit of a check on a student's machine, and what interrupts it."""

import os
import signal
import threading
import time
from functools import partial

import numpy as np
import pytest

from grader import student
from grader.released import COURSE
from grader.render.notes import Interrupted
from grader.time_limit import TimeLimit, TimeUp, on_own_machine, seconds_of_check

PLACE = COURSE.manifest.place("rnn_step")
pytestmark = pytest.mark.usefixtures("session")


def loop():
    while True:
        pass


def sleep():
    time.sleep(1000)


def catches_everything():
    while True:
        try:
            n = 0
            while True:
                n += 1
        except:  # noqa: E722
            pass


def catches_and_goes_on():
    while True:
        try:
            time.sleep(1000)
        except BaseException:
            continue


def catches_in_a_function():
    def step(n):
        try:
            return sum(range(1000)) + n
        except BaseException:
            return 0

    n = 0
    while True:
        n = step(n)


ENDLESS = [loop, sleep, catches_everything, catches_and_goes_on, catches_in_a_function]


@pytest.mark.parametrize("endless", ENDLESS)
def test_code_that_never_ends_is_stopped(endless):
    report = student.check_within(PLACE, lambda **_: endless(), 0.2)
    verdict = report.verdict
    assert (verdict.status, verdict.earned, verdict.points) == ("timeout", 0, 2)
    assert repr(report).startswith("rnn_step   0 / 2   stopped: it ran longer than its time limit\n")
    assert verdict.note.startswith("It was stopped in line ")
    assert student.progress().verdicts["rnn_step"] is verdict


def test_the_note_names_the_line():
    note = student.check_within(PLACE, lambda **_: sleep(), 0.2).verdict.note
    line = sleep.__code__.co_firstlineno + 1
    assert note == f"It was stopped in line {line} of sleep: time.sleep(1000)"


def test_what_ends_in_time_is_not_stopped_later():
    before = signal.getsignal(signal.SIGINT)
    limit = TimeLimit()
    for _ in range(3):
        limit.set(0.1)
        limit.off()
    time.sleep(0.3)
    assert not limit.rang
    assert signal.getsignal(signal.SIGINT) is before


def test_a_new_limit_replaces_the_earlier_one():
    limit = TimeLimit()
    limit.set(0.1)
    limit.set(1000)
    time.sleep(0.3)
    limit.off()
    assert not limit.rang


def test_an_interruption_is_told_in_two_lines():
    def wait(**_):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1000)

    with pytest.raises(Interrupted) as raised:
        student.check_within(PLACE, wait, 1000)
    first, second = raised.value._render_traceback_()
    assert first == "The check of rnn_step was interrupted."
    assert second.startswith("It was stopped in line ")
    assert "rnn_step" not in student.progress().verdicts


def test_an_interruption_that_code_raises_itself_goes_through():
    def own(**_):
        raise KeyboardInterrupt("mine")

    with pytest.raises(KeyboardInterrupt, match="mine"):
        student.check_within(PLACE, own, 1000)


def test_a_breakpoint_stops_the_clock(monkeypatch):
    class Pdb:
        def wait(self):
            exec(compile("import time\ntime.sleep(0.5)", "/lib/python/bdb.py", "exec"))

    limit = TimeLimit()
    limit.set(0.15)
    Pdb().wait()
    limit.off()
    assert not limit.rang


def test_outside_the_main_thread_there_is_no_limit():
    found = []
    check = partial(student.check_within, PLACE, lambda **_: time.sleep(0.05), 0.1)
    thread = threading.Thread(target=lambda: found.append(check()))
    thread.start()
    thread.join()
    assert found[0].verdict.status == "failed"


def test_the_limit_is_that_of_the_command():
    limits = COURSE.manifest.limits(PLACE.chapter)
    assert seconds_of_check(COURSE.manifest, PLACE) == on_own_machine(limits.seconds_per_exercise)
    assert on_own_machine(0.1) == 10
    assert on_own_machine(30) == 150


def test_a_limit_raises_what_the_drivers_let_through():
    assert issubclass(TimeUp, KeyboardInterrupt)


def endless_recursion(**inputs):
    return endless_recursion(**inputs)


@pytest.mark.parametrize(
    ("function", "type_", "words"),
    [
        (endless_recursion, "RecursionError", "maximum recursion depth exceeded"),
        (lambda **_: np.ones((10**7, 10**7)), "MemoryError", "Unable to allocate"),
    ],
)
def test_what_cannot_be_computed_is_an_exception(function, type_, words):
    assert f"stopped with   {type_}: {words}" in repr(student.check_within(PLACE, function, 1000))

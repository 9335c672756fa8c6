"""A time limit counts what a notebook computes or waits for, not how long a busy machine lets it wait."""

import json
import os
import signal
import threading
import time
from contextlib import suppress
from types import SimpleNamespace

import psutil
import pytest
from right_work import RIGHT

from grader.grading.grade import grade_or_fault
from grader.running import meter
from grader.running.processes import State

# Some seconds of computing, half of what the exercise may take and more than its first, short trial.
SLOW = "    import time\n    end = time.process_time() + 0.4\n    while time.process_time() < end:\n        pass\n"


def slow(name):
    head, body = RIGHT[name].split("\n", 1)
    return f"{head}\n{SLOW}{body}"


class Frozen:
    """A sandbox in which processes are stopped once a notebook computes, and go on when `seconds` have passed.

    Where `all_of_it` is, its warm process too: as on a machine that has no processor to spare.
    """

    def __init__(self, sandbox, seconds, all_of_it):
        self.sandbox, self.seconds, self.all_of_it = sandbox, seconds, all_of_it
        self.frozen = 0

    def start(self, descriptors):
        first = psutil.Process(self.sandbox._process.pid) if self.sandbox._process else None
        warm = [first, *first.children(recursive=True)] if first else []
        running = self.sandbox.start(descriptors)
        if warm and not self.frozen:
            threading.Thread(target=self._freeze, args=(first, warm), daemon=True).start()
        return running

    def _freeze(self, first, warm):
        def spent(process):
            with suppress(psutil.NoSuchProcess):
                return sum(process.cpu_times()[:2])
            return 0

        while max((spent(p) for p in first.children(recursive=True) if p not in warm), default=0) < 0.1:
            time.sleep(0.005)
        below = [process for process in first.children(recursive=True) if process not in warm]
        stopped = [*(warm if self.all_of_it else []), *below]  # the warm process sees nobody else stand still
        try:
            for process in stopped:
                with suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGSTOP)
                    self.frozen += 1
            time.sleep(self.seconds)
        finally:
            for process in reversed(stopped):
                with suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGCONT)


@pytest.fixture
def freeze(starters, monkeypatch):
    """Have the next notebook graded in a sandbox that freezes."""

    def run(seconds, all_of_it=True):
        frozen = Frozen(starters["sandbox"], seconds, all_of_it)
        frozen.sandbox._warm()
        monkeypatch.setitem(starters, "sandbox", frozen)
        return frozen

    return run


@pytest.mark.parametrize("where", ["in a cell", "in an exercise"])
def test_time_without_a_processor_does_not_count(hand_in, notebook, freeze, where):
    """Right work that gets no processor for longer than its limit earns its points, at its first trial."""
    if where == "in a cell":
        notebook.insert(notebook.at("rnn_step"), f"def f():\n{SLOW}f()\nprint('computed')")
    else:
        notebook.cell("rnn_step")["source"] = RIGHT["rnn_step"].replace("    ", "    spin()\n    ", 1)
        notebook.insert(
            notebook.at("rnn_step"),
            f"spun = []\ndef spin():\n    if spun: return\n    spun.append(1)\n{SLOW}",
        )
    frozen = freeze(2.5)
    result = hand_in(notebook.tree, seconds=2)
    assert frozen.frozen > 2
    assert (result.points, result.outcome.faults) == ((2, 2), [])


def test_a_process_that_hangs_once_is_tried_again(hand_in, notebook, freeze):
    """As where a lock was held when the notebook forked: it waits and waits, and a second time it does not."""
    notebook.insert(notebook.at("rnn_step"), f"def f():\n{SLOW}f()\nprint('computed')")
    frozen = freeze(30, all_of_it=False)
    result = hand_in(notebook.tree, seconds=2)
    assert frozen.frozen > 0
    assert (result.points, result.outcome.faults) == ((2, 2), [])
    assert result.outputs("computed")[0].text == "computed\n"


def test_right_work_that_is_slow_has_all_of_its_limit(hand_in, notebook):
    """The first trial is short, since no time-out in it is believed; the second is not."""
    notebook.insert(notebook.at("rnn_step"), f"def f():\n{SLOW}f()\nprint('computed')")
    result = hand_in(notebook.tree, seconds=1)
    assert (result.points, result.outcome.faults) == ((2, 2), [])


class Starved:
    """A sandbox whose processes are said to get no processor."""

    def __init__(self, sandbox):
        self.sandbox, self.started = sandbox, 0

    def start(self, descriptors):
        self.started += 1
        running = self.sandbox.start(descriptors)
        return SimpleNamespace(state=State, stop=running.stop, end=running.end)


def test_a_notebook_that_gets_no_processor_is_not_scored(session, starters, notebook, monkeypatch, tmp_path):
    """It is told as the grader's failure, at once, and can be graded again: no zero, nothing written."""
    monkeypatch.setattr(meter, "WALL_SECONDS", 0.5)
    monkeypatch.setattr(meter, "WALL_FACTOR", 0.0)
    notebook.append("while True: pass")
    (tmp_path / "recurrence.ipynb").write_text(json.dumps(notebook.tree))
    starved = Starved(starters["sandbox"])
    graded = grade_or_fault(session, starved, "starved", tmp_path, sandboxed=True)
    assert "0.0 s of running time" in graded.fault
    assert "Grade it again when this machine is less busy" in graded.fault
    assert (graded.verdicts, starved.started) == ({}, 1)
    assert not (session.term / "autograded" / "starved").exists()


class Killed:
    """A sandbox whose warm process is killed when a notebook is first looked at."""

    def __init__(self, sandbox):
        self.sandbox, self.kills = sandbox, 0

    def start(self, descriptors):
        running = self.sandbox.start(descriptors)

        def state():
            if not self.kills:
                self.kills += 1
                self.sandbox._process.kill()
                self.sandbox._process.wait()
            return running.state()

        return SimpleNamespace(state=state, stop=running.stop, end=running.end)


def test_a_warm_process_that_dies_while_it_is_asked_is_replaced(session, starters, notebook, tmp_path):
    notebook.insert(notebook.at("rnn_step"), f"def f():\n{SLOW}f()")
    (tmp_path / "recurrence.ipynb").write_text(json.dumps(notebook.tree))
    killed = Killed(starters["sandbox"])
    graded = grade_or_fault(session, killed, "killed", tmp_path, sandboxed=True)
    assert (graded.fault, graded.earned, killed.kills) == ("", 4, 1)

"""Running time, on a clock that the test moves: what passes, what stands still, and what is judged by it."""

import os
import select
import subprocess
import sys
import threading

import pytest

from grader.inside.usage import activity, with_descendants
from grader.running.meter import LOOK_SECONDS, WALL_SECONDS, Meter, OutOfTimeError, StarvedError
from grader.running.processes import State, WorkerError


class Machine:
    """A machine on which each look finds `cpu` more seconds of processor time, and `wall` more on the clock."""

    def __init__(self, cpu=0.0, wall=LOOK_SECONDS, waiting=False):
        self.cpu, self.wall, self.waiting = cpu, wall, waiting
        self.now = self.used = 0.0
        self.looks = 0

    def state(self):
        self.looks += 1
        self.used += self.cpu
        self.now += self.wall
        return State(cpu=self.used, waiting=self.waiting)

    def meter(self, most=1000.0, before=0.0):
        return Meter(self.state, most, before, clock=lambda: self.now)


def stopped(machine, seconds=2.0, **more):
    """Look until this limit ends it; return the error, and the seconds that passed on the wall."""
    meter = machine.meter(**more)
    meter.allow(seconds)
    try:
        while True:
            meter.look(seconds)
    except (OutOfTimeError, StarvedError) as error:
        return error, machine.now


def test_computing_counts_as_processor_time():
    for slower in (1, 2, 8, 30):
        error, wall = stopped(Machine(cpu=0.1, wall=0.1 * slower))
        assert error.limit == 2
        assert wall == pytest.approx(2.2 * slower, rel=0.1)


def test_many_processes_share_the_time_of_their_notebook():
    error, wall = stopped(Machine(cpu=1.6, wall=0.1))
    assert error.limit == 2
    assert wall < 0.5


def test_waiting_counts_as_time_on_the_wall():
    error, wall = stopped(Machine(waiting=True))
    assert error.limit == 2
    assert wall == pytest.approx(2.2, rel=0.1)


def test_a_late_look_does_not_count_for_the_notebook():
    """It waits when it is looked at; nobody knows whether it did all the while."""
    error, wall = stopped(Machine(wall=1.0, waiting=True))
    assert error.limit == 2
    assert wall > 20


def test_who_neither_computes_nor_waits_is_not_judged():
    error, wall = stopped(Machine())
    assert isinstance(error, WorkerError)
    assert wall == pytest.approx(WALL_SECONDS, rel=0.1)
    assert "0.0 s of running time in 120 s" in str(error)
    assert "Grade it again" in str(error)


def test_what_a_notebook_has_used_before_counts_for_all_of_it():
    error, wall = stopped(Machine(cpu=0.1), seconds=50.0, most=10.0, before=9.0)
    assert error.limit == 10
    assert wall == pytest.approx(1.1, rel=0.1)


def test_what_was_used_before_it_was_allowed_does_not_count():
    machine = Machine(cpu=5.0)
    meter = machine.meter()
    for _ in range(3):
        meter.allow(2.0)
        meter.look(2.0)
    assert meter.used == 15
    with pytest.raises(OutOfTimeError):
        meter.look(2.0)


@pytest.fixture
def ready():
    """A descriptor from which something can be read."""
    ours, theirs = os.pipe()
    os.write(theirs, b"x")
    yield ours
    os.close(ours)
    os.close(theirs)


def test_who_answers_between_two_looks_is_not_looked_at(ready):
    machine = Machine(cpu=100.0)
    meter = machine.meter()
    meter.allow(2.0)
    meter.wait(ready, select.POLLIN)
    meter.check(2.0)
    assert machine.looks == 0


def test_who_always_has_something_to_say_is_looked_at_all_the_same(ready):
    """A child that writes without end would otherwise never be out of time."""
    machine = Machine(cpu=1.0, wall=0.0)
    meter = machine.meter()
    meter.allow(2.0)

    def read():
        while True:
            meter.wait(ready, select.POLLIN)
            machine.now += LOOK_SECONDS / 3

    with pytest.raises(OutOfTimeError):
        read()
    assert machine.looks == 4


def test_what_was_done_too_late_is_found_out_when_it_is_done():
    """Several processors at once: the answer came soon, but took as much as a slower machine would have stopped."""
    machine = Machine(cpu=1.5)
    meter = machine.meter()
    meter.allow(2.0)
    for _ in range(2):
        meter.look(2.0)
    with pytest.raises(OutOfTimeError):
        meter.check(2.0)


# --- what the kernel tells of processes ----------------------------------------------------------------------

SOURCES = {
    "computes": ("while True: pass", False),
    "computes in a thread": (
        "import threading\nthreading.Thread(target=lambda: [0 for _ in iter(int, 1)]).start()",
        False,
    ),
    "sleeps": ("import time\ntime.sleep(60)", True),
    "waits for a lock": ("import threading\nthreading.Lock().__enter__()\nthreading.Event().wait()", True),
    "waits for one that computes": ("import os\nif os.fork() == 0:\n    while True: pass\nos.wait()", False),
    "stands still": ("import os\nos.kill(os.getpid(), 19)", True),
}


@pytest.fixture
def started():
    """Start Python with a source; it says when it begins."""
    processes = []

    def start(source):
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", f"print(flush=True)\n{source}"],
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        processes.append(process)
        process.stdout.readline()
        return process.pid

    yield start
    for process in processes:
        os.killpg(process.pid, 9)
        process.wait()
        process.stdout.close()


def until(condition):
    """What is so sooner or later is so."""
    pause = threading.Event()
    while not condition():
        pause.wait(0.01)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("what", SOURCES)
def test_what_a_process_does(started, what):
    source, waiting = SOURCES[what]
    process = started(source)
    before = activity(with_descendants(process)).cpu
    if waiting:
        until(lambda: activity(with_descendants(process)).waiting)
    else:
        until(lambda: activity(with_descendants(process)).cpu > before + 0.05)
        until(lambda: not activity(with_descendants(process)).waiting)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_time_of_processes_that_have_ended_is_known_of_those_that_waited_for_them(started):
    spins = "import time\n    while time.process_time() < 0.3: pass\n    os._exit(0)"
    process = started(f"import os\nif os.fork() == 0:\n    {spins}\nos.wait()\nimport time\ntime.sleep(60)")
    until(lambda: len(with_descendants(process)) == 1 and activity([process]).waiting)
    assert activity([process]).cpu >= 0.25


def test_where_nothing_is_known_time_passes_as_on_the_wall():
    assert activity([1 << 30]) == activity([])
    assert activity([]).waiting

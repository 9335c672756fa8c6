"""Workers that grade submissions: processes on this machine, or on a Dask cluster, with the same results.

Each worker is a process that loads the session once and keeps one warm sandbox. Results are returned in the order in
which they are finished.
"""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from multiprocessing import forkserver, get_context, parent_process, resource_tracker
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any

from grader.errors import how_to_install
from grader.grading import store
from grader.grading.grade import Graded, grade_or_fault
from grader.grading.release import AutogradeError
from grader.grading.session import Session, State, open_session
from grader.manifest import load_manifest
from grader.running.processes import LIBRARY_THREADS, Starter, same_modules
from grader.running.sandbox import Sandbox
from grader.running.unsandboxed import Plain

BATCH = 4  # submissions given to a worker at a time; fewer towards the end, so that all workers finish together
WARM = "grader.grading.warm"
ATTEMPTS = 3  # workers that can die on one submission before it is left to the instructor


@dataclass(frozen=True)
class Job:
    """What every worker needs to know: the folders of the course and the term, and whether the sandbox is used."""

    root: Path
    term: Path
    chapter: str
    sandboxed: bool = True


@dataclass(frozen=True)
class Task:
    """One submission. With `again`, it is graded even if its result is up to date. `place` is the folder for its
    results; the term if None.
    """

    student: str
    folder: Path
    again: bool = False
    place: Path | None = None


@dataclass(frozen=True)
class Done:
    """A graded submission. `stored`: its result is from an earlier run. `change`: the last change of its points."""

    graded: Graded
    stored: bool = False
    change: store.Change | None = None


Execute = Callable[[Job, State, Sequence[Task]], Generator[Done, None, None]]


@cache
def _session(job: Job, state: State) -> Session:
    """This process's session."""
    session = open_session(job.root, job.term, job.chapter)
    if session.state != state:
        raise AutogradeError("the course changed while it was graded; run the command again")
    gc.collect()
    gc.freeze()  # these objects stay, so garbage collection can skip them
    gc.set_threshold(50_000)  # a submission leaves few objects behind that only a collection would free
    return session


@cache
def _starter(job: Job, state: State, thread: int) -> Starter:
    """The starter of this thread: a sandbox runs one notebook at a time and dies with the thread that started it."""
    if not job.sandboxed:
        return Plain()
    manifest = load_manifest(job.root / "course.toml")
    limits = manifest.limits(manifest.chapter(job.chapter))
    sandbox = Sandbox(limits, hide=(job.root, job.term), cells=lambda: _session(job, state).cells)
    sandbox.begin()
    Finalize(sandbox, sandbox.close, exitpriority=1)  # in copies of a process nothing of `atexit` is run
    return sandbox


def work(job: Job, state: State, task: Task) -> Done:
    """Grade one submission, or return its stored result if that is up to date."""
    starter = _starter(job, state, threading.get_ident())  # first: it starts while the session is loaded
    place = task.place or job.term
    session = replace(_session(job, state), term=place)
    try:
        key = store.key(state, task.folder, job.sandboxed)
    except OSError as error:
        reason = f"{error.filename} cannot be read ({error.strerror}): was the submission moved or deleted?"
        return Done(Graded(task.student, fault=reason))
    found = store.read(place, job.chapter, task.student)
    why = store.reasons(place, job.chapter, task.student, found, key)
    if found and not why and not task.again and all(path.is_file() for path in autograded(session, task.student)):
        return Done(found.graded, stored=True, change=found.change)
    graded = grade_or_fault(session, starter, task.student, task.folder, job.sandboxed)
    if graded.fault:
        return Done(graded)
    change = store.last_change(found, why, key, graded)
    try:
        store.write(place, job.chapter, store.Stored(key, graded, change))
    except OSError as error:
        return Done(Graded(task.student, fault=f"the result could not be stored: {error.strerror}"))
    return Done(graded, change=change)


def autograded(session: Session, student: str) -> list[Path]:
    """The notebooks that grading writes."""
    folder = session.term / "autograded" / student / session.chapter.id
    return [folder / f"{notebook.name}.ipynb" for notebook in session.chapter.notebooks]


def here(job: Job, state: State, tasks: Sequence[Task]) -> Generator[Done, None, None]:
    """Grade in this process, one after another, for tests and debugging."""
    for task in tasks:
        yield work(job, state, task)


def begin() -> None:
    """Start the process of which `local` workers are copies, so that it imports what they need in the background. It is
    a new process, which does not inherit what this one has opened.
    """
    # NumPy's threads spin while they wait for work, and would occupy the cores that students' processes need.
    os.environ |= dict.fromkeys(LIBRARY_THREADS, "1")
    forkserver.set_forkserver_preload([WARM])
    before = dict(os.environ)
    os.environ |= same_modules()
    resource_tracker.ensure_running()  # it would unblock the signal
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # there, a Ctrl-C would interrupt the imports
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        os.environ.clear()
        os.environ.update(before)


def local(workers: int) -> Execute:
    """Processes on this machine. If a worker dies, the submissions that it was grading are tried again."""

    def execute(job: Job, state: State, tasks: Sequence[Task]) -> Generator[Done, None, None]:
        to_do = _ToDo(tasks, workers)
        begin()
        while to_do:
            pool = ProcessPoolExecutor(workers, mp_context=get_context("forkserver"), initializer=_follow)
            running: dict[Future[list[Done]], list[Task]] = {}
            try:
                yield from _graded_in(pool, job, state, to_do, running)
            except BrokenProcessPool:
                for task in chain.from_iterable(running.values()):
                    if not to_do.again(task):
                        yield Done(Graded(task.student, fault=_DIED))
            finally:
                pool.shutdown(cancel_futures=True)

    return execute


_DIED = f"the worker process died {ATTEMPTS} times while it graded this submission"


class _ToDo:
    """The submissions that no worker has. Those that one died on come first, and alone: one of them has killed it."""

    def __init__(self, tasks: Sequence[Task], workers: int) -> None:
        self._waiting, self._workers = list(tasks), workers
        self._suspects: list[Task] = []
        self._deaths: Counter[str] = Counter()

    def __bool__(self) -> bool:
        return bool(self._suspects or self._waiting)

    def batch(self, running: int) -> list[Task]:
        """The next ones for a worker while so many batches are running; none if these are enough."""
        if self._suspects:
            return [] if running else self._suspects[:1]
        size = max(1, min(BATCH, len(self._waiting) // (4 * self._workers)))
        return self._waiting[:size] if running < 2 * self._workers else []

    def given(self, batch: Sequence[Task]) -> None:
        """A worker has this batch."""
        del (self._suspects or self._waiting)[: len(batch)]

    def again(self, task: Task) -> bool:
        """A worker died on this submission: whether it is tried again."""
        self._deaths[task.student] += 1
        if self._deaths[task.student] == ATTEMPTS:
            return False
        self._suspects.append(task)
        return True


def _graded_in(
    pool: ProcessPoolExecutor, job: Job, state: State, to_do: _ToDo, running: dict[Future[list[Done]], list[Task]]
) -> Iterator[Done]:
    """Grade until nothing is left to do. Raises BrokenProcessPool if a worker dies; then `running` is not graded."""
    while to_do or running:
        while batch := to_do.batch(len(running)):
            running[pool.submit(work_all, job, state, batch)] = batch  # raises if a worker has died
            to_do.given(batch)
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            finished = future.result()
            del running[future]
            yield from finished


def work_all(job: Job, state: State, tasks: Sequence[Task]) -> list[Done]:
    """Grade some submissions, one after another."""
    return [work(job, state, task) for task in tasks]


def _follow() -> None:
    """Leave Ctrl-C to the main process while the worker finishes its submissions; exit if the main process dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_leader, daemon=True).start()


def _end_with_leader() -> None:
    leader = parent_process()
    if leader is not None:
        leader.join()
        os._exit(1)


def dask(scheduler: str | None, workers: int) -> Execute:
    """A Dask cluster: the one at this address, or a new one on this machine. Its workers need the course and the term
    under the same paths.
    """

    def execute(job: Job, state: State, tasks: Sequence[Task]) -> Generator[Done, None, None]:
        distributed = _distributed()
        own = None
        if scheduler is None:
            own = distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
        try:
            with distributed.Client(own or scheduler, timeout="20s") as client:
                futures = {client.submit(work, job, state, task, pure=False, retries=ATTEMPTS): task for task in tasks}
                for future in distributed.as_completed(futures):
                    try:
                        yield future.result()
                    except distributed.KilledWorker:
                        fault = "the Dask worker died repeatedly while it graded this submission"
                        yield Done(Graded(futures[future].student, fault=fault))
        except (TimeoutError, OSError) as error:
            message = f"No Dask scheduler answers at {scheduler}: {error}. Start it, or leave out --scheduler."
            raise AutogradeError(message) from error
        finally:
            if own is not None:
                own.close()

    return execute


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise AutogradeError(f"Dask is not installed. {how_to_install('dask')}") from error
    return distributed

"""Workers that grade submissions: processes of this machine, or of a Dask cluster. Both do the same, and give the same.

Each worker is a process that loads the session once and keeps one warm sandbox. Results come in the order in which
they are done.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache
from multiprocessing import forkserver, get_context, parent_process
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any

from grader.autograde.grading import store
from grader.autograde.grading.grade import Graded, grade_or_fault
from grader.autograde.grading.release import AutogradeError
from grader.autograde.grading.session import Session, State, open_session
from grader.autograde.running.processes import LIBRARY_THREADS, Starter
from grader.autograde.running.sandbox import Sandbox
from grader.autograde.running.unsandboxed import Plain
from grader.manifest import load_manifest

BATCH = 4  # submissions that a worker is handed at once; towards the end fewer, so that all end together
WARM = "grader.autograde.grading.warm"
ATTEMPTS = 3  # workers that may die over one submission before it is left to a human


@dataclass(frozen=True)
class Job:
    """What a worker needs to know of the whole: where the course and the term are, and whether there are walls."""

    root: Path
    term: Path
    chapter: str
    sandboxed: bool = True


@dataclass(frozen=True)
class Task:
    """One submission. `again` says that it is graded whatever is stored of it."""

    student: str
    folder: Path
    again: bool = False


@dataclass(frozen=True)
class Done:
    """A graded submission; `stored` says that it was taken from an earlier run. `change` is the last of its points."""

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
    gc.freeze()  # all this stays: no collection need walk through it again
    gc.set_threshold(50_000)  # what a submission leaves is little, and goes with its last reference
    return session


@cache
def _starter(job: Job, state: State, thread: int) -> Starter:
    """This thread's own, since a warm sandbox runs one notebook at a time and dies with the thread that started it."""
    if not job.sandboxed:
        return Plain()
    manifest = load_manifest(job.root / "course.toml")
    limits = manifest.limits(manifest.chapter(job.chapter))
    sandbox = Sandbox(limits, hide=(job.root, job.term), cells=lambda: _session(job, state).cells)
    sandbox.begin()
    Finalize(sandbox, sandbox.close, exitpriority=1)  # in copies of a process nothing of `atexit` is run
    return sandbox


def work(job: Job, state: State, task: Task) -> Done:
    """Grade one submission, or find that it is graded already."""
    starter = _starter(job, state, threading.get_ident())  # first: it starts while the session is loaded
    session = _session(job, state)
    try:
        key = store.key(state, task.folder, job.sandboxed)
    except OSError as error:
        reason = f"{error.filename} cannot be read ({error.strerror}): was the submission moved or deleted meanwhile?"
        return Done(Graded(task.student, fault=reason))
    found = store.read(job.term, job.chapter, task.student)
    why = store.reasons(job.term, job.chapter, task.student, found, key)
    if found and not why and not task.again and all(path.is_file() for path in autograded(session, task.student)):
        return Done(found.graded, stored=True, change=found.change)
    graded = grade_or_fault(session, starter, task.student, task.folder, job.sandboxed)
    if graded.fault:
        return Done(graded)
    change = store.last_change(found, why, key, graded)
    try:
        store.write(job.term, job.chapter, store.Stored(key, graded, change))
    except OSError as error:
        return Done(Graded(task.student, fault=f"its result could not be kept: {error.strerror}"))
    return Done(graded, change=change)


def autograded(session: Session, student: str) -> list[Path]:
    """The notebooks that grading writes."""
    folder = session.term / "autograded" / student / session.chapter.id
    return [folder / f"{notebook.name}.ipynb" for notebook in session.chapter.notebooks]


def here(job: Job, state: State, tasks: Sequence[Task]) -> Generator[Done, None, None]:
    """In this process, one after another: for tests, and for whoever looks with a debugger."""
    for task in tasks:
        yield work(job, state, task)


def begin() -> None:
    """Start the process of which `local` workers are copies, so that it imports what they need while others do other
    things. It starts afresh, and holds nothing of what this process has opened.
    """
    # NumPy's threads would wait for work by spinning, and take the cores that students' processes need.
    os.environ |= dict.fromkeys(LIBRARY_THREADS, "1")
    forkserver.set_forkserver_preload([WARM])
    before = dict(os.environ)
    # it finds modules where this process does; a folder grader/ of the course must not stand for the package
    os.environ |= {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path), "PYTHONSAFEPATH": "1"}
    try:
        forkserver.ensure_running()
    finally:
        os.environ.clear()
        os.environ.update(before)


def local(workers: int) -> Execute:
    """Processes of this machine. A worker that dies takes nothing with it: what it had in hand is tried again."""

    def execute(job: Job, state: State, tasks: Sequence[Task]) -> Generator[Done, None, None]:
        waiting = list(tasks)
        suspects: list[Task] = []  # a worker died while they were in hand: they are graded one at a time
        tries = dict.fromkeys((task.student for task in tasks), 0)
        begin()
        while waiting or suspects:
            pool = ProcessPoolExecutor(workers, mp_context=get_context("forkserver"), initializer=_follow)
            running: dict[Future[list[Done]], Sequence[Task]] = {}
            try:
                while waiting or suspects or running:
                    while (source := suspects or waiting) and len(running) < (1 if suspects else 2 * workers):
                        size = 1 if suspects else max(1, min(BATCH, len(waiting) // (4 * workers)))
                        future = pool.submit(work_all, job, state, source[:size])  # fails where a worker has died
                        running[future] = source[:size]
                        del source[:size]
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        finished = future.result()
                        del running[future]
                        yield from finished
            except BrokenProcessPool:
                for task in (task for batch in running.values() for task in batch):
                    tries[task.student] += 1
                    if tries[task.student] < ATTEMPTS:
                        suspects.append(task)
                    else:
                        yield Done(Graded(task.student, fault=f"the worker process died {ATTEMPTS} times over it"))
            finally:
                pool.shutdown(cancel_futures=True)

    return execute


def work_all(job: Job, state: State, tasks: Sequence[Task]) -> list[Done]:
    """Grade some submissions, one after another."""
    return [work(job, state, task) for task in tasks]


def _follow() -> None:
    """Ctrl-C is for the process that leads, and workers finish what they have in hand; where that is dead, they end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_leader, daemon=True).start()


def _end_with_leader() -> None:
    leader = parent_process()
    if leader is not None:
        leader.join()
        os._exit(1)


def dask(scheduler: str | None, workers: int) -> Execute:
    """A Dask cluster: the one at this address, or one of this machine. Its workers need the course and the term under
    the same paths.
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
                        fault = "the Dask worker died over it again and again"
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
        raise AutogradeError("Dask is not installed: pip install 'unrolled-grader[dask]'") from error
    return distributed

"""Write results to the gradebook, several in one transaction.

Each result is stored on disk before it comes here, so the next run records what a killed run did not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path

from grader.gradebook import GradebookError, open_writer, register
from grader.gradebook.penalties import open_penalties
from grader.gradebook.writer import Given, Writer
from grader.grading.grade import Graded
from grader.grading.pool import Done
from grader.grading.session import Session
from grader.submission.remark import NoTime, Remark
from grader.submission.timestamp import TimestampError, submitted_at
from grader.term_settings import TermSettings

TOGETHER = 16  # at most this many results in one transaction
APART = 0.5  # at least this many seconds between two transactions, unless one is full


def batches(all_done: Iterable[Done], clock: Callable[[], float] = time.monotonic) -> Iterator[list[Done]]:
    """Group results as they come: one by one if they come slowly, otherwise those of half a second together."""
    batch: list[Done] = []
    last = clock() - APART
    for done in all_done:
        batch.append(done)
        if len(batch) == TOGETHER or clock() - last >= APART:
            yield batch
            batch, last = [], clock()
    if batch:
        yield batch


@contextmanager
def recorder(
    db_url: str | None, session: Session, folders: Mapping[str, Path], settings: TermSettings
) -> Iterator[Callable[[Sequence[Graded]], Sequence[Graded]]]:
    """Provide a function that writes results to the gradebook. If a result cannot be written, its `fault` says why."""
    if db_url is None:
        yield lambda batch: batch
        return
    with ThreadPoolExecutor(1) as aside, ExitStack() as open_until_the_end:
        # importing takes a second, during which the workers start
        registered = aside.submit(register, db_url, session.chapter, session.released)

        @cache
        def opened() -> _Recorder:
            registered.result()
            writer = open_until_the_end.enter_context(open_writer(db_url, session.chapter.id))
            penalties = open_penalties(db_url, session.chapter.id, session.term, session.manifest.chapters, settings)
            return _Recorder(writer, open_until_the_end.enter_context(penalties), folders)

        def record(batch: Sequence[Graded]) -> Sequence[Graded]:
            return batch if all(graded.fault for graded in batch) else opened().record(batch)

        yield record
        registered.result()  # can raise even if there was nothing to record


class _Recorder:
    def __init__(self, writer: Writer, assign_penalties: Callable[[str], None], folders: Mapping[str, Path]) -> None:
        self._writer, self._assign_penalties, self._folders = writer, assign_penalties, folders

    def record(self, batch: Sequence[Graded]) -> list[Graded]:
        """Write these results, in one transaction if possible; return them with any faults and penalties."""
        started = time.perf_counter()
        dated = [(graded, None) if graded.fault else self._dated(graded) for graded in batch]
        try:
            given = [self._given(*each) for each in dated if not each[0].fault]
            self._writer.record_all(given)
        except GradebookError as error:
            if len(batch) > 1:  # one by one, because only one of them may have caused it
                return [graded for each in batch for graded in self.record([each])]
            return [_not_written(batch[0], error)]
        seconds = (time.perf_counter() - started) / len(batch)
        return [graded if graded.fault else self._penalized(graded, seconds) for graded, _ in dated]

    def _dated(self, graded: Graded) -> tuple[Graded, datetime | None]:
        """A result with its time of submission, or with a remark on why the time is unknown."""
        try:
            return graded, submitted_at(self._folders[graded.student])
        except TimestampError as error:
            return replace(graded, remarks=(*graded.remarks, Remark(NoTime(str(error))))), None

    def _given(self, graded: Graded, when: datetime | None) -> Given:
        scores = {name: {v.id: v.earned for v in vs.values()} for name, vs in graded.verdicts.items()}
        return self._writer.given(graded.student, scores, timestamp=when, answers=graded.answers)

    def _penalized(self, graded: Graded, seconds: float) -> Graded:
        """Assign the late penalty of a recorded result; return the result with the seconds that this took."""
        started = time.perf_counter()
        try:
            self._assign_penalties(graded.student)
        except GradebookError as error:
            return replace(graded, fault=f"recorded in the gradebook, but with its earlier late penalty: {error}")
        seconds += time.perf_counter() - started
        return replace(graded, seconds=graded.seconds | {"gradebook": seconds})


def _not_written(graded: Graded, error: GradebookError) -> Graded:
    return replace(graded, fault=f"graded, but not written to the gradebook: {error}")

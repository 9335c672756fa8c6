"""`check`, `hint`, `progress` and `diary`: everything that a student imports."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from grader import journal
from grader.checking.evaluate import evaluate, observe, verdict
from grader.checking.observing import caught
from grader.checking.printing import first_case_only
from grader.checking.uses import used
from grader.checking.verdict import CheckFailed, Verdict
from grader.manifest import Place
from grader.messages import LEVELS
from grader.mistakes import met
from grader.released import COURSE
from grader.render.diary import Diary, diary_of
from grader.render.notes import Hint, Interrupted, Progress, Report
from grader.time_limit import TimeLimit, seconds_of_check

# The latest verdict of this session on each exercise: for `progress`, and for exercises that build on others.
_latest: dict[str, Verdict] = {}
_LEFT_OUT = object()
_SITE = "book"  # the folder of the book in the students' bundle


def check(exercise_id: str, function: Any = _LEFT_OUT) -> Report:
    """Run the public checks of an exercise on your function and report the result.

    Returns a report, which is true if everything is right; a wrong answer raises nothing. Code that runs longer than
    its limit is stopped. When nbgrader's own Validate runs the notebook, a wrong answer raises CheckFailed instead, so
    that only correct notebooks validate. Raises UnknownIdError for an id that the course does not have.
    """
    place = COURSE.manifest.place(exercise_id)
    if function is _LEFT_OUT:
        raise TypeError(f'Give the function too: check("{exercise_id}", {exercise_id})')
    report = check_within(place, function, seconds_of_check(COURSE.manifest, place))
    if not report and os.environ.get("NBGRADER_EXECUTION"):
        raise CheckFailed(repr(report))
    return report


def check_within(place: Place, function: Any, seconds: float) -> Report:
    """The same within a time limit of so many seconds, and without CheckFailed. Raises Interrupted."""
    limit = TimeLimit()
    try:
        try:
            limit.set(seconds)
            result = _verdict(place, function)
        finally:
            limit.off()
    except KeyboardInterrupt as error:
        if not limit.rang:
            if limit.interrupted:
                raise Interrupted(place.exercise.id, _where(error)) from None
            raise
        result = verdict(place, "timeout", note=_where(error))
    _latest[place.exercise.id] = result
    journal.note(result)
    return Report(result, _page_address(place))


def _page_address(place: Place) -> str:
    """Where the page about an exercise is: in the published book, or else in the one that the students' bundle has."""
    if base := COURSE.manifest.book_base:
        return base + place.page_address
    try:
        here = Path.cwd()
    except OSError:  # the folder was deleted
        return ""
    sites = (folder / _SITE for folder in (here, *here.parents))
    site = next((each for each in sites if (each / f"{place.page_path}.html").is_file()), None)
    return "" if site is None else f"{Path(os.path.relpath(site, here)).as_posix()}/{place.page_address}"


def _verdict(place: Place, function: Any) -> Verdict:
    name = place.exercise.id
    checks = COURSE.checks(name)
    wrong = used(function, [needed for needed in place.exercise.needs if not _latest.get(needed, True)])
    with first_case_only() as printing:
        observations = observe(checks, function, printing.quiet)
    return evaluate(place, checks, COURSE.messages(name).mistakes, observations, wrong)


def _where(error: KeyboardInterrupt) -> str:
    """Which line of the student's code an interruption met."""
    lines = caught(error).lines
    return f"It was stopped in line {lines[-1].number} of {lines[-1].function}: {lines[-1].source}" if lines else ""


def hint(exercise_id: str, level: int = 1) -> Hint:
    """Show a hint: level 1 asks a question, level 2 explains the idea, level 3 outlines the code.

    Raises UnknownIdError for an id that the course does not have, ValueError for any other level.
    """
    hints = COURSE.messages(exercise_id).hints
    if type(level) is not int or level not in LEVELS:
        raise ValueError(f"hint({exercise_id!r}, {level!r}): hints have the levels 1, 2 and 3")
    return Hint(exercise_id, level, hints[level - 1])


def progress() -> Progress:
    """Show the results of your checks, exercise by exercise: the latest of this session, or else of your diary."""
    earlier = {entry.exercise: entry for entry in journal.read() if entry.exercise in COURSE.manifest.places}
    return Progress(COURSE.manifest, dict(_latest), earlier)


def diary(chapter_id: str | None = None) -> Diary:
    """Show which mistakes your checks have met and which of them you have overcome, of one chapter or of all.

    It is read from the file on this machine in which `check` notes its results. Raises UnknownIdError for a chapter
    that the course does not have.
    """
    return diary_of(COURSE, met(journal.read()), chapter_id)

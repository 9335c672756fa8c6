"""Write the feedback pages of a chapter from the stored results, and the page of its solutions. No student code is run.

A page is `TERM/feedback/STUDENT/CHAPTER.html`. It is not inside the folder `TERM/feedback/STUDENT/CHAPTER/` of
nbgrader's own feedback, because nbgrader skips a folder that exists already, and deletes it with all its contents when
it is told to write it again.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from grader.counts import counted
from grader.errors import ExpectedError
from grader.feedback.over import require_over, still_open
from grader.feedback.page import Beside, feedback_page
from grader.feedback.regrades import read_requests, requests_section
from grader.feedback.solutions import solutions_page, solutions_section
from grader.files import private_folder, write_whole
from grader.gradebook import called, gradebook_url, read_scores
from grader.gradebook.late import DueDates
from grader.gradebook.scores import NOTHING
from grader.gradebook.slips import SlipDays, Slips
from grader.grading import store
from grader.grading.attempts import Counted, counted_attempt, is_current
from grader.grading.session import state_of
from grader.manifest import Chapter, load_manifest
from grader.released import Released
from grader.submission.folders import find_submissions
from grader.term_settings import TermSettings, read_term_settings
from grader.times import how_long, shown

if TYPE_CHECKING:
    from grader.author.other_ways import Solved


class FeedbackError(ExpectedError):
    """There are no results to write feedback from; the message says what is missing and what to do."""


@dataclass
class Written:
    """The pages that were written, their students, and three lists of students: `ungraded` have a submission but no
    result yet; for `outdated` the submission or the course has changed since grading; `unsafe` were graded without a
    sandbox.
    """

    pages: list[Path] = field(default_factory=list)
    students: list[str] = field(default_factory=list)
    ungraded: list[str] = field(default_factory=list)
    outdated: list[str] = field(default_factory=list)
    unsafe: list[str] = field(default_factory=list)


def page_path(term: Path, student: str, chapter_id: str) -> Path:
    return term / "feedback" / student / f"{chapter_id}.html"


def write_feedback(
    root: Path,
    term: Path,
    chapter_id: str,
    students: Collection[str] | None = None,
    db_url: str | None = None,
    solutions: bool = False,
) -> Written:
    """Write the pages of these students (all if None), with the points and comments of the instructor from the
    gradebook (the term's own if None) and, if `solutions`, with how the exercises are solved: then the chapter has to
    be over for the whole class. Raises UnknownIdError, FeedbackError, NotOverError, GradebookError, OSError, and what
    `solved` does.
    """
    manifest = load_manifest(root / "course.toml")
    chapter = manifest.chapter(chapter_id)
    submitted = find_submissions(term, chapter).folders
    chosen, written = _chosen(term, chapter, submitted, students)
    hints = Released(root / "grader" / "data").first_hints(chapter)
    state = state_of(root, term, manifest, chapter)
    settings = read_term_settings(term, manifest)
    url = db_url or gradebook_url(term)
    exempt = settings.exemptions(chapter)
    scores = read_scores(url, chapter.id, exempt)
    slips = SlipDays(url, term, manifest.chapters, settings).of_all()
    due = DueDates(url, chapter.id, settings)
    section = ""
    if solutions:
        require_over(term, settings, chapter.id, url)
        section = solutions_section(chapter, _solved(root, chapter))
    names = called(url)
    requests = read_requests(term, manifest)
    for name in chosen:
        stored = store.read(term, chapter.id, name)
        if stored is None or stored.graded.student != name:
            written.ungraded.append(name)
            continue
        graded = stored.graded
        path = page_path(term, name, chapter.id)
        attempt = counted_attempt(settings, term, chapter.id, stored, submitted.get(name))
        counts, late = _counts(attempt, settings), ""
        until = due.of(name)
        if until is not None and attempt.when is not None and attempt.when > until:
            costs = scores.get(name, NOTHING).late_penalty
            late = _lateness(until, attempt.when, costs, slips.get(name, Slips()), chapter.id, settings)
        if len(exempt.get(name, ())) == len(chapter.notebooks):
            counts = late = ""
        asked = requests_section(chapter, [r for r in requests if (r.student, r.chapter) == (name, chapter.id)])
        beside = Beside(names.get(name, ""), counts, late, exempt.get(name, frozenset()), asked)
        page = feedback_page(manifest, chapter, graded, hints, scores.get(name, NOTHING), section, beside)
        write_whole(path, page.encode())
        written.pages.append(path)
        written.students.append(name)
        if not graded.sandboxed:
            written.unsafe.append(name)
        if not is_current(settings, term, chapter.id, stored, submitted.get(name), state):
            written.outdated.append(name)
    if not written.pages:
        raise FeedbackError(f"No result for {chapter.id} in {term} can be read. {store.grade_first(term, chapter.id)}")
    return written


def _counts(attempt: Counted, settings: TermSettings) -> str:
    """A sentence on which submission counts, and when it was submitted if that is known."""
    when = ""
    if attempt.when is not None:
        when = f" of {shown(attempt.when, settings.clocks)}"
    if attempt.of > 1:
        return (
            f"Attempt {attempt.number} of {attempt.of} counts, your submission{when}: it has the most points after any "
            "late penalty; of equally good ones, the latest counts."
        )
    return f"Your submission{when} counts." if when else ""


def _lateness(
    due: datetime, when: datetime, costs: float, slips: Slips, chapter_id: str, settings: TermSettings
) -> str:
    """When a late submission was due, how late it was, the slip days that it used, and whether it costs points."""
    said = [f"It was due on {shown(due, settings.clocks)} and came {how_long(when - due)} late."]
    if settings.slip_days:
        used = slips.used.get(chapter_id, 0)
        what = f"{counted(used, 'slip day')}, which cost nothing" if used else "no slip day"
        left = f"{slips.left} of {counted(settings.slip_days, 'slip day')} left in this term"
        said.append(f"It used {what}; you have {left}.")
    if settings.late is not None and not costs:  # without a policy, another system may subtract them
        said.append("No points are subtracted for this.")
    return " ".join(said)


def solutions_path(term: Path, chapter_id: str) -> Path:
    return term / "reports" / f"{chapter_id}-solutions.html"


def write_solutions(
    root: Path, term: Path, chapter_id: str, given: Path | None = None, db_url: str | None = None
) -> tuple[Path, str]:
    """Write the page of a chapter's solutions; return where it is, and a sentence if students can still submit the
    chapter on time. Raises UnknownIdError, TermSettingsError, GradebookError, OSError, and what `solved` does.
    """
    manifest = load_manifest(root / "course.toml")
    chapter = manifest.chapter(chapter_id)
    settings = read_term_settings(term, manifest)
    content = solutions_page(manifest, chapter, _solved(root, chapter)).encode()
    if given is None:
        private_folder(term)
    path = given or solutions_path(term, chapter.id)
    write_whole(path, content)
    return path, still_open(settings, chapter.id, db_url or gradebook_url(term))


def _solved(root: Path, chapter: Chapter) -> dict[str, Solved]:
    from grader.author.course import Course
    from grader.author.other_ways import solved_chapter

    return solved_chapter(Course(root), chapter)


def _chosen(
    term: Path, chapter: Chapter, submitted: Collection[str], students: Collection[str] | None
) -> tuple[list[str], Written]:
    """The students whose pages to write, and those without a result. Raises FeedbackError."""
    graded, first = store.students(term, chapter.id), store.grade_first(term, chapter.id)
    if students is None:
        if not graded:
            raise FeedbackError(f"No submission for {chapter.id} in {term} is graded yet. {first}")
        has_result = set(graded)
        return graded, Written(ungraded=[name for name in submitted if name not in has_result])
    for name in students:
        if name in graded:
            continue
        if name in submitted:
            raise FeedbackError(f"The submission of {name!r} is not graded yet. {first}")
        raise FeedbackError(f"{name!r} has no submission for {chapter.id} in {term / 'submitted'}.")
    return list(dict.fromkeys(students)), Written()

"""Write the feedback pages of a chapter from the stored results. No student code is run.

A page is `TERM/feedback/STUDENT/CHAPTER.html`. It is not inside the folder `TERM/feedback/STUDENT/CHAPTER/` of
nbgrader's own feedback, because nbgrader skips a folder that exists already, and deletes it with all its contents when
it is told to write it again.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from grader.autograde.gradebook import gradebook_url, read_scores
from grader.autograde.gradebook.scores import NOTHING
from grader.autograde.grading import store
from grader.autograde.grading.attempts import is_current
from grader.autograde.grading.session import state_of
from grader.autograde.submission.folders import find_submissions
from grader.autograde.term_settings import read_term_settings
from grader.errors import ExpectedError
from grader.feedback.page import feedback_page
from grader.files import write_whole
from grader.manifest import Chapter, load_manifest
from grader.released import Released


class FeedbackError(ExpectedError):
    """There are no results to write feedback from; the message says what is missing and what to do."""


@dataclass
class Written:
    """The pages that were written, and three lists of students: `ungraded` have a submission but no result yet; for
    `outdated` the submission or the course has changed since grading; `unsafe` were graded without a sandbox.
    """

    pages: list[Path] = field(default_factory=list)
    ungraded: list[str] = field(default_factory=list)
    outdated: list[str] = field(default_factory=list)
    unsafe: list[str] = field(default_factory=list)


def page_path(term: Path, student: str, chapter_id: str) -> Path:
    return term / "feedback" / student / f"{chapter_id}.html"


def write_feedback(
    root: Path, term: Path, chapter_id: str, students: Collection[str] | None = None, db_url: str | None = None
) -> Written:
    """Write the pages of these students (all if None), with the points and comments of the instructor from the
    gradebook (the term's own if None). Raises UnknownIdError, FeedbackError, GradebookError, OSError.
    """
    manifest = load_manifest(root / "course.toml")
    chapter = manifest.chapter(chapter_id)
    submitted = find_submissions(term, chapter).folders
    names, written = _chosen(term, chapter, submitted, students)
    hints = Released(root / "grader" / "data").first_hints(chapter)
    state = state_of(root, term, manifest, chapter)
    settings = read_term_settings(term, manifest)
    scores = read_scores(db_url or gradebook_url(term), chapter.id)
    for name in names:
        stored = store.read(term, chapter.id, name)
        if stored is None or stored.graded.student != name:
            written.ungraded.append(name)
            continue
        graded = stored.graded
        path = page_path(term, name, chapter.id)
        write_whole(path, feedback_page(manifest, chapter, graded, hints, scores.get(name, NOTHING)).encode())
        written.pages.append(path)
        if not graded.sandboxed:
            written.unsafe.append(name)
        if not is_current(settings, term, chapter.id, stored, submitted.get(name), state):
            written.outdated.append(name)
    if not written.pages:
        raise FeedbackError(f"No result for {chapter.id} in {term} can be read. {store.grade_first(term, chapter.id)}")
    return written


def _chosen(
    term: Path, chapter: Chapter, submitted: Collection[str], students: Collection[str] | None
) -> tuple[list[str], Written]:
    """The students whose pages to write, and those without a result. Raises FeedbackError."""
    graded, first = store.students(term, chapter.id), store.grade_first(term, chapter.id)
    if students is None:
        if not graded:
            raise FeedbackError(f"No submission for {chapter.id} in {term} is graded yet. {first}")
        return graded, Written(ungraded=[name for name in submitted if name not in set(graded)])
    for name in students:
        if name in graded:
            continue
        if name in submitted:
            raise FeedbackError(f"The submission of {name!r} is not graded yet. {first}")
        raise FeedbackError(f"{name!r} has no submission for {chapter.id} in {term / 'submitted'}.")
    return list(dict.fromkeys(students)), Written()

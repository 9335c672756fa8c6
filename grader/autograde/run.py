"""Autograde a chapter: every submission of a term folder, into nbgrader's gradebook and `autograded/`."""

from __future__ import annotations

import copy
import os
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from grader.autograde.folder import released_files, submitted_files
from grader.autograde.frames import Fault
from grader.autograde.gradebook import gradebook_url, open_gradebook, record_submission, register
from grader.autograde.hidden import hidden_checks
from grader.autograde.notebook import Plan, UnreadableError, fresh_ids, grade_id, plan, read_notebook
from grader.autograde.runner import Outcome, WorkerError, run_submission
from grader.autograde.score import autograded_notebook, request_for, verdict_output, verdicts_of
from grader.cases import Checks
from grader.evaluate import verdict
from grader.files import write_whole
from grader.manifest import Chapter, Limits, Manifest, Notebook, load_manifest
from grader.record import load_messages
from grader.release import check_id, notebook_bytes
from grader.verdict import Verdict


class AutogradeError(Exception):
    """This chapter cannot be graded as asked; the message says what is missing and what to do."""


@dataclass(frozen=True)
class Graded:
    """One submission: its verdicts by notebook and exercise, what a human should look at, and the seconds it took.

    `fault` is set where the grader itself failed: nothing was written then, and nobody's points are touched.
    """

    student: str
    verdicts: dict[str, dict[str, Verdict]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    seconds: float = 0.0
    fault: str = ""
    unanswered: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def earned(self) -> float:
        return sum(v.earned for notebook in self.verdicts.values() for v in notebook.values())


@dataclass(frozen=True)
class Session:
    """What grading a chapter needs, loaded once."""

    term: Path
    manifest: Manifest
    chapter: Chapter
    limits: Limits
    checks: dict[str, Checks]
    texts: dict[str, dict[str, str]]
    released: dict[str, Any]
    files: dict[str, bytes]


def submissions(term: Path, chapter: Chapter) -> dict[str, Path]:
    """The students' folders of this chapter, by student. Raises AutogradeError where there is none."""
    folder = term / "submitted"
    found = {path.name: path / chapter.id for path in sorted(folder.glob("*")) if (path / chapter.id).is_dir()}
    if not found:
        others = sorted({path.name for path in folder.glob("*/*") if path.is_dir()})
        also = f" There are submissions of {', '.join(others)}." if others else ""
        raise AutogradeError(
            f"No submissions of {chapter.id} in {folder}.{also} "
            f"Put each student's notebooks into {folder}/STUDENT/{chapter.id}/."
        )
    return found


def open_session(root: Path, term: Path, chapter_id: str) -> Session:
    """Load what grading needs. Raises UnknownIdError, AutogradeError, HiddenError."""
    manifest = load_manifest(root / "course.toml")
    chapter = manifest.chapter(chapter_id)
    released = {}
    for notebook in chapter.notebooks:
        path = root / "exercises" / chapter.id / f"{notebook.name}.ipynb"
        try:
            released[notebook.name] = read_notebook(path)
        except UnreadableError as error:
            raise AutogradeError(f"{path}: {error}. Run `grader release` first.") from error
    return Session(
        term=term,
        manifest=manifest,
        chapter=chapter,
        limits=manifest.limits(chapter),
        checks=hidden_checks(root, term, chapter),
        texts={e.id: load_messages(root, manifest.place(e.id)).mistakes for e in chapter.exercises},
        released=released,
        files=released_files(root / "exercises" / chapter.id),
    )


def autograde(
    root: Path,
    term: Path,
    chapter_id: str,
    *,
    workers: int | None = None,
    announce: Callable[[int], None] = lambda _: None,
    on_graded: Callable[[Graded], None] = lambda _: None,
) -> list[Graded]:
    """Grade every submission of a chapter; return the results by student.

    `announce` is told how many there are, `on_graded` each result as it is written. Raises UnknownIdError,
    AutogradeError, HiddenError, GradebookError, ReleaseError.
    """
    chapter = load_manifest(root / "course.toml").chapter(chapter_id)
    folders = submissions(term, chapter)
    session = open_session(root, term, chapter_id)
    announce(len(folders))
    db_url = gradebook_url(term)
    register(db_url, root, session.manifest, chapter)
    results = []
    with open_gradebook(db_url) as gradebook:
        for graded in _in_parallel(session, folders, workers or os.cpu_count() or 1):
            if not graded.fault:
                scores = {name: {v.id: v.earned for v in vs.values()} for name, vs in graded.verdicts.items()}
                timestamp = _timestamp(folders[graded.student])
                record_submission(
                    gradebook, chapter.id, graded.student, scores, timestamp=timestamp, unanswered=graded.unanswered
                )
            results.append(graded)
            on_graded(graded)
    return sorted(results, key=lambda graded: graded.student)


def _in_parallel(session: Session, folders: dict[str, Path], workers: int) -> Iterator[Graded]:
    """Grade with this many children at a time (each thread waits for one); results come as they are done."""
    with ThreadPoolExecutor(workers) as pool:
        waiting = [pool.submit(_grade_or_fault, session, student, folder) for student, folder in folders.items()]
        try:
            for future in as_completed(waiting):
                yield future.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _grade_or_fault(session: Session, student: str, folder: Path) -> Graded:
    """What goes wrong with one submission, in whatever way, is told of it and leaves the others graded."""
    if (legible := student.encode("utf-8", "replace").decode()) != student:
        return Graded(legible, fault="the folder's name is not UTF-8, and no gradebook can hold it; rename the folder")
    try:
        return grade(session, student, folder)
    except WorkerError as error:
        return Graded(student, fault=str(error))
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        return Graded(student, fault=f"the grader failed: {type(error).__name__}: {error} ({where})")


def grade(session: Session, student: str, folder: Path) -> Graded:
    """Grade one student's folder and write its autograded notebooks. Raises WorkerError."""
    verdicts: dict[str, dict[str, Verdict]] = {}
    remarks: list[str] = []
    unanswered: dict[str, tuple[str, ...]] = {}
    seconds = 0.0
    files, left_out = submitted_files(folder)
    remarks += left_out
    for notebook in session.chapter.notebooks:
        try:
            path, remark = _find(folder, session.chapter, notebook)
            remarks += remark
            planned = _plan(session.released[notebook.name], read_notebook(path), notebook)
        except UnreadableError as error:
            remarks.append(f"{notebook.name}: {error}")
            unanswered[notebook.name] = tuple(question.id for question in notebook.questions)
            verdicts[notebook.name] = lost = _all_lost(session, notebook, str(error))
            _write(session, student, notebook, _explained(session.released[notebook.name], lost, str(error)))
            continue
        remarks += [f"{notebook.name}: {remark}" for remark in planned.remarks]
        unanswered[notebook.name] = planned.unanswered
        outcome = run_submission(request_for(planned, session.checks, session.limits, files | session.files))
        seconds += outcome.seconds
        remarks += [f"{notebook.name}, {_place(fault, planned)}: {fault.text}" for fault in outcome.faults]
        verdicts[notebook.name] = found = _verdicts(session, notebook, planned, outcome)
        _write(session, student, notebook, autograded_notebook(planned, outcome, found))
    return Graded(student, verdicts, tuple(remarks), seconds, unanswered=unanswered)


def _plan(released: Any, submitted: Any, notebook: Notebook) -> Plan:
    return plan(released, submitted, [e.id for e in notebook.exercises], [q.id for q in notebook.questions])


def _verdicts(session: Session, notebook: Notebook, planned: Plan, outcome: Outcome) -> dict[str, Verdict]:
    return verdicts_of(session.manifest, notebook, session.checks, session.texts, planned, outcome)


def _find(folder: Path, chapter: Chapter, notebook: Notebook) -> tuple[Path, list[str]]:
    """The submitted file of this notebook; where it is alone under another name, that one. Raises UnreadableError."""
    path = folder / f"{notebook.name}.ipynb"
    if path.is_file():
        return path, []
    what = f"{path.name} is a folder, not a file" if path.is_dir() else f"there is no file {path.name}"
    others = sorted(other for other in folder.glob("*.ipynb") if other.is_file())
    if len(others) == 1 and others[0].stem not in {n.name for n in chapter.notebooks}:
        return others[0], [f"{what}; {others[0].name} was graded in its place"]
    names = ", ".join(other.name for other in others)
    raise UnreadableError(what + (f" (there are: {names})" if names else ""))


def _place(fault: Fault, planned: Plan) -> str:
    """Where in the notebook, in a human's count of cells."""
    exercise = next((cell.exercise for cell in planned.cells if cell.index == fault.cell), None)
    if exercise is not None:
        return f"the check of {exercise}"
    return "between cells" if fault.cell is None else f"cell {fault.cell + 1}"


def _all_lost(session: Session, notebook: Notebook, reason: str) -> dict[str, Verdict]:
    note = f"The notebook could not be read: {reason}. {_HAND_IN}"
    return {e.id: verdict(session.manifest.place(e.id), "error", note=note) for e in notebook.exercises}


_HAND_IN = "Open it in Jupyter, save it, and hand in the .ipynb file again."


def _explained(released: Any, verdicts: dict[str, Verdict], reason: str) -> Any:
    """The empty notebook with a word on why the submission is not in it."""
    from nbformat.v4 import new_markdown_cell

    notebook = copy.deepcopy(released)
    words = f"**This submission could not be read.** What was wrong: {reason}. {_HAND_IN} The file is kept as it is."
    notebook.cells.insert(0, new_markdown_cell(words))
    fresh_ids(notebook)
    for cell in notebook.cells:
        for name, found in verdicts.items():
            if grade_id(cell) == check_id(name):
                cell.outputs = [verdict_output(found)]
    return notebook


def _write(session: Session, student: str, notebook: Notebook, content: Any) -> None:
    path = session.term / "autograded" / student / session.chapter.id / f"{notebook.name}.ipynb"
    write_whole(path, notebook_bytes(content))


def _timestamp(folder: Path) -> datetime | None:
    """When it was handed in, by the `timestamp.txt` that nbgrader's collect writes."""
    from nbgrader.utils import parse_utc

    try:
        return parse_utc((folder / "timestamp.txt").read_text("utf-8").strip())  # type: ignore[no-any-return]
    except (OSError, ValueError, UnicodeDecodeError):
        return None

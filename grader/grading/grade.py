"""Grade one submission: from a student's folder to verdicts and autograded notebooks."""

from __future__ import annotations

import copy
import time
import traceback
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from grader.cells import check_id, grade_id, notebook_bytes
from grader.checking.evaluate import verdict
from grader.checking.verdict import Status, Verdict
from grader.files import write_whole
from grader.grading.judging import Judge, JudgeError, judged
from grader.grading.missing import not_imported
from grader.grading.score import (
    autograded_notebook,
    public_verdicts,
    requests_for,
    too_large,
    verdict_output,
    verdicts_of,
    without_cases,
)
from grader.grading.session import Session
from grader.manifest import Notebook
from grader.running.meter import StarvedError
from grader.running.processes import Starter, WorkerError
from grader.running.together import run_together
from grader.running.trial import Outcome
from grader.shown import named, one_line
from grader.submission.cell_names import cell_names
from grader.submission.choose import choose
from grader.submission.fault import Fault
from grader.submission.files import submitted_files
from grader.submission.names import unfit
from grader.submission.notebook import fresh_ids
from grader.submission.plan import Plan
from grader.submission.readable import NotSubmittedError, UnreadableError
from grader.submission.remark import (
    Asks,
    Ended,
    NotImported,
    NotSubmitted,
    OddCell,
    OtherFiles,
    OtherPython,
    Remark,
    TooLarge,
    Unreadable,
    What,
)

ATTEMPTS = 3  # processes that can fail on one submission before it is left to the instructor
# `nbgrader generate_feedback` takes them on to the feedback, and `nbgrader release_feedback` needs them there
OF_THE_EXCHANGE = ("timestamp.txt", "submission_secret.txt")


@dataclass(frozen=True)
class Graded:
    """A graded submission: the points of each exercise, and the remarks for manual review.

    `verdicts`, by notebook and exercise, are those on the hidden cases, without the cases themselves; `public` are
    those on the public cases, for exercises that are not right. `answers`, by notebook and question, are hashes of the
    answers that are graded manually, empty if there is no answer. `seconds` is the time that each part took. `fault` is
    set if the grader itself failed; then nothing was written, and earlier points are unchanged.
    """

    student: str
    verdicts: dict[str, dict[str, Verdict]] = field(default_factory=dict)
    public: dict[str, dict[str, Verdict]] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)
    fault: str = ""
    answers: dict[str, dict[str, str]] = field(default_factory=dict)
    sandboxed: bool = True

    @property
    def earned(self) -> float:
        return sum(verdict.earned for verdict in self.by_exercise.values())

    def earned_for(self, item: str) -> float | None:
        """The autograder's points for an exercise or a question; None if they are given manually."""
        verdict = self.by_exercise.get(item)
        answers = {question: answer for its in self.answers.values() for question, answer in its.items()}
        return verdict.earned if verdict is not None else 0.0 if answers.get(item) == "" else None

    @property
    def by_exercise(self) -> dict[str, Verdict]:
        """The verdicts of all notebooks together."""
        return {name: found for notebook in self.verdicts.values() for name, found in notebook.items()}

    def without(self, notebooks: Collection[str]) -> Graded:
        """The submission without some notebooks, from which the student is exempt."""
        return replace(
            self,
            verdicts={name: its for name, its in self.verdicts.items() if name not in notebooks},
            public={name: its for name, its in self.public.items() if name not in notebooks},
            answers={name: its for name, its in self.answers.items() if name not in notebooks},
            remarks=tuple(remark for remark in self.remarks if remark.notebook not in notebooks or not remark.notebook),
        )

    @property
    def public_by_exercise(self) -> dict[str, Verdict]:
        """The verdicts on public cases, of all notebooks together."""
        return {name: found for notebook in self.public.values() for name, found in notebook.items()}


def grade_or_fault(session: Session, starter: Starter, student: str, folder: Path, sandboxed: bool) -> Graded:
    """Grade one submission. If anything fails, record it as the `fault` of this submission, so that the others are
    still graded.
    """
    if reason := unfit(student):
        return Graded(named(student), fault=reason)
    try:
        attempt = 0
        while True:
            attempt += 1
            try:
                return replace(grade(session, starter, student, folder), sandboxed=sandboxed)
            except WorkerError as error:
                if attempt == ATTEMPTS or isinstance(error, StarvedError):
                    raise
    except WorkerError as error:
        return Graded(student, fault=str(error))
    except JudgeError as error:
        return Graded(student, fault=f"the grader failed: {error}")
    except FileNotFoundError as error:
        return Graded(
            student, fault=f"{one_line(str(error.filename))} no longer exists: was the submission moved or deleted?"
        )
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        return Graded(student, fault=f"the grader failed: {type(error).__name__}: {named(str(error))} ({where})")


def grade(session: Session, starter: Starter, student: str, folder: Path) -> Graded:
    """Grade one student's folder and write its autograded notebooks. Raises WorkerError."""
    verdicts: dict[str, dict[str, Verdict]] = {}
    public: dict[str, dict[str, Verdict]] = {}
    answers: dict[str, dict[str, str]] = {}
    clock = _Clock()
    with clock("read"):
        files, left_out = submitted_files(folder, session.files)
        choices = choose(folder, session.chapter, session.released)
    files |= {f"{name}.ipynb": files[each.file] for name, each in choices.items() if each.file in files}
    remarks = [Remark(each) for each in left_out]
    plans = {name: each.plan for name, each in choices.items() if isinstance(each.plan, Plan)}
    outcomes: dict[str, Outcome] = {}
    for group in requests_for(plans, session.cases, session.limits, files | session.files):
        with clock("run"):
            outcomes |= zip(group, run_together(list(group.values()), starter), strict=True)
    forked = sum(outcome.fork_seconds for outcome in outcomes.values())
    clock.add("fork", forked)
    clock.add("run", -forked)
    for notebook in session.chapter.notebooks:
        name = notebook.name
        chosen = choices[name]
        remarks += [Remark(each, name if isinstance(each, OtherFiles) else "") for each in chosen.remarks]
        planned = chosen.plan
        if isinstance(planned, UnreadableError):
            reason = str(planned)
            is_absent = isinstance(planned, NotSubmittedError)
            remarks.append(Remark(NotSubmitted(reason) if is_absent else Unreadable(reason), name))
            answers[name] = dict.fromkeys((question.id for question in notebook.questions), "")
            why = (_NOT_SUBMITTED if is_absent else _NOT_READ).format(reason)
            verdicts[name] = lost = _all_lost(session, notebook, "missing" if is_absent else "error", why)
            public[name] = {}
            _write(session, student, notebook, _with_note(session.released[name], lost, why))
            continue
        odd_ones = [Remark(odd, name) for odd in planned.remarks]
        answers[name] = planned.answers
        outcome = outcomes[name]
        odd_ones += [Remark(each, name) for each in not_imported(outcome)]
        odd_ones += [Remark(_ended(fault, planned), name) for fault in outcome.faults]
        remarks += _placed(odd_ones, notebook, planned)
        with clock("judge"):
            (full, public[name]), exceeded = judged(
                partial(_verdicts, session, notebook, planned, outcome),
                session.cache,
                lambda exercise: too_large(session.manifest.place(exercise)),
            )
            verdicts[name] = {each: without_cases(found, full) for each, found in full.items()}
            remarks += [Remark(TooLarge(exercise), name) for exercise in exceeded]
            remarks += [Remark(odd, name) for odd in _unconfirmed(planned, full, public[name])]
        with clock("write"):
            _write(session, student, notebook, autograded_notebook(planned, outcome, verdicts[name]))
    for name in OF_THE_EXCHANGE:
        if name in files:
            write_whole(_folder(session, student) / name, files[name])
    return Graded(student, verdicts, public, tuple(remarks), clock.seconds, answers=answers)


def _unconfirmed(plan: Plan, full: Mapping[str, Verdict], public: Mapping[str, Verdict]) -> list[OddCell]:
    """A remark for each exercise whose saved outputs show a pass, and for which grading finds none."""
    found = [] if plan.foreign else [name for name in full if not full[name] and not public.get(name)]
    return [OddCell("saw a pass", name) for name in found if name in plan.saw]


def _verdicts(
    session: Session, notebook: Notebook, plan: Plan, outcome: Outcome, judge: Judge
) -> tuple[dict[str, Verdict], dict[str, Verdict]]:
    """The verdicts on the hidden cases, and those on public ones, of all exercises of a notebook."""
    full = verdicts_of(session.manifest, notebook, session.hidden, session.texts, plan, outcome, judge)
    return full, public_verdicts(session.manifest, session.public, session.texts, plan, outcome, full, judge)


class _Clock:
    """The seconds spent on each named part of the work."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, part: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.add(part, time.perf_counter() - start)

    def add(self, part: str, seconds: float) -> None:
        self.seconds[part] = self.seconds.get(part, 0.0) + seconds


def _ended(fault: Fault, planned: Plan) -> Ended:
    return Ended(fault, next((cell.exercise for cell in planned.cells if cell.index == fault.cell), None))


def _placed(remarks: Sequence[Remark], notebook: Notebook, planned: Plan) -> list[Remark]:
    """The remarks, each with the name of the cell that it is about."""
    cells = [_cell_of(remark.what) for remark in remarks]
    if all(cell is None for cell in cells):
        return list(remarks)
    names = cell_names(planned.notebook.cells, [exercise.id for exercise in notebook.exercises])
    return [
        remark if cell is None else msgspec.structs.replace(remark, place=names.get(cell, ""))
        for remark, cell in zip(remarks, cells, strict=True)
    ]


def _cell_of(what: What) -> int | None:
    match what:
        case Asks(cell) | OtherPython(cell) | NotImported(cell):
            return cell
        case Ended(fault):
            return fault.cell
    return None


def _all_lost(session: Session, notebook: Notebook, status: Status, note: str) -> dict[str, Verdict]:
    return {e.id: verdict(session.manifest.place(e.id), status, note=note) for e in notebook.exercises}


_NOT_READ = (
    "The notebook could not be read: {}. Open it in Jupyter, save it, and submit the .ipynb file again. The submitted "
    "file is unchanged."
)
_NOT_SUBMITTED = "This notebook was not submitted: {}."


def _with_note(released: Any, verdicts: dict[str, Verdict], note: str) -> Any:
    """The released notebook with a note that says why the submission is not in it."""
    from nbformat.v4 import new_markdown_cell

    notebook = copy.deepcopy(released)
    notebook.cells.insert(0, new_markdown_cell(f"**{note}**"))
    fresh_ids(notebook)
    for cell in notebook.cells:
        for name, found in verdicts.items():
            if grade_id(cell) == check_id(name):
                cell.outputs = [verdict_output(found)]
    return notebook


def _write(session: Session, student: str, notebook: Notebook, content: Any) -> None:
    write_whole(_folder(session, student) / f"{notebook.name}.ipynb", notebook_bytes(content))


def _folder(session: Session, student: str) -> Path:
    return session.term / "autograded" / student / session.chapter.id

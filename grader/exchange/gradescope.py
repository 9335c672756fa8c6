"""Results in the format in which an autograder reports to Gradescope: `results.json`, one for each submission.

| field | content |
|---|---|
| `score` | the total that counts, after the late penalty; it overrides the sum of the tests |
| `output` | the late penalty, if there is one |
| `visibility`, `stdout_visibility` | `visible`, `hidden` |
| `extra_data` | `chapter`, `student`, `late_penalty`, `status` |
| `tests[]` | one for each exercise and question, in the course's order |
| `tests[].name`, `.score`, `.max_score` | the title, the points that count, the points to earn |
| `tests[].output` | the report on the exercise as the student may see it, and the instructor's comment |
| `tests[].visibility`, `.tags`, `.extra_data` | `visible`; the notebook; `id` and `status` of the exercise |

All texts are plain: Gradescope puts them into a `<pre>` element. They reveal nothing about hidden cases beyond what the
feedback page shows.

Source: https://gradescope-autograders.readthedocs.io/en/latest/specs/ (*Output format*).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from grader.autograde.gradebook.scores import NOTHING, Recorded
from grader.autograde.grading import store
from grader.autograde.grading.grade import Graded
from grader.autograde.submission.names import unfit
from grader.checking.verdict import Verdict
from grader.exchange.sheets import DIGITS, some
from grader.exchange.table import Policy, Status, Table
from grader.files import write_whole
from grader.manifest import Chapter, Exercise, Question
from grader.render.rows import harmless, headline, number
from grader.render.text import verdict_text

MOST_CHARACTERS = 10_000  # of one test's output
NAME = "results.json"


def results(chapter: Chapter, graded: Graded | None, recorded: Recorded = NOTHING, score: float | None = None) -> Any:
    """The results of one submission as a tree for JSON, without the fields that only `write_results` knows.

    `graded` is its stored result, if there is one, and `recorded` what the gradebook has. Points from the gradebook
    count; without them, those of the result do. `score` is the total; None leaves it to Gradescope to add the tests.
    """
    verdicts: Mapping[str, Verdict] = graded.by_exercise if graded else {}
    public = {name: found for its in (graded.public if graded else {}).values() for name, found in its.items()}
    tests = []
    for notebook in chapter.notebooks:
        items: tuple[Exercise | Question, ...] = (*notebook.exercises, *notebook.questions)
        for item in items:
            verdict = verdicts.get(item.id)
            points = recorded.final(item.id) if item.id in recorded.earned else None
            if points is None and graded is not None:
                points = recorded.of(item.id).final(graded.earned_for(item.id))
            parts = [_report(verdict, public.get(item.id))] if verdict is not None else []
            if points is None or recorded.of(item.id).needs_a_human:
                parts.append("Your instructor will read and grade your answer.")
            if verdict is not None and points is not None and abs(points - verdict.earned) > 10**-DIGITS:
                parts.append(f"The checks gave {number(verdict.earned)}; your instructor changed that.")
            if comment := recorded.of(item.id).comment.strip():
                parts.append(f"Your instructor's comment: {harmless(comment)}")
            tests.append(
                {
                    "name": item.title,
                    "score": round(points or 0.0, DIGITS),
                    "max_score": item.points,
                    "output": _bounded("\n\n".join(parts)),
                    "visibility": "visible",
                    "tags": [notebook.title],
                    "extra_data": {"id": item.id, "status": verdict.status if verdict is not None else None},
                }
            )
    tree: dict[str, Any] = {"visibility": "visible", "stdout_visibility": "hidden", "tests": tests}
    if score is not None:
        tree = {"score": round(score, DIGITS), **tree}
    if recorded.late_penalty:
        tree["output"] = f"Late penalty: {number(recorded.late_penalty)}. The score is what remains."
    return tree


def _report(hidden: Verdict, public: Verdict | None) -> str:
    """The report on hidden cases and, if it fails, that on public ones, which shows where to look."""
    text = verdict_text(hidden)
    if public is None or hidden.status == "unimplemented":
        return text
    if public:
        return f"{text}\n\nAll public cases pass. The mistake shows only on hidden cases."
    if public.diagnosis is not None and hidden.diagnosis is not None and public.diagnosis.id == hidden.diagnosis.id:
        public = replace(public, diagnosis=None)
    shown = verdict_text(replace(public, facets=())).splitlines()[1:-1]  # without points, which hidden cases decide
    return "\n".join([text, "", f"Public cases: {headline(public)}", *shown])


def _bounded(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]} … (cut here)"


def write_results(term: Path, table: Table, policy: Policy, folder: Path) -> tuple[list[Path], list[str]]:
    """Write FOLDER/CHAPTER/STUDENT/results.json for every student whose total is published.

    Return the files, and notes on students for whom there is none although they have points. Raises OSError.
    """
    written, unreadable, unnamable = [], [], []
    for chapter in table.chapters:
        for student in table.students:
            standing = table.of(chapter, student)
            total = policy.total(standing)
            if total is None:
                continue
            if unfit(student.id) or "/" in student.id or student.id.startswith("."):
                unnamable.append(harmless(student.id))
                continue
            stored = store.read(term, chapter.id, student.id)
            if standing.status is Status.missing:
                tree = {"score": total, "visibility": "visible", "output": "No submission.", "tests": []}
            else:
                if stored is None:
                    unreadable.append(harmless(student.id))
                tree = results(chapter, stored.graded if stored else None, standing.recorded, total)
            tree["extra_data"] = {
                "chapter": chapter.id,
                "student": student.id,
                "late_penalty": standing.penalty,
                "status": str(standing.status),
            }
            path = folder / chapter.id / student.id / NAME
            write_whole(path, msgspec.json.format(msgspec.json.encode(tree), indent=1), store.PRIVATE)
            written.append(path)
    notes = []
    if unreadable:
        notes.append(f"Without a stored result, so with points but without reports: {some(unreadable)}.")
    if unnamable:
        notes.append(f"With an id that cannot be a folder's name, so without a file: {some(unnamable)}.")
    return written, notes

"""The file `results.json`, in which an autograder reports on one submission to Gradescope.

Two programs write it: `run`, inside Gradescope's container, and `grader export --format gradescope`, which adds what
the gradebook has.

| field | content |
|---|---|
| `score` | the total; it overrides the sum of the tests |
| `execution_time` | seconds, from the container |
| `output` | the late penalty, remarks on the submitted files, what hidden cases are |
| `output_format`, `test_output_format`, `test_name_format` | `text`: Gradescope shows it as it is |
| `visibility`, `stdout_visibility` | `visible`, `hidden` |
| `extra_data` | from an export: `chapter`, `student`, `late_penalty`, `status` |
| `tests[]` | one for each exercise and, in an export, for each question, in the course's order |
| `tests[].name`, `.number` | the title with the exercise's id; counted from 1 |
| `tests[].score`, `.max_score` | the points that count, the points to earn |
| `tests[].status` | `passed` or `failed`; left out as long as an answer is not graded |
| `tests[].output` | what a feedback page says, as text: the report, and the instructor's comment |
| `tests[].visibility`, `.tags`, `.extra_data` | `visible`; the notebook; `id`, and the `status` of the check |

Of the hidden cases it reveals what a feedback page does: the points, that they failed, and the likely cause.

Source: https://gradescope-autograders.readthedocs.io/en/latest/specs/ (*Output format*).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec

from grader.checking.verdict import Verdict
from grader.counts import counted, number
from grader.feedback.remarks import for_student
from grader.gradebook.scores import NOTHING, Recorded
from grader.grading.grade import Graded
from grader.manifest import Chapter, Exercise, Notebook, Question
from grader.render.rows import facts, headline, rows
from grader.render.text import rows_text
from grader.sheets import DIGITS
from grader.shown import harmless, json_text

NAME = "results.json"
MOST_CHARACTERS = 8_000  # of one part of an output


def submission_tree(
    chapter: Chapter,
    graded: Graded | None,
    recorded: Recorded | None = None,
    hints: Mapping[str, str] | None = None,
    score: float | None = None,
) -> dict[str, Any]:
    """The results of one submission as a tree for JSON.

    `graded` is its stored result, if there is one. `recorded` is what the gradebook has: its points count, and the
    questions are listed, too. `hints` holds the first hint of each exercise. `score` is the total; None for the sum of
    the tests.
    """
    whole = recorded is not None
    tests = [
        _test(notebook, item, graded, recorded or NOTHING, (hints or {}).get(item.id, ""))
        for notebook in chapter.notebooks
        for item in (notebook.items if whole else notebook.exercises)
    ]
    said = []
    if recorded is not None and recorded.late_penalty:
        said.append(f"Late penalty: {number(recorded.late_penalty)}. The score is what remains.")
    if graded is not None:
        said += [f"{title}: {text}" if title else text for title, text in for_student(chapter, graded.remarks)]
    return _tree(chapter, tests, said, sum(test["score"] for test in tests) if score is None else score, whole)


def nothing_tree(chapter: Chapter, why: str) -> dict[str, Any]:
    """The results of a submission in which there is nothing to grade. `why` is addressed to the student."""
    tests = [
        _entry(notebook, exercise, 0.0, False, ["No notebook with this exercise was graded."], None)
        for notebook in chapter.notebooks
        for exercise in notebook.exercises
    ]
    return _tree(chapter, tests, [why], 0.0, False)


def missing_tree(score: float) -> dict[str, Any]:
    """The results of a student who submitted nothing."""
    return {"score": float(score), "output": "No submission.", **_SHOWN, "tests": []}


_SHOWN = {
    "output_format": "text",
    "test_output_format": "text",
    "test_name_format": "text",
    "visibility": "visible",
    "stdout_visibility": "hidden",
}
_ABOUT = (
    "The checks in your notebook use public cases. Points are given for hidden cases: inputs of the same kind with "
    "other numbers, which no student sees."
)


def results_bytes(tree: dict[str, Any]) -> bytes:
    """The contents of the file."""
    return json_text(msgspec.json.format(msgspec.json.encode(tree).decode(), indent=1)).encode()


def _tree(chapter: Chapter, tests: list[dict[str, Any]], said: list[str], score: float, whole: bool) -> dict[str, Any]:
    """The results as a whole; `whole` says that the questions are among the tests."""
    said = [*said, _ABOUT]
    if chapter.questions and not whole:
        points = sum(question.points for question in chapter.questions)
        worth = counted(points, "point")
        said.append(f"The questions, worth {worth}, are graded by your instructor and are not listed here.")
    output = "\n\n".join(_bounded(each) for each in said)
    numbered = [{"number": str(count), **test} for count, test in enumerate(tests, 1)]
    return {"score": float(round(score, DIGITS)), "output": output, **_SHOWN, "tests": numbered}


def _test(
    notebook: Notebook, item: Exercise | Question, graded: Graded | None, recorded: Recorded, hint: str
) -> dict[str, Any]:
    """One exercise or question. Points from the gradebook count; without them, those of the result do."""
    verdict = graded.by_exercise.get(item.id) if graded else None
    public = graded.public_by_exercise.get(item.id) if graded else None
    score = recorded.of(item.id)
    points = recorded.final(item.id) if item.id in recorded.earned else None
    if points is None and graded is not None:
        points = score.final(graded.earned_for(item.id))
    passed = None if points is None else points >= item.points
    parts = []
    if verdict is not None:
        parts += _report(verdict, public, hint)
        if points is not None and abs(points - verdict.earned) <= 10**-DIGITS:
            passed = bool(verdict)
        elif points is not None:
            parts.append(f"The checks gave {number(verdict.earned)}; your instructor changed that.")
    if points is None or score.needs_a_human:
        parts.append("Your instructor will read and grade your answer.")
    if comment := score.comment.strip():
        parts.append(f"Your instructor's comment: {comment}")
    return _entry(notebook, item, points or 0.0, passed, parts, verdict)


def _entry(
    notebook: Notebook,
    item: Exercise | Question,
    score: float,
    passed: bool | None,
    parts: list[str],
    verdict: Verdict | None,
) -> dict[str, Any]:
    return {
        "name": f"{item.title} ({item.id})" if isinstance(item, Exercise) else item.title,
        "score": float(round(score, DIGITS)),
        "max_score": float(item.points),
        **({} if passed is None else {"status": "passed" if passed else "failed"}),
        "output": "\n\n".join(_bounded(part) for part in parts),
        "visibility": "visible",
        "tags": [notebook.title],
        "extra_data": {"id": item.id, "status": verdict.status if verdict is not None else None},
    }


def _report(hidden: Verdict, public: Verdict | None, hint: str) -> list[str]:
    """The parts of the report on an exercise: public cases, which show where to look, hidden ones, a hint."""
    parts = []
    if not hidden and public is not None and public.status != "unimplemented":
        if public:
            parts.append("Public cases: all of them pass. The mistake shows only on hidden cases.")
        else:
            shown = facts(replace(public, facets=()))  # points are for hidden cases
            parts.append("\n".join([f"Public cases: {headline(public)}", *rows_text(shown)]))
        if hidden.diagnosis and public.diagnosis and public.diagnosis.id == hidden.diagnosis.id:
            hidden = replace(hidden, diagnosis=None, note=f"{hidden.note} The likely cause is the same.".strip())
    parts.append("\n".join([f"Hidden cases: {headline(hidden)}", *rows_text(rows(hidden))]))
    if hint and not hidden:
        parts.append(f"A question that may help: {' '.join(hint.split())}")
    return parts


def _bounded(text: str) -> str:
    text = harmless(text)
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]} … (cut here)"

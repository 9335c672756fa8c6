"""The file `results.json` that Gradescope reads: https://gradescope-autograders.readthedocs.io/en/latest/specs/

It shows what a feedback page shows: of the hidden cases the points, that they failed, and the likely cause.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from grader.autograde.grading.grade import Graded
from grader.checking.verdict import Verdict
from grader.feedback.remarks import for_student
from grader.manifest import Chapter, Exercise
from grader.render.rows import harmless, headline
from grader.render.text import verdict_text

MOST_CHARACTERS = 8_000  # of one output


def results_tree(chapter: Chapter, graded: Graded, hints: Mapping[str, str], seconds: float) -> dict[str, Any]:
    """The results of one submission. `hints` holds the first hint of each exercise."""
    public = {name: verdict for notebook in graded.public.values() for name, verdict in notebook.items()}
    tests = []
    for number, exercise in enumerate(chapter.exercises, 1):
        verdict = graded.by_exercise[exercise.id]
        output = _output(exercise, verdict, public.get(exercise.id), hints.get(exercise.id, ""))
        tests.append(_test(number, exercise, verdict.earned, bool(verdict), output))
    remarks = [f"{title}: {said}" if title else said for title, said in for_student(chapter, graded.remarks)]
    return _tree(chapter, tests, remarks, seconds)


def nothing_tree(chapter: Chapter, why: str, seconds: float) -> dict[str, Any]:
    """The results of a submission in which there is nothing to grade. `why` is addressed to the student."""
    tests = [
        _test(number, exercise, 0.0, False, "No notebook with this exercise was graded.")
        for number, exercise in enumerate(chapter.exercises, 1)
    ]
    return _tree(chapter, tests, [why], seconds)


def _tree(chapter: Chapter, tests: list[dict[str, Any]], remarks: list[str], seconds: float) -> dict[str, Any]:
    said = [*remarks, _ABOUT]
    if chapter.questions:
        points = sum(question.points for question in chapter.questions)
        said.append(f"The questions, worth {points:g} points, are graded by your instructor and are not listed here.")
    return {
        "score": sum(test["score"] for test in tests),
        "execution_time": round(seconds),
        "output": _bounded("\n\n".join(said)),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
    }


_ABOUT = (
    "The checks in your notebook use public cases. Points are given for hidden cases: inputs of the same kind with "
    "other numbers, which no student sees."
)


def _test(number: int, exercise: Exercise, score: float, passed: bool, output: str) -> dict[str, Any]:
    return {
        "name": f"{exercise.title} ({exercise.id})",
        "number": str(number),
        "score": score,
        "max_score": float(exercise.points),
        "status": "passed" if passed else "failed",
        "output": output,
        "visibility": "visible",
    }


def _output(exercise: Exercise, verdict: Verdict, public: Verdict | None, hint: str) -> str:
    if verdict:
        return _bounded(_report("Hidden cases", verdict))
    parts = []
    if public is not None:
        parts.append(_report("Public cases", replace(public, facets=())))  # points are for hidden cases
        if verdict.diagnosis and public.diagnosis and public.diagnosis.id == verdict.diagnosis.id:
            verdict = replace(verdict, diagnosis=None, note=f"{verdict.note} The likely cause is the same.".strip())
    parts.append(_report("Hidden cases", verdict))
    if hint:
        parts.append(f"A question that may help: {' '.join(hint.split())}")
    return _bounded("\n\n".join(parts))


def _report(cases: str, verdict: Verdict) -> str:
    """A verdict as text. Gradescope shows the points itself."""
    _, *rows = verdict_text(verdict).splitlines()
    return "\n".join([f"{cases}: {headline(verdict)}", *rows])


def _bounded(text: str) -> str:
    text = harmless(text)
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]} … (cut here)"

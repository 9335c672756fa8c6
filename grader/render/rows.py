"""Turn a verdict into labelled rows, the common basis of the text and HTML reports."""

from __future__ import annotations

from dataclasses import dataclass, replace

from grader.checking.verdict import Grid, Problem, Verdict
from grader.counts import number
from grader.render.picture import everywhere, grid_text
from grader.shown import harmless

FEW = 3  # wrong results of a case beside which numbers are shown
_LABELS = {
    "raised": "stopped with",
    "none": "expected",
    "type": "expected",
    "count": "expected",
    "shape": "shape",
    "dtype": "dtype",
    "not_finite": "not finite",
    "values": "differs in",
    "gradient": "gradient",
    "changed": "changed input",
    "judge": "expected",
}


def headline(verdict: Verdict) -> str:
    """The status of the exercise in words, for the first line of a report; without the points."""
    if verdict.status == "passed":
        count = len(verdict.cases)
        return f"right on all {count} cases" if count > 1 else "right"
    if verdict.status == "unimplemented":
        return "not implemented yet"
    if verdict.status == "timeout":
        return "stopped: it ran longer than its time limit"
    if verdict.status == "missing":
        return "not submitted"
    outcome = "ended in an error" if verdict.status == "error" else "not right yet"
    right = sum(not case.problems for case in verdict.cases)
    return f"{outcome}: {right} of {len(verdict.cases)} cases pass" if len(verdict.cases) > 1 else outcome


@dataclass(frozen=True)
class Row:
    """A label and a text of one or more lines. `code` says that the text is code, `grid` is its picture, if any, and
    `page` is the part of the text that names a page of the book.
    """

    label: str
    text: str
    code: bool = False
    grid: Grid | None = None
    page: str = ""


def rows(verdict: Verdict) -> list[Row]:
    """All rows of a report, in order. Unless the exercise passed, the last one names the hint and the page."""
    found = facts(verdict)
    if verdict.status == "timeout":
        found.append(Row("what to do", "look for a loop that never ends, or for a computation that is done too often"))
    if not verdict:
        found.append(Row("next", harmless(f'hint("{verdict.id}")   page: {verdict.page}'), page=verdict.page))
    return found


def facts(verdict: Verdict) -> list[Row]:
    """The rows that describe the result, in the order of the report. All texts are `harmless`."""
    found: list[Row] = []
    first = verdict.first_problem
    if first is not None:
        case, _ = first
        if case.name:
            found.append(Row("case", case.name))
        found.append(Row("called", case.call, code=True))
        if case.returned:
            found.append(Row("you returned", case.returned))
        several = len({problem.output for problem in case.problems} - {None}) > 1
        # among many wrong results, numbers would hide the likely cause
        beside = next((each for each in case.problems if each.beside), None) if len(case.problems) <= FEW else None
        for problem in case.problems:
            found.append(_problem_row(problem))
            if problem is beside:
                found.append(Row("side by side", "\n".join(problem.beside), code=True))
            if problem.grid is not None and not (several and everywhere(problem.grid)):
                found.append(Row("where", grid_text(problem.grid), grid=problem.grid))
    if verdict.diagnosis is not None:
        found.append(Row("likely cause", verdict.diagnosis.text))
    note = note_text(verdict)
    if note:
        found.append(Row("note", note))
    if len(verdict.facets) > 1 and not verdict:
        parts = [f"{facet.name} {number(facet.earned)} / {number(facet.points)}" for facet in verdict.facets]
        earned = " · ".join(parts) if verdict.earned else _why_no_points(verdict)
        found += [Row("earned", earned)] if earned else []
    if verdict.status == "unimplemented" and not note:
        found.append(
            Row(
                "what to do",
                "replace the line that raises NotImplementedError with your code, then run the check again",
            )
        )
    return [replace(row, text=harmless(row.text)) for row in found]


def note_text(verdict: Verdict) -> str:
    """The note on the exercise as a whole; empty if there is none."""
    if verdict.unwritten:
        return f"{verdict.id} calls {verdict.unwritten}, which is not written yet."
    return verdict.note


def _why_no_points(verdict: Verdict) -> str:
    """Why no facet earned points, if the reason is problems of whole calls that the displayed case does not have."""
    first = verdict.first_problem
    if first is None or any(problem.output is None for problem in first[0].problems):
        return ""
    kinds = [{p.kind for p in case.problems if p.output is None} for case in verdict.cases]
    counts = {words: sum(kind in case for case in kinds) for kind, words in _WHOLE_CALLS.items()}
    found = [f"{words} on {count} of {len(kinds)} cases" for words, count in counts.items() if count]
    return f"nothing: {', '.join(found)}" if found else ""


_WHOLE_CALLS = {
    "raised": "the call ended in an exception",
    "none": "your function returned None",
    "count": "the number of results is wrong",
    "changed": "an input was changed",
}


def _problem_row(problem: Problem) -> Row:
    return Row(_LABELS[problem.kind], "\n".join((problem.text, *problem.lines)))

"""A verdict as labelled rows, which every renderer draws in its own way."""

from __future__ import annotations

from dataclasses import dataclass, replace

from grader.checking.verdict import Grid, Problem, Verdict
from grader.render.picture import everywhere, grid_text

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


# A student's text must not steer the terminal, break the page that shows it, or turn the order of what stands there.
_BIDI = (0x061C, 0x200E, 0x200F, 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_CONTROL = {
    code: "\N{REPLACEMENT CHARACTER}"
    for code in (*range(32), *range(127, 160), *_BIDI, *range(0xD800, 0xE000))
    if chr(code) not in "\n\t"
}


def harmless(text: str) -> str:
    """The text without characters that control a terminal, the direction of writing, or stand for nothing."""
    return text.translate(_CONTROL)


def headline(verdict: Verdict) -> str:
    """The first line's words: how it went, without the points."""
    if verdict.status == "passed":
        count = len(verdict.cases)
        return f"right on all {count} cases" if count > 1 else "right"
    if verdict.status == "unimplemented":
        return "not implemented yet"
    if verdict.status == "timeout":
        return "stopped: it ran longer than its time limit"
    how = "ended in an error" if verdict.status == "error" else "not right yet"
    right = sum(not case.problems for case in verdict.cases)
    return f"{how}: {right} of {len(verdict.cases)} cases pass" if len(verdict.cases) > 1 else how


@dataclass(frozen=True)
class Row:
    """One labelled fact; its text may hold several lines. `code`: it is a piece of code; `grid`: it has a picture."""

    label: str
    text: str
    code: bool = False
    grid: Grid | None = None


def rows(verdict: Verdict) -> list[Row]:
    """What a student reads, in order, and where to go on."""
    found = facts(verdict)
    if not verdict:
        found.append(Row("next", harmless(f'hint("{verdict.id}")   page: {verdict.page}')))
    return found


def facts(verdict: Verdict) -> list[Row]:
    """What was found, in the order in which a student reads it."""
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
        for problem in case.problems:
            found.append(_problem_row(problem))
            if problem.grid is not None and not (several and everywhere(problem.grid)):
                found.append(Row("where", grid_text(problem.grid), grid=problem.grid))
    if verdict.diagnosis is not None:
        found.append(Row("likely cause", verdict.diagnosis.text))
    note = noted(verdict)
    if note:
        found.append(Row("note", note))
    if len(verdict.facets) > 1 and not verdict:
        parts = [f"{facet.name} {number(facet.earned)} / {number(facet.points)}" for facet in verdict.facets]
        earned = " · ".join(parts) if verdict.earned else _why_nothing(verdict)
        found += [Row("earned", earned)] if earned else []
    if verdict.status == "unimplemented" and not note:
        found.append(
            Row(
                "what to do",
                "replace the line that raises NotImplementedError with your code, then run the check again",
            )
        )
    return [replace(row, text=harmless(row.text)) for row in found]


def noted(verdict: Verdict) -> str:
    """What is said of the whole exercise beside its cases."""
    if verdict.unwritten:
        return f"{verdict.id} calls {verdict.unwritten}, which is not written yet."
    return verdict.note


def _why_nothing(verdict: Verdict) -> str:
    """What went wrong with whole calls, and so with every part at once, where the case that is shown does not tell."""
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


def number(value: float) -> str:
    """Points as people write them: 2, 1.5."""
    return f"{value:g}"

"""A verdict as labelled rows, which every renderer draws in its own way."""

from __future__ import annotations

from grader.verdict import Problem, Verdict

_LABELS = {
    "raised": "stopped with",
    "none": "what is due",
    "type": "what is due",
    "count": "what is due",
    "shape": "shape",
    "dtype": "dtype",
    "not_finite": "not finite",
    "values": "differs in",
    "changed": "changed input",
    "judge": "what is due",
}


def headline(verdict: Verdict) -> str:
    """The first line's words: how it went, without the points."""
    if verdict.status == "passed":
        count = len(verdict.cases)
        return f"right on all {count} cases" if count > 1 else "right"
    if verdict.status == "unimplemented":
        return "not implemented yet"
    if verdict.status == "timeout":
        return "stopped: it ran longer than its time limit"
    wrong = sum(bool(case.problems) for case in verdict.cases)
    if not wrong:
        return "not right yet"
    return f"not right yet: {wrong} of {len(verdict.cases)} cases"


def rows(verdict: Verdict) -> list[tuple[str, str]]:
    """(label, text) in the order a student reads them; a text may hold several lines."""
    found: list[tuple[str, str]] = []
    first = verdict.first_problem
    if first is not None:
        case, _ = first
        found.append(("case", case.name))
        found.append(("called", case.call))
        if case.returned:
            found.append(("you returned", case.returned))
        several = len({problem.output for problem in case.problems}) > 1
        found += [_problem_row(problem, several) for problem in case.problems]
    if verdict.diagnosis is not None:
        found.append(("likely cause", verdict.diagnosis.text))
    if verdict.note:
        found.append(("note", verdict.note))
    if len(verdict.facets) > 1 and verdict.earned and not verdict:
        parts = [f"{facet.name} {number(facet.earned)} / {number(facet.points)}" for facet in verdict.facets]
        found.append(("earned", " · ".join(parts)))
    if verdict.status == "unimplemented" and not verdict.note:
        found.append(
            (
                "what to do",
                "replace the line that raises NotImplementedError with your code, then run the check again",
            )
        )
    if not verdict:
        found.append(("next", f'hint("{verdict.id}")   page: {verdict.page}'))
    return found


def _problem_row(problem: Problem, several: bool) -> tuple[str, str]:
    text = f"{problem.output}: {problem.text}" if several and problem.output else problem.text
    return _LABELS[problem.kind], "\n".join((text, *problem.lines))


def number(value: float) -> str:
    """Points as people write them: 2, 1.5."""
    return f"{value:g}"

"""From what a child observed to verdicts, and to the autograded notebook that instructor and student look at."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from grader.autograde.frames import End, Exam, Fault, Request
from grader.autograde.notebook import Plan, grade_id
from grader.autograde.runner import Outcome
from grader.cases import Checks, Observation
from grader.codec import Raised
from grader.evaluate import evaluate, verdict
from grader.manifest import Limits, Manifest, Notebook
from grader.render.html import verdict_html
from grader.render.text import verdict_text
from grader.verdict import CaseResult, Problem, Verdict


def request_for(plan: Plan, checks: Mapping[str, Checks], limits: Limits) -> Request:
    """What a child is asked to do for one notebook."""
    return Request(
        cells=plan.cells,
        exams={name: Exam(c.driver, c.cases) for name, c in checks.items()},
        seconds_per_cell=limits.seconds_per_cell,
        seconds_per_exercise=limits.seconds_per_exercise,
        output_bytes=limits.output_bytes,
        result_bytes=limits.result_bytes,
    )


def verdicts_of(
    manifest: Manifest,
    notebook: Notebook,
    checks: Mapping[str, Checks],
    texts: Mapping[str, Mapping[str, str]],
    plan: Plan,
    outcome: Outcome,
) -> dict[str, Verdict]:
    """A verdict on every exercise of the notebook, in the course's order."""
    verdicts: dict[str, Verdict] = {}
    for exercise in notebook.exercises:
        name = exercise.id
        place = manifest.place(name)
        observed = outcome.observations.get(name, {})
        stopped = _stopped(name, plan, outcome)
        if len(observed) == len(checks[name].cases):
            wrong_needs = [needed for needed in exercise.needs if not verdicts[needed]]
            observations = _with_cause(name, tuple(observed[i] for i in range(len(observed))), plan, outcome)
            verdicts[name] = evaluate(place, checks[name], texts[name], observations, wrong_needs)
        elif stopped is not None and stopped.kind == "timeout":
            verdicts[name] = verdict(place, "timeout", note=_where(name, stopped, plan))
        elif stopped is not None:
            problem = Problem("raised", f"{stopped.text} while {name} was called")
            verdicts[name] = verdict(place, "error", (CaseResult("", f"{name}(…)", "", (problem,)),))
        else:
            verdicts[name] = verdict(place, "error", note="The notebook ended before this exercise was reached.")
    return verdicts


def _stopped(name: str, plan: Plan, outcome: Outcome) -> Fault | None:
    """What ended the process in this exercise's check, or in the cell that defines it."""
    check = next((cell.index for cell in plan.cells if cell.exercise == name), -1)
    return outcome.fault_in(check) or outcome.fault_in(plan.defining.get(name, -1))


def _where(name: str, fault: Fault, plan: Plan) -> str:
    if fault.cell == plan.defining.get(name):
        return f"The cell that defines {name} was {fault.text}."
    return f"{name} was {fault.text}. Is there a loop that cannot end?"


def _with_cause(
    name: str, observations: tuple[Observation, ...], plan: Plan, outcome: Outcome
) -> tuple[Observation, ...]:
    """Where the function does not exist, say why: what ended the cell that should define it."""
    if not all(o.raised is not None and o.raised.type == "NameError" for o in observations):
        return observations
    index = plan.defining.get(name, -1)
    fault, end = outcome.fault_in(index), outcome.ends.get(index)
    if fault is not None:
        cause = Raised("NameError", f"{name} is not defined: its cell was ended ({fault.text})")
    elif end is not None and end.raised is not None:
        raised = end.raised
        cause = Raised(raised.type, f"{raised.text} (in the cell that defines {name})", raised.lines)
    else:
        return observations
    return tuple(Observation(raised=cause) for _ in observations)


def autograded_notebook(plan: Plan, outcome: Outcome, verdicts: Mapping[str, Verdict]) -> Any:
    """The submission with what its visible cells printed, and under each check cell its verdict without the hidden
    cases.
    """
    notebook = copy.deepcopy(plan.notebook)
    exercises = {cell.index: cell.exercise for cell in plan.cells}
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type != "code":
            continue
        name = exercises.get(index)
        if name is not None and grade_id(cell) is not None:
            cell.outputs = [_verdict_output(without_cases(verdicts[name]))]
        else:
            cell.outputs = _outputs(outcome.ends.get(index), outcome.fault_in(index))
        cell.execution_count = None
    return notebook


def without_cases(full: Verdict) -> Verdict:
    """What a student may see of a verdict on hidden cases: points, status and likely cause; no input, value or
    exception's text.
    """
    note = full.note
    if not note and full.first_problem is not None:
        note = _KINDS[full.first_problem[1].kind]
    return replace(full, cases=(), note=note)


_KINDS = {
    "raised": "On hidden cases the call ended in an exception.",
    "none": "On hidden cases the call returned None.",
    "type": "On hidden cases a result has the wrong type.",
    "count": "On hidden cases the number of results is wrong.",
    "shape": "On hidden cases a result has the wrong shape.",
    "dtype": "On hidden cases a result has the wrong dtype.",
    "not_finite": "On hidden cases a result is not finite.",
    "values": "On hidden cases the values differ from what is due.",
    "changed": "On hidden cases the call changed one of its inputs.",
    "judge": "On hidden cases the result is not what is due.",
}


def _verdict_output(shown: Verdict) -> Any:
    from nbformat.v4 import new_output

    return new_output("display_data", {"text/plain": verdict_text(shown), "text/html": verdict_html(shown)})


def _outputs(end: End | None, fault: Fault | None) -> list[Any]:
    from nbformat.v4 import new_output

    if end is None:
        text = f"This cell was ended: {fault.text}." if fault else "This cell was not run."
        return [new_output("error", ename="NotRun", evalue=text, traceback=[text])]
    outputs = []
    if end.printed:
        outputs.append(new_output("stream", name="stdout", text=end.printed))
    if end.value is not None:
        outputs.append(new_output("execute_result", {"text/plain": end.value}))
    if end.raised is not None:
        raised = end.raised
        lines = [*raised.lines, f"{raised.type}: {raised.text}"]
        outputs.append(new_output("error", ename=raised.type, evalue=raised.text, traceback=lines))
    return outputs

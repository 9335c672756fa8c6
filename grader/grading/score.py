"""Turn the observations of a notebook's process into verdicts, and into the autograded notebook for the instructor."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from grader.cells import grade_id
from grader.checking.case import Checks
from grader.checking.evaluate import evaluate, verdict
from grader.checking.verdict import Status, Verdict
from grader.grading.judging import Judge
from grader.grading.missing import lacks
from grader.inside.frames import End, ExerciseCases, Request, not_defined
from grader.manifest import Chapter, Limits, Manifest, Notebook, Place
from grader.render.html import verdict_html
from grader.render.text import verdict_text
from grader.running.trial import Outcome
from grader.submission.fault import Fault
from grader.submission.mentions import used_in
from grader.submission.notebook import copied
from grader.submission.plan import OWN_PYTHON, Plan
from grader.submission.remark import NOWHERE, OddCell, OtherPython


def cases_of(chapter: Chapter, public: Mapping[str, Checks], hidden: Mapping[str, Checks]) -> dict[str, ExerciseCases]:
    """The cases on which each exercise is run."""
    return {
        e.id: ExerciseCases(
            hidden[e.id].driver, public[e.id].cases, hidden[e.id].cases, hidden[e.id].fixtures, e.seconds
        )
        for e in chapter.exercises
    }


def requests_for(
    plans: Mapping[str, Plan], cases: Mapping[str, ExerciseCases], limits: Limits, files: Mapping[str, bytes]
) -> list[dict[str, Request]]:
    """The requests for one student's notebooks, by name, grouped by process. Notebooks that change nothing outside
    themselves share a process, followed by the last of the others; each remaining notebook gets its own.
    """
    requests = {name: request_for(plan, cases, limits, files) for name, plan in plans.items()}
    others = [name for name in requests if not plans[name].stays_within]
    groups = [[name for name in requests if name not in others] + others[-1:], *([name] for name in others[:-1])]
    return [{name: requests[name] for name in group} for group in groups if group]


def request_for(
    plan: Plan, cases: Mapping[str, ExerciseCases], limits: Limits, files: Mapping[str, bytes] | None = None
) -> Request:
    """The request for one notebook."""
    return Request(
        cells=plan.cells,
        cases={cell.exercise: cases[cell.exercise] for cell in plan.cells if cell.exercise},
        limits=limits,
        files=files or {},
    )


def verdicts_of(
    manifest: Manifest,
    notebook: Notebook,
    checks: Mapping[str, Checks],
    texts: Mapping[str, Mapping[str, str]],
    plan: Plan,
    outcome: Outcome,
    judge: Judge,
) -> dict[str, Verdict]:
    """A verdict on every exercise of the notebook, in the course's order."""
    verdicts: dict[str, Verdict] = {}
    for exercise in notebook.exercises:
        name = exercise.id
        place = manifest.place(name)
        observed = outcome.observations.get(name)
        if plan.foreign:
            verdicts[name] = verdict(place, "error", note=_FOREIGN)
        elif OddCell("undefined", name) in plan.remarks:
            verdicts[name] = verdict(place, "error", note=NOWHERE.format(name))
        elif observed is None:
            status, note = _not_observed(name, plan, outcome)
            verdicts[name] = verdict(place, status, note=note)
        elif note := lacks(name, outcome):
            verdicts[name] = verdict(place, "error", note=note)
        elif all(observation.raised == not_defined(name) for observation in observed):
            verdicts[name] = verdict(place, "error", note=_not_defined(name, plan, outcome))
        else:
            needs = _wrong_needs(place, plan, verdicts)
            find = partial(evaluate, place, checks[name], texts[name], observed, needs, words=False)
            verdicts[name] = judge((name, True, outcome.digests[name, True].hex(), *needs), find)
    return verdicts


def _wrong_needs(place: Place, plan: Plan, verdicts: Mapping[str, Verdict]) -> list[str]:
    """The exercises that this one builds on, that are wrong, and that the student's code for it uses."""
    wrong = [needed for needed in place.exercise.needs if not verdicts.get(needed, True)]
    return used_in((cell.source for cell in plan.cells), place.exercise.id, wrong) if wrong else []


_FOREIGN = (
    "Your submission contains none of this notebook's exercises. Is it from another assignment? "
    "Submit the notebook of this one."
)


def _not_observed(name: str, plan: Plan, outcome: Outcome) -> tuple[Status, str]:
    """The status and note of an exercise whose function was not called on all cases."""
    check = next((cell.index for cell in plan.cells if cell.exercise == name), -1)
    fault = outcome.fault_in(check)
    if fault is None:
        return "error", (
            f"The notebook stopped before {name} was checked. Look at the cells above its check cell that were not run."
        )
    if fault.kind == "timeout":
        return "timeout", f"{name} was {fault.text}. Does it contain a loop that never ends?"
    if fault.kind == "memory":
        return "error", f"{name} was {fault.text}. Does something grow with every call?"
    if fault.kind == "died":
        return "error", (
            f"The Python process ended while {name} ran. Does the function end the process, or use too much memory?"
        )
    return "error", f"{name} was called, but its result could not be read: {fault.text}."


def too_large(place: Place) -> Verdict:
    """The verdict on an exercise whose results take more time or memory to judge than a result can need."""
    name = place.exercise.id
    note = (
        f"{name} returned something that is too large to be compared with the expected result. Look at its size: "
        "does something grow with every step, or is something repeated?"
    )
    return verdict(place, "failed", note=note)


def _not_defined(name: str, plan: Plan, outcome: Outcome) -> str:
    """Why the function does not exist at its check cell: what ended the cell that should define it."""
    index = plan.defining.get(name, -1)
    fault, end = outcome.fault_in(index), outcome.ends.get(index)
    if OddCell("magic", name) in plan.remarks:
        return f"{name} is not defined: its cell begins with a magic (%%) that does not run it as Python. Delete it."
    for remark in plan.remarks:
        if isinstance(remark, OtherPython) and remark.cell == index:
            return (
                f"{name} is not defined: its cell is not Python {remark.ours}, which grades this course. The notebook "
                f"says that it was written with Python {remark.theirs}. Write the cell so that both accept it."
            )
    if fault is not None:
        return f"{name} is not defined: the cell that should define it failed ({fault.text}). Fix that cell first."
    if end is not None and end.raised is not None:
        why = f"{end.raised.type}: {end.raised.text}".removesuffix(": ")
        its = f" Grading uses Python {OWN_PYTHON}." if end.raised.type == "SyntaxError" else ""
        return f"{name} is not defined: the cell that should define it stopped with {why}. Fix that cell first.{its}"
    return f"{name} is not defined above its check cell. Define a function with exactly this name in its cell."


def public_verdicts(
    manifest: Manifest,
    public: Mapping[str, Checks],
    texts: Mapping[str, Mapping[str, str]],
    plan: Plan,
    outcome: Outcome,
    verdicts: Mapping[str, Verdict],
    judge: Judge,
) -> dict[str, Verdict]:
    """The notebook's own check of each exercise that is not right and whose function was called on all public cases."""
    shown: dict[str, Verdict] = {}
    for name, hidden in verdicts.items():
        observed = outcome.public.get(name)
        if not hidden and observed is not None and not lacks(name, outcome):
            place = manifest.place(name)
            needs = _wrong_needs(place, plan, verdicts)
            find = partial(evaluate, place, public[name], texts[name], observed, needs)
            shown[name] = judge((name, False, outcome.digests[name, False].hex(), *needs), find)
    return shown


def autograded_notebook(plan: Plan, outcome: Outcome, verdicts: Mapping[str, Verdict]) -> Any:
    """The submission with the output of its visible cells, and below each check cell a verdict without hidden cases."""
    notebook = copied(plan.notebook, cells=[copied(cell) for cell in plan.notebook.cells])
    exercises = {cell.index: cell.exercise for cell in plan.cells}
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type != "code":
            continue
        name = exercises.get(index)
        if name is not None and grade_id(cell) is not None:
            cell.outputs = [verdict_output(verdicts[name])]
        else:
            cell.outputs = _outputs(outcome.ends.get(index), outcome.fault_in(index))
        cell.execution_count = None
    return notebook


def without_cases(full: Verdict, exercises: Collection[str]) -> Verdict:
    """What a student may see of a verdict on hidden cases: points, status and likely cause, but no input, value, text
    or name from a hidden run. `exercises` are the names that it may contain.
    """
    note = full.note
    if not note and full.first_problem is not None:
        note = _KINDS[full.first_problem[1].kind]
    diagnosis = full.diagnosis
    if diagnosis is not None and diagnosis.id == "constant_factor":  # the factor may be one of the hidden inputs
        diagnosis = replace(diagnosis, text="Every number is off by the same factor.")
    unwritten = full.unwritten if full.unwritten in exercises else ""  # a hidden run can invent a name
    return replace(full, cases=(), diagnosis=diagnosis, note=note, unwritten=unwritten)


_KINDS = {
    "raised": "On hidden cases your code raises an exception.",
    "none": "On hidden cases your code returns None.",
    "type": "On hidden cases a result has the wrong type.",
    "count": "On hidden cases the number of results is wrong.",
    "shape": "On hidden cases a result has the wrong shape.",
    "dtype": "On hidden cases a result has the wrong dtype.",
    "not_finite": "On hidden cases a result is not finite.",
    "values": "On hidden cases the values differ from the expected ones.",
    "gradient": "On hidden cases no gradient reaches some of the weights.",
    "changed": "On hidden cases your code changes one of its inputs.",
    "judge": "On hidden cases the result is not as expected.",
}


def verdict_output(shown: Verdict) -> Any:
    """A verdict as the output of a check cell."""
    return _output("display_data", data={"text/plain": verdict_text(shown), "text/html": verdict_html(shown)})


def _outputs(end: End | None, fault: Fault | None) -> list[Any]:
    if end is None:
        text = f"This cell did not finish: {fault.text}." if fault else "This cell was not run."
        return [_output("error", ename="NotRun", evalue=text, traceback=[text])]
    outputs = []
    if end.printed:
        outputs.append(_output("stream", name="stdout", text=end.printed))
    if end.value is not None:
        outputs.append(_output("execute_result", data={"text/plain": end.value}, execution_count=None))
    if end.raised is not None:
        raised = end.raised
        lines = [*(line.text for line in raised.lines), f"{raised.type}: {raised.text}"]
        outputs.append(_output("error", ename=raised.type, evalue=raised.text, traceback=lines))
    return outputs


def _output(kind: str, **entries: Any) -> Any:
    """An output of a cell. nbformat's `new_output` would validate each one, although writing validates the notebook."""
    import nbformat

    if "data" in entries:
        entries["metadata"] = {}
    return nbformat.from_dict({"output_type": kind, **entries})

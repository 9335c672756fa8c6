"""Judge one case: compare the observation with the expected one and describe every problem, with its location."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from grader.checking.beside import side_by_side
from grader.checking.case import DEFAULT_TOLERANCE, Case, Checks, Observation, Output, Tolerance
from grader.checking.compare import compare, named_outputs
from grader.checking.describe import OBSERVED_WORDS, cut, describe
from grader.checking.drivers import DRIVERS
from grader.checking.gradients import PARTLY
from grader.checking.module_cases import is_of_module
from grader.checking.sizes import agreed
from grader.checking.verdict import CaseResult, Problem
from grader.codec import MAX_LINES, MAX_TEXT, Raised

MAX_WEIGHTS = 3  # weights without a gradient that a message names


def judge(checks: Checks, index: int, observation: Observation, words: bool = True) -> CaseResult:
    """Compare the observation on case `index` with the expected one. Without `words`, the result does not describe the
    call and the returned value.
    """
    case = checks.cases[index]
    expected = checks.expected[index] if checks.expected else None
    if expected is not None and expected.raised is not None:
        problems = problems_of_exception(expected.raised, observation)
    else:
        problems = problems_of_call(observation, expected is not None and expected.result is None)
    if not problems and checks.own is not None:
        seen = agreed(observation, checks.own.largest(case))
        found = [seen] if isinstance(seen, Problem) else checks.own.judge(case, seen)
        problems = [_with_output_name(checks, problem) for problem in found]
        gradients = (_problem_of_gradient(o, observation, len(checks.outputs) > 1) for o in checks.outputs)
        problems = problems or [problem for problem in gradients if problem is not None]
    elif not problems and expected is not None and expected.raised is None:
        problems = problems_of_result(checks, expected, observation)
    problems += _problems_of_inputs(case, observation)
    if not words:
        return CaseResult(case.name, "", "", tuple(problems))
    if expected is not None and any(problem.kind in ("values", "not_finite") for problem in problems):
        problems = _with_values(checks, expected, observation, problems)
    called = _call_text(checks.driver, checks.id, case)
    returned = returned_text(checks.outputs, observation, expected, checks.tolerance, checks.driver)
    return CaseResult(case.name, called, returned, tuple(problems))


@lru_cache(maxsize=2_000)  # several times what a course has: the texts are the same for all students
def _call_text(driver: str, exercise: str, case: Case) -> str:
    return DRIVERS[driver].call_text(exercise, case)


def _with_output_name(checks: Checks, problem: Problem) -> Problem:
    """A problem found by the exercise's own judge. With several outputs, its text begins with the output's name."""
    if len(checks.outputs) == 1 or not problem.output:
        return problem
    return replace(problem, text=f"{problem.output}: {problem.text}")


def problems_of_call(observation: Observation, none_is_expected: bool) -> list[Problem]:
    """The problem of the call itself: it raised an exception, or it returned None although a result is expected."""
    if observation.raised is not None:
        raised = observation.raised
        text = f"{raised.type}: {raised.text}" if raised.text.strip() else raised.type
        return [Problem("raised", text[:MAX_TEXT], lines=tuple(line.text for line in raised.lines[-MAX_LINES:]))]
    if observation.result is None and not none_is_expected:
        return [Problem("none", "a result, but your function returned None. Does it end with `return`?")]
    return []


def problems_of_exception(expected: Raised, observation: Observation) -> list[Problem]:
    """The problem of a call that has to raise an exception: it raised none, one of another type, or one whose text does
    not contain the expected text.
    """
    due = f"a{'n' * (expected.type[0] in 'AEIOU')} {expected.type}"
    name = expected.text.strip("'")  # the text of a KeyError is the `repr` of the key
    if name:
        due += f" that names {name!r}"
    if observation.raised is None:
        got = describe(observation.result)
        return [Problem("judge", f"{due}; your function raised no exception and returned {got}")]
    if observation.raised.type != expected.type:
        problems = problems_of_call(observation, none_is_expected=False)
        return [replace(problem, text=f"{problem.text} (expected: {due})") for problem in problems]
    if name not in observation.raised.text:
        return [Problem("judge", f"{due}; yours says {cut(observation.raised.text)}")]
    return []


def problems_of_result(checks: Checks, expected: Observation, observation: Observation) -> list[Problem]:
    """The problems of the results, at most one for each output. Raises ValueError if the oracle's own result does not
    fit.
    """
    results = named_outputs(checks.outputs, observation.result)
    if isinstance(results, Problem):
        return [results]
    right = named_outputs(checks.outputs, expected.result)
    if isinstance(right, Problem):
        raise ValueError(f"{checks.id}: its oracle's result does not fit its outputs: {right.text}")
    problems = []
    for output in checks.outputs:
        problem = compare(output, right[output.name], results[output.name], checks.tolerance, len(checks.outputs) > 1)
        got = results[output.name]
        if problem is not None and checks.driver == "module" and isinstance(got, str) and got in OBSERVED_WORDS:
            problem = replace(problem, text=f"{output.name} {OBSERVED_WORDS[got][1]}")
        if problem is None:
            problem = _problem_of_gradient(output, observation, len(checks.outputs) > 1)
        if problem is not None:
            problems.append(problem)
    return problems


def _with_values(
    checks: Checks, expected: Observation, observation: Observation, problems: list[Problem]
) -> list[Problem]:
    """The problems, with the numbers of small arrays."""
    right, results = (named_outputs(checks.outputs, each.result) for each in (expected, observation))
    if isinstance(right, Problem) or isinstance(results, Problem):
        return problems
    return [
        replace(each, beside=side_by_side(right[each.output], results[each.output], checks.tolerance))
        if each.output in right
        else each
        for each in problems
    ]


def _problem_of_gradient(output: Output, observation: Observation, named: bool) -> Problem | None:
    """The problem that no gradient reaches some of the weights from this output, or not along every path, or None."""
    unreached = observation.unreached.get(output.name, ())
    where = f"{output.name}: " if named else ""
    if PARTLY in unreached:
        text = (
            f"{where}a gradient reaches every weight, but not along the right paths: is a tensor cut off by `detach`, "
            "`data`, `item`, `numpy` or `no_grad` on the way, for example between two time steps?"
        )
        return Problem("gradient", text, output.name)
    weights = [f"`{name}`" for name in unreached]
    if not weights:
        return None
    shown, more = weights[:MAX_WEIGHTS], len(weights) - MAX_WEIGHTS
    last = [f"{more} more"] if more > 0 else [shown.pop()]
    names = " and ".join(filter(None, (", ".join(shown), *last)))
    text = f"{where}no gradient reaches {names}: is the path cut by `detach`, `data`, `item`, `numpy` or `no_grad`?"
    return Problem("gradient", text, output.name)


def _problems_of_inputs(case: Case, observation: Observation) -> list[Problem]:
    changed = [name for name in case.inputs if name in observation.changed]
    if not changed:
        return []
    if "weights" in changed and is_of_module(case):
        text = "`forward` changes or replaces weights of the module: use what `__init__` creates, and leave it as it is"
        return [Problem("changed", text)]
    names, first = " and ".join(f"`{name}`" for name in changed), changed[0]
    remedy = f"`{first} = {first} + …` makes a new array, `{first} += …` overwrites the old one"
    if isinstance(case.inputs[first], list | dict):
        kind = "dict" if isinstance(case.inputs[first], dict) else "list"
        remedy = f"put what is new into a new {kind}, and write neither into `{first}` nor into anything in it"
    return [Problem("changed", f"your function changes {names}. Leave the inputs as they are: {remedy}")]


def returned_text(
    outputs: tuple[Output, ...],
    observation: Observation,
    expected: Observation | None = None,
    tolerance: Tolerance = DEFAULT_TOLERANCE,
    driver: str = "call",
) -> str:
    """A short description of the returned values: 'h_t float64 (2, 4)'. Empty if the call raised an exception."""
    if observation.raised is not None:
        return ""
    results = named_outputs(outputs, observation.result)
    if isinstance(results, Problem):
        return describe(observation.result)
    right = named_outputs(outputs, expected.result) if expected is not None else {}
    if isinstance(right, Problem):
        right = {}
    words = {name: describe(value, right.get(name), tolerance) for name, value in results.items()}
    if driver == "module":
        words |= {
            n: OBSERVED_WORDS[value][0]
            for n, value in results.items()
            if isinstance(value, str) and value in OBSERVED_WORDS
        }
    if len(results) == 1 and not isinstance(observation.result, np.ndarray):
        return words[outputs[0].name]
    return ", ".join(f"{name} {text}" for name, text in words.items())

"""`grader lint`: check the rules of the course, for one exercise or for all of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import permutations
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from grader.author.course import Course
from grader.author.course_rules import COURSE_RULES
from grader.author.lint_notes import PAGES, RESULTS, WORDS, hashes, read_notes, write_notes
from grader.author.new import placeholders
from grader.author.release import checks_of
from grader.author.shown_solutions import solution_pieces
from grader.cells import cell_source
from grader.checking.case import Case, Checks, Observation
from grader.checking.compare import agree
from grader.checking.diagnose.altered_input import short_name
from grader.checking.drivers import DRIVERS
from grader.checking.evaluate import evaluate, observe
from grader.checking.verdict import Verdict
from grader.imports import skip_iri_grammar
from grader.manifest import Place
from grader.messages import Messages
from grader.released import OUTPUTS
from grader.render.text import verdict_text
from grader.sources import bound_names
from grader.spec.compute import PUBLIC_SEED
from grader.spec.folders import hints_path, mistakes_path, reference_path, spec_path
from grader.spec.load import load_messages, load_spec, reference
from grader.spec.mistake_words import WHY, read_mistake_words
from grader.spec.record import FEW
from grader.spec.spec import Spec

OTHER_SEEDS = (1, 2)  # stand for the hidden cases of some terms; tests use the same, so that they are computed once


@dataclass(frozen=True)
class Subject:
    """One exercise with its spec, messages and checks."""

    course: Course
    place: Place
    seeds: tuple[int, ...] = (PUBLIC_SEED, *OTHER_SEEDS)

    @cached_property
    def spec(self) -> Spec:
        return load_spec(self.course.root, self.place)

    @cached_property
    def messages(self) -> Messages:
        return load_messages(self.course.root, self.place)

    @cached_property
    def checks(self) -> list[Checks]:
        """The checks of each seed; the public ones are preceded by the example."""
        return [checks_of(self.course.root, self.place, seed, self.spec) for seed in self.seeds]

    def verdicts(self, function: Callable[..., Any]) -> list[Verdict]:
        messages = self.messages.mistakes
        return [evaluate(self.place, checks, messages, observe(checks, function)) for checks in self.checks]

    @cached_property
    def verdicts_of_mistakes(self) -> dict[str, list[list[Verdict]]]:
        """Like `verdicts` for each way to make each mistake, without running it again: its results have been recorded.
        A judge of the exercise's own also needs the calls of callable inputs, which are not recorded, and of a torch
        module gradients are recorded only if all values are right.
        """
        mistakes, messages = self.spec.named_mistakes, self.messages.mistakes
        if self.spec.oracle is None or DRIVERS[self.spec.driver].values_only:
            return {name: list(map(self.verdicts, entry.functions)) for name, entry in mistakes.items()}
        return {
            name: [
                [evaluate(self.place, checks, messages, checks.mistakes[name][way]) for checks in self.checks]
                for way in range(len(entry.functions))
            ]
            for name, entry in mistakes.items()
        }


Rule = Callable[[Subject], list[str]]
Finding = tuple[str | None, str, list[str]]  # the name of a rule, its text, and the problems that it finds


def lint_course(
    root: Path, exercise_id: str | None = None, workers: int = 1, again: bool = False
) -> Iterator[tuple[str, list[str]]]:
    """Pairs (the rule, the problems found), one by one. With an id, only that exercise is checked; without one, all
    exercises are, in parallel with `workers` processes. A rule that an exercise has passed is followed again only
    after a change to what it depends on, or if `again`. Raises UnknownIdError.
    """
    course, notes = Course(root), {} if again else read_notes(root)
    places = course.manifest.places if exercise_id is None else {exercise_id: course.manifest.place(exercise_id)}
    now = {
        name: {rule.__name__: found[of] for rule, of in EXERCISE_RULES.items()}
        for name, found in hashes(course, places.values()).items()
    }
    due = {name: [rule for rule, of in now[name].items() if notes.get(name, {}).get(rule) != of] for name in places}
    passed = {name: {rule: of for rule, of in now[name].items() if rule not in due[name]} for name in places}
    try:
        for name, (rule, what, problems) in _findings(course, due, workers):
            if rule is not None and not problems:
                passed[name][rule] = now[name][rule]
            yield f"{name}: {what}", problems
    finally:
        write_notes(root, read_notes(root) | passed)
    if exercise_id is None:
        for course_rule in COURSE_RULES:
            yield f"course: {says(course_rule)}", course_rule(course)


def _findings(course: Course, due: Mapping[str, list[str]], workers: int) -> Iterator[tuple[str, Finding]]:
    """What the rules that are due find, with the exercise's id."""
    to_do = {name: rules for name, rules in due.items() if rules}
    with nullcontext() if workers == 1 or len(to_do) <= FEW else _pool(workers) as pool:
        first = _longest_first(course, to_do)
        ahead = {name: pool.submit(_of_id, course.root, name, to_do[name]) for name in first if pool is not None}
        for name, rules in due.items():
            place = course.manifest.place(name)
            findings = ahead[name].result() if name in ahead else _of_exercise(course, place, rules)
            yield from ((name, finding) for finding in findings)


def _pool(workers: int) -> ProcessPoolExecutor:
    """Processes of their own, because a fork has no copies of PyTorch's threads."""
    return ProcessPoolExecutor(workers, get_context("spawn"), initializer=skip_iri_grammar)


def _longest_first(course: Course, names: Iterable[str]) -> list[str]:
    """So that no process is left alone with a long one at the end. What has many results takes long."""

    def size(name: str) -> int:
        path = course.root / "grader" / "data" / OUTPUTS.format(name)
        return path.stat().st_size if path.is_file() else 0

    return sorted(names, key=size, reverse=True)


def _of_id(root: Path, name: str, rules: list[str]) -> list[Finding]:
    course = _course(root)
    return list(_of_exercise(course, course.manifest.place(name), rules))


_course = cache(Course)  # one per worker


def _of_exercise(course: Course, place: Place, due: Collection[str]) -> Iterator[Finding]:
    subject = Subject(course, place)
    if left := nothing_is_left_to_write(subject):
        yield None, says(nothing_is_left_to_write), left
        return  # what is not written yet cannot be checked
    for rule in EXERCISE_RULES:
        if rule.__name__ in due:
            yield rule.__name__, says(rule), rule(subject)
    if len(due) < len(EXERCISE_RULES):
        yield None, f"Unchanged, so not checked again: {len(EXERCISE_RULES) - len(due)} rules that it has passed", []
    if mistakes_are_named.__name__ in due:
        twins = [short_name(c) for c in subject.checks[0].altered_inputs if len(c.alterations) > 1]
        if twins:  # not a problem: if two inputs are multiplied, no case can tell them apart
            yield None, f"For information, altered inputs that no case tells apart: {'; '.join(twins)}", []


def says(rule: Callable[..., Any]) -> str:
    """The name of a rule: the first line of its docstring."""
    assert rule.__doc__ is not None
    return rule.__doc__.splitlines()[0].rstrip(".")


# Rules for one exercise -----------------------------------------------------------------------------------------------


def nothing_is_left_to_write(subject: Subject) -> list[str]:
    """Nothing is left to write."""
    course, name = subject.course, subject.place.exercise.id
    paths = (reference_path, spec_path, mistakes_path, hints_path)
    files = [path(course.root, subject.place) for path in paths]
    left = [f"{course.where(path)}:{line}: {what}" for path in files for line, what in placeholders(path, name)]
    return left + page_links_to_it(subject) if left else []


def right_ones_pass(subject: Subject) -> list[str]:
    """The reference solution and every alternative pass."""
    functions = {"the reference solution": reference(subject.course.root, subject.place)}
    functions |= {f"alternative {name}": function for name, function in subject.spec.alternatives.items()}
    if len(functions) < 2:
        return ["there is no alternative; write at least one correct solution of another kind"]
    return [
        f"{name} fails:\n{verdict_text(verdict)}"
        for name, function in functions.items()
        for verdict in subject.verdicts(function)
        if not verdict
    ]


def stub_is_not_implemented(subject: Subject) -> list[str]:
    """The stub fails with a plain 'not implemented yet'."""
    name = subject.place.exercise.id
    notebook = subject.course.notebooks[name].student
    source = cell_source(notebook, name)
    namespace = imported(notebook, source)
    exec(source, namespace)
    (verdict, *_) = subject.verdicts(namespace[name])
    if verdict.status == "unimplemented":
        return []
    return [f"the stub's verdict is {verdict.status!r}:\n{verdict_text(verdict)}"]


def imported(notebook: Any, source: str) -> dict[str, Any]:
    """The names that the notebook imports and this source of a cell uses."""
    names = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    namespace: dict[str, Any] = {}
    for text in (cell.source for cell in notebook.cells if cell.cell_type == "code" and "import" in cell.source):
        with suppress(SyntaxError):  # a cell with a magic is not Python
            for statement in ast.parse(text).body:
                if isinstance(statement, ast.Import | ast.ImportFrom) and names & bound_names(statement):
                    exec(compile(ast.Module([statement], []), "<imports>", "exec"), namespace)
    return namespace


def mistakes_are_named(subject: Subject) -> list[str]:
    """Each way of every mistake fails, is named, and earns the points that its author gives."""
    shares = {facet.name: facet.share for facet in subject.spec.facets}
    twins = _twins(subject)
    problems: list[str] = []
    for name, entry in subject.spec.named_mistakes.items():
        share = sum(shares[kept] for kept in entry.keeps) / sum(shares.values())
        for number, verdicts in enumerate(subject.verdicts_of_mistakes[name], 1):
            way = f"{name}, way {number}"
            problems += _problems_of_way(name, way, verdicts, subject.place.exercise.points * share, twins.get(name))
    return problems


def _problems_of_way(name: str, way: str, verdicts: Sequence[Verdict], due: float, twin: str | None) -> Iterator[str]:
    """What is wrong with the verdicts on a way to make a mistake, one for each seed. `due` are the points to be earned;
    `twin` is a mistake that gives the same, if there is one.
    """
    for verdict in verdicts:
        found = verdict.diagnosis.id if verdict.diagnosis else None
        if found != name and twin is not None:
            yield f"{way}, gives the same as {twin!r} on every case: merge them"
            return
        if verdict:
            yield (
                f"{way}, is right on every case, of which there are {len(verdict.cases)}: "
                "add a case that it gets wrong, or remove it, because it is no mistake"
            )
            return
        if found != name:
            yield f"{way}, is diagnosed as {found!r}:\n{verdict_text(verdict)}"
        elif not abs(verdict.earned - due) < 1e-9:
            yield f"{way}, earns {verdict.earned:g}, but by its `keeps` it should earn {due:g}"


def _twins(subject: Subject) -> dict[str, str]:
    """Pairs of mistakes of which two ways give the same on all public cases."""
    public = subject.checks[0]
    ways = [(name, way) for name, ways in public.mistakes.items() for way in ways]
    return {a: b for (a, one), (b, other) in permutations(ways, 2) if a != b and _give_the_same(public, one, other)}


def _give_the_same(checks: Checks, one: Sequence[Observation], other: Sequence[Observation]) -> bool:
    outputs = tuple(output.name for output in checks.outputs)
    return all(
        (mine.changed, mine.unreached) == (theirs.changed, theirs.unreached) and agree(mine, theirs, outputs, checks)
        for mine, theirs in zip(one, other, strict=True)
    )


def why_is_told(subject: Subject) -> list[str]:
    """The file of mistakes says why the solution works, for the self-study edition."""
    path = mistakes_path(subject.course.root, subject.place)
    if read_mistake_words(path).why:
        return []
    return [f"{subject.course.where(path)}: there is no text below '# {WHY}'; say in a few sentences why it works"]


def messages_do_not_shout(subject: Subject) -> list[str]:
    """No message has an exclamation mark."""
    found = read_mistake_words(mistakes_path(subject.course.root, subject.place))
    told = {**found.messages, **{f"{name}, after '>'": text for name, text in found.tempts.items()}}
    return [f"{name}: {text}" for name, text in told.items() if "!" in re.sub("`.*?`", "", text)]


def reports_are_well_formed(subject: Subject) -> list[str]:
    """Every report on a mistake says what was called, came back and is expected and where to go on, in 24 lines."""
    problems = []
    for name, ways in subject.verdicts_of_mistakes.items():
        for number, (verdict, *_) in enumerate(ways, 1):
            if verdict:
                continue  # `mistakes_are_named` says so
            text = verdict_text(verdict)
            labels = [line[2:17].strip() for line in text.splitlines() if line[:2] == "  " and line[2:3].strip()]
            missing = [what for what, any_of in _PARTS.items() if not {*any_of} & {*labels}]
            missing += ["24 lines at most"] if len(text.splitlines()) > 24 else []
            problems += [f"{name}, way {number}, lacks {what}:\n{text}" for what in missing]
    return problems


_PARTS = {
    "what was called": ("called",),
    "what came back": ("you returned", "stopped with"),
    "what is expected": (
        "differs in",
        "shape",
        "dtype",
        "expected",
        "not finite",
        "gradient",
        "changed input",
        "stopped with",
    ),
    "where to go on": ("next",),
}


def cases_are_telling(subject: Subject) -> list[str]:
    """The cases reveal mistakes: a tiny one first, sizes of 1, all sizes different, nothing symmetric or even."""
    public, *others = subject.checks
    problems = [f"the example's {name} has more than two decimals" for name in _long_decimals(public.cases[0])]
    for checks in (public, *others):
        generated = checks.cases[1:] if checks is public else checks.cases
        if not any(len(set(c.sizes.values())) == len(c.sizes) for c in generated):
            problems.append("no case has all its sizes different")
        for symbol in generated[0].sizes:
            if not any(c.sizes.get(symbol) == 1 for c in generated):
                problems.append(f"no case has {symbol} = 1")
        for case in generated:
            problems += [f"case {case.name!r}: {name} {what}" for name, what in _telltale_inputs(case)]
    facets = {facet.name: facet for facet in public.facets}
    problems += [
        f"no case belongs to the facet {name!r}"
        for name, facet in facets.items()
        if not any(facet.covers(case, None) for case in public.cases)
    ]
    problems += [
        f"case {case.name!r}: no facet covers the output {output.name!r}, so a mistake there would cost no points"
        for case in public.cases
        for output in public.outputs
        if not any(facet.covers(case, output.name) for facet in public.facets)
    ]
    return sorted(set(problems))


def _long_decimals(case: Case) -> list[str]:
    floats = {k: v for k, v in case.inputs.items() if isinstance(v, np.ndarray) and v.dtype.kind == "f"}
    return [name for name, value in floats.items() if not np.array_equal(value, np.round(value, 2))]


def _telltale_inputs(case: Case) -> Iterator[tuple[str, str]]:
    for name, value in case.inputs.items():
        if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
            continue
        if value.dtype != np.float64:
            yield name, f"is {value.dtype}; inputs are float64"
        if not value.any():
            continue  # zeros are there on purpose
        if value.ndim == 2 and value.shape[0] == value.shape[1] > 1 and np.array_equal(value, value.T):
            yield name, "is symmetric, so a transposed matrix would not be noticed"
        steps = np.diff(value.ravel())
        if value.size > 2 and np.allclose(steps, steps[0], atol=1e-8 * np.abs(value).max()):
            yield name, "is evenly spaced; use random numbers"


def page_links_to_it(subject: Subject) -> list[str]:
    """The book page exists, has the manifest's title, and links to the exercise."""
    path = subject.course.root / f"{subject.place.page_path}.md"
    text = subject.course.pages.get(path)
    if text is None:
        return [f"{subject.course.where(path)} is missing"]
    problems = []
    title = subject.place.chapter.pages[subject.place.exercise.page]
    heading = re.search(r"^# +(.+?) *$", text, re.MULTILINE)
    if heading is None or heading[1] != title:
        problems.append(f"{subject.course.where(path)}: its heading is not {title!r}, as course.toml says")
    if not re.search(rf"\{{exercise-link\}} +{subject.place.exercise.id}\b", text):
        problems.append(f"{subject.course.where(path)}: has no {{exercise-link}} {subject.place.exercise.id}")
    return problems


def solution_is_not_shown(subject: Subject) -> list[str]:
    """No code block of a hint or page contains a statement of the solution."""
    course, name = subject.course, subject.place.exercise.id
    own = course.root / "solutions" / subject.place.chapter.id
    found = [
        (course.where(path), line, source)
        for piece in solution_pieces(cell_source(course.notebooks[name].instructor, name))
        for path, line, source in course.shown.get(piece, ())
        if path in course.pages or path.is_relative_to(own)
    ]
    return [f"{path}:{line}: shows `{source}`" for path, line, source in sorted(found)]


# Each rule, with what it depends on.
EXERCISE_RULES: dict[Rule, str] = {
    right_ones_pass: RESULTS,
    stub_is_not_implemented: RESULTS,
    mistakes_are_named: RESULTS,
    reports_are_well_formed: RESULTS,
    why_is_told: WORDS,
    messages_do_not_shout: WORDS,
    cases_are_telling: RESULTS,
    page_links_to_it: PAGES,
    solution_is_not_shown: PAGES,
}

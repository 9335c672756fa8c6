"""Write a demo class: submissions made of right solutions, alternatives, mistakes and broken notebooks, with the
score that each should get.
"""

from __future__ import annotations

import ast
import copy
import hashlib
import inspect
import json
import random
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from grader.author.notebooks import student_notebooks
from grader.cells import check_id, grade_id, notebook_bytes
from grader.checking.drivers import drive
from grader.errors import ExpectedError
from grader.files import private_folder, update_with_files, write_whole
from grader.manifest import Chapter, Exercise, Place, load_manifest
from grader.released import read_fixtures
from grader.sources import PACKAGE, bound_names, package_sources, with_imports
from grader.spec.changes import sources
from grader.spec.folders import fixtures_path
from grader.spec.record import load_spec, reference
from grader.spec.spec import Spec

PLANTED = "planted.json"
MADE = "made.json"  # hashes of what the class was made from, and of the class
# the contents of a demo class's folder
OURS = ("submitted", "autograded", "results", "feedback", "reports", "hidden", "gradebook.db", PLANTED, MADE)


class DemoError(ExpectedError):
    """The demo class cannot be written or compared; the message says why and what to do."""


@dataclass(frozen=True)
class Work:
    """The cell of one exercise, what it is, and the expected result. `code` is the cell's source or a function that
    makes it, or None if the stub is left. `diagnosis` is None if any is accepted.
    """

    what: str
    code: str | Callable[[], str] | None
    points: float
    status: str
    diagnosis: str | None = None

    @cached_property
    def source(self) -> str | None:
        """The source of the cell; None if the stub is left."""
        return self.code() if callable(self.code) else self.code

    @property
    def form(self) -> str:
        """What it is, without the name of the alternative or the mistake."""
        return next((form for form in (ALTERNATIVE, MISTAKE) if self.what.startswith(f"{form} ")), self.what)


STUDENTS = 14  # enough for every form of work and every breakage in every chapter
ALTERNATIVE, MISTAKE, ENDLESS = "alternative", "mistake", "runs forever"
# Slips that do not depend on the exercise: each changes a right result or replaces it.
_SLIPS: dict[str, tuple[str, str]] = {
    "returns None": ("result", "failed"),
    "returns a list": ("return result.tolist()", "failed"),
    "returns NaN": ("return result * np.nan", "failed"),
    "one axis too many": ("return result[None]", "failed"),
    "float32": ("return result.astype(np.float32)", "failed"),
    "changes its input": ("{array} += 1\nreturn result", "failed"),
    "raises SystemExit": ("raise SystemExit(0)", "error"),
    "raises an exception": ("raise RuntimeError('not my day')", "error"),
    ENDLESS: ("while True:\n    pass", "timeout"),
    "ends the process": ("import os\nos._exit(0)", "error"),
    "prints a megabyte": ("print('x' * 1_000_000)\nreturn result", "passed"),
}
_DIAGNOSES = {"float32": "float32"}


def _break_nothing(notebook: Any, exercises: list[str]) -> bytes:
    return notebook_bytes(notebook)


def _not_json(notebook: Any, exercises: list[str]) -> bytes:
    return b"PK\x03\x04 this is no notebook"


def _another_assignment(notebook: Any, exercises: list[str]) -> bytes:
    other = copy.deepcopy(notebook)
    for cell in other.cells:
        cell.metadata.pop("nbgrader", None)
        for name in exercises:
            cell.source = cell.source.replace(name, f"other_{name}")
    return notebook_bytes(other)


def _check_cells_edited(notebook: Any, exercises: list[str]) -> bytes:
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade"):
            cell.source = "2.0"
    return notebook_bytes(notebook)


def _check_cells_deleted(notebook: Any, exercises: list[str]) -> bytes:
    notebook.cells = [cell for cell in notebook.cells if not cell.metadata.get("nbgrader", {}).get("grade")]
    return notebook_bytes(notebook)


def _metadata_lost(notebook: Any, exercises: list[str]) -> bytes:
    for cell in notebook.cells:
        cell.metadata.pop("nbgrader", None)
    return notebook_bytes(notebook)


def _cell_deleted(notebook: Any, exercises: list[str]) -> bytes:
    notebook.cells = [c for c in notebook.cells if grade_id(c) != exercises[-1]]
    return notebook_bytes(notebook)


def _syntax_error(notebook: Any, exercises: list[str]) -> bytes:
    for cell in notebook.cells:
        if grade_id(cell) == exercises[0]:
            cell.source = cell.source.replace("):", ")", 1)
    return notebook_bytes(notebook)


# Ways to break a right notebook, and which exercises still get points: 'all', 'none', 'not first', 'not last'.
BREAKAGES: dict[str, tuple[Callable[[Any, list[str]], bytes], str]] = {
    "not JSON": (_not_json, "none"),
    "another assignment": (_another_assignment, "none"),
    "check cells edited": (_check_cells_edited, "all"),
    "check cells deleted": (_check_cells_deleted, "all"),
    "metadata lost": (_metadata_lost, "all"),
    "last exercise's cell deleted": (_cell_deleted, "not last"),
    "syntax error in the first": (_syntax_error, "not first"),
}


def demo_class(root: Path, out: Path, chapter_id: str | None, students: int, seed: int) -> dict[str, dict[str, Any]]:
    """Write `OUT/submitted/STUDENT/CHAPTER/…` and `OUT/planted.json` for a chapter, or for all if None; return the
    expected results by student and exercise.

    The same numbers give the same class. If OUT contains the same demo class already, it is kept with its results, so
    that it need not be graded again; a different demo class is deleted. A folder with anything else is refused with
    DemoError.
    """
    if students < 1:
        raise DemoError(f"a class needs at least one student, not {students}")
    _refuse_what_is_no_demo(out)
    manifest = load_manifest(root / "course.toml")
    chapters = manifest.chapters if chapter_id is None else [manifest.chapter(chapter_id)]
    made_from = _made_from(root, [chapter.id for chapter in chapters], students, seed)
    if _is_there(out, made_from):
        return read_planted(out)
    names = [f"student{number + 1:0{len(str(students))}d}" for number in range(students)]
    planted: dict[str, dict[str, Any]] = {student: {} for student in names}
    files: dict[Path, bytes] = {}
    for chapter in chapters:
        rng = random.Random(f"{chapter.id} {seed}")
        releases = student_notebooks(root, manifest, chapter)
        works = _with_one_endless(releases, {e.id: _works(root, manifest.place(e.id)) for e in chapter.exercises})
        decks = _decks(rng, works)
        breakages = _shuffled(rng, list(BREAKAGES))
        for number, student in enumerate(names):
            broken = next(breakages) if is_broken(number) else None
            submitted, expected = _student(chapter, releases, works, decks, broken)
            planted[student] |= expected
            folder = Path("submitted", student, chapter.id)
            files |= {folder / f"{name}.ipynb": content for name, content in submitted.items()}
    files[Path(PLANTED)] = (json.dumps(planted, indent=1) + "\n").encode()
    if _contents(out) != files:
        _replace(out, files)
    write_whole(out / MADE, json.dumps([made_from, _digest_of(out)]).encode())
    return planted


def _made_from(root: Path, chapters: list[str], students: int, seed: int) -> str:
    """A hash of everything that a demo class is made from."""
    digest = hashlib.sha256(repr((chapters, students, seed)).encode())
    for package in ("jupytext", "nbformat", "nbgrader", "numpy"):
        digest.update(f"{package} {version(package)} ".encode())
    modules = (path for chapter in chapters for path in (root / "solutions" / chapter).rglob("*.py"))
    update_with_files(digest, root, with_imports(root, [root / "course.toml", *modules]))
    update_with_files(digest, PACKAGE, package_sources("author/demo_class.py"))
    return digest.hexdigest()


def _is_there(out: Path, made_from: str) -> bool:
    """Whether OUT contains the class that would be made from the same, unchanged."""
    try:
        return bool(json.loads((out / MADE).read_text("utf-8")) == [made_from, _digest_of(out)])
    except (OSError, ValueError):
        return False


def _digest_of(out: Path) -> str:
    digest = hashlib.sha256()
    update_with_files(digest, out, _files_of(out))
    return digest.hexdigest()


def _contents(out: Path) -> dict[Path, bytes]:
    """The submissions and expected results in OUT."""
    return {path.relative_to(out): path.read_bytes() for path in _files_of(out)}


def _files_of(out: Path) -> list[Path]:
    return [path for path in [out / PLANTED, *(out / "submitted").rglob("*")] if path.is_file()]


def _replace(out: Path, files: dict[Path, bytes]) -> None:
    for name in OURS:
        if (out / name).is_dir():
            shutil.rmtree(out / name)
        else:
            (out / name).unlink(missing_ok=True)
    private_folder(out)
    for path, content in files.items():
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        (out / path).write_bytes(content)


def _refuse_what_is_no_demo(out: Path) -> None:
    """Refuse to replace anything but another demo class, such as a term's seed, gradebook or submissions."""
    if not out.exists():
        return
    if not out.is_dir():
        raise DemoError(f"{out} is a file; choose another folder with --out")
    found = {path.name for path in out.iterdir()}
    strange = found - set(OURS) if PLANTED in found else found
    if strange:
        raise DemoError(
            f"{out} contains {sorted(strange)[0]!r}, which is not of a demo class; choose another with --out"
        )
    if found:
        planted = set(read_planted(out))
        others = [path.name for path in sorted((out / "submitted").glob("*")) if path.name not in planted]
        if others:
            raise DemoError(
                f"{out}/submitted contains {others[0]!r}, who is not in the demo class; choose another with --out"
            )


def read_planted(out: Path) -> dict[str, Any]:
    """The expected results of each student of a demo class. Raises DemoError if there is none."""
    try:
        planted = json.loads((out / PLANTED).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise DemoError(f"{out} contains no demo class: {out / PLANTED} cannot be read. Write one first.") from error
    if not isinstance(planted, dict):
        raise DemoError(f"{out / PLANTED} is not the file of a demo class. Delete {out} and write the class again.")
    return planted


def _student(
    chapter: Chapter,
    releases: dict[str, Any],
    works: dict[str, list[Work]],
    decks: dict[str, Iterator[Work]],
    broken: str | None,
) -> tuple[dict[str, bytes], dict[str, Any]]:
    """A student's notebooks by name, and the expected results. With broken notebooks there is no capstone, which would
    take most of the time.
    """
    submitted: dict[str, bytes] = {}
    planted: dict[str, Any] = {}
    for notebook in chapter.notebooks:
        if broken and not notebook.exercises:
            continue
        content = copy.deepcopy(releases[notebook.name])
        exercises = [exercise.id for exercise in notebook.exercises]
        questions = {question.id for question in notebook.questions}
        chosen = {name: works[name][0] if broken else next(decks[name]) for name in exercises}
        for cell in content.cells:
            name = grade_id(cell)
            if name in chosen and chosen[name].source is not None:
                cell.source = chosen[name].source
            elif name in questions and not broken:
                cell.source = "The state carries what was read, and the softmax says what may follow."
        change, scoring = BREAKAGES[broken] if broken else (_break_nothing, "all")
        submitted[notebook.name] = change(content, exercises)
        for index, (name, exercise) in enumerate(zip(exercises, notebook.exercises, strict=True)):
            kept = {
                "all": True,
                "none": False,
                "not first": index > 0,
                "not last": index < len(exercises) - 1,
            }[scoring]
            work = chosen[name]
            # slips are diagnosed by patterns, which are tried only if what the exercise builds on is right
            outdone = work.what in _SLIPS and any(planted[needed]["status"] != "passed" for needed in exercise.needs)
            planted[name] = {
                "what": broken or work.what,
                "points": work.points if kept else 0.0,
                "status": work.status if kept else None,
                "diagnosis": work.diagnosis if kept and not outdone else None,
            }
    return submitted, planted


def is_broken(number: int) -> bool:
    """Whether the notebooks of this student are broken: every second of the first, until each breakage was shown, and
    every fourth of the others.
    """
    return number % 4 == 3 or (number % 2 == 1 and number < 2 * len(BREAKAGES))


def _with_one_endless(releases: dict[str, Any], works: dict[str, list[Work]]) -> dict[str, list[Work]]:
    """Keep only one endless loop, because each cell that calls it takes up its whole time limit: that of the exercise
    that the fewest cells mention.
    """
    sources = [cell.source for notebook in releases.values() for cell in notebook.cells if cell.cell_type == "code"]
    able = [name for name, found in works.items() if any(work.what == ENDLESS for work in found)]
    one = min(able, key=lambda name: sum(bool(re.search(rf"\b{name}\b", each)) for each in sources), default=None)
    return {name: [w for w in found if w.what != ENDLESS or name == one] for name, found in works.items()}


def _decks(rng: random.Random, works: dict[str, list[Work]]) -> dict[str, Iterator[Work]]:
    """For each exercise, work for one student after another.

    The first students who submit whole notebooks show every form of work in the chapter, each on the exercise with
    the fewest so far, and different mistakes on the rest. Everything else comes after. The endless loop comes once and
    first, so that grading does not wait for it at the end.
    """
    first: dict[str, list[Work]] = {name: [] for name in works}
    able: dict[str, list[str]] = {}
    for name, found in works.items():
        for form in dict.fromkeys(work.form for work in found if work.form != MISTAKE):
            able.setdefault(form, []).append(name)
    for form in sorted(able, key=lambda form: len(able[form])):
        name = min(able[form], key=lambda name: len(first[name]))
        first[name].append(rng.choice([work for work in works[name] if work.form == form]))
    return {name: _dealt(rng, found, first[name]) for name, found in works.items()}


def _dealt(rng: random.Random, works: list[Work], first: list[Work]) -> Iterator[Work]:
    """These first, with mistakes among them that are all different; then the others; then all in another order."""
    ways: dict[str | None, list[Work]] = {}
    for work in works:
        if work.form == MISTAKE:
            ways.setdefault(work.diagnosis, []).append(work)
    free = sum(not is_broken(number) for number in range(STUDENTS)) - len(first)
    shown = first + [rng.choice(ways[name]) for name in rng.sample([*ways], min(len(ways), max(0, free)))]
    endless = [work for work in works if work.what == ENDLESS]
    rest = [work for work in works if work not in shown and work not in endless]
    yield from endless
    yield from rng.sample([work for work in shown if work not in endless], len(shown) - len(endless))
    yield from rng.sample(rest, len(rest))
    yield from _shuffled(rng, [work for work in works if work not in endless])


def _shuffled(rng: random.Random, items: list[Any]) -> Iterator[Any]:
    """All items in random order, repeatedly, so that a large enough class contains every one."""
    while True:
        yield from rng.sample(items, len(items))


def _works(root: Path, place: Place) -> list[Work]:
    """All known work on one exercise; the first is right and does not depend on other cells."""
    spec, exercise = load_spec(root, place), place.exercise
    points = float(exercise.points)
    right = [
        Work(f"{ALTERNATIVE} {name}", partial(standalone, function, exercise.id), points, "passed")
        for name, function in spec.alternatives.items()
    ]
    if not exercise.needs:
        right.append(Work("reference", partial(standalone, reference(root, place), exercise.id), points, "passed"))
    wrong = [
        Work(
            f"{MISTAKE} {name}" + (f" {number}" if len(entry.functions) > 1 else ""),
            partial(standalone, function, exercise.id),
            _kept(spec, entry.keeps, points),
            "",
            name,
        )
        for name, entry in spec.named_mistakes.items()
        for number, function in enumerate(entry.functions, 1)
    ]
    builders = read_fixtures(fixtures_path(root, place.chapter))
    broken = list(slips(right[0].source or "", exercise, spec, builders))
    if not broken and inspect.isfunction(next(iter(spec.alternatives.values()), None)):
        broken = [Work(ENDLESS, f"def {exercise.id}(*_, **__):\n    while True:\n        pass\n", 0.0, "timeout")]
    return [*right, Work("stub", None, 0.0, "unimplemented"), *wrong, *broken]


def _kept(spec: Spec, keeps: tuple[str, ...], points: float) -> float:
    return points * sum(f.share for f in spec.facets if f.name in keeps) / sum(f.share for f in spec.facets)


def slips(right: str, exercise: Exercise, spec: Spec, fixtures: str = "") -> Iterator[Work]:
    """Slips added to a right solution, for functions that return one array."""
    if len(spec.outputs) != 1 or not spec.outputs[0].axes:
        return
    due = drive(spec.driver, next(iter(spec.alternatives.values()), None), spec.example, fixtures).result
    definition = ast.parse(right).body[-1]
    if not isinstance(due, np.ndarray) or not isinstance(definition, ast.FunctionDef):
        return
    names = [argument.arg for argument in definition.args.args]
    inputs = spec.example.inputs.items()
    array = next((n for n, value in inputs if isinstance(value, np.ndarray) and value.dtype.kind in "fi"), None)
    source = _renamed(right, {exercise.id: f"right_{exercise.id}"})
    for what, (lines, status) in _SLIPS.items():
        if array is None and "{array}" in lines:
            continue
        body = textwrap.indent(lines.format(array=array), "    ")
        call = f"right_{exercise.id}({', '.join(names)})"
        text = f"{source}\n\n\ndef {exercise.id}({ast.unparse(definition.args)}):\n    result = {call}\n{body}\n"
        points = float(exercise.points) if status == "passed" else 0.0
        yield Work(what, text, points, status, _DIAGNOSES.get(what) if due.dtype.kind == "f" else None)
    yield Work("wrong arity", f"def {exercise.id}({names[0]}, another):\n    return {names[0]}\n", 0.0, "error")


def standalone(thing: Any, name: str) -> str:
    """The source of a function or class under another name, without its decorators, preceded by what it uses from its
    module. These helpers get names of their own, because the notebook's cell for the same exercise may be wrong.
    """
    own, (module, code) = thing.__name__, sources(thing)
    defined = _definitions(module) | _definitions(code)  # a changed one is not what its module holds
    needed, wanted = {own}, [own]
    while wanted:
        new = (_free_names(defined[wanted.pop()]) & defined.keys()) - needed
        needed |= new
        wanted += new
    order = [d for n, d in defined.items() if n in needed and n != own] + [defined[own]]
    helpers = [helper for helper in needed - {own} if isinstance(defined[helper], ast.FunctionDef)]
    names = {helper: f"_{helper.lstrip('_')}" for helper in helpers} | {own: name}
    return _renamed("\n\n\n".join(map(ast.unparse, dict.fromkeys(order))), names)


def _free_names(statement: ast.stmt) -> set[str]:
    """The names that a statement reads but does not bind itself."""
    names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
    bound = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in ast.walk(statement) if isinstance(node, ast.arg)}
    return {node.id for node in names} - bound


@cache
def _definitions(source: str) -> dict[str, ast.stmt]:
    """A module's functions and classes without their decorators, its constants, and what it imports from Python's own
    library, by name. A notebook imports the other libraries itself.
    """
    found: dict[str, ast.stmt] = {}
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            statement.decorator_list = []
            found[statement.name] = statement
        elif isinstance(statement, ast.Assign):
            names = [node.id for target in statement.targets for node in ast.walk(target) if isinstance(node, ast.Name)]
            found |= dict.fromkeys(names, statement)
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            library = statement.module if isinstance(statement, ast.ImportFrom) else statement.names[0].name
            if library and library.partition(".")[0] in sys.stdlib_module_names:
                found |= dict.fromkeys(bound_names(statement), statement)
    return found


def _renamed(source: str, names: dict[str, str]) -> str:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            node.name = names.get(node.name, node.name)
        elif isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
    return ast.unparse(tree)


def differences(root: Path, out: Path) -> list[str]:
    """A line for each score in the gradebook and each verdict that differs from the expected one."""
    from grader.gradebook import gradebook_url, open_gradebook

    planted = read_planted(out)
    manifest = load_manifest(root / "course.toml")
    chapters = {name: manifest.place(name).chapter.id for exercises in planted.values() for name in exercises}
    if not (out / "gradebook.db").is_file():
        first = next(iter(chapters.values()))
        raise DemoError(f"{out} has no gradebook. Run  grader autograde {first} --term {out}  first.")
    found: list[str] = []
    with open_gradebook(gradebook_url(out)) as gradebook:
        for student, exercises in planted.items():
            for chapter in dict.fromkeys(chapters[name] for name in exercises):
                due = {name: entry for name, entry in exercises.items() if chapters[name] == chapter}
                found += _differences(gradebook, out, chapter, student, due)
    return found


def _differences(gradebook: Any, out: Path, chapter: str, student: str, exercises: dict[str, Any]) -> Iterator[str]:
    from grader.grading import store
    from grader.imports import nbgrader_tables

    stored = store.read(out, chapter, student)
    try:
        submission = gradebook.find_submission(chapter, student)
    except nbgrader_tables().MissingEntry:
        submission = None
    if stored is None or submission is None:
        yield f"{student}: {chapter} is not {'in the gradebook' if stored else 'graded'}"
        return
    scores = {grade.name: grade.score for notebook in submission.notebooks for grade in notebook.grades}
    for name, due in exercises.items():
        verdict = stored.graded.by_exercise[name]
        cause = verdict.diagnosis.id if verdict.diagnosis else None
        score = scores.get(check_id(name))
        expected = f"{student} {name} ({due['what']}): expected"
        if score is None or abs(score - due["points"]) > 1e-9:
            yield f"{expected} {due['points']:g} points, but the gradebook has {score}"
        if due["status"] and verdict.status != due["status"]:
            yield f"{expected} the status {due['status']!r}, but it is {verdict.status!r}"
        if due["diagnosis"] and cause != due["diagnosis"]:
            yield f"{expected} the likely cause {due['diagnosis']!r}, but it is {cause!r}"

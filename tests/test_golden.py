"""Golden transcripts: `golden/ID.md` lists all known mistakes in an exercise, and exactly what the checks
report: each mistake of its spec in each way to make it, and the slips of `golden/slips.py`.

After a change of wording, write them again, and read the differences as a student would:

    UPDATE_GOLDEN=1 pytest tests/test_golden.py && git diff tests/golden
"""

import difflib
import inspect
import linecache
import os
import re
import textwrap
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FunctionType

import pytest

import grader.student
from grader.author.changes import Change, define
from grader.author.course import Course
from grader.author.demo_class import ENDLESS, slips, standalone
from grader.author.lint import imported
from grader.author.record import fixtures_path, reference, reference_code, reference_module
from grader.cells import cell_source
from grader.released import read_fixtures
from tests.conftest import ROOT, exercise
from tests.golden.slips import NOTEBOOKS, SLIPS

GOLDEN = Path(__file__).parent / "golden"
COURSE = Course(ROOT)
PLACES = COURSE.manifest.places

# Reports of each form: values, shapes, exceptions, missing names, time, strings, modules, pictures. `make test` looks
# at these, `make system` at all.
FORMS = {"rnn_step", "rnn_forward", "generate", "bleu", "CharLM", "orthogonal_init", "train_char_rnn", "pad_batch"}
NAMES = [name if name in FORMS else pytest.param(name, marks=pytest.mark.system) for name in PLACES]
# The slips that any exercise may have are shown where they read differently: an array, several results, ids.
SHOW_COMMON_SLIPS = ("rnn_step", "rnn_forward", "generate")


@dataclass(frozen=True)
class Part:
    """One heading of a transcript: `cells` are run in order, each exercise that they define is checked at the end;
    `diagnosis` is the name that the last one's report must give.
    """

    title: str
    cells: tuple[str, ...]
    told: str = ""
    shown: str = ""
    diagnosis: str | None = None
    level: int = 3


def parts(name: str) -> Iterator[Part]:
    spec, place = exercise(name).spec, PLACES[name]
    yield Part("Right work", (standalone(reference(ROOT, place), name),), level=2)
    yield Part("The stub", (stub(name),), level=2)
    yield Part("Mistakes", (), level=2)
    for entry in spec.misconceptions.values():
        for number, (way, function) in enumerate(zip(entry.ways, entry.variants, strict=True), 1):
            told = f"Why it tempts: {entry.tempts}"
            told += f"\nStill earned: {', '.join(entry.keeps)}." if entry.keeps else ""
            yield Part(
                f"{entry.id}, way {number}" if number > 1 else entry.id,
                (standalone(function, name),),
                told if number == 1 else "",
                difference(name, way) if isinstance(way, Change) else python(source(function)),
                entry.id,
            )
    yield Part("Slips", (), level=2)
    for title, slip in SLIPS.get(name, {}).items():
        if isinstance(slip, Change):
            yield Part(title.replace("_", " "), (changed_cell(name, slip),), shown=difference(name, slip))
        else:
            yield Part(title.replace("_", " "), (slip,), shown=python(slip))
    if name in SHOW_COMMON_SLIPS:
        for work in common_slips(name):
            yield Part(work.what, (work.source or "",))
    for title, notebook in NOTEBOOKS.items():
        if list(notebook)[-1] == name:
            shown = "\n".join(
                difference(each, work) if work else f"`{each}` is {'right' if work is None else 'not written'}.\n"
                for each, work in notebook.items()
            )
            yield Part(title.replace("_", " "), tuple(written(notebook)), shown=shown)


def stub(name: str) -> str:
    return cell_source(COURSE.notebooks[name].student, name)


def changed_cell(name: str, change: Change) -> str:
    place = PLACES[name]
    code = change.apply(reference_code(ROOT, place))
    made = define(name, code, reference_module(ROOT, place), f"golden {name}")
    return standalone(made, name) if isinstance(made, FunctionType | type) and made.__name__ == name else code


def written(notebook: dict[str, Change | str | None]) -> Iterator[str]:
    for name, work in notebook.items():
        code = reference_code(ROOT, PLACES[name])
        yield work.apply(code) if isinstance(work, Change) else code if work is None else stub(name)


def common_slips(name: str) -> list:
    place = PLACES[name]
    builders = read_fixtures(fixtures_path(ROOT, place.chapter))
    found = slips(standalone(reference(ROOT, place), name), place.exercise, exercise(name).spec, builders)
    return [work for work in found if work.what not in (ENDLESS, "ends the process")]


def source(function: object) -> str:
    lines = textwrap.dedent(inspect.getsource(function)).splitlines(keepends=True)
    return "".join(lines[next(i for i, line in enumerate(lines) if line.startswith(("def ", "class "))) :])


def python(code: str) -> str:
    return f"```python\n{code.rstrip()}\n```\n"


def difference(name: str, change: Change) -> str:
    code = reference_code(ROOT, PLACES[name])
    lines = list(difflib.unified_diff(code.splitlines(), change.apply(code).splitlines(), n=0, lineterm=""))[2:]
    return "```diff\n" + "\n".join("" if line.startswith("@@") else line for line in lines[1:]) + "\n```\n"


def reports(name: str, part: Part) -> list:
    """What a notebook with these cells is told: of each exercise that it defines, in the course's order."""
    grader.student._latest.clear()
    namespace = imported(COURSE.notebooks[name].student, "\n".join(part.cells))
    for number, cell in enumerate(part.cells):
        file = f"<golden {name}, {part.title} {number}>"
        linecache.cache[file] = (len(cell), None, cell.splitlines(keepends=True), file)
        exec(compile(cell, file, "exec"), namespace)
    with warnings.catch_warnings():  # as in a notebook, a warning is no error
        warnings.simplefilter("ignore")
        return [grader.student.check(each, namespace[each]) for each in PLACES if each in namespace]


@cache
def answered(name: str) -> tuple:
    return tuple((part, reports(name, part)) for part in parts(name))


REWORDED = {"min() iterable argument is empty": "min() arg is an empty sequence"}  # since Python 3.12: before


def transcript(name: str) -> str:
    text = [f"# {name}\n", "Generated: `UPDATE_GOLDEN=1 pytest tests/test_golden.py`.\n"]
    for part, found in answered(name):
        text.append(f"{'#' * part.level} {part.title}\n")
        text += [f"{words.rstrip()}\n" for words in (part.told, part.shown) if words]
        text += [f"```text\n{report!r}\n```\n" for report in found]
    return re.sub("|".join(map(re.escape, REWORDED)), lambda found: REWORDED[found[0]], "\n".join(text))


@pytest.mark.parametrize("name", NAMES)
def test_the_transcript_is_as_recorded(name, session):
    given, golden = transcript(name), GOLDEN / f"{name}.md"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(given, "utf-8")
    assert golden.exists(), f"{golden} is missing; see the top of {__file__}"
    assert given == golden.read_text("utf-8")


def test_no_transcript_is_left_without_its_exercise():
    assert {path.stem for path in GOLDEN.glob("*.md")} == set(PLACES)
    assert SLIPS.keys() | {name for notebook in NOTEBOOKS.values() for name in notebook} <= PLACES.keys()


@pytest.mark.parametrize("name", NAMES)
def test_every_mistake_is_named_and_every_report_says_what_a_report_must(name, session):
    """What was called, what came back, what is due, and where to go on; it stays short and never shouts."""
    for part, found in answered(name):
        for report in found:
            text, verdict = repr(report), report.verdict
            assert "!" not in text
            assert len(text.splitlines()) <= 24
            if part.diagnosis:
                assert (part.title, verdict.diagnosis and verdict.diagnosis.id) == (part.title, part.diagnosis)
            if report:
                assert part.title in ("Right work", "prints a megabyte") or len(found) > 1
                continue
            assert "  next           hint(" in text
            if verdict.status == "unimplemented":
                continue
            assert "  called  " in text
            assert any(f"\n  {label}  " in text for label in ("you returned", "stopped with"))
            labels = ["differs in", "shape", "dtype", "expected", "not finite", "gradient", "changed input"]
            labels += ["stopped with"]
            assert any(f"\n  {label}  " in text for label in labels)


@pytest.mark.parametrize("name", NAMES)
def test_the_slips_that_any_exercise_may_have_are_told(name, session, capsys):
    for work in common_slips(name):
        (report,) = reports(name, Part(work.what, (work.source,)))
        verdict = report.verdict
        assert (work.what, verdict.status, verdict.earned) == (work.what, work.status, work.points)
        assert work.diagnosis in (None, verdict.diagnosis and verdict.diagnosis.id)

"""Golden transcripts of eight exercises whose reports have every form: values, shapes, exceptions, missing names, time,
strings, several results, modules, random numbers, pictures; and what student code finds in the released data.

After a change of wording, write them again, and read the differences as a student would:

    UPDATE_GOLDEN=1 pytest tests/test_golden.py && git diff tests/golden

What the others report, `grader transcript ID` prints, and `grader transcript ID --against REVISION` what has changed.
"""

import os
from functools import cache
from pathlib import Path

import pytest

from grader.author.course import Course
from grader.author.transcript import Part, Transcript
from tests.conftest import ROOT
from tests.golden.slips import NOTEBOOKS, SLIPS

GOLDEN = Path(__file__).parent / "golden"
COURSE = Course(ROOT)
FORMS = sorted(path.stem for path in GOLDEN.glob("*.md"))
NAMES = [name if name in FORMS else pytest.param(name, marks=pytest.mark.system) for name in COURSE.manifest.places]


@cache
def of(name):
    notebooks = {title: notebook for title, notebook in NOTEBOOKS.items() if list(notebook)[-1] == name}
    return Transcript(COURSE, name, SLIPS.get(name), notebooks)


@pytest.mark.parametrize("name", FORMS)
def test_the_transcript_is_as_recorded(name, session):
    given, golden = of(name).text(), GOLDEN / f"{name}.md"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(given, "utf-8")
    assert given == golden.read_text("utf-8")


def test_what_the_golden_files_are_of():
    assert len(FORMS) == 8
    assert SLIPS.keys() | {list(notebook)[-1] for notebook in NOTEBOOKS.values()} <= set(FORMS)


@pytest.mark.parametrize("name", NAMES)
def test_a_students_cell_finds_every_mistake_in_the_released_data(name, session):
    for part in of(name).parts(first_ways=True):
        for report in of(name).reports(part) if part.cells else ():
            if part.title == "Right work":
                assert report
            if part.title == "The stub":
                assert report.verdict.status == "unimplemented"
            if part.diagnosis:
                assert (part.title, report.verdict.diagnosis and report.verdict.diagnosis.id) == (
                    part.title,
                    part.diagnosis,
                )


@pytest.mark.parametrize("name", NAMES)
def test_the_slips_that_any_exercise_may_have_are_told(name, session, capsys):
    for work in of(name).common_slips():
        (report,) = of(name).reports(Part(work.what, (work.source,)))
        verdict = report.verdict
        assert (work.what, verdict.status, verdict.earned) == (work.what, work.status, work.points)
        assert work.diagnosis in (None, verdict.diagnosis and verdict.diagnosis.id)

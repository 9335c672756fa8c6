"""What is said before a class is graded: who is there and who is not, and how much there is to do."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from right_work import RIGHT
from typer.testing import CliRunner

from grader.cli import commands as cli
from grader.gradebook import gradebook_url, open_gradebook, roster
from grader.grading.chapter import autograde, chosen
from grader.grading.pool import here
from grader.grading.preflight import Preflight, preflight, preflight_lines, preflight_tree
from grader.grading.release import AutogradeError
from grader.manifest import Chapter, load_manifest
from grader.submission.folders import Stray

CHAPTER = "ch01_vanilla_rnn"


@pytest.fixture
def course(small_course, tmp_path):
    return shutil.copytree(small_course, tmp_path / "course")


@pytest.fixture
def hand_in_as(tmp_path, right):
    def write(student, **sources):
        tree = json.loads(json.dumps(right))
        for cell in tree["cells"]:
            name = cell["metadata"].get("nbgrader", {}).get("grade_id")
            cell["source"] = sources.get(name, cell["source"])
        folder = tmp_path / "term" / "submitted" / student / CHAPTER
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "recurrence.ipynb").write_text(json.dumps(tree))

    return write


@pytest.fixture
def term(tmp_path, hand_in_as):
    for student in ("ann", "bo", "cy"):
        hand_in_as(student)
    return tmp_path / "term"


def look(course, term, students=None, again=False):
    manifest = load_manifest(course / "course.toml")
    chapter = manifest.chapter(CHAPTER)
    tasks = chosen(term, chapter, students, again=again)
    return preflight(
        course, term, manifest, chapter, tasks, students=students, sandboxed=True, db_url=gradebook_url(term)
    )


def lines(course, term, **more):
    chapter = load_manifest(course / "course.toml").chapter(CHAPTER)
    return preflight_lines(chapter, look(course, term, **more), whole=False)


def grade(course, term):
    return autograde(course, term, CHAPTER, here, db_url=gradebook_url(term))


def enter(term, *rows):
    with closing(sqlite3.connect(term / "gradebook.db")) as database, database:
        database.executemany("insert into student (id, last_name) values (?, ?)", rows)


def files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_how_many_are_new_changed_and_unchanged(course, term, hand_in_as):
    assert look(course, term).to_do == {"new": 3}
    grade(course, term)
    assert look(course, term).to_do == {"unchanged": 3}
    assert look(course, term, again=True).to_do == {"again": 3}
    assert look(course, term, students=["bo"]).to_do == {"unchanged": 1}
    hand_in_as("bo", rnn_step=RIGHT["rnn_step"] + "# once more\n")
    hand_in_as("dee")
    (term / "results" / CHAPTER / "cy" / "result.json").write_text("{")
    assert look(course, term).to_do == {"new": 2, "submission": 1, "unchanged": 1}
    text = (course / "course.toml").read_text("utf-8")
    (course / "course.toml").write_text(text.replace("seconds_per_cell = 6", "seconds_per_cell = 7"), "utf-8")
    assert look(course, term).to_do == {"new": 2, "submission": 1, "course": 1}
    assert lines(course, term) == [
        f"4 submissions of {CHAPTER}: 2 new, 1 changed since they were graded, 1 unchanged but graded with other "
        "checks, points or limits.",
        "1 not in the gradebook: dee. Check the names.",
    ]


def test_names_that_look_alike_are_told_with_their_code_points(course, term, hand_in_as):
    """A gradebook may have a name in the other form, from another program."""
    grade(course, term)
    hand_in_as("Zo\xeb")
    enter(term, ("Zoe\u0308", "Lee"))
    said = lines(course, term)
    assert any("Zoe\u0308 (U+0308)" in line for line in said)
    assert any("Zo\xeb (U+00EB)" in line for line in said)


def test_other_hidden_cases_are_other_checks(course, term):
    grade(course, term)
    shutil.rmtree(term / "hidden")
    before = files(term)
    assert look(course, term).to_do == {"course": 3}
    assert files(term) == before


def test_the_roster_is_compared(course, term):
    assert roster(gradebook_url(term)) is None
    grade(course, term)
    assert roster(gradebook_url(term)) == {"ann", "bo", "cy"}  # whoever handed in, as nobody entered anybody
    assert len(lines(course, term)) == 1
    enter(term, ("dee", "Dee"), ("eve", "Eve"))
    with closing(sqlite3.connect(term / "gradebook.db")) as database, database:
        database.execute("update student set last_name = 'Ann' where id = 'ann'")
    assert lines(course, term)[1:] == [
        "2 of 3 students in the gradebook have no submission that can be graded: dee, eve.",
        "2 not in the gradebook: bo, cy. Check the names.",
    ]
    assert len(lines(course, term, students=["ann"])) == 1
    tree = preflight_tree(load_manifest(course / "course.toml").chapter(CHAPTER), look(course, term))
    assert tree == {
        "to_do": {"unchanged": 3},
        "roster": 3,
        "absent": ["dee", "eve"],
        "not_in_roster": ["bo", "cy"],
        "untimed": [],
        "saw_a_pass": {},
        "strays": [],
    }


def points(term):
    with open_gradebook(gradebook_url(term)) as gradebook:
        return {s.student_id: s.score for s in gradebook.assignment_submissions(CHAPTER)}


def test_a_submission_that_cannot_be_found_keeps_its_earlier_score(course, term, hand_in_as):
    hand_in_as("dee")
    hand_in_as("eve")
    grade(course, term)
    before = points(term)
    assert set(before) == {"ann", "bo", "cy", "dee", "eve"}
    assert all(before.values())
    submitted = term / "submitted"
    for student in ("ann", "bo", "cy", "dee", "eve"):
        (submitted / student / CHAPTER / "recurrence.ipynb").rename(submitted / student / "recurrence.ipynb")
    for name in ("old", "new"):  # ann: several candidates
        (submitted / "ann" / CHAPTER / name).mkdir()
        shutil.copy(submitted / "ann" / "recurrence.ipynb", submitted / "ann" / CHAPTER / name)
    (submitted / "bo" / "recurrence.ipynb").unlink()
    (submitted / "bo" / CHAPTER / "work.zip").touch()  # bo: an archive
    (submitted / "dee" / "recurrence.ipynb").unlink()  # dee: nothing at all; cy and eve: one candidate
    assert {(s.student, s.kind, s.graded) for s in look(course, term).strays} == {
        ("ann", "unclear", False),
        ("bo", "packed", False),
        ("cy", "elsewhere", True),
        ("dee", "empty", True),
        ("eve", "elsewhere", True),
    }
    assert look(course, term).to_do == {"submission": 1, "unchanged": 2}
    assert lines(course, term)[1] == (
        "2 of 5 students in the gradebook have no submission that can be graded: ann, bo."
    )
    assert [graded.student for graded in grade(course, term)] == ["cy", "dee", "eve"]
    assert points(term) == before | {"dee": 0}
    with pytest.raises(AutogradeError, match=r"(?s)No submission for .* by 'ann'.*Not graded\. Put the notebooks"):
        chosen(term, load_manifest(course / "course.toml").chapter(CHAPTER), ["ann"])


def test_a_gradebook_of_another_kind_is_no_roster(tmp_path):
    (tmp_path / "gradebook.db").touch()
    assert roster(gradebook_url(tmp_path)) is None
    assert (tmp_path / "gradebook.db").read_bytes() == b""


# --- the command ---------------------------------------------------------------------------------------------


@pytest.fixture
def grader(monkeypatch, course):
    def call(*arguments):
        monkeypatch.chdir(course)
        result = CliRunner().invoke(cli.app, ["autograde", CHAPTER, *map(str, arguments)])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, result.stdout, result.stderr

    return call


def test_a_dry_run_grades_and_writes_nothing(grader, term):
    (term / "submitted" / "work.zip").touch()
    before = files(term)
    status, output, error = grader("--term", term, "--dry-run")
    assert (status, error) == (0, "")
    assert output.splitlines() == [
        f"3 submissions of {CHAPTER}: 3 new.",
        "Unexpected in submitted/:",
        f"  work.zip: is an archive, which is not unpacked. Not graded. Unpack it into STUDENT/{CHAPTER}/, delete "
        "it if it contains no notebook, or collect with  nbgrader zip_collect",
    ]
    status, output, error = grader("--term", term, "--dry-run", "--json")
    assert (status, error) == (0, "")
    tree = json.loads(output)
    assert tree["students"] == []
    assert tree["preflight"]["to_do"] == {"new": 3}
    assert [stray["kind"] for stray in tree["preflight"]["strays"]] == ["packed"]
    assert files(term) == before


def test_each_run_begins_with_it(grader, term):
    status, output, error = grader("--term", term, "--student", "ann", "--json", "--unsafe-no-sandbox")
    assert status == 0
    assert f"1 submission of {CHAPTER}: 1 new." in error
    assert json.loads(output)["preflight"]["to_do"] == {"new": 1}


def test_who_is_asked_for_and_not_there_may_lie_elsewhere(grader, term, tmp_path):
    (term / "submitted" / "zoe").mkdir()
    (term / "submitted" / "zoe" / "work.zip").touch()
    status, output, error = grader("--term", term, "--student", "zoe")
    assert (status, output) == (1, "")
    assert f"No submission for {CHAPTER} by 'zoe'" in error
    assert "zoe/work.zip: is an archive, which is not unpacked." in error
    for name in ("ann", "bo", "cy"):
        shutil.rmtree(Path(term, "submitted", name))
    assert "zoe/work.zip: is an archive, which is not unpacked." in grader("--term", term)[2]


def test_what_is_not_released_is_refused_before_anything(grader, course, term):
    text = (course / "course.toml").read_text("utf-8")
    (course / "course.toml").write_text(text.replace("points = 2", "points = 4", 1), "utf-8")
    before = files(term)
    for more in ((), ("--dry-run",)):
        status, output, error = grader("--term", term, *more)
        assert (status, output) == (1, "")
        assert "rnn_step has 4 points in course.toml but 2 in exercises/" in error
    assert files(term) == before


def test_students_without_any_notebook_are_one_line():
    strays = tuple(Stray("empty", f"{name}/ch01", name, True) for name in ("ann", "bo"))
    chapter = Chapter("ch01", "One", ())
    found = Preflight({}, strays, None, frozenset())
    _, _, line = preflight_lines(chapter, found, whole=False, called={"ann": "Ann Lee (ann)"})
    assert line.startswith("  2 students: ")
    assert line.endswith(": Ann Lee (ann), bo")
    alone = preflight_lines(chapter, Preflight({}, strays[:1], None, frozenset()), whole=False)
    assert alone[-1].startswith("  ann/ch01: contains no notebook")

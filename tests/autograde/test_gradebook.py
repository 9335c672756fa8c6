"""Scores in nbgrader's gradebook: written whole, kept where a human wrote them, read by nbgrader itself."""

import csv
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from gradebook_course import EXERCISE, register_first, write_course
from sqlalchemy import text

from grader.author.notebooks import instructor_notebook, student_notebook, student_notebooks
from grader.cells import cell_source, notebook_bytes
from grader.gradebook import (
    GradebookError,
    gradebook_url,
    open_gradebook,
    open_writer,
    read_scores,
    register,
)
from grader.gradebook.scores import Score
from grader.manifest import load_manifest
from tests.nbgrader_command import nbgrader, real_nbgrader

ROOT = Path(__file__).parents[2]
ANSWER, ANOTHER = {"second": {"why": "one"}}, {"second": {"why": "another"}}


@pytest.fixture
def course(tmp_path):
    return write_course(tmp_path / "course")


@pytest.fixture(scope="session")
def empty_gradebook(tmp_path_factory):
    """A gradebook with no assignment; nbgrader takes a second to make one."""
    term = tmp_path_factory.mktemp("term")
    with open_gradebook(gradebook_url(term)):
        pass
    return term / "gradebook.db"


@pytest.fixture
def db_url(tmp_path, empty_gradebook):
    shutil.copy(empty_gradebook, tmp_path / "gradebook.db")
    return gradebook_url(tmp_path)


@pytest.fixture
def registered(db_url, course):
    register_first(db_url, course)
    return db_url


def dump(db_url):
    """All rows of the gradebook."""
    with closing(sqlite3.connect(db_url.removeprefix("sqlite:///"))) as connection:
        tables = [name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")]
        return {name: sorted(map(repr, connection.execute(f"select * from {name}"))) for name in tables}


def grades(db_url, student):
    """(auto, manual, total, needs a human) of each cell."""
    with open_gradebook(db_url) as gradebook:
        submission = gradebook.find_submission("ch01", student)
        return {
            grade.name: (grade.auto_score, grade.manual_score, grade.score, grade.needs_manual_grade)
            for notebook in submission.notebooks
            for grade in notebook.grades
        }


def record(db_url, student, scores, **more):
    with open_writer(db_url, "ch01") as writer:
        writer.record(student, scores, **more)


# --- registration -------------------------------------------------------------------------------------------


def test_register_writes_what_nbgrader_expects(registered, course):
    manifest = load_manifest(course / "course.toml")
    chapter = manifest.chapters[0]
    with open_gradebook(registered) as gradebook:
        assignment = gradebook.find_assignment("ch01")
        assert [notebook.name for notebook in assignment.notebooks] == ["first", "second"]
        assert assignment.max_score == 7.5
        for notebook in chapter.notebooks:
            saved = gradebook.find_notebook(notebook.name, "ch01")
            released = {
                cell.metadata.nbgrader.grade_id: cell
                for cell in student_notebook(course, manifest, chapter, notebook).cells
                if "nbgrader" in cell.metadata
            }
            assert {cell.name for cell in saved.source_cells} == set(released)
            for cell in saved.source_cells:
                assert cell.checksum == released[cell.name].metadata.nbgrader.checksum
                assert cell.source == released[cell.name].source
            solutions = {name for name, cell in released.items() if cell.metadata.nbgrader.solution}
            assert {cell.name for cell in saved.solution_cells} == solutions
        first = gradebook.find_notebook("first", "ch01")
        assert {cell.name: cell.max_score for cell in first.grade_cells} == {
            "double-check": 2,
            "halve-check": 1.5,
        }


def test_register_again_changes_nothing(registered, course):
    record(registered, "ada", {"first": {"double": 2}})
    before = dump(registered)
    register_first(registered, course)
    assert dump(registered) == before


def test_before_the_first_submission_cells_may_change(registered, course):
    (course / "solutions/ch01/second.py").write_text(EXERCISE.format("square"), "utf-8")
    manifest = (course / "course.toml").read_text("utf-8").partition("[[chapters.notebooks.questions]]")[0]
    (course / "course.toml").write_text(manifest, "utf-8")
    register_first(registered, course)
    manifest = (course / "course.toml").read_text("utf-8").partition('[[chapters.notebooks]]\nname = "second"')[0]
    (course / "course.toml").write_text(manifest, "utf-8")
    register_first(registered, course)
    with open_gradebook(registered) as gradebook:
        assert [notebook.name for notebook in gradebook.find_assignment("ch01").notebooks] == ["first"]


def test_after_it_they_may_not(registered, course):
    record(registered, "ada", {})
    before = dump(registered)
    text = (course / "course.toml").read_text("utf-8").replace('"halve"', '"third"')
    (course / "course.toml").write_text(text, "utf-8")
    source = (course / "solutions/ch01/first.py").read_text("utf-8").replace("halve", "third")
    (course / "solutions/ch01/first.py").write_text(source, "utf-8")
    with pytest.raises(GradebookError, match=r"added first: third; .*removed first: halve;.*move the gradebook away"):
        register_first(registered, course)
    assert dump(registered) == before


# --- recording ----------------------------------------------------------------------------------------------


def test_a_submission_is_recorded(registered):
    when = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
    comments = {"first": {"double": "x is doubled twice."}}
    record(
        registered, "ada", {"first": {"double": 0.5, "halve": 1.5}}, timestamp=when, comments=comments, answers=ANSWER
    )
    assert grades(registered, "ada") == {
        "double-check": (0.5, None, 0.5, False),
        "halve-check": (1.5, None, 1.5, False),
        "square-check": (0, None, 0, False),
        "why": (None, None, 0, True),
    }
    with open_gradebook(registered) as gradebook:
        submission = gradebook.find_submission("ch01", "ada")
        assert (submission.score, submission.max_score) == (2, 7.5)
        assert submission.timestamp == when.replace(tzinfo=None)
        assert gradebook.find_comment("double", "first", "ch01", "ada").comment == "x is doubled twice."
        assert gradebook.find_comment("halve", "first", "ch01", "ada").comment is None


def test_recording_again_keeps_what_a_human_wrote(registered):
    scores = {"first": {"double": 1, "halve": 0}}
    record(registered, "ada", scores, answers=ANSWER)
    with open_gradebook(registered) as gradebook:
        for name, notebook, score in [("double-check", "first", 1.75), ("why", "second", 3)]:
            grade = gradebook.find_grade(name, notebook, "ch01", "ada")
            grade.manual_score, grade.needs_manual_grade = score, False
        gradebook.find_comment("double", "first", "ch01", "ada").manual_comment = "Nearly."
        gradebook.db.commit()

    record(registered, "ada", scores, answers=ANSWER, comments={"first": {"double": "from the grader"}})
    assert grades(registered, "ada")["double-check"] == (1, 1.75, 1.75, False)
    assert grades(registered, "ada")["why"] == (None, 3, 3, False)

    later = datetime(2026, 3, 2, tzinfo=UTC)
    record(registered, "ada", {"first": {"double": 2, "halve": 1}}, timestamp=later, answers=ANOTHER)
    assert grades(registered, "ada") == {
        "double-check": (2, 1.75, 1.75, True),  # the points changed under a human's score: look again
        "halve-check": (1, None, 1, False),
        "square-check": (0, None, 0, False),
        "why": (None, 3, 3, True),  # there is a new answer to read
    }
    with open_gradebook(registered) as gradebook:
        assert gradebook.find_comment("double", "first", "ch01", "ada").comment == "Nearly."
        assert len(gradebook.students) == 1


def test_an_unanswered_question_gets_nothing_and_needs_no_look(registered):
    record(registered, "ada", {})
    assert grades(registered, "ada")["why"] == (0, None, 0, False)
    record(registered, "ada", {}, answers=ANSWER)  # without a new time stamp
    assert grades(registered, "ada")["why"] == (None, None, 0, True)


def by_hand(db_url, score):
    with open_gradebook(db_url) as gradebook:
        grade = gradebook.find_grade("why", "second", "ch01", "ada")
        grade.manual_score, grade.needs_manual_grade = score, False
        gradebook.db.commit()


def test_only_another_answer_is_looked_at_again(registered):
    """Whatever the time stamps say, and whatever was kept outside of the gradebook."""
    record(registered, "ada", {}, answers=ANSWER)
    by_hand(registered, 3)
    for timestamp in (datetime(2026, 3, 2, tzinfo=UTC), None):
        record(registered, "ada", {}, answers=ANSWER, timestamp=timestamp)
        assert grades(registered, "ada")["why"] == (None, 3, 3, False)
    for _ in range(2):  # until somebody has looked
        record(registered, "ada", {}, answers=ANOTHER)
        assert grades(registered, "ada")["why"] == (None, 3, 3, True)
    by_hand(registered, 2)
    record(registered, "ada", {}, answers=ANOTHER)
    assert grades(registered, "ada")["why"] == (None, 2, 2, False)


def test_a_graded_answer_that_is_gone_is_looked_at_again(registered):
    record(registered, "ada", {}, answers=ANSWER)
    by_hand(registered, 3)
    for _ in range(2):  # until somebody has looked
        record(registered, "ada", {})
        assert grades(registered, "ada")["why"] == (0, 3, 3, True)
    by_hand(registered, 0)
    record(registered, "ada", {})
    assert grades(registered, "ada")["why"] == (0, 0, 0, False)


def test_a_gradebook_from_before_answers_were_recorded(registered):
    """Nobody knows what was read, so it is read once more."""
    record(registered, "ada", {}, answers=ANSWER)
    by_hand(registered, 3)
    with closing(sqlite3.connect(registered.removeprefix("sqlite:///"))) as connection:
        connection.execute("drop table unrolled_answer")
    record(registered, "ada", {}, answers=ANSWER)
    assert grades(registered, "ada")["why"] == (None, 3, 3, True)


def test_what_was_answered_is_written_with_what_follows_from_it(registered, monkeypatch):
    """A run that is killed in between leaves neither."""
    record(registered, "ada", {}, answers=ANSWER)
    by_hand(registered, 3)
    before = dump(registered)
    with open_writer(registered, "ch01") as writer:
        monkeypatch.setitem(writer._sql.edits, "answer", text("no SQL"))
        with pytest.raises(GradebookError):
            writer.record("ada", {}, answers=ANOTHER)
    assert dump(registered) == before
    record(registered, "ada", {}, answers=ANOTHER)
    assert grades(registered, "ada")["why"] == (None, 3, 3, True)


def test_scores_are_read_with_what_a_human_made_of_them(registered, tmp_path):
    record(registered, "ada", {"first": {"double": 1}}, answers=ANSWER)
    record(registered, "bo", {})
    by_hand(registered, 2)
    with open_gradebook(registered) as gradebook:
        grade = gradebook.find_grade("double-check", "first", "ch01", "ada")
        grade.manual_score, grade.extra_credit = 1.75, 0.5
        gradebook.find_comment("double", "first", "ch01", "ada").manual_comment = "Nearly."
        gradebook.db.commit()
    record(registered, "ada", {"first": {"double": 1.5}}, answers=ANOTHER)
    read = read_scores(registered, "ch01")
    scores = {student: recorded.scores for student, recorded in read.items()}
    assert scores["ada"] == {
        "double": Score(1.75, 0.5, True, "Nearly."),
        "halve": Score(),
        "square": Score(),
        "why": Score(2, 0, True),
    }
    assert scores["bo"] == dict.fromkeys(scores["ada"], Score())
    assert read_scores(registered, "ch02") == {}
    assert {recorded.late_penalty for recorded in read.values()} == {0}
    with open_gradebook(registered) as gradebook:
        submission = gradebook.find_submission("ch01", "ada")
        total = submission.score
        submission.notebooks[0].late_submission_penalty, submission.notebooks[1].late_submission_penalty = 0.5, 1.0
        gradebook.db.commit()
    assert [read_scores(registered, "ch01")[name].late_penalty for name in ("ada", "bo")] == [1.5, 0]
    earned = {"double": 1.5, "halve": 0.0, "square": 0.0, "why": None}
    assert sum(score.final(earned[name]) for name, score in scores["ada"].items()) == total == 4.25


def test_no_gradebook_has_no_scores_and_is_not_made(tmp_path):
    assert read_scores(gradebook_url(tmp_path), "ch01") == {}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({"third": {}}, "no notebook 'third' in ch01; it has first, second"),
        ({"second": {"double": 1}}, "no exercise 'double' in ch01/second; it has square"),
        ({"second": {"square": 1.5}}, "cannot have 1.5 points for 'square': the points go from 0 to 1"),
        ({"second": {"square": -1}}, "cannot have -1.0 points"),
        ({"second": {"square": float("nan")}}, "cannot have nan points"),
    ],
)
def test_what_cannot_be_recorded_leaves_no_trace(registered, scores, message):
    record(registered, "bo", {})
    before = dump(registered)
    with pytest.raises(GradebookError, match=message):
        record(registered, "ada", {"first": {"double": 2}, **scores})
    assert dump(registered) == before


def test_a_gradebook_is_usable_after_a_refusal(registered):
    with open_writer(registered, "ch01") as writer:
        with pytest.raises(GradebookError):
            writer.record("ada", {"first": {"double": 9}})
        writer.record("ada", {"first": {"double": 2}})
        writer.record("bo", {"first": {"double": 1}})
    with open_gradebook(registered) as gradebook:
        assert [submission.score for submission in gradebook.assignment_submissions("ch01")] == [2, 1]


def test_a_chapter_that_is_not_registered(db_url):
    with pytest.raises(GradebookError, match=r"no assignment 'ch01'\. Register"):
        record(db_url, "ada", {})


# --- gradebooks that cannot be used -------------------------------------------------------------------------


def test_a_locked_gradebook(registered):
    with open_writer(f"{registered}?timeout=0.05", "ch01") as writer:
        other = sqlite3.connect(registered.removeprefix("sqlite:///"), isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(GradebookError, match=r"database is locked.*Wait until it has finished"):
            writer.record("ada", {})
        other.execute("ROLLBACK")
        other.close()
        writer.record("ada", {})


def test_a_file_that_is_no_gradebook(tmp_path):
    (tmp_path / "gradebook.db").write_text("not a database, by any means" * 100, "utf-8")
    with (
        pytest.raises(GradebookError, match=r"not a database.*Restore it from a backup"),
        open_gradebook(gradebook_url(tmp_path)),
    ):
        pass


def test_a_folder_that_is_a_file(tmp_path):
    (tmp_path / "term").write_text("", "utf-8")
    with (
        pytest.raises(GradebookError, match="its folder cannot be created"),
        open_gradebook(gradebook_url(tmp_path / "term")),
    ):
        pass


@pytest.mark.parametrize("db_url", ["term/gradebook.db", "nosuchkind://user:secret@host/name"])
def test_a_url_that_is_none(db_url):
    with pytest.raises(GradebookError) as caught, open_gradebook(db_url):
        pass
    assert "secret" not in str(caught.value)


# --- nbgrader's own commands on the result ------------------------------------------------------------------


@pytest.fixture
def term(tmp_path, empty_gradebook):
    """A term with one graded submission of the first chapter, by Ada."""
    term = tmp_path / "term"
    term.mkdir()
    shutil.copy(empty_gradebook, term)
    manifest = load_manifest(ROOT / "course.toml")
    chapter = manifest.chapters[0]
    register(gradebook_url(term), chapter, student_notebooks(ROOT, manifest, chapter))
    notebook = chapter.notebooks[0]
    first, *others = notebook.exercises
    scores = {notebook.name: {first.id: first.points}}
    comments = {notebook.name: {exercise.id: f"About {exercise.id}." for exercise in others}}
    with open_writer(gradebook_url(term), chapter.id) as writer:
        writer.record("ada", scores, comments=comments)
    instructor = instructor_notebook(ROOT, manifest, chapter, notebook)
    submitted = student_notebook(ROOT, manifest, chapter, notebook)
    for cell in submitted.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == first.id:
            cell.source = cell_source(instructor, first.id)
    for step in ("submitted", "autograded"):
        folder = term / step / "ada" / chapter.id
        folder.mkdir(parents=True)
        (folder / f"{notebook.name}.ipynb").write_bytes(notebook_bytes(submitted))
    return term


def test_feedback_and_export_show_what_was_recorded(term):
    chapter = load_manifest(ROOT / "course.toml").chapters[0]
    first, *others = chapter.notebooks[0].exercises
    total = sum(item.points for item in (*chapter.exercises, *chapter.questions))

    done = nbgrader("export", "--to", term / "grades.csv", term=term)
    assert done.returncode == 0, done.stderr
    with open(term / "grades.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found = [(row["assignment"], row["student_id"], float(row["score"]), float(row["max_score"])) for row in rows]
    assert found == [(chapter.id, "ada", first.points, total)]

    done = nbgrader("generate_feedback", chapter.id, term=term)
    assert done.returncode == 0, done.stderr
    page = (term / "feedback" / "ada" / chapter.id / f"{chapter.notebooks[0].name}.html").read_text("utf-8")
    assert f"(Score: {first.points} / {sum(e.points for e in chapter.notebooks[0].exercises)})" in page
    assert all(f"About {exercise.id}." in page for exercise in others)


@pytest.mark.parametrize(
    ("command", "instead"),
    [("autograde", "grader autograde CHAPTER"), ("generate_assignment", "grader release")],
)
@pytest.mark.parametrize("run", [nbgrader, pytest.param(real_nbgrader, marks=pytest.mark.system)])
def test_nbgrader_refuses_to_run_students_code_and_touches_nothing(term, command, instead, run):
    chapter = load_manifest(ROOT / "course.toml").chapters[0]
    before = {path: path.read_bytes() for path in term.rglob("*") if path.is_file()}
    done = run(command, chapter.id, "--force", term=term)
    assert done.returncode == 1
    assert instead in done.stderr
    assert {path: path.read_bytes() for path in term.rglob("*") if path.is_file()} == before


def test_the_second_lock_refuses_too():
    from nbgrader.converters import NbGraderException

    from grader.plugins.nbgrader_steps import RefuseToRun

    with pytest.raises(NbGraderException, match="with your permissions"):
        RefuseToRun().preprocess(None, {})

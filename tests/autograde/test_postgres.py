"""The gradebook in PostgreSQL, on a real server that these tests start."""

import csv
import threading
import time
from pathlib import Path

import postgres_server
import pytest
from gradebook_course import register_first, write_course
from histories import differing, history
from nbgrader_api import rows
from sqlalchemy import create_engine
from test_exports import TOTALS, fill
from two_runs import check_two_runs, scores_by_student

from grader.gradebook import GradebookError, open_gradebook, open_writer
from grader.gradebook import database as gradebook_database
from grader.gradebook.enrolment import enrol
from grader.gradebook.roster import Student, students
from grader.lms.table import Status, read_table
from grader.manifest import load_manifest
from tests.nbgrader_command import nbgrader

pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def server():
    try:
        postgres_server.programs()
    except FileNotFoundError as missing:
        pytest.fail(str(missing), pytrace=False)
    with postgres_server.running() as server:
        yield server


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return write_course(tmp_path_factory.mktemp("postgres") / "course")


@pytest.fixture(scope="module")
def registered(server, course):
    """The name of a database with the chapter in it; copies are made of it."""
    server.run("CREATE DATABASE registered")
    register_first(server.url("registered"), course)
    return "registered"


@pytest.fixture
def db_url(server, registered):
    return server.new_database(registered)


def name_of(db_url):
    return db_url.partition("@/")[2].partition("?")[0]


def test_the_rows_are_those_of_sqlite(db_url, tmp_path, course):
    sqlite = f"sqlite:///{tmp_path}/gradebook.db"
    register_first(sqlite, course)
    for url in (db_url, sqlite):
        register_first(url, course)
        with open_writer(url, "ch01") as writer:
            writer.record("Łukasz O'Neill", {"first": {"double": 0.1}}, comments={"first": {"double": "größer"}})
            writer.record("ada", {"second": {"square": 1 / 3}}, answers={"second": {"why": ""}})
            writer.record("ada", {"second": {"square": 2 / 3}})
    assert rows(db_url) == rows(sqlite)


def test_whatever_happens_the_rows_are_nbgraders(server, registered):
    ours, theirs = server.new_database(registered), server.new_database(registered)
    assert differing(ours, theirs, history(seed=3, length=25)) == []


def test_two_runs_at_the_same_time(server, course):
    check_two_runs(server.new_database(), course)


def test_two_runs_meet_at_one_student(server, db_url):
    """The one writes while the other is in the middle of writing the same, which nobody has written before."""
    others = []
    with open_writer(db_url, "ch01") as slow, open_writer(db_url, "ch01") as fast:
        write = slow._write

        def write_slowly(connection, given):
            write(connection, given)  # the rows are there, and nobody else sees them yet
            if not others:
                others.append(threading.Thread(target=fast.record, args=("ada", {"first": {"double": 2, "halve": 1}})))
                others[0].start()
                waiting = f"select pid from pg_stat_activity where datname = '{name}' and wait_event_type = 'Lock'"
                wait_for(lambda: server.run(waiting))

        name = name_of(db_url)
        slow._write = write_slowly
        slow.record("ada", {"first": {"double": 1}})
        others[0].join()
    assert scores_by_student(db_url) == {"ada": (2.0, 1.0, 0.0)}


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "this never happens"


def test_a_connection_that_is_cut_is_made_again(server, db_url):
    with open_writer(db_url, "ch01") as writer:
        writer.record("ada", {"first": {"double": 2}})
        cut = f"select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name_of(db_url)}'"
        assert server.run(cut) == [(True,)]
        writer.record("bo", {"first": {"double": 1}})
    assert scores_by_student(db_url) == {"ada": (2.0, 0.0, 0.0), "bo": (1.0, 0.0, 0.0)}


def test_a_lock_that_stays(server, db_url, monkeypatch):
    monkeypatch.setattr(gradebook_database, "PATIENCE", 0.05)
    with open_writer(db_url, "ch01") as writer:
        writer.record("ada", {})
        engine = create_engine(db_url)
        with engine.connect() as other:
            other.exec_driver_sql("LOCK TABLE grade")
            with pytest.raises(GradebookError, match=r"lock timeout\. Another program is writing to it\. Wait until"):
                writer.record("bo", {})
        engine.dispose()
        writer.record("cy", {})
    assert sorted(scores_by_student(db_url)) == ["ada", "cy"]


def test_what_the_server_refuses(server, db_url, registered):
    with (
        pytest.raises(GradebookError, match=r'"nowhere" does not exist\. Create it \(createdb\)'),
        open_writer(server.url("nowhere"), "ch01"),
    ):
        pass
    with (
        pytest.raises(GradebookError, match="Make sure that the database server is running"),
        open_writer("postgresql+psycopg://grader:secret@/name?host=/nowhere", "ch01"),
    ):
        pass
    with open_writer(db_url, "ch01") as writer, pytest.raises(GradebookError, match="at most 128 characters"):
        writer.record("a" * 129, {})
    server.run(f"ALTER DATABASE {name_of(db_url)} SET default_transaction_read_only = on")
    with (
        open_writer(db_url, "ch01") as writer,
        pytest.raises(GradebookError, match=r"read-only.*Ask the administrator"),
    ):
        writer.record("ada", {})


def test_nbgrader_reads_it(db_url, tmp_path, monkeypatch):
    with open_writer(db_url, "ch01") as writer:
        writer.record("ada", {"first": {"double": 2, "halve": 0.5}})
    with open_gradebook(db_url) as gradebook:
        grade = gradebook.find_grade("why", "second", "ch01", "ada")
        grade.manual_score, grade.needs_manual_grade = 2.5, False
        gradebook.db.commit()
    monkeypatch.setenv("UNROLLED_DB_URL", db_url)
    done = nbgrader("export", "--to", tmp_path / "grades.csv", term=tmp_path)
    assert done.returncode == 0, done.stderr
    with Path(tmp_path, "grades.csv").open(newline="", encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert (row["student_id"], float(row["score"]), float(row["max_score"])) == ("ada", 5.0, 7.5)


def test_a_roster_and_the_points_of_a_class(server, course, tmp_path):
    db_url = server.new_database()
    fill(db_url, course)
    before = students(db_url)
    done = enrol(db_url, [before[0], Student("gil", "Gil"), Student("bo", last_name="Ray")])
    assert (len(done.unchanged), done.added, len(done.others)) == (1, [Student("gil", "Gil")], 4)
    assert [student.last_name for _, student in done.changed] == ["Ray"]
    assert [student.id for student in students(db_url)] == ["ann", "bo", "cy", "dee", "eve", "fay", "gil"]
    manifest = load_manifest(course / "course.toml")
    read = read_table(course, tmp_path, manifest, manifest.chapters, db_url).standings["ch01"]
    found = {name: standing.total for name, standing in read.items() if standing.status is not Status.missing}
    assert found == pytest.approx(TOTALS, abs=5e-7)


def test_two_imports_meet_at_one_student(server, db_url, monkeypatch):
    """The one adds a student while the other is about to; both succeed."""
    from grader.gradebook import enrolment

    enrol_once, calls = enrolment._enrol, []

    def enrol_late(connection, roster):
        found = enrol_once(connection, roster)
        if not calls:
            calls.append(threading.Thread(target=enrol, args=(db_url, [Student("ann", "Anne"), Student("bo")])))
            calls[0].start()
            waiting = (
                f"select pid from pg_stat_activity where datname = '{name_of(db_url)}' and wait_event_type = 'Lock'"
            )
            wait_for(lambda: server.run(waiting))
        return found

    monkeypatch.setattr(enrolment, "_enrol", enrol_late)
    enrol(db_url, [Student("ann", "Ann")])
    calls[0].join()
    assert students(db_url) == [Student("ann", "Anne"), Student("bo")]

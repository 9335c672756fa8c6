"""Answers of every kind in the real sandbox: a class with modules, strings, callables and trained models, graded with
128 MB per notebook, gets exactly the expected scores.
"""

import pytest

from grader.author.demo_class import demo_class
from grader.author.known_work import ENDLESS, all_work
from grader.author.planted import differences
from grader.gradebook import gradebook_url
from grader.grading.chapter import autograde
from grader.grading.grade import grade
from grader.grading.pool import local
from grader.grading.session import open_session
from grader.manifest import load_manifest
from grader.running.unsandboxed import Plain
from tests.answers_course import CHAPTER, write_answers_course

pytestmark = pytest.mark.system

pytest.importorskip("torch")
STUDENTS = 16


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    root, out = write_answers_course(tmp_path_factory.mktemp("course")), tmp_path_factory.mktemp("demo") / "class"
    planted = demo_class(root, out, CHAPTER, STUDENTS, 1)
    results = {each.student: each for each in autograde(root, out, CHAPTER, local(2), db_url=gradebook_url(out))}
    return root, out, planted, results


def test_all_known_work_is_in_the_class(graded):
    root, _, planted, _ = graded
    for name in next(iter(planted.values())):
        place = load_manifest(root / "course.toml").place(name)
        works = {work.what for work in all_work(root, place)} - {ENDLESS}
        assert works <= {exercises[name]["what"] for exercises in planted.values()}, name


def test_every_score_is_the_planted_one(graded):
    root, out, planted, results = graded
    assert differences(root, out) == []
    due = {student: sum(entry["points"] for entry in exercises.values()) for student, exercises in planted.items()}
    assert {student: each.earned for student, each in results.items()} == due
    assert all(each.sandboxed and not each.fault for each in results.values())


def test_every_cause_is_the_planted_one(graded):
    _, _, planted, results = graded
    for student, exercises in planted.items():
        for name, due in exercises.items():
            verdict = results[student].by_exercise[name]
            found = verdict.diagnosis.id if verdict.diagnosis else None
            assert due["diagnosis"] in (None, found), (student, name, due["what"])
            assert due["status"] in (None, "", verdict.status), (student, name, due["what"])


def test_without_walls_it_is_the_same(graded):
    root, out, planted, results = graded
    session, folder = open_session(root, out, CHAPTER), out / "submitted"
    for student in list(planted)[:2]:
        again = grade(session, Plain(), student, folder / student / CHAPTER)
        assert {name: (v.status, v.earned) for name, v in again.by_exercise.items()} == {
            name: (v.status, v.earned) for name, v in results[student].by_exercise.items()
        }

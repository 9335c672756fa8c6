"""A small demo class, graded: the report counts the mistakes that were planted, and no others."""

import shutil
from collections import defaultdict

import pytest

from grader.author.demo_class import demo_class
from grader.classreport.gather import class_report
from grader.grading import store
from grader.grading.chapter import autograde
from grader.grading.pool import local
from grader.manifest import load_manifest
from tests.small_course import CHAPTER, write_small_course


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The course, the class's folder, and what was planted. Endless loops are stopped soon."""
    root = write_small_course(tmp_path_factory.mktemp("course"))
    for path in (root / "course.toml", root / "grader" / "data" / "course.toml"):
        text = path.read_text("utf-8")
        limits = "seconds_per_exercise = 2, seconds_per_cell = 6"
        assert limits in text
        path.write_text(text.replace(limits, "seconds_per_exercise = 2, seconds_per_cell = 2"), "utf-8")
    out = tmp_path_factory.mktemp("demo") / "class"
    planted = demo_class(root, out, CHAPTER, 32, 1)
    autograde(root, out, CHAPTER, local(1), db_url=None)
    return root, out, planted


def test_the_mistakes_are_those_that_were_planted(graded):
    root, out, planted = graded
    report = class_report(root, out, CHAPTER, None, False)
    found = {(m.exercise, m.id): m.students for m in report.mistakes}
    assert all(m.count == len(m.students) == len(set(m.students)) for m in report.mistakes)
    due = defaultdict(list)
    unplanned = set()  # slips and breakages of which any diagnosis is accepted
    for student, exercises in planted.items():
        for name, entry in exercises.items():
            if entry["diagnosis"] is None:
                unplanned.add((student, name))
            else:
                due[name, entry["diagnosis"]].append(student)
    assert len(due) >= 8
    assert max(map(len, due.values())) >= 2
    planned = {
        key: tuple(student for student in students if (student, key[0]) not in unplanned)
        for key, students in found.items()
    }
    assert {key: students for key, students in planned.items() if students} == {
        key: tuple(sorted(students)) for key, students in due.items()
    }
    counts = [mistake.count for mistake in report.mistakes]
    assert counts == sorted(counts, reverse=True)


def test_what_was_right_is_no_mistake(graded):
    root, out, planted = graded
    report = class_report(root, out, CHAPTER, None, False)
    makers = {(student, m.exercise) for m in report.mistakes for student in m.students}
    right = {(s, name) for s, entries in planted.items() for name, e in entries.items() if e["status"] == "passed"}
    assert right
    assert not makers & right
    for figures in report.exercises:
        points = [entries[figures.id]["points"] for entries in planted.values()]
        assert figures.share == pytest.approx(sum(points) / len(points) / figures.points)
        assert figures.statuses["timeout"] == sum(e[figures.id]["status"] == "timeout" for e in planted.values())


def test_every_mistake_has_an_excerpt_of_the_code_in_which_it_was_made(graded):
    root, out, _ = graded
    report = class_report(root, out, CHAPTER, None, False)
    for mistake in report.mistakes:
        assert 1 <= len(mistake.excerpts) <= min(2, mistake.count)
        for code in mistake.excerpts:
            assert f"def {mistake.exercise}(" in code
            assert "student" not in code


def test_results_are_enough(graded, tmp_path):
    """The report needs neither the hidden cases nor the autograded notebooks."""
    root, out, _ = graded
    shutil.copytree(out / "results", tmp_path / "results")
    assert len(store.students(tmp_path, CHAPTER)) == 32
    found = class_report(root, tmp_path, CHAPTER, None, False)
    whole = class_report(root, out, CHAPTER, None, False)
    assert found.points == whole.points
    assert [(m.id, m.count) for m in found.mistakes] == [(m.id, m.count) for m in whole.mistakes]
    assert not (tmp_path / "hidden").exists()
    assert load_manifest(root / "course.toml").chapter(CHAPTER).title == found.title

"""What changed since the last run is told once, with its reason, and kept."""

import json
import shutil
import stat

import pytest
from right_work import RIGHT

from grader.author.notebooks import release_notebooks
from grader.gradebook import gradebook_url
from grader.grading import chapter as module
from grader.grading import store
from grader.grading.changes import Log, log_path, printed
from grader.grading.chapter import autograde, chosen
from grader.grading.pool import here
from grader.grading.store import Change
from grader.manifest import load_manifest

CHAPTER = "ch01_vanilla_rnn"
WRONG = "def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):\n    return x_t\n"


@pytest.fixture
def course(small_course, tmp_path):
    return shutil.copytree(small_course, tmp_path / "course")


@pytest.fixture
def term(tmp_path, right):
    hand_in(tmp_path / "term", right, "ann")
    hand_in(tmp_path / "term", right, "bo")
    return tmp_path / "term"


def hand_in(term, right, student, source=RIGHT["rnn_step"]):
    tree = json.loads(json.dumps(right))
    for cell in tree["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "rnn_step":
            cell["source"] = source
    folder = term / "submitted" / student / CHAPTER
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "recurrence.ipynb").write_text(json.dumps(tree))


def run(course, term, **choice):
    """Grade; return what is told to have changed, as (student, reasons, points before, points now)."""
    tasks = chosen(term, load_manifest(course / "course.toml").chapter(CHAPTER), **choice)
    told = []
    autograde(course, term, CHAPTER, here, db_url=gradebook_url(term), tasks=tasks, on_change=told.append)
    return [(c.student, c.reasons, c.old and sum(c.old.values()), sum(c.new.values())) for c in told]


def logged(term):
    return [json.loads(line) for line in log_path(term, CHAPTER).read_text().splitlines()]


def test_from_run_to_run(course, term, right):
    assert run(course, term) == [("ann", ("first",), None, 4), ("bo", ("first",), None, 4)]
    assert run(course, term) == []
    hand_in(term, right, "ann", WRONG)
    hand_in(term, right, "bo", RIGHT["rnn_step"] + "# as right as before\n")
    assert run(course, term) == [("ann", ("submission",), 4, 2)]
    hand_in(term, right, "ann")
    assert run(course, term) == [("ann", ("submission",), 2, 4)]
    hand_in(term, right, "ann", WRONG)
    assert run(course, term) == [("ann", ("submission",), 4, 2)]  # as once before, and told again
    assert run(course, term, again=True) == []
    lines = logged(term)
    assert [(line["student"], line["points"]) for line in lines] == [
        ("ann", [None, 4]),
        ("bo", [None, 4]),
        ("ann", [4, 2]),
        ("ann", [2, 4]),
        ("ann", [4, 2]),
    ]
    assert lines[2]["exercises"] == {"rnn_step": [2, 0]}
    assert lines[2]["reasons"] == ["submission"]
    assert len({line["id"] for line in lines}) == len(lines)
    assert stat.S_IMODE(log_path(term, CHAPTER).stat().st_mode) == 0o600


def test_points_are_no_other_checks(course, term):
    run(course, term)
    path = course / "course.toml"
    path.write_text(path.read_text("utf-8").replace("points = 2", "points = 5", 1), "utf-8")
    release_notebooks(course, course / "exercises")
    shutil.copy(path, course / "grader" / "data")
    assert run(course, term) == [("ann", ("points",), 4, 7), ("bo", ("points",), 4, 7)]


def test_several_reasons(course, term, right):
    run(course, term)
    path = course / "course.toml"
    path.write_text(path.read_text("utf-8").replace("seconds_per_cell = 6", "seconds_per_cell = 7"), "utf-8")
    (term / "hidden" / "seed").write_text("17")
    hand_in(term, right, "bo", WRONG)
    assert run(course, term) == [("bo", ("submission", "checks", "limits"), 4, 2)]


def test_a_result_that_is_found_again_to_be_another(course, term, monkeypatch):
    run(course, term)
    real = store.last_change
    monkeypatch.setattr(
        "grader.grading.pool.store.last_change",
        lambda before, why, key, graded: real(before, why, key, without(graded)),
    )
    assert run(course, term, students=["bo"], again=True) == [("bo", ("again",), 4, 0)]


def without(graded):
    from dataclasses import replace

    return replace(graded, verdicts={"recurrence": {}})


def test_an_illegible_result(course, term, right):
    run(course, term)
    (term / "results" / CHAPTER / "bo" / "result.json").write_text("{")
    assert run(course, term) == []  # the same was found again
    (term / "results" / CHAPTER / "bo" / "result.json").write_text("{")
    hand_in(term, right, "bo", WRONG)
    assert run(course, term) == [("bo", ("illegible",), None, 2)]


def test_a_run_that_is_killed_before_it_could_tell(course, term, right, monkeypatch):
    """The next one tells it, even where it finds another change."""

    class Killed(BaseException):
        pass

    def killed(*_):
        raise Killed

    run(course, term)
    hand_in(term, right, "ann", WRONG)
    with monkeypatch.context() as patch:
        patch.setattr(Log, "add", lambda log, change: killed() if change.reasons != ("first",) else False)
        with pytest.raises(Killed):
            run(course, term)
    hand_in(term, right, "ann", "def rnn_step(")
    hand_in(term, right, "ann")
    assert run(course, term) == [("ann", ("submission",), 4, 2), ("ann", ("submission",), 2, 4)]


def test_a_log_that_cannot_be_written_costs_nobody(course, term, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(module.Log, "add", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        assert run(course, term) == []
    assert len(run(course, term)) == 2
    assert len(logged(term)) == 2


def change(name, **more):
    return Change(name, ("first",), {"f": 1.0}, id=f"id of {name}", **more)


def test_two_logs_of_one_file_and_a_torn_line(tmp_path):
    first, second = Log(tmp_path, "ch"), Log(tmp_path, "ch")
    assert first.add(change("ann"))
    assert not second.add(change("ann"))
    assert second.add(change("bo"))
    assert not first.add(change("bo"))
    with log_path(tmp_path, "ch").open("a") as file:
        file.write('{"at": "2026-')
    assert Log(tmp_path, "ch").add(change("cy"))
    assert not Log(tmp_path, "ch").add(change("cy"))
    assert first.add(change("dee"))
    lines = log_path(tmp_path, "ch").read_text().splitlines()
    assert [json.loads(line)["student"] for line in lines if line.endswith("}")] == ["ann", "bo", "cy", "dee"]


def test_what_is_printed(tmp_path):
    others = [Change(f"s{n:02}", ("submission", "checks"), {"f": 1.5, "g": 2}, {"f": 1, "g": 2}) for n in range(22)]
    assert printed([], tmp_path) == []
    assert printed([change("ann"), change("bo")], tmp_path) == [
        f"Changed since the last run (full log: {tmp_path}):",
        "  graded for the first time: 2",
    ]
    lines = printed([change("ann"), *reversed(others)], tmp_path)
    assert len(lines) == 1 + 20 + 2
    assert lines[1] == "  s00: 3 → 3.5 points (f 1 → 1.5): the submission changed, the checks or the grader changed"
    assert lines[-2:] == ["  and 2 more", "  graded for the first time: 1"]

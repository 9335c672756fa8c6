"""The class of the benchmarks, by what is planted in it, and what is read from each grader's output."""

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import load  # noqa: E402
from autograding import measure, nbgrader_course, otter_course, ours  # noqa: E402
from autograding.classes import CHAPTER, make_class, make_endless  # noqa: E402

from grader.author.breakages import BREAKAGES  # noqa: E402
from grader.author.known_work import ENDLESS  # noqa: E402
from grader.author.planted import read_planted  # noqa: E402
from grader.cells import check_id, grade_id, notebook_bytes  # noqa: E402
from grader.manifest import load_manifest  # noqa: E402

NOTEBOOKS = load_manifest(ROOT / "course.toml").chapter(CHAPTER).notebooks
SIZE = 3


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(measure, "patience", 0.0)


@pytest.fixture(scope="module")
def term(tmp_path_factory):
    term = tmp_path_factory.mktemp("class") / "term"
    make_class(term, SIZE)
    return term


def whats(term):
    return [[each["what"] for each in due.values()] for due in read_planted(term).values()]


def test_no_submission_of_the_class_is_broken_or_endless(tmp_path):
    make_class(tmp_path, 60)
    assert len(whats(tmp_path)) == 60
    assert not {*BREAKAGES, ENDLESS} & {what for each in whats(tmp_path) for what in each}
    for folder in (tmp_path / "submitted").iterdir():
        for notebook in NOTEBOOKS:
            cells = json.loads((folder / CHAPTER / f"{notebook.name}.ipynb").read_text("utf-8"))["cells"]
            names = {grade_id(cell) for cell in cells}
            assert {name for each in notebook.exercises for name in (each.id, check_id(each.id))} <= names


def test_a_larger_class_repeats_its_submissions(tmp_path, monkeypatch):
    monkeypatch.setattr("autograding.classes.DISTINCT", 2)
    make_class(tmp_path, 5)
    first, second, *others = whats(tmp_path)
    assert others == [first, second, first]


def test_the_endless_submission_has_one_endless_loop(tmp_path):
    make_endless(tmp_path)
    (found,) = whats(tmp_path)
    assert found.count(ENDLESS) == 1


def test_ours_is_measured(term):
    figures = ours.grade(term, 1)
    assert figures["submissions"] == SIZE
    assert {"read", "run", "judge", "write", "gradebook"} <= figures["ms"].keys()
    assert 0 < figures["warm_up_s"] < figures["wall_s"]
    assert figures["warm_per_second"] > 0
    for student, due in read_planted(term).items():
        assert ours.scores(term)[student] == {name: each["points"] for name, each in due.items()}


def run_of(course, students, *given_up):
    """What nbgrader's command leaves when it grades these students."""
    lines = [(1.0, "[AutogradeApp | INFO] Initializing")]
    for number, student in enumerate(students):
        folder = course / "submitted" / student / CHAPTER
        folder.mkdir(parents=True)
        if student not in given_up:
            (course / "autograded" / student / CHAPTER).mkdir(parents=True)
        for path in (folder, folder / "recurrence.ipynb"):
            lines.append((2.0 + 4 * number, f"[AutogradeApp | INFO] Reading from {path}"))
    return measure.Run(wall=10.0, cpu=9.0, load=0.5, lines=lines)


def test_what_nbgrader_printed_is_read(tmp_path):
    figures = nbgrader_course.figures(run_of(tmp_path, ["a", "b"], "b"), tmp_path, CHAPTER)
    assert (figures["submissions"], figures["given_up"]) == (2, 1)
    assert (figures["per_second"], figures["warm_up_s"], figures["warm_per_second"]) == (0.2, 2.0, 0.25)


def test_a_student_whom_nbgrader_does_not_name_is_noticed(tmp_path):
    found = run_of(tmp_path, ["a", "b"])
    found.lines = [line for line in found.lines if "submitted/b" not in line[1]]
    with pytest.raises(SystemExit, match="did not come to all"):
        nbgrader_course.figures(found, tmp_path, CHAPTER)


@pytest.mark.system
def test_nbgrader_is_measured(term, tmp_path):
    nbgrader_course.make_course(tmp_path, term, 1)
    figures = nbgrader_course.grade(tmp_path)
    assert (figures["submissions"], figures["given_up"]) == (1, 0)
    assert 0 < figures["warm_up_s"] < figures["wall_s"]


def test_what_otter_wrote_is_read(tmp_path):
    tests = [{"name": "Public Tests"}, {"name": "rnn_step", "score": 1.0}, {"name": "rnn_forward", "score": 0.5}]
    (tmp_path / "results.json").write_text(json.dumps({"tests": tests}))
    assert otter_course.points(tmp_path) == 1.5


@pytest.mark.slow
def test_otter_is_measured(tmp_path):
    released = {path.stem: path.read_bytes() for path in (ROOT / "exercises" / CHAPTER).glob("*.ipynb")}
    right = {name: notebook_bytes(notebook) for name, notebook in load.right_notebooks().items()}
    for student, notebooks in (("a_right", right), ("b_released", released)):
        (tmp_path / "submitted" / student / CHAPTER).mkdir(parents=True)
        for name, content in notebooks.items():
            (tmp_path / "submitted" / student / CHAPTER / f"{name}.ipynb").write_bytes(content)
    figures = otter_course.grade(tmp_path, 2)
    if figures is None:
        pytest.skip("Otter cannot be installed here")
    points = [sum(exercise.points for exercise in n.exercises) for n in NOTEBOOKS if n.exercises]
    assert figures["earned"] == [*points, *(0.0 for _ in points)]


def test_the_class_under_load_has_right_work_that_takes_time(tmp_path):
    load.make(tmp_path, 1)
    assert {path.name for path in (tmp_path / "submitted").iterdir()} == {"student1", *load.CELLS}
    for name, source in load.CELLS.items():
        path = tmp_path / "submitted" / name / CHAPTER / f"{load.NOTEBOOK}.ipynb"
        cells = json.loads(path.read_text("utf-8"))["cells"]
        sources = {grade_id(cell): "".join(cell["source"]) for cell in cells}
        assert source in ["".join(cell["source"]) for cell in cells]
        assert "NotImplementedError" not in sources[load.EXERCISE]
        assert sources[load.EXERCISE].endswith(load.SLOW) == (name == "slow")

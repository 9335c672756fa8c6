"""The demo class: it is the same each time, contains all kinds of work, and gets every expected score and diagnosis."""

import builtins
import csv
import dis
import json
import shutil
import types
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest

from grader.author import demo_class as demo
from grader.author.breakages import BREAKAGES
from grader.author.course import Course
from grader.author.known_work import ALTERNATIVE, ENDLESS, MISTAKE, SLIPS, Work, all_work
from grader.author.lint import imported
from grader.author.planted import PLANTED, DemoError, differences
from grader.checking.drivers import drive
from grader.feedback.write import write_feedback
from grader.gradebook import gradebook_url, open_gradebook
from grader.grading.chapter import autograde
from grader.grading.pool import local
from grader.manifest import load_manifest
from grader.released import read_fixtures
from grader.spec.folders import fixtures_path
from grader.spec.load import load_spec
from tests.nbgrader_command import nbgrader

ROOT = Path(__file__).parents[1]
CHAPTER = "ch01_vanilla_rnn"


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """The course with a shorter limit for cells, so that endless loops are stopped sooner."""
    root = tmp_path_factory.mktemp("course")
    (root / "grader").mkdir()
    for name in ("solutions", "exercises", "grader/data"):
        (root / name).symlink_to(ROOT / name)
    text = (ROOT / "course.toml").read_text("utf-8")
    limits = "seconds_per_exercise = 2, seconds_per_cell = {}"
    assert limits.format(6) in text
    (root / "course.toml").write_text(text.replace(limits.format(6), limits.format(2)), "utf-8")
    return root


@pytest.fixture(scope="module")
def graded(course, tmp_path_factory):
    """A class, graded: its folder, what was planted, and the results by student."""
    out = tmp_path_factory.mktemp("demo") / "class"
    planted = demo.demo_class(course, out, CHAPTER, demo.STUDENTS, 1)
    results = {
        graded.student: graded for graded in autograde(course, out, CHAPTER, local(2), db_url=gradebook_url(out))
    }
    return out, planted, results


def test_the_same_seed_makes_the_same_class(graded, course, tmp_path):
    out, planted, _ = graded
    assert demo.demo_class(course, tmp_path / "again", CHAPTER, demo.STUDENTS, 1) == planted
    assert files(tmp_path / "again" / "submitted") == files(out / "submitted")
    assert (tmp_path / "again" / PLANTED).read_bytes() == (out / PLANTED).read_bytes()
    assert demo.demo_class(course, tmp_path / "other", CHAPTER, demo.STUDENTS, 2) != planted


def known(course):
    """All work on each exercise except endless loops."""
    manifest = load_manifest(course / "course.toml")
    places = [manifest.place(exercise.id) for exercise in manifest.chapter(CHAPTER).exercises]
    works = {place.exercise.id: [work.what for work in all_work(course, place)] for place in places}
    return {name: [what for what in whats if what != ENDLESS] for name, whats in works.items()}


def seen(planted):
    found = {}
    for exercises in planted.values():
        for name, entry in exercises.items():
            found.setdefault(name, set()).add(entry["what"])
    return found


FORMS = {*SLIPS, "wrong arity", "stub", "reference", ALTERNATIVE}


@pytest.fixture(scope="module", params=[1, 2])
def whole(request, tmp_path_factory):
    """The demo class of the whole course: its folder, and what was planted."""
    out = tmp_path_factory.mktemp("whole") / "class"
    return out, demo.demo_class(ROOT, out, None, demo.STUDENTS, request.param)


def test_the_class_has_every_form_of_work_and_every_breakage_in_every_chapter(whole):
    _, planted = whole
    for chapter in load_manifest(ROOT / "course.toml").chapters:
        whats = {e.id: [exercises[e.id]["what"] for exercises in planted.values()] for e in chapter.exercises}
        found = [what for each in whats.values() for what in each]
        forms = {Work(what, None, 0.0, "").form for what in found}
        assert forms >= FORMS | {*BREAKAGES, MISTAKE}, chapter.id
        assert found.count(ENDLESS) == 1
        mistakes = [
            len({what.split()[1] for what in each if what.startswith(f"{MISTAKE} ")}) for each in whats.values()
        ]
        assert min(mistakes) >= 1  # few exercises of chapter 02 return a single array, so they show all the slips
        assert sum(mistakes) >= 4 * len(mistakes)


def test_questions_are_answered_by_those_whose_notebooks_are_whole(whole):
    out, planted = whole
    for chapter in load_manifest(ROOT / "course.toml").chapters:
        answering = []
        for student, exercises in planted.items():
            if exercises[chapter.exercises[0].id]["what"] not in BREAKAGES:
                texts = [path.read_text("utf-8") for path in (out / "submitted" / student / chapter.id).iterdir()]
                answering.append(sum(text.count("The state carries what was read") for text in texts))
        assert answering == [len(chapter.questions)] * (demo.STUDENTS - len(BREAKAGES))


def test_the_endless_loop_is_in_an_exercise_that_few_cells_call():
    def notebook(*sources):
        return SimpleNamespace(cells=[SimpleNamespace(cell_type="code", source=source) for source in sources])

    endless, other = Work(ENDLESS, "", 0.0, "timeout"), Work("stub", None, 0.0, "unimplemented")
    releases = {"a": notebook("def f(): ...", "f()", "g2"), "b": notebook("def g(): ...", "f", "h", "h")}
    works = {"f": [endless, other], "g": [other, endless], "h": [endless], "i": [other]}
    kept = demo._with_one_endless(releases, works)
    assert {name: endless in found for name, found in kept.items()} == dict.fromkeys("fhi", False) | {"g": True}
    assert all((other in kept[name]) == (other in works[name]) for name in works)


@pytest.mark.parametrize("students", [1, 2, 3, 30, 60])
def test_breakages_in_classes_of_every_size(course, tmp_path, monkeypatch, students):
    """Of stubs: each breakage is shown once before any is shown again."""
    monkeypatch.setattr(demo, "all_work", lambda root, place: [Work("stub", None, 0.0, "unimplemented")])
    planted = demo.demo_class(course, tmp_path, CHAPTER, students, 1)
    whats = [next(iter(exercises.values()))["what"] for exercises in planted.values()]
    assert len(whats) == students
    broken = [what for what in whats if what != "stub"]
    assert len(broken) == {1: 0, 2: 1, 3: 1, 30: 7 + 4, 60: 7 + 12}[students]
    assert len({*broken[:7]}) == len(broken[:7])


def test_a_larger_class_has_everything(course, tmp_path):
    most = max(map(len, known(course).values()))
    found = seen(demo.demo_class(course, tmp_path / "class", CHAPTER, 2 * most, 1))
    for name, works in known(course).items():
        assert set(works) | set(BREAKAGES) == (found[name] | {works[0]}) - {ENDLESS}
        spec = load_spec(course, load_manifest(course / "course.toml").place(name))
        ways = sum(len(entry.functions) for entry in spec.named_mistakes.values())
        assert len({what for what in found[name] if what.startswith("mistake ")}) == ways


@pytest.mark.parametrize("seed", [1, 2])
def test_one_runs_for_ever_and_is_the_first_to_be_graded(course, tmp_path, seed):
    planted = demo.demo_class(course, tmp_path / "class", CHAPTER, 60, seed)
    endless = [student for student, due in planted.items() for entry in due.values() if entry["what"] == ENDLESS]
    assert endless == ["student01"]


@pytest.mark.parametrize("name", load_manifest(ROOT / "course.toml").places)
def test_all_work_on_an_exercise_stands_alone(name):
    """Helpers of the spec's module go along, so that in a notebook of its own each does what it does there."""
    place = load_manifest(ROOT / "course.toml").place(name)
    spec, notebook = load_spec(ROOT, place), Course(ROOT).notebooks[name].student
    fixtures = read_fixtures(fixtures_path(ROOT, place.chapter))
    for work in all_work(ROOT, place):
        if work.source is None or work.what in SLIPS:
            continue
        cell = imported(notebook, work.source)
        exec(work.source, cell)
        raised = drive(spec.driver, cell[name], spec.example, fixtures).raised
        assert raised is None or raised.type != "NameError", (work.what, raised)
        assert read_globals(compile(work.source, name, "exec")) <= cell.keys() | vars(builtins).keys(), work.what


def read_globals(code):
    """The global names that the functions of a piece of code read, on whichever line."""
    own = {each.argval for each in dis.get_instructions(code) if each.opname == "LOAD_GLOBAL"}
    return own.union(*(read_globals(inner) for inner in code.co_consts if isinstance(inner, types.CodeType)))


def test_every_score_and_verdict_is_the_planted_one(graded, course):
    out, planted, results = graded
    assert differences(course, out) == []
    with open_gradebook(gradebook_url(out)) as gradebook:
        scores = {s.student_id: s.score for s in gradebook.assignment_submissions(CHAPTER)}
    due = {student: sum(entry["points"] for entry in exercises.values()) for student, exercises in planted.items()}
    assert scores == due
    assert {student: graded.earned for student, graded in results.items()} == due


def test_every_mistake_is_planted_to_be_named(graded):
    _, planted, results = graded
    for student, exercises in planted.items():
        for name, due in exercises.items():
            if due["what"].startswith("mistake"):
                assert due["diagnosis"]
                assert results[student].by_exercise[name].status in ("failed", "error")


def test_a_difference_is_told(graded, course, tmp_path):
    out, planted, _ = graded
    changed = json.loads(json.dumps(planted))
    named = {
        student: name
        for student, exercises in planted.items()
        for name, due in exercises.items()
        if due["what"].startswith("mistake") and due["diagnosis"]
    }
    first, second, third, fourth = list(named)[:4]
    changed[first][named[first]]["points"] += 0.5
    changed[second][named[second]]["diagnosis"] = "another"
    changed[third][named[third]]["status"] = "passed"
    changed["nobody"] = changed[fourth]
    (tmp_path / PLANTED).write_text(json.dumps(changed))
    for name in ("gradebook.db", "results"):
        (tmp_path / name).symlink_to(out / name)
    told = sorted(differences(course, tmp_path))
    assert len(told) == 4
    assert told[0] == f"nobody: {CHAPTER} is not graded"
    assert {line.split()[0] for line in told[1:]} == {first, second, third}
    text = "\n".join(told)
    points = planted[first][named[first]]["points"]
    assert f"expected {points + 0.5:g} points, but the gradebook has {points}" in text
    assert "expected the likely cause 'another', but it is '" in text
    assert "expected the status 'passed', but it is 'failed'" in text


def test_what_is_graded_and_not_in_the_gradebook_is_told(graded, course, tmp_path):
    out, planted, _ = graded
    student = next(iter(planted))
    (tmp_path / PLANTED).write_text(json.dumps({student: planted[student]}))
    (tmp_path / "results").symlink_to(out / "results")
    with open_gradebook(gradebook_url(tmp_path)):
        pass
    assert differences(course, tmp_path) == [f"{student}: {CHAPTER} is not in the gradebook"]


def test_every_notebook_is_written_and_sound(graded):
    out, planted, _ = graded
    for student in planted:
        path = out / "autograded" / student / CHAPTER / "recurrence.ipynb"
        notebook = nbformat.read(path, 4)
        nbformat.validate(notebook)
        checks = [c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade")]
        exercises = [e.id for e in load_manifest(ROOT / "course.toml").chapter(CHAPTER).notebooks[0].exercises]
        assert [c.metadata.nbgrader.grade_id for c in checks] == [f"{name}-check" for name in exercises]
        assert all(len(c.outputs) == 1 for c in checks)
        for name in exercises:
            due = planted[student][name]
            text = (
                next(c for c in checks if c.metadata.nbgrader.grade_id == f"{name}-check").outputs[0].data["text/plain"]
            )
            assert text.startswith(f"{name}   {due['points']:g} / ")


# --- nbgrader's own commands ---------------------------------------------------------------------------------


def test_nbgrader_exports_the_class(graded):
    out, planted, _ = graded
    nbgrader("export", "--to", out.parent / "grades.csv", term=out).check_returncode()
    with open(out.parent / "grades.csv", newline="", encoding="utf-8") as file:
        rows = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
    assert rows == {student: sum(e["points"] for e in exercises.values()) for student, exercises in planted.items()}


def test_nbgrader_makes_feedback_of_every_kind_of_work(graded):
    """Feedback takes half a second a student: five stand for the class."""
    out, planted, _ = graded
    by_work = {entry["what"]: student for student, entries in planted.items() for entry in entries.values()}
    kinds = ("not JSON", "another assignment", "check cells deleted", ENDLESS, "stub")
    chosen = {by_work[what] for what in kinds}
    unchosen = [student for student in planted if student not in chosen]
    for student in unchosen:
        (out / "autograded" / student).rename(out.parent / f"aside-{student}")
    try:
        nbgrader("generate_feedback", CHAPTER, term=out).check_returncode()
    finally:
        for student in unchosen:
            (out.parent / f"aside-{student}").rename(out / "autograded" / student)
    for student in chosen:
        page = (out / "feedback" / student / CHAPTER / "recurrence.html").read_text("utf-8")
        exercises = load_manifest(ROOT / "course.toml").chapter(CHAPTER).notebooks[0].exercises
        points = sum(planted[student][exercise.id]["points"] for exercise in exercises)
        assert f"(Score: {points} / {float(sum(exercise.points for exercise in exercises))})" in page
        assert "unrolled-verdict" in page


# --- what it refuses -----------------------------------------------------------------------------------------


def plain(folder):
    """A folder with a file of each kind that must survive."""
    (folder / "submitted" / "ada" / CHAPTER).mkdir(parents=True)
    (folder / "submitted" / "ada" / CHAPTER / "recurrence.ipynb").write_text("{}")


def seed_only(folder):
    (folder / "hidden").mkdir()
    (folder / "hidden" / "seed").write_text("17")


def gradebook_only(folder):
    (folder / "gradebook.db").write_text("")


def somebody_elses(folder):
    (folder / "thesis.tex").write_text("")


def real_among_demo(folder):
    (folder / PLANTED).write_text('{"student1": {}}')
    plain(folder)


def notes_beside_demo(folder):
    (folder / PLANTED).write_text('{"student1": {}}')
    somebody_elses(folder)


@pytest.mark.parametrize(
    ("fill", "named"),
    [
        (plain, "submitted"),
        (seed_only, "hidden"),
        (gradebook_only, "gradebook.db"),
        (somebody_elses, "thesis.tex"),
        (real_among_demo, "ada"),
        (notes_beside_demo, "thesis.tex"),
    ],
)
def test_nothing_but_a_demo_class_is_overwritten(course, tmp_path, fill, named):
    fill(tmp_path)
    before = files(tmp_path)
    with pytest.raises(DemoError, match=f"contains '{named}'.*choose another"):
        demo.demo_class(course, tmp_path, CHAPTER, 3, 1)
    assert files(tmp_path) == before


def test_a_demo_class_takes_the_place_of_another(course, tmp_path):
    out = tmp_path / "class"
    demo.demo_class(course, out, CHAPTER, 12, 1)
    (out / "hidden").mkdir()
    (out / "hidden" / "seed").write_text("17")
    (out / "gradebook.db").write_text("old")
    planted = demo.demo_class(course, out, CHAPTER, 3, 1)
    assert set(planted) == {"student1", "student2", "student3"} == {p.name for p in (out / "submitted").iterdir()}
    assert {path.name for path in out.iterdir()} == {"submitted", PLANTED, demo.MADE}


def times(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


def test_the_same_class_again_stays_as_it_is_with_its_results(course, tmp_path):
    """So that a second `make course` has nothing to grade."""
    planted = demo.demo_class(course, tmp_path, CHAPTER, 3, 1)
    (tmp_path / "gradebook.db").write_text("")
    before = times(tmp_path)
    assert demo.demo_class(course, tmp_path, CHAPTER, 3, 1) == planted
    assert times(tmp_path) == before


def test_a_class_made_again_from_other_files_keeps_its_results_if_it_is_the_same(course, tmp_path, monkeypatch):
    planted = demo.demo_class(course, tmp_path, CHAPTER, 3, 1)
    (tmp_path / "gradebook.db").write_text("")
    before = times(tmp_path / "submitted")
    monkeypatch.setattr(demo, "_made_from", lambda *given: "other files")
    assert demo.demo_class(course, tmp_path, CHAPTER, 3, 1) == planted
    assert times(tmp_path / "submitted") == before
    assert (tmp_path / "gradebook.db").exists()


def test_what_a_class_is_made_from(tmp_path):
    """It is made again if a solution, the course's table or what was asked for changes."""
    (tmp_path / "solutions" / "a" / "deep").mkdir(parents=True)
    files = [tmp_path / "course.toml", tmp_path / "solutions" / "a" / "deep" / "f.py"]
    for path in files:
        path.write_text("")
    seen = [demo._made_from(tmp_path, ["a"], 14, 1)]
    assert demo._made_from(tmp_path, ["a"], 14, 1) == seen[0]
    for path in files:
        path.write_text("x = 1")
        seen.append(demo._made_from(tmp_path, ["a"], 14, 1))
    seen += [demo._made_from(tmp_path, *asked) for asked in ((["b"], 14, 1), (["a"], 15, 1), (["a"], 14, 2))]
    assert len({*seen}) == len(seen)


@pytest.mark.parametrize("change", ["edited", "gone", "more", "planted"])
def test_a_class_that_was_changed_is_written_anew(course, tmp_path, change):
    demo.demo_class(course, tmp_path, CHAPTER, 3, 1)
    before = files(tmp_path)
    (tmp_path / "gradebook.db").write_text("")
    notebook = tmp_path / "submitted" / "student2" / CHAPTER / "recurrence.ipynb"
    match change:
        case "edited":
            notebook.write_text("{}")
        case "gone":
            notebook.unlink()
        case "more":
            (notebook.parent / "notes.txt").write_text("")
        case "planted":
            (tmp_path / PLANTED).write_text(json.dumps({f"student{n}": {} for n in (1, 2, 3)}))
    demo.demo_class(course, tmp_path, CHAPTER, 3, 1)
    assert files(tmp_path) == before


def test_a_class_of_all_chapters_is_each_chapters_class(course, tmp_path, monkeypatch):
    """Of stubs: it takes no longer as the course grows."""
    monkeypatch.setattr(demo, "all_work", lambda root, place: [Work("stub", None, 0.0, "unimplemented")])
    manifest = load_manifest(course / "course.toml")
    planted = demo.demo_class(course, tmp_path / "all", None, 4, 1)
    assert [list(due) for due in planted.values()] == [list(manifest.places)] * 4
    for chapter in manifest.chapters:
        demo.demo_class(course, tmp_path / chapter.id, chapter.id, 4, 1)
        for student in planted:
            assert files(tmp_path / "all/submitted" / student / chapter.id) == files(
                tmp_path / chapter.id / "submitted" / student / chapter.id
            )


def test_a_graded_demo_class_makes_room_for_the_next(graded, course, tmp_path):
    out = tmp_path / "class"
    shutil.copytree(graded[0], out)
    write_feedback(course, out, CHAPTER)
    demo.demo_class(course, out, CHAPTER, 2, 2)
    assert {path.name for path in out.iterdir()} == {"submitted", PLANTED, demo.MADE}


def test_an_empty_folder_will_do_and_a_file_will_not(course, tmp_path):
    assert len(demo.demo_class(course, tmp_path, CHAPTER, 1, 1)) == 1
    (tmp_path / "file").write_text("")
    with pytest.raises(DemoError, match="is a file"):
        demo.demo_class(course, tmp_path / "file", CHAPTER, 1, 1)


def test_a_class_without_students(course, tmp_path):
    with pytest.raises(DemoError, match="at least one student, not 0"):
        demo.demo_class(course, tmp_path / "class", CHAPTER, 0, 1)


def test_verifying_what_is_not_there(course, tmp_path):
    with pytest.raises(DemoError, match="contains no demo class"):
        differences(course, tmp_path)
    demo.demo_class(course, tmp_path, CHAPTER, 1, 1)
    with pytest.raises(DemoError, match=f"has no gradebook. Run  grader autograde {CHAPTER} --term"):
        differences(course, tmp_path)
    assert not (tmp_path / "gradebook.db").exists()

"""The command line, in this process: what it says, where, and with which exit status."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.console import Console
from typer.testing import CliRunner

import grader.grading.grade as grading
from grader.author import demo_class as demo
from grader.author.planted import PLANTED
from grader.author.release import NOTE
from grader.checking.verdict import Verdict
from grader.cli import commands as cli
from grader.gradebook import gradebook_url, roster
from grader.gradebook.scores import Recorded, Score
from grader.grading import pool, report
from grader.grading.grade import Graded
from grader.grading.hidden import hidden_checks
from grader.manifest import load_manifest
from grader.running.processes import WorkerError
from tests.nbgrader_command import real_nbgrader
from tests.small_course import write_small_course

ROOT = Path(__file__).parents[1]
CHAPTER = "ch01_vanilla_rnn"


@pytest.fixture
def grader(monkeypatch):
    """Call the command as from the shell, in the course's folder; return exit status, stdout and stderr."""

    def call(*arguments, at=ROOT):
        monkeypatch.chdir(at)
        result = CliRunner().invoke(cli.app, [str(a) for a in arguments])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        assert "Traceback" not in result.output
        return result.exit_code, result.stdout, result.stderr

    return call


@pytest.fixture
def alone(monkeypatch):
    """A release is computed in this process, because a new one imports PyTorch first."""
    monkeypatch.setattr(os, "cpu_count", lambda: 1)


COMMANDS = [
    ("autograde", CHAPTER),
    ("feedback", CHAPTER),
    ("release",),
    ("lint",),
    ("demo-class",),
    ("chapters",),
    ("collect", CHAPTER),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: c[0])
def test_outside_a_course(grader, tmp_path, command):
    (tmp_path / "course.toml").write_text("")  # a course has solutions, too
    status, _, error = grader(*command, at=tmp_path)
    assert status == 1
    assert error.strip() == (
        "This command needs the course's source folder: neither this folder nor one above it contains course.toml and "
        "solutions/. Change to that folder first. The students' zip does not contain it."
    )
    assert [path.name for path in tmp_path.iterdir()] == ["course.toml"]


def test_the_chapters_for_a_script(grader):
    ids = [chapter.id for chapter in load_manifest(ROOT / "course.toml").chapters]
    assert grader("chapters")[:2] == (0, "".join(f"{name}\n" for name in ids))


def test_a_folder_below_the_course_will_do(grader):
    status, _, error = grader("autograde", "nope", at=ROOT / "grader" / "grading")
    assert status == 1
    assert "There is no chapter 'nope'" in error


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("autograde",), "Name one chapter, or grade them all with --all."),
        (("autograde", CHAPTER, "--colour"), "No such option"),
        (("autograde", CHAPTER, "--workers", "0"), "Invalid value for '--workers'"),
        (("autograde", CHAPTER, "--workers", "many"), "Invalid value for '--workers'"),
        (("demo-class", "--students", "lots"), "Invalid value for '--students'"),
        (("grade",), "No such command 'grade'"),
    ],
)
def test_wrong_use(grader, arguments, words):
    status, _, error = grader(*arguments)
    assert status == 2
    assert words in error


def test_the_list_of_commands_cuts_no_sentence(grader, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    status, text, _ = grader("--help")
    assert status == 0
    assert "..." not in text.partition("For students:")[2]
    assert max(map(len, text.splitlines())) <= 80


def test_help(grader):
    status, text, _ = grader("--help")
    assert status == 0
    assert all(command in text for command in ("autograde", "collect", "demo-class", "lint", "release"))
    for command, *_ in COMMANDS:
        assert grader(command, "--help")[0] == 0


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nope", "There is no chapter 'nope'. The course has: ch00_sequences, ch01_vanilla_rnn"),
        ("ch01_vanila_rnn", "There is no chapter 'ch01_vanila_rnn'. Near it: ch01_vanilla_rnn"),
        ("rnn_step", "There is no chapter 'rnn_step'."),
        ("[bold]", "There is no chapter '[bold]'."),
    ],
)
def test_an_unknown_chapter(grader, tmp_path, name, words):
    status, output, error = grader("autograde", name, "--term", tmp_path / "term")
    assert (status, output) == (1, "")
    assert words in error
    assert not (tmp_path / "term").exists()


def test_no_submissions(grader, tmp_path):
    term = tmp_path / "no [such] term"
    status, output, error = grader("autograde", CHAPTER, "--term", term)
    assert (status, output) == (1, "")
    assert f"No submissions for {CHAPTER} in {term}/submitted." in error
    assert f"Put each student's notebooks into {term}/submitted/STUDENT/{CHAPTER}/." in error
    assert not term.exists()


def test_the_term_is_named_once_for_both_programs(grader, tmp_path, monkeypatch):
    """By the environment, from the current folder on; without it the course's own, from wherever it is called."""
    here = write_small_course(tmp_path / "course")
    (here / "below").mkdir()
    shutil.copy(ROOT / "nbgrader_config.py", here)
    assert "in ../term/submitted. Put" in grader("autograde", CHAPTER, at=here / "below")[2]
    monkeypatch.setenv("UNROLLED_TERM", "a term")
    assert "in a term/submitted. Put" in grader("autograde", CHAPTER, at=here / "below")[2]
    assert "in a term is graded yet" in grader("feedback", CHAPTER, at=here / "below")[2]
    assert "in another/submitted. Put" in grader("autograde", CHAPTER, "--term", "another", at=here)[2]
    assert nbgraders_root(here, here / "below") == str(here / "below" / "a term")
    monkeypatch.setenv("UNROLLED_TERM", "")
    assert "in term/submitted. Put" in grader("autograde", CHAPTER, at=here)[2]
    assert nbgraders_root(here, here / "below") == str(here / "term")


@pytest.mark.system
def test_nbgrader_may_begin_a_term(tmp_path, monkeypatch):
    """The roster is entered before anything was submitted: there is no folder of the term yet."""
    course = write_small_course(tmp_path / "course")
    shutil.copy(ROOT / "nbgrader_config.py", course)
    (course / "students.csv").write_text("id,first_name\nann,Ann\n")
    monkeypatch.delenv("UNROLLED_TERM", raising=False)
    real_nbgrader("db", "student", "import", "students.csv", cwd=course).check_returncode()
    assert roster(gradebook_url(course / "term")) == {"ann"}


def nbgraders_root(course, at):
    """Where nbgrader, called in a folder, looks for a term; its configuration is read twice, in two folders."""
    from traitlets.config.loader import PyFileConfigLoader

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UNROLLED_TERM", os.environ.get("UNROLLED_TERM", ""))
        roots = []
        for folder in (at, course):
            patch.chdir(folder)
            roots.append(PyFileConfigLoader("nbgrader_config.py", str(course)).load_config().CourseDirectory.root)
    assert roots[0] == roots[1]
    return roots[0]


def test_a_demo_class_is_refused_where_something_else_is(grader, tmp_path):
    (tmp_path / "thesis.tex").write_text("")
    status, _, error = grader("demo-class", "--out", tmp_path)
    assert status == 1
    assert "contains 'thesis.tex', which is not of a demo class; choose another with --out" in error
    assert grader("demo-class", "--students", "0", "--out", tmp_path / "class")[0] == 1
    assert f"[default: {demo.STUDENTS}]" in grader("demo-class", "--help")[1]
    assert grader("demo-class", "--chapter", "nope", "--out", tmp_path / "class")[0] == 1
    status, _, error = grader("demo-class", "--verify", "--out", tmp_path / "class")
    assert status == 1
    assert "contains no demo class" in error


# --- a small class -------------------------------------------------------------------------------------------


ODD = "a [red]b :smile: [bold]"


@pytest.fixture(scope="module")
def small_class(tmp_path_factory):
    """Six students, one of an odd name, as they submitted: one file is no notebook, no cell runs forever."""
    out = tmp_path_factory.mktemp("small") / "class"
    for seed in range(100):
        if "not JSON" in str(demo.demo_class(ROOT, out, CHAPTER, 6, seed)):
            break
    endless = out / "submitted" / "student1"
    shutil.rmtree(endless)
    shutil.copytree(out / "submitted" / "student3", endless)
    hidden_checks(ROOT, out, load_manifest(ROOT / "course.toml").chapter(CHAPTER))
    (out / "submitted" / "student5").rename(out / "submitted" / ODD)  # whose notebooks are whole
    (out / "submitted" / "student6").rename(out / "submitted" / "student5")
    return out


@pytest.fixture
def term(small_class, tmp_path):
    for name in ("submitted", "hidden"):
        shutil.copytree(small_class / name, tmp_path / "term" / name)
    return tmp_path / "term"


def test_a_class_is_graded_and_a_fault_of_the_grader_costs_nobody_points(grader, term, monkeypatch):
    real = grading.grade

    def grade(session, starter, student, folder):
        if student == "student2":
            raise WorkerError("no process for student code could be started: out of [memory]")
        return real(session, starter, student, folder)

    everybody = {*(f"student{n}" for n in range(1, 6)), ODD}
    with monkeypatch.context() as patch:
        patch.setattr(grading, "grade", grade)
        patch.setattr(pool, "local", lambda workers: pool.here)
        status, output, error = grader("autograde", CHAPTER, "--term", term)
    assert status == 3
    advice = (
        "Some submissions could not be graded or recorded, for the reasons given above. Their earlier points are kept. "
        "Run the command again."
    )
    assert advice in error.splitlines()
    assert "  student2: no process for student code could be started: out of [memory]" in output.splitlines()
    (line,) = [line for line in output.splitlines() if line.startswith("student2 ")]
    exercises = load_manifest(ROOT / "course.toml").chapter(CHAPTER).exercises
    assert line.split() == ["student2", *["–"] * (len(exercises) + 1), "not", "graded"]
    assert {path.name for path in (term / "autograded").iterdir()} == everybody - {"student2"}

    status, output, error = grader("autograde", CHAPTER, "--term", term, "--workers", "2")
    assert status == 0
    assert "sandbox" not in error
    lines = output.splitlines()
    assert lines[0] == f"The vanilla RNN ({CHAPTER}), 6 submissions"
    assert lines[1].startswith("1 rnn_step   2 rnn_forward   3 concatenated_weights")
    for student in everybody:
        (line,) = [line for line in lines if line.startswith(student + " ")]
        *by_exercise, points, seconds, unit = line.removeprefix(student).split()[: len(exercises) + 3]
        assert sum(map(float, by_exercise)) == float(points)
        assert float(seconds) >= 0
        assert unit == "s"
    assert "Needs manual review:" in lines
    assert f"Gradebook: {term}/gradebook.db   notebooks: {term}/autograded" in lines
    assert {path.name for path in (term / "autograded").iterdir()} == everybody


def test_without_a_sandbox_it_is_loud_and_leaves_the_gradebook_alone(grader, term):
    everywhere = term.parent
    status, output, error = grader("autograde", CHAPTER, "--term", term, "--student", ODD, "--unsafe-no-sandbox")
    assert status == 0
    assert "No sandbox: student code runs with your permissions" in " ".join(error.split())
    assert "The gradebook is not written." in error
    assert "Gradebook: not written" in output
    assert not (term / "gradebook.db").exists()
    status, output, _ = grader(
        "autograde", CHAPTER, "--term", term, "--student", ODD, "--unsafe-no-sandbox", "--force-gradebook"
    )
    assert status == 0
    assert (term / "gradebook.db").exists()
    stored = json.loads((term / "results" / CHAPTER / ODD / "result.json").read_text())
    assert stored["graded"]["sandboxed"] is False
    assert everywhere.exists()


def test_where_the_sandbox_cannot_stand_a_class_is_refused_and_a_demo_class_is_not(grader, term, monkeypatch):
    from grader.running import sandbox

    monkeypatch.setattr(sandbox.shutil, "which", lambda name: None)
    status, output, error = grader("autograde", CHAPTER, "--term", term, "--student", ODD)
    assert (status, output) == (1, "")
    assert "apt install bubblewrap" in error
    assert not (term / "autograded").exists()
    (term / PLANTED).write_text("{}")
    status, _, error = grader("autograde", CHAPTER, "--term", term, "--student", ODD)
    assert status == 0
    assert "This demo class is graded anyway" in " ".join(error.split())


def test_results_for_another_program(grader, term):
    status, output, _ = grader("autograde", CHAPTER, "--term", term, "--student", ODD, "--json")
    assert status == 0
    (entry,) = (tree := json.loads(output))["students"]
    assert (tree["format"], tree["chapter"], tree["sandboxed"]) == (1, CHAPTER, True)
    assert entry["student"] == ODD
    exercises = load_manifest(ROOT / "course.toml").chapter(CHAPTER).exercises
    assert {name: e["points"] for name, e in entry["exercises"].items()} == {e.id: e.points for e in exercises}
    assert entry["earned"] == sum(e["earned"] for e in entry["exercises"].values())
    assert set(entry["seconds"]) == {"read", "run", "fork", "judge", "write", "gradebook"}


def test_a_database_url_is_shown_without_its_password(grader, term):
    url = f"sqlite:///{term}/other.db"
    status, output, _ = grader("autograde", CHAPTER, "--term", term, "--student", ODD, "--db-url", url)
    assert status == 0
    assert f"Gradebook: {url}" in output
    assert (term / "other.db").exists()
    status, _, error = grader(
        "autograde",
        CHAPTER,
        "--term",
        term,
        "--student",
        ODD,
        "--db-url",
        "postgresql+psycopg://me:sesame@127.0.0.1:9/x",
    )
    assert status == 1
    assert "sesame" not in error


# --- the table -----------------------------------------------------------------------------------------------


def with_exercises(chapter, count):
    """The chapter with this many exercises, the further ones in its first notebook."""
    first, *others = chapter.notebooks
    more = [replace(first.exercises[0], id=f"another_{n}") for n in range(count - len(chapter.exercises))]
    return replace(chapter, notebooks=(replace(first, exercises=(*first.exercises, *more)), *others))


def class_of(chapter):
    """A class with the longest names that there are."""

    def verdict(name, points):
        return Verdict(name, name, "passed" if points == 2 else "failed", points, 2.0, "page")

    def graded(student, step, forward):
        others = {e.id: verdict(e.id, 2.0) for e in chapter.exercises}
        verdicts = {**others, "rnn_step": verdict("rnn_step", step), "rnn_forward": verdict("rnn_forward", forward)}
        return Graded(student, {"recurrence": verdicts}, seconds={"read": 2.34, "run": 10.0})

    long = "maria-magdalena.von-und-zu-hohenstein@stud.example-university.org"
    return [graded("ada", 2.0, 0.5), graded(long, 0.0, 2.0), Graded("bo", fault="no")]


def printed(table, width):
    console = Console(width=width)
    with console.capture() as capture:
        console.print(table)
    return capture.get()


@pytest.mark.parametrize("count", [0, 9, 10, 11, 13, 25])
@pytest.mark.parametrize("width", [80, 100, 200])
@pytest.mark.parametrize("by_hand", [False, True])
@pytest.mark.parametrize("late", [0.0, 5.5])
def test_the_table_cuts_nothing_off(width, count, by_hand, late):
    chapter = with_exercises(load_manifest(ROOT / "course.toml").chapter(CHAPTER), count)
    results = class_of(chapter)
    everything = {item.id: Score(1.75) for item in chapter.items} if by_hand else {}
    scores = {graded.student: Recorded(everything, late) for graded in results}
    text = printed(report.class_table(chapter, results, width, scores), width)
    assert "…" not in text
    assert all(len(line) <= width for line in text.splitlines())
    squeezed = re.sub(r"\s", "", text)
    for word in ("ada", "bo", "12.3s", "2failed", "notgraded", f"{results[0].earned:g}"):
        assert word in squeezed
    assert ("−5.5" in squeezed) == bool(late)
    if width == 200 and count < (13 if by_hand else 20) - 2 * bool(late):
        assert results[1].student in text


def test_the_table_and_the_json_have_what_a_person_gave():
    chapter = load_manifest(ROOT / "course.toml").chapter(CHAPTER)
    results = class_of(chapter)
    question = chapter.questions[0].id
    ada = {"rnn_forward": Score(1.5), "rnn_step": Score(extra=0.5), question: Score(1.0)}
    scores = {"ada": Recorded(ada), "bo": Recorded()}
    ada, other, _ = (
        re.split(r"\s{2,}", line.strip())
        for line in printed(report.class_table(chapter, results, 200, scores), 200).splitlines()[-3:]
    )
    total, earned = f"{results[0].earned + 1.5:g}", f"{results[0].earned:g}"
    assert ada[:3] == ["ada", "2.5*", "1.5*"]
    assert ada[-4:-1] == [f"{total} ({earned})", "1", "12.3 s"]
    assert other[-4:-1] == [f"{results[1].earned:g}", "–", "12.3 s"]
    assert (
        report.legend(chapter, 80, scores)[-1]
        == "* changed by an instructor; in parentheses: the points that the checks gave"
    )
    assert "*" not in "".join(report.legend(chapter, 80))
    tree = report.as_tree(chapter, results, True, scores)["students"][0]
    assert (tree["earned"], tree["final"]) == (results[0].earned, results[0].earned + 1.5 + 1)
    assert [tree["exercises"]["rnn_forward"][name] for name in ("earned", "final")] == [0.5, 1.5]
    assert tree["questions"] == {question: {"final": 1.0, "points": 2, "needs_a_human": False}}


def test_the_table_and_the_json_have_late_penalties():
    chapter = load_manifest(ROOT / "course.toml").chapter(CHAPTER)
    results = class_of(chapter)
    question, worth = chapter.questions[0].id, sum(item.points for item in chapter.items)
    scores = {"ada": Recorded({question: Score(1.0)}, 4.5), "bo": Recorded()}
    table = report.class_table(chapter, results, 200, scores)
    assert str(table.columns[-3].header) == f"total\n/ {worth:g}"
    ada, other, bo = (re.split(r"\s{2,}", line.strip()) for line in printed(table, 200).splitlines()[-3:])
    assert ada[-6:-1] == [f"{results[0].earned:g}", "1", "−4.5", f"{results[0].earned - 3.5:g}", "12.3 s"]
    assert other[-5:-1] == [f"{results[1].earned:g}", "–", f"{results[1].earned:g}", "12.3 s"]
    assert bo[-4:] == ["–", "–", "–", "not graded"]
    assert report.legend(chapter, 80, scores)[-1].startswith("late: the late penalty from nbgrader")
    students = report.as_tree(chapter, results, True, scores)["students"]
    assert [(each["late_penalty"], each["final"]) for each in students] == [
        (4.5, results[0].earned - 3.5),
        (0, results[1].earned),
        (0, None),
    ]


def test_the_legend_breaks_between_exercises():
    chapter = with_exercises(load_manifest(ROOT / "course.toml").chapter(CHAPTER), 25)
    names = [f"{index} {exercise.id}" for index, exercise in enumerate(chapter.exercises, 1)]
    for width in (20, 40, 80, 10_000):
        lines = report.legend(chapter, width)
        assert [name for line in lines for name in line.split("   ")] == names
        assert all(len(line) <= width or "   " not in line for line in lines)


def test_what_waits_for_a_person_is_counted():
    chapter = load_manifest(ROOT / "course.toml").chapter(CHAPTER)
    question, asks = chapter.questions[0].id, Score(needs_a_human=True)
    first, last = ("predictions", "capstone")
    scores = {name: Recorded({question: asks, "softmax": Score()}) for name in ("ada", "bo")}
    assert report.waiting(chapter, scores) == [f"To grade manually in formgrader: {question} in {last} (2 students)."]
    scores["bo"] = Recorded({question: Score(1.0), "softmax": Score(1.0, needs_a_human=True)})
    line = f"To grade manually in formgrader: softmax in {first} (1 student), {question} in {last} (1 student)."
    assert report.waiting(chapter, scores) == [line]
    assert report.waiting(chapter, {"ada": Recorded({question: Score(1.0)})}) == []


def test_where_exercises_do_not_fit_the_table_has_the_points_of_notebooks():
    chapter = with_exercises(load_manifest(ROOT / "course.toml").chapter(CHAPTER), 13)
    narrow, wide = (report.class_table(chapter, class_of(chapter), width) for width in (80, 200))
    ends, seen = [], 0
    for notebook in chapter.notebooks:
        if notebook.exercises:
            ends.append(f"{seen + 1}–{seen + len(notebook.exercises)}")
            seen += len(notebook.exercises)
    assert [str(column.header).partition("\n")[0] for column in narrow.columns[1:-3]] == ends
    assert [str(column.header).partition("\n")[0] for column in wide.columns[1:-3]] == [str(n + 1) for n in range(13)]
    assert next(iter(narrow.columns[1].cells)) == f"{2 * len(chapter.notebooks[0].exercises) - 1.5:g}"


# --- release -------------------------------------------------------------------------------------------------


def test_release_again_changes_nothing(grader, tmp_path):
    """In a copy of the course, whose data may differ from this machine's in the last digits only."""
    write_small_course(tmp_path)
    (tmp_path / "exercises" / CHAPTER / "recurrence.ipynb").unlink()
    status, output, _ = grader("release", at=tmp_path)
    assert status == 0
    assert f"wrote exercises/{CHAPTER}/recurrence.ipynb" in output.splitlines()
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in tmp_path.rglob("*") if path.is_file()}
    (tmp_path / NOTE).write_text("so that everything is computed again")
    assert grader("release", at=tmp_path)[:2] == (0, f"wrote {NOTE}\n1 file changed.\n")
    before[tmp_path / NOTE] = after_note = ((tmp_path / NOTE).stat().st_mtime_ns, (tmp_path / NOTE).read_bytes())
    assert b"computed again" not in after_note[1]
    after = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in tmp_path.rglob("*") if path.is_file()}
    assert {k: v for k, v in after.items() if "__pycache__" not in k.parts} == {
        k: v for k, v in before.items() if "__pycache__" not in k.parts
    }


def test_a_release_is_computed_again_if_a_source_or_what_was_made_has_changed(grader, alone, tmp_path, monkeypatch):
    write_small_course(tmp_path)
    grader("release", at=tmp_path)
    hints = next((tmp_path / "solutions" / CHAPTER).glob("*/hints.md"))
    recorded = next((tmp_path / "grader" / "data").glob("*.md"))
    with monkeypatch.context() as patched:
        patched.setattr("grader.spec.record._files_of", lambda *_: pytest.fail("nothing has changed"))
        assert grader("release", at=tmp_path)[:2] == (0, "Everything was up to date.\n")
    hints.write_text(hints.read_text("utf-8").replace("?", "??", 1), "utf-8")
    assert f"wrote grader/data/{hints.parent.name}.md" in grader("release", at=tmp_path)[1].splitlines()
    content = recorded.read_bytes()
    recorded.write_bytes(content + b"edited")
    assert f"wrote grader/data/{recorded.name}" in grader("release", at=tmp_path)[1].splitlines()
    assert recorded.read_bytes() == content


def test_release_registers_a_term(grader, alone, tmp_path):
    write_small_course(tmp_path)
    lines = (f"registered {CHAPTER} in term/gradebook.db", "All chapters were registered in term/gradebook.db already.")
    for line in lines:
        status, output, _ = grader("release", "--term", "term", at=tmp_path)
        assert status == 0
        assert line in output.splitlines()


def test_release_registers_no_term_that_only_the_environment_names(grader, alone, tmp_path, monkeypatch):
    """Authors release many times a day: neither a gradebook nor its refusals may come with it."""
    write_small_course(tmp_path)
    monkeypatch.setenv("UNROLLED_TERM", "mine")
    status, output, _ = grader("release", at=tmp_path)
    assert status == 0
    assert "registered" not in output
    assert not (tmp_path / "mine").exists()
    assert not (tmp_path / "term").exists()
    status, output, _ = grader("release", "--term", "another", at=tmp_path)
    assert f"registered {CHAPTER} in another/gradebook.db" in output.splitlines()
    assert not (tmp_path / "mine").exists()
    assert "even if UNROLLED_TERM is set" in " ".join(grader("release", "--help")[1].split())


def test_a_release_that_cannot_be(grader, tmp_path):
    write_small_course(tmp_path)
    text = (tmp_path / "course.toml").read_text("utf-8")
    (tmp_path / "course.toml").write_text(text.replace('"rnn_forward"', '"rnn_sideways"'), "utf-8")
    status, output, error = grader("release", at=tmp_path)
    assert (status, output) == (1, "")
    assert f"solutions/{CHAPTER}/recurrence.py" in error
    assert "rnn_sideways" in error or "rnn_forward" in error
    (tmp_path / "course.toml").write_text("title = ", "utf-8")
    status, _, error = grader("release", at=tmp_path)
    assert status == 1
    assert "course.toml" in error

"""`grader report`: the page and the tables on terms made by hand, and what an instructor reads beside them."""

import csv
import dataclasses
import io
import json
import re
import shutil
import stat
from pathlib import Path

import pytest
from typer.testing import CliRunner

from grader.author.notebooks import student_notebooks
from grader.checking.evaluate import verdict
from grader.checking.verdict import Diagnosis
from grader.classreport.gather import class_report
from grader.cli import commands as cli
from grader.gradebook import gradebook_url, open_gradebook, open_writer, register
from grader.grading import store
from grader.grading.changes import Log
from grader.grading.grade import Graded
from grader.grading.hidden import hidden_seed
from grader.grading.session import state_of
from grader.grading.store import Change
from grader.manifest import load_manifest
from grader.mistakes import title_of
from grader.released import Released
from grader.render.html import prose
from grader.submission.fault import Fault
from grader.submission.remark import (
    Ended,
    LeftOut,
    NoTime,
    NotImported,
    OddCell,
    OtherFiles,
    OtherName,
    Remark,
    Unreadable,
)

ROOT = Path(__file__).parents[2]
MANIFEST = load_manifest(ROOT / "course.toml")
CHAPTER = MANIFEST.chapter("ch01_vanilla_rnn")
MESSAGES = Released(ROOT / "grader" / "data").messages("rnn_step")
CAUSE, OTHER = list(MESSAGES.mistakes)[:2]
EVIL = "</code><script>alert(1)</script>"
ODD = "Zoë [red]b & 'é"
FORMULA = "=HYPERLINK('x')"
CODE = "def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):\n    return {}\n"


@pytest.fixture
def report(monkeypatch):
    """Call the command as from the shell; return exit status, stdout and stderr."""

    def call(term, *arguments):
        monkeypatch.chdir(ROOT)
        given = ["report", CHAPTER.id, "--term", str(term), *map(str, arguments)]
        result = CliRunner().invoke(cli.app, given)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, result.stdout, result.stderr

    return call


def submit(term, student, code=None):
    """Submit the released notebooks, with this code for rnn_step."""
    folder = shutil.copytree(ROOT / "exercises" / CHAPTER.id, term / "submitted" / student / CHAPTER.id)
    if code is not None:
        path = folder / "recurrence.ipynb"
        tree = json.loads(path.read_text("utf-8"))
        for cell in tree["cells"]:
            if cell["metadata"].get("nbgrader", {}).get("grade_id") == "rnn_step":
                cell["source"] = code
        path.write_text(json.dumps(tree), "utf-8")


def grade(term, student, cause=None, remarks=(), sandboxed=True, statuses=None):
    """Store a result as grading does: all is right but rnn_step, if there is a cause, and what `statuses` names."""
    hidden_seed(term)
    found = {n.name: {e.id: verdict(MANIFEST.place(e.id), "passed") for e in n.exercises} for n in CHAPTER.notebooks}
    for exercises in found.values():
        for name, status in ({"rnn_step": "failed"} if cause else statuses or {}).items():
            if name in exercises:
                wrong = verdict(MANIFEST.place(name), status)
                exercises[name] = dataclasses.replace(wrong, diagnosis=cause and Diagnosis(cause, f"Text {EVIL}"))
    key = store.key(state_of(ROOT, term, MANIFEST, CHAPTER), term / "submitted" / student / CHAPTER.id, sandboxed)
    graded = Graded(student, found, remarks=tuple(remarks), sandboxed=sandboxed)
    store.write(term, CHAPTER.id, store.Stored(key, graded))


def page(term, anonymous=False):
    return (term / "reports" / f"{CHAPTER.id}{'-anonymous' * anonymous}.html").read_text("utf-8")


def text(html):
    return " ".join(re.sub(r"<[^>]*>", " ", html.split("</head>")[1]).replace("&nbsp;", " ").split())


@pytest.fixture
def term(tmp_path):
    """A class of four, of whom two make one mistake and one another."""
    folder = tmp_path / "a term"
    for student, cause, code in (
        ("ann", CAUSE, CODE.format("x_t")),
        ("bo", CAUSE, CODE.format(f"h_prev, {EVIL!r}  # bo was here")),
        ("cy", OTHER, CODE.format("b_h")),
        ("di", None, None),
    ):
        submit(folder, student, code)
        grade(folder, student, cause)
    return folder


def shown(cause):
    """The short title of a mistake, as `text` leaves it."""
    return text(f"</head>{prose(title_of(cause, MESSAGES.mistakes[cause], ''))}")


def test_the_page(report, term):
    status, output, error = report(term)
    path = term / "reports" / f"{CHAPTER.id}.html"
    assert (status, output, error) == (0, f"Wrote {path} on 4 submissions.\n", "")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    words = text(page(term))
    assert "Two to teach on Monday" in words
    first = words.index(f"{shown(CAUSE)} 2 of 4 students (50 %)")
    assert first < words.index(f"{shown(OTHER)} 1 of 4 students (25 %)")
    for message in (MESSAGES.mistakes[CAUSE], MESSAGES.hints[0]):
        assert re.sub(r"[`<>&\s]", "", message)[:40] in re.sub(r"[`<>&;\s]|&[a-z]+;", "", words)
    assert MANIFEST.place("rnn_step").page_title in words
    assert "Made by ann , bo ." in words
    assert "return x_t" in words
    assert "return h_prev," in words
    assert "was here" not in words
    assert "<script" not in page(term)
    assert "No submission needs manual review." in words
    assert "The log of changes is empty." in words


def test_the_same_page_each_time(report, term):
    report(term)
    first = page(term)
    report(term)
    assert page(term) == first


def test_nothing_but_the_page_is_written(report, term):
    def files():
        return {path: path.stat().st_mtime_ns for path in term.rglob("*") if path.is_file()}

    before = files()
    report(term, "--json")
    report(term, "--csv", "points")
    assert files() == before
    report(term)
    assert set(files()) - set(before) == {term / "reports" / f"{CHAPTER.id}.html"}


def test_elsewhere(report, term, tmp_path):
    assert report(term, "--out", tmp_path / "new" / "page.html")[0] == 0
    assert (tmp_path / "new" / "page.html").is_file()
    assert not (term / "reports").exists()


def test_outside_a_course(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(cli.app, ["report", CHAPTER.id])
    assert (result.exit_code, result.stderr.split(":")[0]) == (1, "This command needs the course's source folder")


@pytest.mark.parametrize("given", [("--json", "--csv", "points"), ("--out", "x.html", "--json")])
def test_only_one_form_at_a_time(report, term, given):
    assert report(term, *given)[::2] == (1, "Use only one of --out, --json and --csv.\n")


def test_no_results(report, tmp_path):
    submit(tmp_path, "ann")
    status, output, error = report(tmp_path)
    assert (status, output) == (1, "")
    assert error == (
        f"No result for {CHAPTER.id} in {tmp_path} can be read, so there is nothing to report. "
        f"Run  grader autograde {CHAPTER.id} --term {tmp_path}  first.\n"
    )
    assert not (tmp_path / "reports").exists()


def test_one_student(report, tmp_path):
    submit(tmp_path, "ann")
    grade(tmp_path, "ann")
    assert report(tmp_path)[0] == 0
    words = text(page(tmp_path))
    assert words.count("undefined: fewer than two students") == len(CHAPTER.exercises)
    assert "To teach on Monday The checks found no likely cause of a failure in this class." in words


def test_no_exercise_passed(report, tmp_path):
    for student in ("ann", "bo"):
        submit(tmp_path, student)
        grade(tmp_path, student, statuses={e.id: "timeout" for e in CHAPTER.exercises})
    assert report(tmp_path)[0] == 0
    words = text(page(tmp_path))
    assert words.count("undefined: all students have the same points for it") == len(CHAPTER.exercises)
    assert words.count("0 of 2 passed") == len(CHAPTER.exercises)
    assert words.count("0 % 0 % 1.00") == len(CHAPTER.exercises)


def test_a_missing_notebook_is_said_to_be_none_that_is_wrong(report, tmp_path):
    """Of four students three submit rnn_step, and two of them pass: 67 % and not 50 %."""
    for student, status in (("ann", "passed"), ("bo", "passed"), ("cy", "failed"), ("di", "missing")):
        submit(tmp_path, student)
        grade(tmp_path, student, statuses={"rnn_step": status})
    assert report(tmp_path)[0] == 0
    words = text(page(tmp_path))
    assert "2 of 3 passed" in words
    assert "rnn_step 2 3 67 % 67 % 0.33" in words
    assert "A missing notebook is not wrong" in words
    _, table, _ = report(tmp_path, "--csv", "exercises")
    (step,) = [row for row in csv.DictReader(io.StringIO(table)) if row["exercise"] == "rnn_step"]
    assert (step["students"], step["missing"], step["submitted"]) == ("4", "1", "3")


def test_results_that_are_out_of_date_unsafe_or_missing(report, term):
    (term / "submitted" / "ann" / CHAPTER.id / "recurrence.ipynb").write_text("{}")
    grade(term, "bo", CAUSE, sandboxed=False)
    submit(term, "ed")
    (term / "results" / CHAPTER.id / "di" / "result.json").write_text("{")
    status, output, error = report(term)
    assert status == 3
    assert "on 3 submissions" in output
    assert "1 submission graded without a sandbox: bo.\n" in error
    assert (
        "1 submission out of date, because the submission or the course has changed since it was graded: ann." in error
    )
    assert "2 submissions not graded yet, so not in the report: di, ed." in error
    assert f"Run  grader autograde {CHAPTER.id} --term {term}  first, then repeat this command." in error
    words = text(page(term))
    assert "Not final. 1 submission ( bo ) was graded without the sandbox" in words
    assert "Out of date. 1 submission ( ann ) was graded before" in words
    assert "Incomplete. 2 submissions ( di , ed ) were not graded yet" in words
    assert "return x_t" not in words  # ann's code is not what was graded
    assert "return h_prev" in words


def test_submissions_that_were_put_away(report, term):
    shutil.rmtree(term / "submitted")
    assert report(term)[::2] == (0, "")
    assert "No code can be shown" in text(page(term))


def with_gradebook(term, students):
    url = gradebook_url(term)
    register(url, CHAPTER, student_notebooks(ROOT, MANIFEST, CHAPTER))
    answers = {"capstone": {"why_it_writes": "digest"}}
    with open_writer(url, CHAPTER.id) as writer:
        for student in students:
            writer.record(student, {}, answers=answers)
    return url


def test_answers_that_are_not_graded_and_points_by_hand(report, term):
    with open_gradebook(with_gradebook(term, ["ann", "bo"])) as gradebook:
        gradebook.find_grade("rnn_step-check", "recurrence", CHAPTER.id, "ann").manual_score = 0.5
        gradebook.find_submission_notebook("recurrence", CHAPTER.id, "bo").late_submission_penalty = 0.25
        gradebook.update_or_create_student("fay", first_name="Fay")
        gradebook.db.commit()
    assert report(term)[0] == 0
    found = class_report(ROOT, term, CHAPTER.id, None, False)
    due = sum(e.points for e in CHAPTER.exercises)
    step = MANIFEST.place("rnn_step").exercise.points
    assert found.points.points == pytest.approx(sorted([due - step + 0.5, due - step - 0.25, due - step, due]))
    assert found.unread == 2
    assert found.absent.names == ("fay",)
    words = text(page(term))
    assert "Points so far. 2 students have answers or scores that are not graded yet." in words
    assert "To grade manually in formgrader: why_it_writes in capstone (2 students)." in words
    assert "Instructors changed 1 score" in words
    assert "Without a submission: 1 student ( Fay (fay) ), not counted here." in words


def test_remarks_are_for_a_person(report, term):
    remarks = [
        Remark(Ended(Fault("timeout", 3, 20.0)), "recurrence"),
        Remark(OddCell("check edited", "rnn_step"), "recurrence"),
        Remark(Unreadable(EVIL), "sampling"),
    ]
    grade(term, "ann", CAUSE, remarks)
    grade(term, "bo", CAUSE, remarks[:1])
    report(term)
    words = text(page(term))
    order = [
        "Not graded What Students Who sampling:",
        "May affect points What Students Who recurrence, cell 4: stopped after 20 s of running time 2 ann , bo",
        "Harmless: no points are affected What Students Who recurrence: the check cell of rnn_step was edited",
    ]
    assert [words.index(each) for each in order] == sorted(words.index(each) for each in order)


def change(student, old, new, *reasons):
    exercise = {"rnn_step": new}
    return Change(student, reasons, exercise, None if old is None else {"rnn_step": old}, f"{student} {old} {new}")


def test_what_changed_is_that_of_the_last_run(report, term):
    first, second = Log(term, CHAPTER.id), Log(term, CHAPTER.id)
    first._run, second._run = "2026-01-02T03:04:05.678+00:00", "2026-02-03T04:05:06.789+00:00"
    for student in ("ann", "bo", "cy"):
        first.add(change(student, None, 1.0, "first"))
    second.add(change("bo", 1.0, 2.0, "submission"))
    second.add(change("ann", 1.0, 0.5, "checks", "limits"))
    second.add(change("di", None, 2.0, "first"))
    report(term)
    words = text(page(term)).partition("What changed in the last run")[2]
    assert words.startswith(" (of 2026-02-03, 04:05 UTC) Graded for the first time: 1 student.")
    assert "More points: 1 student. Fewer points: 1 student." in words
    assert "ann 1 → 0.5 rnn_step 1 → 0.5 the checks or the grader changed, the limits changed" in words
    assert "bo 1 → 2 rnn_step 1 → 2 the submission changed" in words
    assert "Submitted again" in text(page(term))
    assert "1 (1 gained, 0 lost)" in text(page(term))


def test_a_log_without_runs_and_with_torn_lines(report, term):
    log = Log(term, CHAPTER.id)
    log._run = ""
    log.add(change("ann", 1.0, 2.0, "submission"))
    with log.path.open("ab") as file:
        file.write(b'{"at": "2026')
    assert report(term)[0] == 0
    assert "What changed in the last run (in a log without times of runs)" in text(page(term))


SECRET = ["ann.lee", "Zoë", ODD, FORMULA, "20481234", "Kathrin", "Oakley", "kathi99", "uni.edu", "q-team"]


@pytest.fixture
def named_term(tmp_path):
    """A class whose names are everywhere that a student can put them."""
    term = tmp_path / "named"
    students = ["ann.lee", ODD, FORMULA, "20481234"]
    leaky = 'W_annLee, zoe = x_t, "by Kathrin OAKLEY, kathi99@uni.edu"  # 20481234'
    remarks = [
        Remark(LeftOut("ann.lee.zip", 9_000_000)),
        Remark(OtherName("recurrence.ipynb", False, "Zoë.ipynb"), "recurrence"),
        Remark(OtherFiles("ann.lee.ipynb", ("20481234.ipynb",)), "recurrence"),
        Remark(NotImported(2, "kathi99_tools", "no module kathi99_tools"), "recurrence"),
        Remark(NoTime("by ann.lee")),
        Remark(Unreadable("there is no file x (found instead: 20481234.ipynb)"), "sampling"),
        Remark(Ended(Fault("memory", 2), "rnn_step"), "recurrence"),
    ]
    for student in students:
        submit(term, student, CODE.format("1") + f'    "{student}"\n{leaky}\nann_lee = 20481234\n')
        grade(term, student, CAUSE, remarks, sandboxed=student != ODD)
    submit(term, "q-team")
    with open_gradebook(with_gradebook(term, students)) as gradebook:
        gradebook.update_or_create_student("ann.lee", first_name="Kathrin", last_name="Oakley", email="kathi99@uni.edu")
        gradebook.update_or_create_student("oakley-fay", first_name="Fay")
    log = Log(term, CHAPTER.id)
    for student in students:
        log.add(change(student, 1.0, 2.0, "submission"))
    (term / "submitted" / "20481234" / CHAPTER.id / "sampling.ipynb").write_text("{}")
    return term


def plain(name):
    return name.casefold().replace("ë", "e").replace("é", "e")


def test_an_anonymous_report_names_no_student(report, named_term):
    status, output, error = report(named_term, "--anonymous")
    assert status == 3
    printed = [page(named_term, True), output.replace(str(named_term), ""), error.replace(str(named_term), "")]
    printed.append(report(named_term, "--anonymous", "--json")[1])
    printed += [report(named_term, "--anonymous", "--csv", name)[1] for name in TABLES]
    for form in printed:
        for name in SECRET:
            assert plain(name) not in plain(form.replace("&#x27;", "'").replace("&amp;", "&")), name
    assert "4 students, without names" in printed[0]
    assert "‹name›" in printed[0]
    assert not (named_term / "reports" / f"{CHAPTER.id}.html").exists()
    report(named_term)
    whole = page(named_term).replace("&#x27;", "'").replace("&amp;", "&")
    for name in ("ann.lee", "Zoë", ODD, FORMULA, "20481234", "kathi99_tools", "q-team"):
        assert name in whole  # so the search would find it


def test_excerpts_name_no_student_in_the_instructors_report_either(named_term):
    found = class_report(ROOT, named_term, CHAPTER.id, None, False)
    codes = " ".join(code for mistake in found.mistakes for code in mistake.excerpts)
    assert "return 1" in codes
    for name in SECRET:
        assert plain(name) not in plain(codes), name


TABLES = ["exercises", "mistakes", "points", "reviews", "changes"]


def test_the_tables_have_the_numbers_of_the_page(report, term):
    found = json.loads(report(term, "--json")[1])
    assert (found["format"], found["chapter"], found["students"]) == (1, CHAPTER.id, 4)
    rows = {name: list(csv.DictReader(io.StringIO(report(term, "--csv", name)[1]))) for name in TABLES}
    step = next(row for row in rows["exercises"] if row["exercise"] == "rnn_step")
    assert (step["passed"], step["failed"], step["wrong_with_likely_cause"]) == ("1", "3", "3")
    assert float(step["mean_share"]) == 0.25
    assert (step["discrimination"], step["discrimination_undefined"]) == (
        "",
        "all students have the same points for the other exercises",
    )
    assert [(row["mistake"], row["students"], row["who"]) for row in rows["mistakes"]] == [
        (CAUSE, "2", "ann; bo"),
        (OTHER, "1", "cy"),
    ]
    assert [int(row["students"]) for row in rows["points"]] == [each["students"] for each in found["points"]["bins"]]
    assert [float(row["from"]) for row in rows["points"]] == [each["low"] for each in found["points"]["bins"]]
    words = text(page(term)) if report(term)[0] == 0 else ""
    for each in found["points"]["bins"]:
        assert f"{each['high']:g} {each['students']} {each['students'] / 4:.0%}".replace("%", " %") in words


def test_formulas_are_neutralised_in_tables(report, named_term):
    lines = list(csv.reader(io.StringIO(report(named_term, "--csv", "changes")[1])))
    assert f"'{FORMULA}" in [line[0] for line in lines]
    assert not [cell for line in lines for cell in line if cell.startswith(("=", "+", "@"))]


@pytest.mark.parametrize("name", [ODD, FORMULA, "x\u202egnp", "a,b;c", "O'Neil & Söhne", "-1"])
def test_names_with_hostile_characters(report, tmp_path, name):
    submit(tmp_path, name, CODE.format("x_t"))
    grade(tmp_path, name, CAUSE)
    assert report(tmp_path)[0] == 0
    html = page(tmp_path)
    assert "\u202e" not in html
    assert "<bdi>" in html
    (row,) = csv.DictReader(io.StringIO(report(tmp_path, "--csv", "mistakes")[1]))
    assert row["who"].lstrip("'") == name.replace("\u202e", "\N{REPLACEMENT CHARACTER}")


def test_diagnoses_from_stored_results_are_escaped(report, term):
    grade(term, "cy", f"after: {EVIL}")
    grade(term, "bo", f"after; {EVIL}")
    assert report(term)[0] == 0
    html = page(term)
    assert "<script" not in html
    assert "after: &lt;/code&gt;&lt;script&gt;" in html
    ids = re.findall(r'\bid="([^"]*)"', html)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]*)"', html)) <= set(ids)

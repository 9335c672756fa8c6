"""Slip days and exemptions: what they take off, in which order, and what reaches the gradebook and the exports."""

import json
import shutil
from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from typer.testing import CliRunner

from grader.cells import check_id
from grader.cli import commands as cli
from grader.gradebook import gradebook_url, open_gradebook, open_writer, read_scores
from grader.gradebook.enrolment import enrol
from grader.gradebook.penalties import late_penalties
from grader.gradebook.roster import Student
from grader.gradebook.slips import SlipDays, Slips
from grader.grading.attempts import counted_attempt, kept
from grader.grading.chapter import autograde
from grader.grading.pool import here
from grader.grading.release import AutogradeError
from grader.grading.report import Notes
from grader.grading.run import _elsewhere
from grader.grading.store import read
from grader.manifest import Chapter, Exercise, Notebook
from grader.term_settings import TermSettings, TermSettingsError, read_term_settings

CHAPTERS = tuple(
    Chapter(
        name,
        name,
        (Notebook("a", "A", (Exercise("f", "F", 6, "p"),)), Notebook("b", "B", (Exercise("g", "G", 4, "p"),))),
    )
    for name in ("one", "two", "three")
)
DUE = {name: datetime(2026, 3, 7 * week) for week, name in enumerate(("one", "two", "three"), 1)}
TENTH = {"share": 0.1, "grace_minutes": 15, "closes_after_days": 7}


def slips(tmp_path, submitted, days=3, late=TENTH, due=DUE, **more):
    """The slip days of ann, who submitted each chapter so many hours late."""
    url = gradebook_url(tmp_path)
    for chapter, hours in submitted.items():
        with open_gradebook(url) as gradebook:
            gradebook.add_assignment(chapter)
        with open_writer(url, chapter) as writer:
            writer.record("ann", {}, timestamp=DUE[chapter] + timedelta(hours=hours))
    return SlipDays(
        gradebook_url(tmp_path), tmp_path, CHAPTERS, TermSettings(slip_days=days, late=late, due=due, **more)
    )


@pytest.mark.parametrize(
    ("hours", "used", "left"),
    [
        ({"one": -1, "two": 30, "three": 30}, {"two": 2, "three": 1}, 0),
        ({"three": 30, "two": 1, "one": 1}, {"one": 1, "two": 1, "three": 1}, 0),  # in the order of due dates
        ({"one": 0.2, "two": 24.1}, {"two": 1}, 2),  # the grace minutes come first
        ({"one": 20 * 24, "two": 25}, {"two": 2}, 1),  # without points anyway
        ({"one": 8 * 24, "two": 1}, {"one": 3}, 0),  # 5 days are left of 8, which cost one half
        ({}, {}, 3),
    ],
)
def test_late_submissions_use_them_up_in_the_order_of_due_dates(tmp_path, hours, used, left):
    found = slips(tmp_path, hours).of("ann")
    assert (dict(found.used), found.left) == (used, left)


def test_the_order_is_that_of_the_due_dates_not_that_of_the_course(tmp_path):
    turned = {"one": DUE["three"], "two": DUE["two"], "three": DUE["one"]}
    hours = {"one": 24 * 14 + 30, "two": 30, "three": -24 * 14 + 30}
    assert dict(slips(tmp_path, hours, due=turned).of("ann").used) == {"three": 2, "two": 1}


def test_an_extension_comes_before_slip_days(tmp_path):
    extended = {"two": {"ann": DUE["two"] + timedelta(days=1)}}
    found = slips(tmp_path, {"one": 1, "two": 30}, extensions=extended).of("ann")
    assert (dict(found.used), found.left) == ({"one": 1, "two": 1}, 1)


def test_an_exempt_chapter_uses_none(tmp_path):
    found = slips(tmp_path, {"one": 30, "two": 30}, exempt={"one": {"ann": True}}).of("ann")
    assert dict(found.used) == {"two": 2}
    found = slips(tmp_path / "more", {"one": 30, "two": 30}, exempt={"one": {"ann": ("a",)}}).of("ann")
    assert dict(found.used) == {"one": 2, "two": 1}


def test_with_a_policy_of_ones_own(tmp_path):
    (tmp_path / "own.py").write_text(
        "from nbgrader.plugins import BasePlugin\n"
        "class Steps(BasePlugin):\n"
        "    def late_submission_penalty(self, student_id, score, late):\n"
        "        return 2 if late > 2 * 86400 else 1\n"  # one day earlier makes no difference
    )
    found = slips(tmp_path, {"one": 50, "two": 10}, days=2, late={"plugin": "own.Steps"}).of("ann")
    assert (dict(found.used), found.left) == ({"one": 1, "two": 1}, 0)


def test_a_lateness_that_is_not_in_the_gradebook_yet(tmp_path):
    """An attempt is compared with what earlier chapters have left, whatever later ones used."""
    found = slips(tmp_path, {"one": 30, "three": 30})
    assert found.without("ann", "two", 30 * 3600.0) == 6 * 3600
    assert found.without("ann", "three", 30 * 3600.0) == 6 * 3600
    assert found.without("bo", "two", 30 * 3600.0) == -18 * 3600
    assert found.of("bo") == Slips(left=3)


def test_no_slip_days(tmp_path):
    found = slips(tmp_path, {"one": 30}, days=0)
    assert (found.of("ann"), found.of_all()) == (Slips(left=0), {})
    assert found.without("ann", "one", 5.0) == 5
    assert SlipDays(None, tmp_path, CHAPTERS, TermSettings(slip_days=3)).of_all() == {}


# --- a graded class --------------------------------------------------------------------------------------------

CHAPTER = "ch01_vanilla_rnn"
SETTINGS = f"slip_days = {{}}\n{{}}\n[late]\nshare = 0.25\n[due]\n{CHAPTER} = 2026-03-01 12:00:00Z\n{{}}"


@pytest.fixture
def course(small_course, tmp_path):
    return shutil.copytree(small_course, tmp_path / "course")


@pytest.fixture
def term(tmp_path, right):
    """ann was an hour late, bo a day and an hour, cy in time."""
    term = tmp_path / "term"
    for student, when in (("ann", "01 13:00"), ("bo", "02 13:00"), ("cy", "01 11:00")):
        submit(term, student, right, f"2026-03-{when} UTC")
    (term / "term.toml").write_text(SETTINGS.format(1, "", ""))
    enrol(
        gradebook_url(term),
        [Student(n, n.title(), "Lee", f"{n}@x.edu", str(k)) for k, n in enumerate(("ann", "bo", "cy"), 100)],
    )
    return term


def submit(term, student, notebook, when):
    folder = term / "submitted" / student / CHAPTER
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "recurrence.ipynb").write_text(json.dumps(notebook))
    (folder / "timestamp.txt").write_text(when)


def run(course, term, **more):
    return {g.student: g for g in autograde(course, term, CHAPTER, here, db_url=gradebook_url(term), **more)}


def penalties(term):
    return {student: its.late_penalty for student, its in sorted(read_scores(gradebook_url(term), CHAPTER).items())}


def command(course, monkeypatch, *arguments):
    monkeypatch.chdir(course)
    result = CliRunner().invoke(cli.app, [str(each) for each in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.stdout


def test_the_gradebook_the_table_and_the_export(course, term, monkeypatch):
    run(course, term)
    assert penalties(term) == {"ann": 0, "bo": 1, "cy": 0}  # of 4 points a quarter
    output = command(course, monkeypatch, "autograde", CHAPTER, "--term", term)
    assert "Ann Lee (ann)" in output
    said = "Slip days used in this chapter: Ann Lee (ann) 1 (0 left in the end), Bo Lee (bo) 1 (0 left in the end)."
    assert said in output.splitlines()
    tree = json.loads(command(course, monkeypatch, "autograde", CHAPTER, "--term", term, "--json"))
    assert [(s["name"], s["slip_days"]) for s in tree["students"]] == [
        ("Ann Lee", {"used": 1, "left": 0}),
        ("Bo Lee", {"used": 1, "left": 0}),
        ("Cy Lee", {"used": 0, "left": 1}),
    ]
    command(course, monkeypatch, "export", CHAPTER, "--term", term)
    header, *rows = (term / "exports" / f"{CHAPTER}-points.csv").read_text("utf-8-sig").splitlines()
    place = header.split(",").index(f'"{CHAPTER}.slip_days"')
    assert [(row.split(",")[place], row.split(",")[-1]) for row in rows] == [("1", "0"), ("1", "0"), ("0", "1")]
    command(course, monkeypatch, "feedback", CHAPTER, "--term", term)
    page = (term / "feedback" / "bo" / f"{CHAPTER}.html").read_text("utf-8")
    late = "It was due on 2026-03-01 12:00 UTC and came 1 day 1 hour late. It used 1 slip day, which cost nothing; "
    assert f"{late}you have 0 of 1 slip day left in this term.</p>" in page
    of_ann = (term / "feedback" / "ann" / f"{CHAPTER}.html").read_text("utf-8")
    assert "came 1 hour late. It used 1 slip day" in of_ann
    assert "left in this term. No points are subtracted for this.</p>" in of_ann
    assert "It was due" not in (term / "feedback" / "cy" / f"{CHAPTER}.html").read_text("utf-8")
    assert "Total: <strong>3 of 4 points</strong>" in page


def test_the_class_report(course, term, monkeypatch):
    run(course, term)
    command(course, monkeypatch, "report", CHAPTER, "--term", term)
    page = (term / "reports" / f"{CHAPTER}.html").read_text("utf-8")
    said = "Slip days: each student has 1 in the term. 2 students used 2 so far, of which 2 in this chapter."
    assert said in page
    row = '<bdi>Bo Lee (bo)</bdi></th><td class="number">1</td><td class="number">1 of 1</td>'
    assert row in page
    tree = json.loads(command(course, monkeypatch, "report", CHAPTER, "--term", term, "--json"))
    assert tree["slips"] == {
        "each": 1,
        "students": [
            {"student": "ann", "here": 1, "term": 1, "left": 0},
            {"student": "bo", "here": 1, "term": 1, "left": 0},
        ],
    }
    command(course, monkeypatch, "report", CHAPTER, "--term", term, "--anonymous")
    anonymous = (term / "reports" / f"{CHAPTER}-anonymous.html").read_text("utf-8")
    assert said in anonymous
    assert "Lee" not in anonymous
    (term / "term.toml").write_text(SETTINGS.format(0, "", ""))
    run(course, term, new_rules=True)
    tree = json.loads(command(course, monkeypatch, "report", CHAPTER, "--term", term, "--json"))
    assert tree["slips"] is None


def test_an_extension_that_is_withdrawn_is_gone_in_the_same_run(course, term, monkeypatch):
    """The gradebook still has it when the slip days are counted."""
    extension = f"[extensions.{CHAPTER}]\nbo = 2026-03-03 12:00:00Z\n"
    (term / "term.toml").write_text(SETTINGS.format(1, "", extension))
    run(course, term)
    assert penalties(term) == {"ann": 0, "bo": 0, "cy": 0}
    (term / "term.toml").write_text(SETTINGS.format(1, "", ""))
    run(course, term)
    assert penalties(term) == {"ann": 0, "bo": 1, "cy": 0}  # 25 hours, of which a slip day takes 24
    assert late_penalties(gradebook_url(term)) == {CHAPTER: {"bo": 1}}


def test_an_extension_in_the_gradebook_counts_without_a_due_date_in_the_file(tmp_path):
    found = slips(tmp_path, {"one": 30, "two": 30}, due={"two": DUE["two"]})
    with open_gradebook(gradebook_url(tmp_path)) as gradebook:
        gradebook.find_assignment("one").duedate = DUE["one"]
        for name in ("one", "two"):
            gradebook.find_submission(name, "ann").extension = timedelta(days=1)
        gradebook.db.commit()
    assert dict(found.of("ann").used) == {"one": 1, "two": 2}


def test_points_that_are_given_after_the_penalties_are_told_until_they_are_computed_again(course, term, monkeypatch):
    run(course, term)
    assert "points were given" not in command(course, monkeypatch, "export", CHAPTER, "--term", term)
    with open_gradebook(gradebook_url(term)) as gradebook:
        for student in ("ann", "bo"):  # only bo has a penalty
            gradebook.find_grade(check_id("rnn_step"), "recurrence", CHAPTER, student).manual_score = 0
        gradebook.db.commit()
    output = command(course, monkeypatch, "export", CHAPTER, "--term", term)
    assert f"{CHAPTER}: points were given after the late penalties were computed for Bo Lee (bo). Run" in output
    run(course, term)
    assert penalties(term)["bo"] < 1
    assert "points were given" not in command(course, monkeypatch, "export", CHAPTER, "--term", term)


def test_penalties_that_change_in_other_chapters_are_named():
    old = {"one": {"ann": 1.0, "bo": 2.0}, "two": {"ann": 1.0}, "three": {"cy": 1.0}}
    new = {"one": {"ann": 3.0}, "two": {"ann": 1.0, "bo": 0.5}}
    assert _elsewhere(old, new, "one") == {"three": ["cy"], "two": ["bo"]}
    (line,) = Notes({"bo": "Bo Lee (bo)"}, elsewhere={"two": ["bo"]}).lines(CHAPTERS[0])
    assert line.startswith("Slip days that moved have changed late penalties in two, too: Bo Lee (bo).")


def test_submissions_without_a_time_are_named_if_lateness_costs_anything(course, term, monkeypatch):
    (term / "submitted" / "bo" / CHAPTER / "timestamp.txt").unlink()
    said = "1 submission without a time, so on time for late penalties and slip days: Bo Lee (bo)."
    assert said in command(course, monkeypatch, "autograde", CHAPTER, "--term", term, "--dry-run")
    assert said in CliRunner().invoke(cli.app, ["autograde", CHAPTER, "--term", str(term)]).stderr
    (term / "term.toml").write_text(f"[due]\n{CHAPTER} = 2026-03-01 12:00:00Z\n")
    assert "without a time" not in command(course, monkeypatch, "autograde", CHAPTER, "--term", term, "--dry-run")
    (term / "term.toml").write_text("[late]\nshare = 0.25\n")
    run(course, term, new_rules=True)
    with open_gradebook(gradebook_url(term)) as gradebook:
        gradebook.find_assignment(CHAPTER).duedate = None
        gradebook.db.commit()
    assert "without a time" not in command(course, monkeypatch, "autograde", CHAPTER, "--term", term, "--dry-run")


def test_other_slip_days_are_other_rules(course, term):
    run(course, term)
    (term / "term.toml").write_text(SETTINGS.format(2, "", ""))
    with pytest.raises(AutogradeError, match="slip_days: 1, now 2"):
        run(course, term)
    run(course, term, new_rules=True)
    assert penalties(term) == {"ann": 0, "bo": 0, "cy": 0}


def test_the_best_attempt_is_found_after_slip_days(course, term, right):
    """Right work that a slip day makes free counts, and without one the half that was in time."""
    for days, number in ((1, 2), (0, 1)):
        (term / "term.toml").write_text(
            SETTINGS.replace("share = 0.25", "share = 1").format(days, 'attempts = "best"', "")
        )
        half = json.loads(json.dumps(right).replace("np.tanh", "np.sin", 1))
        submit(term, "ann", half, "2026-03-01 11:00 UTC")
        run(course, term, new_rules=True)
        submit(term, "ann", right, "2026-03-01 13:00 UTC")
        run(course, term)
        settings = TermSettings(attempts="best")
        found = counted_attempt(
            settings, term, CHAPTER, read(term, CHAPTER, "ann"), kept(term, CHAPTER, "ann")[-1].folder
        )
        assert (found.number, found.of, found.when.hour) == (number, 2, {2: 13, 1: 11}[number])
        shutil.rmtree(term / "attempts")


def test_an_exempt_student(course, term, monkeypatch):
    whole = f"[exempt.{CHAPTER}]\nann = true\ndee = true\n"
    enrol(gradebook_url(term), [Student("dee", "Dee", "Lee", "dee@x.edu", "103")])
    (term / "term.toml").write_text(SETTINGS.format(0, "", whole))
    output = command(course, monkeypatch, "autograde", CHAPTER, "--term", term)
    assert "Exempt: Ann Lee (ann) (all), Dee Lee (dee) (all)." in output
    assert not any(line.startswith("Ann") for line in output.splitlines())
    assert penalties(term)["ann"] == 0
    command(course, monkeypatch, "export", CHAPTER, "--term", term, "--format", "canvas")
    rows = (term / "exports" / f"{CHAPTER}-canvas.csv").read_text("utf-8").splitlines()
    assert [row.split(",")[-1] for row in rows[2:]] == ['"EX"', "2", "4", '"EX"']
    command(course, monkeypatch, "export", CHAPTER, "--term", term, "--format", "moodle", "--missing", "zero")
    text = (term / "exports" / f"{CHAPTER}-moodle.csv").read_text("utf-8")
    assert '"100","ann@x.edu","","You are exempt from this chapter."' in text
    command(course, monkeypatch, "feedback", CHAPTER, "--term", term)
    page = (term / "feedback" / "ann" / f"{CHAPTER}.html").read_text()
    assert "You are exempt from this chapter</strong>" in page
    assert "counts.</p>" not in page.replace("so nothing of it counts.</p>", "")
    assert "It was due" not in page
    tree = json.loads(command(course, monkeypatch, "report", CHAPTER, "--term", term, "--json"))
    assert (tree["students"], tree["exempt"]["names"], tree["absent"]["count"]) == (2, ["ann", "dee"], 0)
    command(course, monkeypatch, "report", CHAPTER, "--term", term, "--anonymous")
    page = (term / "reports" / f"{CHAPTER}-anonymous.html").read_text()
    assert "Exempt: 2 students. What they are exempt from" in page
    assert "Lee" not in page


def test_due_names_who_is_exempt(course, term, monkeypatch):
    (term / "term.toml").write_text(SETTINGS.format(2, "", f"[exempt.{CHAPTER}]\nann = true\n"))
    output = command(course, monkeypatch, "due", "--term", term)
    assert f"Exempt from {CHAPTER}: Ann Lee (ann) (all)." in output
    assert "Each student has 2 slip days." in output
    costs = (
        "Of 100 points, lateness costs 25 by an hour, 50 by a day and an hour, 100 by eight days, 100 by thirty days."
    )
    assert costs in output


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("slip_days = 3", r"slip_days = 3: .* needs a table \[late\]"),
        ("slip_days = -1\n[late]", "slip_days = -1"),
        ('slip_days = "3"', "slip_days: Expected `int`"),
        (
            "[due]\nch01 = 2026-03-01 12:00:00Z",
            "due.ch01: the course has no chapter 'ch01'. Do you mean ch01_vanilla_rnn?",
        ),
        (f"[due]\n{CHAPTER} = 7", f"due.{CHAPTER}: Expected `datetime`"),
        (f"[extensions.{CHAPTER}]\nann = 7", f"extensions.{CHAPTER}.ann: Expected `datetime`"),
        (f"[exempt.{CHAPTER}]\nann = false", f"exempt.{CHAPTER}.ann = false: delete the line"),
        (f'[exempt.{CHAPTER}]\nann = ["x"]', f"exempt.{CHAPTER}.ann: {CHAPTER} has no notebook 'x'. It has recurrence"),
        (f"[exempt.{CHAPTER}]\nann = []", "names no notebook"),
        (f"[exempt.{CHAPTER}]\nann = 3", f"exempt.{CHAPTER}.ann: Expected"),
        ("[excused.ch01]\nann = true", r"excused is no setting of a term.*write  \[exempt.CHAPTER\]"),
        ("[late]\nshare = [1]", "late.share: Expected"),
        ("[due", "Expected"),
    ],
)
def test_settings_that_are_wrong_are_named(course, term, text, told):
    from grader.manifest import load_manifest

    (term / "term.toml").write_text(text)
    with pytest.raises(TermSettingsError, match=told):
        read_term_settings(term, load_manifest(course / "course.toml"))


def test_who_is_exempt_from_a_notebook_gets_the_share_of_the_others():
    from grader.gradebook.scores import Recorded, Score
    from grader.lms.canvas import export_canvas
    from grader.lms.plain import export_plain
    from grader.lms.table import Policy, Standing, Status, Table, not_final
    from grader.term_settings import without

    (chapter,) = CHAPTERS[:1]
    ann = Student("7", "Ann", "Lee")
    recorded = Recorded({"f": Score()}, 0.0, {"f": 3.0})
    standing = Standing(ann, without(chapter, ["b"]), Status.final, recorded, chapter)
    table = Table((chapter,), (ann,), {"one": {"7": standing}})
    assert (standing.total, Policy().score(standing), standing.exempt) == (3, 5, ("B",))
    assert export_plain(table, Policy()).rows[1][5:10] == [Decimal(3), "exempt", 0, Decimal(3), 6]
    assert export_canvas(table, Policy()).rows[2][-1] == 5
    assert "the same share of 10: Ann Lee (7)" in not_final(table, Policy(), "term")[0]

"""A whole term from the roster to the exports: 40 students, seven chapters, and every total known before.

    make term

The class is the demo class, whose points for every exercise are planted, so they are known without the grader. This
program adds what happens in a term: late submissions and extensions, submissions that cannot be read, resubmissions of
which the best counts, a check that is wrong at first and corrected later, answers graded by hand and an overridden
score, slip days, exemptions, a request for regrading and Canvas's test student. From the planted points and its own
plan it computes what each student must have in the end, with plain arithmetic, and compares that with the gradebook,
with `nbgrader export` and with what `grader` exports and reports.

It works in a copy of the course, because it changes a check. It ends with status 1 at the first difference.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from grader.author.demo_class import demo_class  # noqa: E402
from grader.author.planted import read_planted  # noqa: E402
from grader.gradebook import gradebook_url, open_gradebook  # noqa: E402
from grader.manifest import Chapter, load_manifest  # noqa: E402

STUDENTS = 40
MANIFEST = load_manifest(ROOT / "course.toml")
CHAPTERS = {chapter.id: chapter for chapter in MANIFEST.chapters}
NAMES = [f"student{number:02}" for number in range(1, STUDENTS + 1)]

# --- the plan of the term -------------------------------------------------------------------------------------

FIRST_DUE = datetime(2026, 3, 1, 12, tzinfo=UTC)
DUE = {name: FIRST_DUE + timedelta(weeks=week) for week, name in enumerate(CHAPTERS)}

# A tenth a day, a quarter of an hour free, at most one half, and nothing after two weeks.
POLICY = """
[late]
share = 0.1
grace_minutes = 15
at_most = 0.5
closes_after_days = 14
"""
# These students are always so many hours late; the share of the points that it costs is written out, not computed.
LATE = {
    "student04": (0.2, 0.0),
    "student09": (5.0, 0.1),
    "student14": (30.0, 0.2),
    "student19": (8 * 24.0, 0.5),
    "student22": (20 * 24.0, 1.0),
}
EXTENDED_BEFORE = ("ch02_bptt", "student14", 30)  # hours; granted before anything is graded
EXTENDED_LATER = ("ch04_gated", "student09", 5)  # granted after the first grading

# Slip days, and the submissions that they make free, written out: student09 is five hours late in every chapter, so the
# first two use one day each; student14 is thirty hours late, so the first one uses both. Of student19, eight days late,
# two days less still cost one half; of student22, twenty days late, everything. student07 comes with a resubmission.
SLIP_DAYS = 2
SLIPPED = {
    ("student09", "ch00_sequences"): 1,
    ("student09", "ch01_vanilla_rnn"): 1,
    ("student14", "ch00_sequences"): 2,
}
SLIPPED_LATER = ("student07", "ch01_vanilla_rnn", 2)

EXEMPT = ("student22", "ch03_gradients")  # from the chapter, although it was submitted, and late
EXEMPT_FROM = ("student19", "ch01_vanilla_rnn", "unrolling")  # from this notebook, which was submitted late, too
REQUEST = ("student32", "ch01_vanilla_rnn", "Please look <again>.", "It stays.")
TEST_STUDENT = 7999  # of Canvas

WITH_WHOLE_CAPSTONES = ("student03", "student05")  # neither is broken
UNREADABLE = ("student38", "ch00_sequences", "counting")  # this notebook is no JSON
EMPTY = ("student39", "ch05_encoder_decoder")  # this folder contains nothing
MISSING = ("student37", "ch06_attention")  # this folder does not exist

# Second submissions: the notebooks of the student with the most or the fewest points in the chapter, so many hours
# late, which costs this share.
RESUBMITTED = {
    ("student05", "ch01_vanilla_rnn"): ("most", -1.0, 0.0),
    ("student06", "ch01_vanilla_rnn"): ("fewest", -1.0, 0.0),
    ("student07", "ch01_vanilla_rnn"): ("most", 30.0, 0.0),
    ("student05", "ch03_gradients"): ("fewest", -1.0, 0.0),
    ("student10", "ch03_gradients"): ("most", 8 * 24.0, 0.5),
    ("student23", "ch06_attention"): ("most", 20 * 24.0, 1.0),
}

RESUBMITTED_IN = "ch01_vanilla_rnn"  # graded once more at the end

AS_A_ZIP = ("student05", "ch01_vanilla_rnn")  # the one of them that comes as a zip of `grader submit`

KILLED = "ch02_bptt"  # the first grading of this chapter is killed after a few results, and then repeated

# The check that is wrong at first: its author computes the loss in bits. Whoever made this mistake gets the points, and
# every right solution gets none.
WRONG_CHECK = ("ch01_vanilla_rnn", "sequence_loss")
IN_BITS = "mistake in_bits"
RIGHT_LINE = "targets).reshape(-1)).item()\n"
WRONG_LINE = "targets).reshape(-1)).item() / np.log(2)\n"

ANSWER = "The state carries what was read"  # how the demo class answers questions, if its notebook is not broken
OVERRIDE = ("student02", "ch04_gated", "gru_step", 1.5, "Right idea; see the page on GRUs.")
NOT_GRADED_YET = ("student11", "ch02_bptt")  # an answer without points until the end


def points_for_the_answer(student: str) -> float:
    """0, 0.5, …, 2 points, by the student's number."""
    return int(student[-2:]) % 5 * 0.5


def comment_on_the_answer(student: str) -> str:
    return f"{student}: see <b>page 3</b> & compare." if int(student[-2:]) % 3 == 0 else ""


# --- what every student must have ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Attempt:
    """A submission: whose planted work it is, the share of the points that its lateness costs, and its answers."""

    whose: str
    lost: float
    answered: bool


class Expected:
    """The points of every student, computed from the planted points and the plan."""

    def __init__(self, planted: Mapping[str, Any], term: Path) -> None:
        self._planted = planted
        self.resubmitted = False
        self.extended_later = False
        self.check_corrected = False
        self.graded_by_hand = False
        self._answered = {
            (student, name): any(
                ANSWER in path.read_text("utf-8", "replace")
                for path in (term / "submitted" / student / name).glob("*.ipynb")
            )
            for student in NAMES
            for name in CHAPTERS
        }

    def exercise(self, whose: str, chapter: Chapter, exercise: str, *, corrected: bool = True) -> float:
        """The autograder's points for the work of this student."""
        if (whose, chapter.id) in (EMPTY, MISSING):
            return 0.0
        notebook = MANIFEST.place(exercise).notebook.name
        if (whose, chapter.id, notebook) == UNREADABLE:
            return 0.0
        entry = self._planted[whose][exercise]
        if (chapter.id, exercise) == WRONG_CHECK and not corrected:
            return MANIFEST.place(exercise).exercise.points if entry["what"].startswith(IN_BITS) else 0.0
        return float(entry["points"])

    def work(self, whose: str, chapter: Chapter, *, corrected: bool = True) -> float:
        return sum(self.exercise(whose, chapter, each.id, corrected=corrected) for each in chapter.exercises)

    def attempts(self, student: str, chapter: Chapter) -> list[Attempt]:
        _, lost = LATE.get(student, (0.0, 0.0))
        extensions = [EXTENDED_BEFORE, *([EXTENDED_LATER] if self.extended_later else [])]
        if any((chapter.id, student) == (name, who) for name, who, _ in extensions):
            lost = 0.0
        if (student, chapter.id) in SLIPPED or (student, chapter.id) == EXEMPT:
            lost = 0.0
        found = [Attempt(student, lost, self._answered[student, chapter.id])]
        again = RESUBMITTED.get((student, chapter.id))
        if again is not None and self.resubmitted:
            kind, _, lost = again
            donor = self.donor(chapter, kind)
            found.append(Attempt(donor, lost, self._answered[donor, chapter.id]))
        return found

    def donor(self, chapter: Chapter, kind: str) -> str:
        """The first student with the most or the fewest points in a chapter."""
        others = [student for student in NAMES if (student, chapter.id) not in (*RESUBMITTED, EMPTY, MISSING)]
        points = {student: self.work(student, chapter) for student in others}
        wanted = max(points.values()) if kind == "most" else min(points.values())
        return next(student for student in others if points[student] == wanted)

    def counted(self, student: str, chapter: Chapter) -> Attempt:
        """The attempt with the most points after its penalty; of equal ones the later."""
        best, *others = self.attempts(student, chapter)
        for other in others:
            after, before = (self.work(each.whose, chapter) * (1 - each.lost) for each in (other, best))
            if round(after - before, 6) >= 0:
                best = other
        return best

    def item(self, student: str, chapter: Chapter, item: str) -> float:
        """The points that count for an exercise or a question, before any penalty."""
        counted = self.counted(student, chapter)
        if self.graded_by_hand and (student, chapter.id, item) == OVERRIDE[:3]:
            return OVERRIDE[3]
        if any(item == question.id for question in chapter.questions):
            given = self.graded_by_hand and counted.answered and (student, chapter.id) != NOT_GRADED_YET
            return points_for_the_answer(student) if given else 0.0
        return self.exercise(counted.whose, chapter, item, corrected=self.check_corrected)

    def points(self, student: str, chapter: Chapter) -> float:
        return sum(self.item(student, chapter, item.id) for item in chapter.items)

    def counting(self, student: str, chapter: Chapter) -> float:
        """The points of what the student is not exempt from, before any penalty."""
        return sum(self.item(student, chapter, name) for name in counting_items(student, chapter))

    def penalty(self, student: str, chapter: Chapter) -> float:
        return self.counting(student, chapter) * self.counted(student, chapter).lost

    def total(self, student: str, chapter: Chapter) -> float:
        return self.counting(student, chapter) - self.penalty(student, chapter)

    def of_all(self, student: str, chapter: Chapter) -> float:
        """The total, as a share of the points of the whole chapter."""
        own = sum(item.points for item in chapter.items if item.id in counting_items(student, chapter))
        return self.total(student, chapter) * sum(item.points for item in chapter.items) / own

    def slips(self, student: str) -> dict[str, int]:
        """The slip days that the chapters have used."""
        its = {name: days for (who, name), days in SLIPPED.items() if who == student}
        who, name, days = SLIPPED_LATER
        if who == student and self.resubmitted and self.counted(who, CHAPTERS[name]).whose != who:
            its[name] = days
        return its

    def is_waiting(self, student: str, chapter: Chapter) -> bool:
        """Whether an answer is not graded yet."""
        return self.counted(student, chapter).answered and (student, chapter.id) == NOT_GRADED_YET


def counting_items(student: str, chapter: Chapter) -> list[str]:
    """The exercises and questions from which the student is not exempt."""
    if (student, chapter.id) == EXEMPT:
        return []
    return [
        item.id
        for notebook in chapter.notebooks
        if (student, chapter.id, notebook.name) != EXEMPT_FROM
        for item in notebook.items
    ]


# --- how it runs -------------------------------------------------------------------------------------------------

STARTED = time.monotonic()


def say(text: str) -> None:
    print(f"{time.monotonic() - STARTED:6.1f} s  {text}", flush=True)


def fail(text: str) -> NoReturn:
    print(f"\nDIFFERENT: {text}", file=sys.stderr)
    raise SystemExit(1)


def same(what: str, found: object, expected: object) -> None:
    if found != expected:
        fail(f"{what} is {found!r}, expected {expected!r}")


def same_points(what: str, found: float | str | None, expected: float) -> None:
    if found in (None, "") or abs(float(found) - expected) > 1e-6:
        fail(f"{what} is {found!r}, expected {expected:g}")


_GRADER = ("-P", "-m", "grader")


class Course:
    """The copy of the course, its term, and the commands that are run in it."""

    def __init__(self, folder: Path) -> None:
        self.root, self.term = folder / "course", folder / "course" / "term"
        for name in ("course.toml", "nbgrader_config.py", "words.toml", "released.txt"):
            shutil.copy(ROOT / name, self._made(self.root / name))
        for name in ("solutions", "exercises", "grader/data"):
            shutil.copytree(ROOT / name, self.root / name, ignore=shutil.ignore_patterns("__pycache__"))

    @staticmethod
    def _made(path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def grader(self, *arguments: object, status: int = 0) -> str:
        return self._run(*_GRADER, *arguments, status=status)

    def nbgrader(self, *arguments: object) -> str:
        return self._run("-m", "nbgrader", *arguments)

    def as_student(self, home: Path, *arguments: object) -> str:
        """Run `grader` on a student's machine, with nothing but what is in `home`."""
        return self._run(*_GRADER, *arguments, cwd=home, HOME=str(home))

    def kill_autograde(self, chapter: str, results: int) -> None:
        """Begin to grade, and kill the command and all its processes once there are so many results."""
        command = [sys.executable, *_GRADER, "autograde", chapter]
        with subprocess.Popen(
            command,
            cwd=self.root,
            env=self._environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as running:
            while len(list((self.term / "results" / chapter).glob("*/result.json"))) < results:
                if running.poll() is not None:
                    fail(f"grading {chapter} ended with status {running.returncode} before it could be killed")
                time.sleep(0.05)
            os.killpg(running.pid, signal.SIGKILL)

    def _environment(self) -> dict[str, str]:
        environment = os.environ | {"UNROLLED_TERM": str(self.term), "PYTHONPATH": str(ROOT), "COLUMNS": "120"}
        environment.pop("UNROLLED_DB_URL", None)
        return environment

    def _run(self, *arguments: object, status: int = 0, cwd: Path | None = None, **more: str) -> str:
        command = [sys.executable, *map(str, arguments)]
        environment = self._environment() | more
        done = subprocess.run(
            command, cwd=cwd or self.root, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode != status:
            fail(f"status {done.returncode} of {' '.join(command[1:])}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        return done.stdout

    def autograde(self, chapter: str) -> dict[str, Any]:
        return json.loads(self.grader("autograde", chapter, "--json"))  # type: ignore[no-any-return]

    def submission(self, student: str, chapter: str) -> Path:
        return self.term / "submitted" / student / chapter

    def stamp(self, student: str, chapter: str, hours: float) -> None:
        """Date a submission so many hours after the chapter's due date."""
        when = DUE[chapter] + timedelta(hours=hours)
        (self.submission(student, chapter) / "timestamp.txt").write_text(f"{when:%Y-%m-%d %H:%M:%S} UTC\n")

    def write_settings(self, extensions: Iterable[tuple[str, str, int]]) -> None:
        lines = [
            'attempts = "best"',
            f"slip_days = {SLIP_DAYS}",
            POLICY,
            "[due]",
            *(f"{name} = {when.isoformat()}" for name, when in DUE.items()),
        ]
        for name, student, hours in extensions:
            lines += ["", f"[extensions.{name}]", f"{student} = {(DUE[name] + timedelta(hours=hours)).isoformat()}"]
        lines += ["", f"[exempt.{EXEMPT[1]}]", f"{EXEMPT[0]} = true"]
        lines += ["", f"[exempt.{EXEMPT_FROM[1]}]", f'{EXEMPT_FROM[0]} = ["{EXEMPT_FROM[2]}"]']
        (self.term / "term.toml").write_text("\n".join(lines) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description="Run a whole term and compare every total with the expected one.")
    parser.add_argument("--out", type=Path, default=Path("build/term"), help="the folder to work in; it is replaced")
    folder = parser.parse_args().out.resolve()
    if folder.exists() and not (folder / "course" / "term" / "planted.json").exists() and any(folder.iterdir()):
        fail(f"{folder} contains something else; choose another folder with --out")
    if folder.exists():
        shutil.rmtree(folder)

    course = Course(folder)
    expected = write_class(course)
    break_a_check(course)
    set_up_term(course)
    grade_first(course, expected)
    change_the_term(course, expected)
    grade_again(course, expected)
    grade_by_hand(course, expected)
    compare_nbgraders_export(course, expected)
    compare_exports(course, expected)
    compare_slip_days(course, expected)
    compare_with_test_student(course)
    compare_reports(course, expected)
    open_the_archive(course, expected, folder)
    say(f"{len(NAMES) * len(CHAPTERS)} totals are as expected.")


# --- the steps ---------------------------------------------------------------------------------------------------


def write_class(course: Course) -> Expected:
    say(f"A class of {STUDENTS} students in {len(CHAPTERS)} chapters, with planted points")
    planted = demo_class(ROOT, course.term, None, STUDENTS, seed=1)
    same("planted.json", read_planted(course.term), json.loads(json.dumps(planted)))
    same("the students", sorted(planted), NAMES)
    shorten_capstones(course)
    student, name, notebook = UNREADABLE
    (course.submission(student, name) / f"{notebook}.ipynb").write_bytes(b"%PDF-1.7 this is no notebook")
    shutil.rmtree(course.submission(*EMPTY))
    shutil.rmtree(course.submission(*MISSING))
    for number, student in enumerate(NAMES, 1):
        for name in CHAPTERS:
            if (student, name) not in (EMPTY, MISSING):
                course.stamp(student, name, LATE[student][0] if student in LATE else -number / 10)
    course.submission(*EMPTY).mkdir()
    return Expected(planted, course.term)


def shorten_capstones(course: Course) -> None:
    """Delete the code of most capstones: it trains for seconds, and no points depend on it, only on the answers."""
    capstones = [each for chapter in CHAPTERS.values() for each in chapter.notebooks if not each.exercises]
    names = {f"{each.name}.ipynb" for each in capstones}
    for student in NAMES:
        for path in (course.term / "submitted" / student).glob("*/*.ipynb"):
            if path.name in names and student not in WITH_WHOLE_CAPSTONES:
                tree = json.loads(path.read_text("utf-8"))
                tree["cells"] = [cell for cell in tree["cells"] if cell["cell_type"] != "code"]
                path.write_text(json.dumps(tree), "utf-8")


def break_a_check(course: Course) -> None:
    chapter, exercise = WRONG_CHECK
    say(f"The check of {exercise} is wrong at first: its author computes the loss in bits")
    path = course.root / "solutions" / chapter / exercise / "spec.py"
    text = path.read_text("utf-8")
    same(f"the number of lines to change in {path.name}", text.count(RIGHT_LINE), 1)
    path.write_text(text.replace(RIGHT_LINE, WRONG_LINE), "utf-8")


def set_up_term(course: Course) -> None:
    say("The release and the gradebook")
    course.grader("release", "--term", course.term)
    say("The roster, the due dates, an extension and the late policy")
    roster = course.term / "students.csv"
    rows = [f"{name},Ann{name[-2:]},Lee,{name}@example.org,{canvas_id(name)}" for name in NAMES]
    roster.write_text("\n".join(["id,first_name,last_name,email,lms_user_id", *rows]) + "\n")
    course.grader("roster", roster)
    course.write_settings([EXTENDED_BEFORE])
    words = [line.split() for line in course.grader("due").splitlines()]
    for name, when in DUE.items():
        same(f"the due date of {name}", [name, f"{when:%Y-%m-%d}", f"{when:%H:%M}", "UTC"] in words, True)


def canvas_id(student: str) -> int:
    return 7000 + int(student[-2:])


def grade_first(course: Course, expected: Expected) -> None:
    for name in CHAPTERS:
        if name == KILLED:
            say(f"First grading of {name}, killed after some results")
            course.kill_autograde(name, results=5)
        say(f"First grading of {name}")
        to_do = course.autograde(name)["preflight"]["to_do"]
        same(f"what was to do in {name}", sorted(to_do), ["new", "unchanged"] if name == KILLED else ["new"])
        same(f"the submissions of {name}", sum(to_do.values()), submitted(name))
    compare_gradebook(course, expected)


def submitted(chapter: str) -> int:
    return len(NAMES) - (MISSING[1] == chapter)


def change_the_term(course: Course, expected: Expected) -> None:
    say("The check is corrected")
    chapter, exercise = WRONG_CHECK
    shutil.copy(
        ROOT / "solutions" / chapter / exercise / "spec.py",
        course.root / "solutions" / chapter / exercise / "spec.py",
    )
    course.grader("release")
    same("the data of the corrected check", changed_files(course.root / "grader" / "data"), [])
    expected.check_corrected = True

    say(f"{len(RESUBMITTED)} submissions are replaced, and an extension is granted")
    for (student, name), (kind, hours, _) in RESUBMITTED.items():
        donor = course.submission(expected.donor(CHAPTERS[name], kind), name)
        for path in course.submission(student, name).iterdir():
            path.unlink()
        if (student, name) == AS_A_ZIP:
            submit_and_collect(course, student, name, donor)
        else:
            for path in donor.glob("*.ipynb"):
                shutil.copy(path, course.submission(student, name) / path.name)
        course.stamp(student, name, hours)
    expected.resubmitted = True
    chosen = {key: expected.counted(key[0], CHAPTERS[key[1]]).whose == key[0] for key in RESUBMITTED}
    same("both kinds of attempts count somewhere", set(chosen.values()), {True, False})
    course.write_settings([EXTENDED_BEFORE, EXTENDED_LATER])
    expected.extended_later = True


def submit_and_collect(course: Course, student: str, chapter: str, work: Path) -> None:
    """Let the student pack these notebooks on a machine of their own, and collect the zip."""
    home = course.root.parent / "home" / student
    shutil.copytree(work, home / chapter, ignore=shutil.ignore_patterns("timestamp.txt"))
    course.as_student(home, "submit", chapter, "--partial", "--out", "submission.zip")
    shutil.copy(home / "submission.zip", course.submission(student, chapter))
    course.grader("collect", chapter)
    found = sorted(path.name for path in course.submission(student, chapter).glob("*.ipynb"))
    same(f"what was collected of {student}", found, sorted(path.name for path in work.glob("*.ipynb")))


def changed_files(folder: Path) -> list[str]:
    paths = [path for path in (ROOT / "grader" / "data").iterdir() if path.is_file()]
    return [path.name for path in paths if (folder / path.name).read_bytes() != path.read_bytes()]


def grade_again(course: Course, expected: Expected) -> None:
    for name in CHAPTERS:
        say(f"Second grading of {name}")
        again = [student for student, where in RESUBMITTED if where == name]
        to_do = {
            "submission": len(again),
            "course": submitted(name) - len(again) if name == WRONG_CHECK[0] else 0,
            "unchanged": 0 if name == WRONG_CHECK[0] else submitted(name) - len(again),
        }
        report = course.autograde(name)
        same(f"what was to do in {name}", report["preflight"]["to_do"], {k: n for k, n in to_do.items() if n})
    compare_gradebook(course, expected)
    compare_log(course, expected)


def compare_log(course: Course, expected: Expected) -> None:
    """The log of the chapter whose check was corrected: every change of points, with its reason."""
    chapter = CHAPTERS[WRONG_CHECK[0]]
    path = course.term / "results" / chapter.id / "changes.log"
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    found = {line["student"]: line for line in lines if line["reasons"] != ["first"]}
    same("the first gradings in the log", sum(line["reasons"] == ["first"] for line in lines), len(NAMES))
    same("the later changes in the log", len(lines) - len(NAMES), len(found))
    for student in NAMES:
        old = {each.id: expected.exercise(student, chapter, each.id, corrected=False) for each in chapter.exercises}
        counted = expected.counted(student, chapter).whose
        new = {each.id: expected.exercise(counted, chapter, each.id) for each in chapter.exercises}
        if old == new:
            same(f"{student} in {path.name}", student in found, False)
            continue
        same(f"{student} in {path.name}", student in found, True)
        line = found[student]
        for points, logged in zip((old, new), line["points"], strict=True):
            same_points(f"the points of {student} in {path.name}", logged, sum(points.values()))
        reasons = ["checks"] if counted == student else ["submission", "checks"]
        same(f"why the points of {student} changed", line["reasons"], reasons)
    say(f"{len(found)} changes of points in {path.name}, each with its reason")


def grade_by_hand(course: Course, expected: Expected) -> None:
    say("Answers are graded by hand, with comments; one score is overridden")
    expected.graded_by_hand = True
    with open_gradebook(gradebook_url(course.term)) as gradebook:
        for chapter in CHAPTERS.values():
            for submission in gradebook.find_assignment(chapter.id).submissions:
                student = submission.student.id
                if (student, chapter.id) != NOT_GRADED_YET:
                    _grade_answers(submission, student, chapter, expected)
        student, name, exercise, points, comment = OVERRIDE
        notebook = MANIFEST.place(exercise).notebook.name
        gradebook.find_grade(f"{exercise}-check", notebook, name, student).manual_score = points
        gradebook.find_comment(exercise, notebook, name, student).manual_comment = comment
        gradebook.db.commit()
    for name in CHAPTERS:
        report = course.autograde(name)
        same(f"what was to do in {name}", report["preflight"]["to_do"], {"unchanged": submitted(name)})
    compare_gradebook(course, expected)


def open_the_archive(course: Course, expected: Expected, folder: Path) -> None:
    say("The term is opened in a fresh copy of the course, whose configuration has another late policy")
    later = Course(folder / "later")
    shutil.copytree(course.term, later.term)
    config = later.root / "nbgrader_config.py"
    own = config.read_text("utf-8")
    config.write_text(f"{own}\nc.PerDay.share = 1.0\n", "utf-8")
    for name in CHAPTERS:
        later.grader("autograde", name, status=1)
    compare_gradebook(later, expected)
    config.write_text(own, "utf-8")
    say("With another policy in term.toml nothing is computed, and with the term's own all totals come out")
    settings = later.term / "term.toml"
    kept = settings.read_text("utf-8")
    settings.write_text(kept.replace("share = 0.1", "share = 0.2"), "utf-8")
    for name in CHAPTERS:
        later.grader("autograde", name, status=1)
    settings.write_text(kept, "utf-8")
    for name in CHAPTERS:
        to_do = later.autograde(name)["preflight"]["to_do"]
        same(f"what was to do in {name}", to_do, {"unchanged": submitted(name)})
    compare_gradebook(later, expected)
    later.grader("autograde", RESUBMITTED_IN, "--force", "--json")
    compare_gradebook(later, expected)


def _grade_answers(submission: Any, student: str, chapter: Chapter, expected: Expected) -> None:
    """Grade the answers of a submission as formgrader does, and check that exactly the answers wait for it."""
    questions = {question.id for question in chapter.questions}
    for notebook in submission.notebooks:
        for grade in notebook.grades:
            if grade.name in questions:
                answered = expected.counted(student, chapter).answered
                same(f"{student}: whether {grade.name} waits", grade.needs_manual_grade, answered)
                if answered:
                    grade.manual_score = points_for_the_answer(student)
                    grade.needs_manual_grade = False
        for comment in notebook.comments:
            if comment.name in questions and expected.counted(student, chapter).answered:
                comment.manual_comment = comment_on_the_answer(student) or None


# --- comparisons -----------------------------------------------------------------------------------------------


def compare_gradebook(course: Course, expected: Expected) -> None:
    """Every score, penalty and total in nbgrader's gradebook."""
    with open_gradebook(gradebook_url(course.term)) as gradebook:
        for name, chapter in CHAPTERS.items():
            submissions = {each.student.id: each for each in gradebook.find_assignment(name).submissions}
            due = [student for student in NAMES if (student, name) != MISSING]
            same(f"who has a submission in {name}", sorted(submissions), due)
            for student, submission in submissions.items():
                grades = {grade.name: grade for notebook in submission.notebooks for grade in notebook.grades}
                for item in chapter.items:
                    grade = grades.get(f"{item.id}-check") or grades[item.id]
                    what = f"{student}, {name}: {item.id}"
                    same_points(what, grade.score, expected.item(student, chapter, item.id))
                what = f"{student}, {name}: the late penalty"
                same_points(what, submission.late_submission_penalty, expected.penalty(student, chapter))
    say("Every score and every late penalty in the gradebook is as expected")


def compare_nbgraders_export(course: Course, expected: Expected) -> None:
    say("nbgrader's export")
    path = course.term / "grades.csv"
    course.nbgrader("export", "--to", path)
    rows = {(row["student_id"], row["assignment"]): row for row in read_csv(path)}
    for student, name, chapter in everyone():
        total = expected.points(student, chapter) - expected.penalty(student, chapter)  # it knows no exemptions
        same_points(f"{student}, {name}: the score that nbgrader exports", rows[student, name]["score"], total)


def compare_exports(course: Course, expected: Expected) -> None:
    """The exports of `grader`: only points that are final, so one total is empty, and so is that of a missing one."""
    say("The plain export, and those for Canvas and Moodle")
    paths = {kind: course.term / f"{kind}.csv" for kind in ("csv", "canvas", "moodle")}
    for kind, path in paths.items():
        course.grader("export", "--all", "--format", kind, "--out", path, status=3)  # 3: an answer is not graded yet
    plain = {row["id"]: row for row in read_csv(paths["csv"])}
    canvas = {row["ID"]: row for row in read_csv(paths["canvas"])}
    moodle = {row["Email address"]: row for row in read_csv(paths["moodle"])}
    for student, name, chapter in everyone():
        if (student, name) == EXEMPT:
            same(f"{student}, {name}: the status", plain[student][f"{name}.status"], "exempt")
            same(f"{student}, {name}: the total", plain[student][f"{name}.total"], "")
            same(f"{student}, {name}: in Canvas", canvas[str(canvas_id(student))][chapter.title], "EX")
            same(f"{student}, {name}: in Moodle", moodle[f"{student}@example.org"][of_moodle(chapter)], "")
            continue
        total, of_all = expected.total(student, chapter), expected.of_all(student, chapter)
        found = {
            "the plain file": plain[student][f"{name}.total"],
            "the file for Canvas": canvas[str(canvas_id(student))][chapter.title],
            "the file for Moodle": moodle[f"{student}@example.org"][of_moodle(chapter)],
        }
        final = (student, name) != MISSING and not expected.is_waiting(student, chapter)
        for where, points in found.items():
            if final:
                due = total if where == "the plain file" else of_all
                same_points(f"{student}, {name}: the total in {where}", points, due)
            else:
                same(f"{student}, {name}: the total in {where}", points, "")
        if (student, name) != MISSING:
            for item in chapter.items:
                waits = expected.is_waiting(student, chapter) and item in chapter.questions
                points, what = (
                    plain[student][f"{name}.{item.id}"],
                    f"{student}, {item.id}: the points in the plain file",
                )
                if item.id not in counting_items(student, chapter):
                    same(what, points, "exempt")
                elif waits:
                    same(what, points, "")
                else:
                    same_points(what, points, expected.item(student, chapter, item.id))
        if (student, name) != MISSING and expected.counted(student, chapter).answered:
            comment = "" if (student, name) == NOT_GRADED_YET else comment_on_the_answer(student)
            same(f"{student}, {name}: the comment", comment in plain[student][f"{name}.comments"], True)


def compare_slip_days(course: Course, expected: Expected) -> None:
    """Those of the plain export: how many each chapter has used, and how many are left."""
    say("Slip days")
    for student, row in {row["id"]: row for row in read_csv(course.term / "csv.csv")}.items():
        its = expected.slips(student)
        for name in CHAPTERS:
            if (student, name) not in (MISSING, EXEMPT):
                same_points(f"{student}, {name}: the slip days", row[f"{name}.slip_days"], its.get(name, 0))
        same_points(f"{student}: the slip days that are left", row["slip_days_left"], SLIP_DAYS - sum(its.values()))


def compare_with_test_student(course: Course) -> None:
    """Canvas's own file has a row for the test student, of which nothing is said and nothing is exported."""
    say("A gradebook of Canvas with its test student")
    chapter = CHAPTERS["ch00_sequences"]
    rows = [["Student", "ID", "SIS Login ID", "Section", f"{chapter.title} (17)"], ["    Points Possible"] + [""] * 4]
    rows += [[f"Lee, {student}", str(canvas_id(student)), "", "1", ""] for student in NAMES]
    rows.append(["Student, Test", str(TEST_STUDENT), "", "1", ""])
    into, path = course.term / "of_canvas.csv", course.term / "into.csv"
    with into.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    said = course.grader("export", chapter.id, "--format", "canvas", "--into", into, "--out", path)
    same("whether the export speaks of the test student", "Test" in said or str(TEST_STUDENT) in said, False)
    ids = [row["ID"] for row in read_csv(path) if row["ID"]]
    same("whom Canvas gets", ids, [str(canvas_id(student)) for student in NAMES])


def of_moodle(chapter: Chapter) -> str:
    return f"Assignment: {chapter.title} (Real)"


def compare_reports(course: Course, expected: Expected) -> None:
    say("The class reports, and the students' feedback pages, with the answer to a request")
    student, name, request, answer = REQUEST
    entries = {"student": student, "chapter": name, "request": request, "answer": answer}
    lines = ["[[request]]", *(f"{key} = {json.dumps(value)}" for key, value in entries.items())]
    (course.term / "regrades.toml").write_text("\n".join(lines) + "\n", "utf-8")
    for name, chapter in CHAPTERS.items():
        report = json.loads(course.grader("report", name, "--json"))
        counting = [student for student in NAMES if (student, name) not in (MISSING, EXEMPT)]
        totals = sorted(expected.of_all(student, chapter) for student in counting)
        same(f"the students in the report on {name}", report["students"], len(totals))
        for found, total in zip(report["points"]["points"], totals, strict=True):
            same_points(f"the report on {name}: a total", found, total)
        same_points(f"the report on {name}: the mean", report["points"]["mean"], sum(totals) / len(totals))
        course.grader("report", name, "--anonymous")
        text = (course.term / "reports" / f"{name}-anonymous.html").read_text("utf-8")
        same(f"whom the anonymous report on {name} names", [s for s in NAMES if s in text], [])
        course.grader("feedback", name)
        for student in NAMES:
            page = course.term / "feedback" / student / f"{name}.html"
            same(f"{page} exists", page.exists(), (student, name) != MISSING)
            text = page.read_text("utf-8") if page.exists() else ""
            same(f"{page} contains markup of a comment", "<b>page 3</b>" in text, False)
            asked = (student, name) == REQUEST[:2]
            same(f"{page} has a request", "Please look &lt;again&gt;." in text and "It stays." in text, asked)
            same(f"{page} says exempt", "You are exempt from this chapter" in text, (student, name) == EXEMPT)
            if text and (student, name) != EXEMPT:
                said = re.search(r"Total: <strong>([0-9.]+) of", text)
                same_points(f"the total on {page}", said and said[1], round(expected.total(student, chapter), 2))


def everyone() -> Iterator[tuple[str, str, Chapter]]:
    """All students in all chapters."""
    for name, chapter in CHAPTERS.items():
        for student in NAMES:
            yield student, name, chapter


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


if __name__ == "__main__":
    main()

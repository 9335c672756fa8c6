"""The class report as one HTML page that fetches nothing. All text is escaped where it enters the page.

It is written to `TERM/reports/CHAPTER.html`, or `CHAPTER-anonymous.html`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from grader.classreport.figures import STATUSES, ExerciseFigures
from grader.classreport.gather import ClassReport, LastRun, Review, SlipDaysUsed, Students
from grader.classreport.html import decimals, named, percent, points_of, section, table
from grader.classreport.lessons import all_mistakes, to_teach
from grader.classreport.plots import WORDS, edge, histogram, key, stacked
from grader.classreport.style import REPORT_STYLE
from grader.counts import counted, number
from grader.files import PRIVATE, write_whole
from grader.render.html import inline
from grader.render.page import html_page
from grader.shown import harmless

MOST_NAMED = 20  # students in a sentence
MOST_OPEN = 8  # students in a row of a table; the names of more are folded


def report_path(term: Path, chapter_id: str, anonymous: bool) -> Path:
    return term / "reports" / f"{chapter_id}{'-anonymous' * anonymous}.html"


def write_report(path: Path, report: ClassReport) -> None:
    """Write the page, readable by its owner only. Raises OSError."""
    write_whole(path, report_page(report).encode(), PRIVATE)


def report_page(report: ClassReport) -> str:
    """The whole page."""
    title = escape(report.title)
    parts = [
        to_teach(report),
        _points(report),
        _exercises(report.exercises),
        all_mistakes(report),
        _reviews(report),
        _last_run(report.last_run, report.called),
    ]
    header = f"""<p>{escape(report.course)}</p>
<h1>{title}: class report</h1>
<p>{counted(report.students, "student")}{", without names" if report.anonymous else ""}</p>
{_NAVIGATION}"""
    footer = f"{_FOOTER}{_ANONYMOUS if report.anonymous else ''}"
    return html_page(f"{title}, class report", header, f"{_stamps(report)}{''.join(parts)}", footer, REPORT_STYLE)


_NAVIGATION = """<nav aria-label="Sections"><ul class="sections">
<li><a href="#monday">To teach on Monday</a></li>
<li><a href="#points">Points</a></li>
<li><a href="#exercises">Exercises</a></li>
<li><a href="#mistakes">Mistakes</a></li>
<li><a href="#reviews">Who needs a person</a></li>
<li><a href="#changes">What changed</a></li>
</ul></nav>
"""
_ANONYMOUS = """<p>In a small class, points or a change of points can show who is meant even without a name.</p>
"""
_FOOTER = """<p>A mistake is counted once for each student and exercise, if the checks on hidden cases found that it
is the likely cause; its share is among the students who submitted the notebook. A failure that follows from another
exercise which is wrong is no mistake of its own, and its own likely cause may stay unknown until the other exercise is
right.</p>
<p>Excerpts are the students' cells without comments, docstrings and the names in the class list. A name that is not in
the list, such as a nickname in a variable, cannot be recognised, so read them before you show them.</p>
"""


def _stamps(report: ClassReport) -> str:
    """What makes the figures preliminary."""
    run = f"Run <code>grader autograde {escape(report.chapter)}</code> and write the report again."
    told = [
        ("Not final", report.unsafe, f"graded without the sandbox that isolates student code. {run}"),
        ("Out of date", report.outdated, f"graded before the submission or the course changed. {run}"),
        ("Incomplete", report.ungraded, f"not graded yet and not in this report. {run}"),
    ]
    stamps = [
        f"<strong>{head}.</strong> {counted(who.count, 'submission')}{_in_parentheses(who, report.called)} "
        f"{'was' if who.count == 1 else 'were'} {what}"
        for head, who, what in told
        if who.count
    ]
    if report.unread:
        stamps.append(
            f"<strong>Points so far.</strong> {counted(report.unread, 'student')} "
            f"{'has' if report.unread == 1 else 'have'} answers or scores that are not graded yet. They count as "
            "0 points, or with their earlier points."
        )
    return "".join(f'<p class="stamp">{stamp}</p>\n' for stamp in stamps)


def _points(report: ClassReport) -> str:
    """The distribution of the points."""
    points = report.points
    due = number(points.due)
    facts = [
        ("mean", points.mean),
        ("standard deviation", points.deviation),
        ("minimum", points.points[0]),
        ("lower quartile", points.lower_quartile),
        ("median", points.median),
        ("upper quartile", points.upper_quartile),
        ("maximum", points.points[-1]),
    ]
    bins = [
        [
            f"more than {edge(each.low)}"
            if each.high is None
            else f"{edge(each.low)} to {'' if each.high == points.due else 'below '}{edge(each.high)}",
            str(each.students),
            percent(each.students / report.students),
        ]
        for each in points.bins
    ]
    absent = report.absent
    who = f"{counted(absent.count, 'student')}{_in_parentheses(absent, report.called)}"
    missing = f"<p>Without a submission: {who}, not counted here.</p>\n"
    spared = (
        f"{counted(report.exempt.count, 'student')}{_in_parentheses(report.exempt, report.called)}. What they are "
        "exempt from is not counted; the points of the other notebooks count as a share of all points"
    )
    return section(
        "points",
        "Points",
        "<p>Final points, including changes by instructors, points for answers, and late penalties, "
        f"out of {due}.</p>\n"
        f"<figure>\n{histogram(points)}<figcaption>Number of students by points out of {due}</figcaption>\n</figure>\n"
        + table("The numbers of the figure", ["Points", "Students", "Share"], bins)
        + table("Summary of the points", ["Figure", "Points"], [[name, decimals(value)] for name, value in facts])
        + (missing if absent.count else "")
        + (f"<p>Exempt: {spared}.</p>\n" if report.exempt.count else "")
        + _slips(report.slips, report.called),
    )


def _slips(slips: SlipDaysUsed | None, called: Mapping[str, str]) -> str:
    """Who has used slip days; nothing if the term has none."""
    if slips is None:
        return ""
    here, used = sum(each.here for each in slips.students), sum(each.term for each in slips.students)
    who = counted(len(slips.students), "student")
    said = (
        f"<p>Slip days: each student has {slips.each} in the term. {who} used {used} so far, of which {here} in this "
        "chapter.</p>\n"
    )
    rows = [
        [named([each.student], called), str(each.here), f"{each.term} of {slips.each}"]
        for each in slips.students
        if each.student
    ]
    heads = ["Student", "In this chapter", "In the term"]
    return said + (table("Slip days used", heads, rows) if rows else "")


def _in_parentheses(who: Students, called: Mapping[str, str]) -> str:
    more = f" and {who.count - MOST_NAMED} more" if who.count > MOST_NAMED else ""
    return f" ({named(who.names[:MOST_NAMED], called)}{more})" if who.names else ""


def _exercises(exercises: Sequence[ExerciseFigures]) -> str:
    """Results, difficulty and discrimination of each exercise."""
    known = any(each.attempts is not None for each in exercises)
    by_status = [
        [f"{escape(e.title)}, <code>{escape(e.id)}</code>", str(e.students)]
        + [str(e.statuses[status]) for status in STATUSES]
        + [str(e.caused)]
        for e in exercises
    ]
    figures = [
        [
            f"<code>{escape(e.id)}</code>",
            number(e.points),
            str(e.submitted),
            percent(e.passed / e.submitted if e.submitted else None),
            percent(e.share),
            decimals(e.difficulty),
            decimals(e.discrimination) if e.discrimination is not None else f"undefined: {escape(e.undefined)}",
        ]
        + ([_again(e)] if known else [])
        for e in exercises
    ]
    heads = ["Exercise", "Points", "Submitted", "Passed", "Mean share of points", "Difficulty", "Discrimination"]
    by_hand = sum(e.by_hand for e in exercises)
    hand = f"Instructors changed {counted(by_hand, 'score')}, which the mean share includes. " if by_hand else ""
    return section(
        "exercises",
        "Exercises",
        f"<figure>\n{key()}{stacked(exercises)}<figcaption>Students by the result of each exercise</figcaption>\n"
        "</figure>\n"
        + table(
            "The numbers of the figure, and how many failures have a likely cause",
            ["Exercise", "Students", *(WORDS[status].capitalize() for status in STATUSES), "With a likely cause"],
            by_status,
        )
        + table(
            "Difficulty and discrimination of each exercise", [*heads, *(["Submitted again"] if known else [])], figures
        )
        + "<p>A missing notebook is not wrong: the shares in this table, difficulty and discrimination are those of "
        f"the students who submitted the notebook. {hand}<strong>Difficulty</strong> is 1 minus the mean share of the "
        "points: 0 if all of them have all points. <strong>Discrimination</strong> is the correlation of the "
        "exercise’s points with the share of the points for all other exercises that the student submitted (the "
        "corrected point-biserial correlation). Below 0.2, the exercise says little about how a student does "
        "elsewhere; with few students, it is mostly noise.</p>\n" + (_KNOWN if known else _UNKNOWN),
    )


_UNKNOWN = (
    '<p class="quiet">Attempts are not shown, because no student is known to have submitted again, and checks in '
    "the students’ own notebooks are not sent to anyone.</p>\n"
)
_KNOWN = (
    '<p class="quiet"><strong>Submitted again</strong> counts the students whose points for the exercise changed after '
    "another submission. Submissions between two runs of the grader, those that changed no points, and checks in the "
    "students’ own notebooks are not known.</p>\n"
)


def _again(exercise: ExerciseFigures) -> str:
    again = exercise.attempts
    if again is None or not again.students:
        return "–"
    return f"{again.students} ({again.gained} gained, {again.lost} lost)"


def _reviews(report: ClassReport) -> str:
    """Who needs a person: answers to grade, time-outs, errors and everything else that grading noticed."""
    waits = "".join(f"<li>{escape(harmless(line))}</li>\n" for line in report.waiting)
    body = f"<ul>\n{waits}</ul>\n" if waits else ""
    groups = {0: "Not graded", 1: "May affect points", 2: "Harmless: no points are affected"}
    for rank, title in groups.items():
        rows = [_review(review, report.called) for review in report.reviews if review.rank == rank]
        if rows:
            heads = ["What", "Students", *([] if report.anonymous else ["Who"])]
            body += f"<h3>{title}</h3>\n" + table(title, heads, rows, texts=(2,), hidden_caption=True)
    return section("reviews", "Who needs a person", body or "<p>No submission needs manual review.</p>\n")


def _review(review: Review, called: Mapping[str, str]) -> list[str]:
    names = review.students.names
    listed = named(names, called)
    if len(names) > MOST_OPEN:
        listed = f"<details><summary>{len(names)} students</summary>{listed}</details>"
    who = [listed] if names else []
    return [inline(harmless(review.what)), str(review.students.count), *who]


def _last_run(run: LastRun | None, called: Mapping[str, str]) -> str:
    """What changed in the last run that changed points."""
    if run is None:
        return section("changes", "What changed", "<p>The log of changes is empty.</p>\n")
    began = f"of {escape(run.began.replace('T', ', ')[:17])} UTC" if run.began else "in a log without times of runs"
    first = f"<p>Graded for the first time: {counted(run.first, 'student')}.</p>\n" if run.first else ""
    rows = [
        [
            *([named([c.student], called)] if c.student else []),
            f"{points_of(c.before)} → {points_of(c.after)}",
            ", ".join(f"<code>{escape(n)}</code> {points_of(b)} → {points_of(a)}" for n, (b, a) in c.exercises.items()),
            escape(", ".join(c.why)),
        ]
        for c in run.changed
    ]
    heads = [*(["Student"] if any(c.student for c in run.changed) else []), "Points", "Exercises", "Why"]
    changed = (
        f"<p>More points: {counted(run.up, 'student')}. Fewer points: {counted(run.down, 'student')}.</p>\n"
        + table("Students whose points from the checks changed", heads, rows, texts=range(len(heads)))
        if rows
        else "<p>No points that were given before have changed.</p>\n"
    )
    note = (
        '<p class="quiet">The last run is the latest run of <code>grader autograde</code> that logged a change, '
        "including students graded for the first time. Runs after it changed no points.</p>\n"
    )
    return section("changes", f"What changed in the last run ({began})", first + changed + note)

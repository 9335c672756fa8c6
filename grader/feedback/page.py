"""The feedback page of one submission, in a single HTML file: the points, and a report on each exercise that failed.

The page is made from stored results and reveals no more than they do: of the hidden cases only the points, that they
failed, and the likely cause. All text is escaped where it enters the page; no script, picture, style or font is ever
fetched.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape

from grader.checking.verdict import Verdict
from grader.counts import counted, number
from grader.feedback.remarks import for_student
from grader.gradebook.scores import NOTHING, Recorded
from grader.grading.grade import Graded
from grader.manifest import Chapter, Exercise, Manifest, Notebook, Question
from grader.render.html import inline, mark, prose, rows_html
from grader.render.page import html_page
from grader.render.rows import Row, facts, headline, note_text
from grader.shown import harmless, named
from grader.term_settings import without

MOST_CHARACTERS, MOST_LINES = 4_000, 40  # of one fact


@dataclass(frozen=True)
class Beside:
    """What a page says besides the result: how people call the student, and sentences on which submission counts and
    how late it was, the notebooks from which the student is exempt, and the section with requests for regrading.
    """

    called: str = ""
    counts: str = ""
    late: str = ""
    exempt: frozenset[str] = frozenset()
    requests: str = ""


NONE = Beside()


def feedback_page(
    manifest: Manifest,
    chapter: Chapter,
    graded: Graded,
    hints: Mapping[str, str],
    recorded: Recorded = NOTHING,
    solutions: str = "",
    beside: Beside = NONE,
) -> str:
    """The page of one submission. `hints` holds the first hint of each exercise, `recorded` what the gradebook has
    recorded for the submission, and `solutions` is the section on how the exercises are solved, if it is shown.
    """
    graded = graded.without(beside.exempt)
    found = graded.by_exercise
    public = graded.public_by_exercise
    student = escape(named(beside.called or graded.student))
    wrong = "".join(
        _notebook(manifest, notebook, found, public, hints, recorded)
        for notebook in chapter.notebooks
        if any(e.id in found and not found[e.id] for e in notebook.exercises)
    )
    header = f"""<p>{escape(manifest.title)}</p>
<h1>{escape(chapter.title)}: your feedback</h1>
<p>For <bdi>{student}</bdi></p>
"""
    main = "" if graded.sandboxed else _STAMP
    main += f"{_points(chapter, graded, recorded, beside)}{_comments(chapter, recorded)}{_remarks(chapter, graded)}"
    main += f"{beside.requests}{wrong}{solutions}"
    footer = f"{_FOOTER}{_BY_A_PERSON if chapter.questions else ''}"
    return html_page(f"{escape(chapter.title)}, feedback for {student}", header, main, footer)


_STAMP = """<p class="stamp"><strong>Not final.</strong> This submission was graded without the sandbox that \
isolates its code, so the result cannot be trusted. Your instructor has to grade it again.</p>
"""
_FOOTER = """<p>The checks in your notebook use <em>public cases</em>. Points are given for <em>hidden cases</em>: \
inputs of the same kind with other numbers, which no student sees. This page says whether they passed and what the \
likely cause of a failure is.</p>
"""
_BY_A_PERSON = """<p>Your instructor's points and comments appear here if they were recorded before this page was \
made.</p>
"""


def _points(chapter: Chapter, graded: Graded, recorded: Recorded, beside: Beside) -> str:
    """The points of each exercise and in total, including an instructor's changes and the late penalty."""
    groups = "".join(
        f'<tbody>\n<tr><th scope="rowgroup" colspan="3">{escape(notebook.title)}</th></tr>\n'
        + (_EXEMPT if notebook.name in beside.exempt else _lines(notebook, graded, recorded))
        + "</tbody>\n"
        for notebook in chapter.notebooks
    )
    counts = "".join(f"<p>{escape(text)}</p>\n" for text in (beside.counts, beside.late) if text)
    counting = without(chapter, beside.exempt)
    exempt = f"<p>{_NOTHING_COUNTS}</p>\n" if not counting.notebooks else ""
    return f"""<section aria-labelledby="points">
<h2 id="points">Points</h2>
{exempt or _total(counting, graded, recorded)}{counts}<table>
<thead><tr><th scope="col">Exercise</th><th scope="col">Result</th>\
<th scope="col" class="points">Points</th></tr></thead>
{groups}<tfoot>
{_feet(counting, graded, recorded)}</tfoot>
</table>
</section>
"""


_EXEMPT = '<tr><th scope="row" colspan="2">You are exempt from this notebook.</th><td class="points">exempt</td></tr>\n'
_NOTHING_COUNTS = "<strong>You are exempt from this chapter</strong>, so nothing of it counts."


def _lines(notebook: Notebook, graded: Graded, recorded: Recorded) -> str:
    """The lines of a notebook's exercises and questions in the table."""
    exercises = "".join(_exercise_line(exercise, graded, recorded) for exercise in notebook.exercises)
    return exercises + "".join(_question_line(question, graded, recorded) for question in notebook.questions)


def _total(chapter: Chapter, graded: Graded, recorded: Recorded) -> str:
    """The grand total, and of what it is made."""
    total = recorded.after_penalty(_sum(chapter.items, graded, recorded))
    yet = " so far" if any(_final(question, graded, recorded) is None for question in chapter.questions) else ""
    parts = []
    if chapter.questions or recorded.late_penalty:
        parts.append(f"{_of(chapter.exercises, graded, recorded)} from the exercises.")
    if any(recorded.of(exercise.id).changed for exercise in chapter.exercises):
        parts.append(f"The checks gave {number(graded.earned)}; your instructor changed that.")
    parts += _questions(chapter, graded, recorded)
    if recorded.late_penalty:
        parts.append(f"Submitted late: a penalty of {counted(recorded.late_penalty, 'point')} is subtracted.")
    made = f"<p>{' '.join(parts)}</p>\n" if parts else ""
    due = sum(item.points for item in chapter.items)
    return f'<p class="total">Total: <strong>{number(total)} of {counted(due, "point")}</strong>{yet}.</p>\n{made}'


def _questions(chapter: Chapter, graded: Graded, recorded: Recorded) -> list[str]:
    """A sentence on the points of all questions: how many there are, or how many were given."""
    due = sum(question.points for question in chapter.questions)
    if not due:
        return []
    if not any(recorded.of(question.id).changed for question in chapter.questions):
        return [f"The questions are worth {counted(due, 'more point')}, given by your instructor."]
    return [f"{_of(chapter.questions, graded, recorded)} from the questions."]


def _feet(chapter: Chapter, graded: Graded, recorded: Recorded) -> str:
    """The last lines of the table: the sums, the late penalty and the total."""
    due = sum(item.points for item in chapter.items)
    lines = []
    if chapter.questions or recorded.late_penalty:
        exercises = sum(exercise.points for exercise in chapter.exercises)
        lines.append(
            _foot("All exercises", f"{number(_sum(chapter.exercises, graded, recorded))} of {number(exercises)}")
        )
    if recorded.late_penalty:
        lines.append(_foot("Late penalty", f"−{number(recorded.late_penalty)}"))
    left = recorded.after_penalty(_sum(chapter.items, graded, recorded))
    return "".join([*lines, _foot("Total", f"{number(left)} of {number(due)}")])


def _sum(items: Sequence[Exercise | Question], graded: Graded, recorded: Recorded) -> float:
    return sum(_final(item, graded, recorded) or 0.0 for item in items)


def _of(items: Sequence[Exercise | Question], graded: Graded, recorded: Recorded) -> str:
    due = sum(item.points for item in items)
    return f"<strong>{number(_sum(items, graded, recorded))} of {counted(due, 'point')}</strong>"


def _foot(name: str, points: str) -> str:
    return f'<tr><th scope="row" colspan="2">{name}</th><td class="points">{points}</td></tr>\n'


def _final(item: Exercise | Question, graded: Graded, recorded: Recorded) -> float | None:
    return recorded.of(item.id).final(graded.earned_for(item.id))


def _exercise_line(exercise: Exercise, graded: Graded, recorded: Recorded) -> str:
    how, name, verdict = "not graded yet", escape(exercise.title), graded.by_exercise.get(exercise.id)
    if verdict is not None:
        how = f"{mark(verdict)} {escape(headline(verdict))}"
        if not verdict:
            name = f'<a href="#{escape(exercise.id)}">{name}</a>'
        if recorded.of(exercise.id).changed:
            how += f"; the checks gave {number(verdict.earned)}, which your instructor changed"
    return _line(name, how, _final(exercise, graded, recorded), exercise.points)


def _question_line(question: Question, graded: Graded, recorded: Recorded) -> str:
    score = recorded.of(question.id)
    answers = {name: answer for its in graded.answers.values() for name, answer in its.items()}
    if score.changed:
        how = "graded by your instructor" + (", who will review it again" if score.needs_a_human else "")
    elif question.id not in answers:
        how = "not graded yet"
    elif not answers[question.id]:
        how = "no answer found"
    else:
        how = "your instructor will read and grade your answer"
    return _line(escape(question.title), how, _final(question, graded, recorded), question.points)


def _line(name: str, how: str, points: float | None, due: float) -> str:
    worth = f"{'–' if points is None else number(points)} of {number(due)}"
    return f'<tr><th scope="row">{name}</th><td>{how}</td><td class="points">{worth}</td></tr>\n'


def _comments(chapter: Chapter, recorded: Recorded) -> str:
    """The instructor's comments, each with its exercise or question."""
    said = "".join(
        f"<dt>{escape(item.title)}</dt>\n<dd>{escape(harmless(comment))}</dd>\n"
        for notebook in chapter.notebooks
        for item in notebook.items
        if (comment := recorded.of(item.id).comment.strip())
    )
    if not said:
        return ""
    return (
        f'<section aria-labelledby="comments">\n<h2 id="comments">Your instructor\'s comments</h2>\n'
        f'<dl class="comments">\n{said}</dl>\n</section>\n'
    )


def _remarks(chapter: Chapter, graded: Graded) -> str:
    """Remarks for the student on the submitted files."""
    told = for_student(chapter, graded.remarks)
    if not told:
        return ""
    items = "".join(
        f"<li>{f'<strong>{escape(title)}.</strong> ' if title else ''}{inline(_bounded(sentence))}</li>\n"
        for title, sentence in told
    )
    numbering = '<p class="quiet">Cells are counted from 1, including text cells.</p>\n' if "Cell " in items else ""
    return f"""<section aria-labelledby="notebooks">
<h2 id="notebooks">About your notebooks</h2>
{numbering}<ul>
{items}</ul>
</section>
"""


def _notebook(
    manifest: Manifest,
    notebook: Notebook,
    found: Mapping[str, Verdict],
    public: Mapping[str, Verdict],
    hints: Mapping[str, str],
    recorded: Recorded,
) -> str:
    """A report on each exercise of one notebook that is not right."""
    wrong = [exercise for exercise in notebook.exercises if exercise.id in found and not found[exercise.id]]
    groups: dict[tuple[str, str], list[Exercise]] = {}  # those with the same note and nothing else to report
    for exercise in wrong:
        verdict = found[exercise.id]
        alone = exercise.id in public or verdict.cases or not verdict.note
        groups.setdefault((exercise.id, "") if alone else ("", verdict.note), []).append(exercise)
    articles = "".join(
        _exercise(manifest, first, found[first.id], public.get(first.id), hints.get(first.id, ""), recorded)
        if not others
        else _whole([first, *others], found[first.id].note)
        for first, *others in groups.values()
    )
    name = f"in-{notebook.name}"
    return (
        f'<section aria-labelledby="{name}">\n<h2 id="{name}">What to fix: {escape(notebook.title)}</h2>\n'
        f"{articles}</section>\n"
    )


def _whole(wrong: list[Exercise], note: str) -> str:
    """One note for all exercises that fail for the same reason."""
    names = "".join(f'<li id="{escape(e.id)}">{escape(e.title)}, <code>{escape(e.id)}</code></li>\n' for e in wrong)
    return f"<p>{inline(_bounded(harmless(note)))} Affected exercises:</p>\n<ul>\n{names}</ul>\n"


def _exercise(
    manifest: Manifest, exercise: Exercise, verdict: Verdict, public: Verdict | None, hint: str, recorded: Recorded
) -> str:
    """One exercise that is not right: results on public cases, the summary of hidden ones, and where to read on."""
    place = manifest.place(exercise.id)
    points = f"{number(verdict.earned)} of {counted(verdict.points, 'point')}"
    score = recorded.of(exercise.id)
    if score.changed:
        points += f" from the checks, {number(score.final(verdict.earned) or 0.0)} from your instructor"
    page = escape(place.page_title)
    if manifest.book_base:
        address = manifest.book_base + place.page_address
        page = f'<a href="{escape(address)}" rel="noreferrer">{page}</a>'
    name = escape(exercise.id)
    return f"""<article class="{verdict.status}" id="{name}" aria-labelledby="title-{name}">
<h3 id="title-{name}">{escape(exercise.title)}, <code>{name}</code></h3>
<p>{mark(verdict)} <strong>{points}</strong>, {escape(headline(verdict))}</p>
{_cases(verdict, public)}{_hint(exercise.id, hint)}<p>Read again: {page}</p>
</article>
"""


def _cases(hidden: Verdict, public: Verdict | None) -> str:
    """The facts on public and on hidden cases, under one heading if no case was reached."""
    if public is None or public.status == "unimplemented":
        return _facts(facts(hidden))
    if public:
        seen = "<p>All of them pass. The mistake shows only on hidden cases.</p>\n"
    else:
        how = escape(headline(public))
        seen = f"<p>{how[0].upper()}{how[1:]}. The first that fails:</p>\n" if len(public.cases) > 1 else ""
        seen += _facts(facts(replace(public, facets=())))  # points are for hidden cases
    note = inline(_bounded(harmless(note_text(hidden))))
    if hidden.diagnosis is not None and public.diagnosis is not None and public.diagnosis.id == hidden.diagnosis.id:
        note += " The likely cause is the same."
        hidden = replace(hidden, diagnosis=None)
    unseen = f"<p>{note}</p>\n{_facts(facts(replace(hidden, note='', unwritten='')))}"
    return f"<h4>Public cases</h4>\n{seen}<h4>Hidden cases</h4>\n{unseen}"


def _facts(found: list[Row]) -> str:
    return rows_html([replace(row, text=_bounded(row.text)) for row in found]) + "\n"


def _hint(exercise_id: str, hint: str) -> str:
    """The first hint, collapsed."""
    if not hint:
        return ""
    paragraphs = "".join(f"<p>{prose(' '.join(part.split()))}</p>\n" for part in re.split(r"\n\s*\n", hint))
    more = inline(f'For more, run `hint("{exercise_id}", 2)` in the notebook.')
    return (
        f'<details>\n<summary>A question that may help</summary>\n{paragraphs}<p class="quiet">{more}</p>\n</details>\n'
    )


def _bounded(text: str) -> str:
    """The text, cut if it is too long for the page."""
    lines = text[:MOST_CHARACTERS].splitlines()
    kept = "\n".join(lines[:MOST_LINES])
    return kept if len(text) <= MOST_CHARACTERS and len(lines) <= MOST_LINES else f"{kept} … (cut here)"

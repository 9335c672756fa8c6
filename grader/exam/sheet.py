"""A sheet and its solutions as self-contained HTML, made for paper: no question is cut by the end of a page."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from html import escape

from grader.counts import counted
from grader.exam.load import Exam
from grader.exam.numbers import written
from grader.exam.question import Grid, Part, Question
from grader.exam.tables import ARGUMENT, COLUMNS, TABLES, Table
from grader.manifest import Manifest
from grader.render.formulas import formula, with_formulas
from grader.render.page import html_page

_ROUNDING = (
    "You may use a pen and paper only. Show your steps. Keep four decimals in intermediate results, and round only "
    "what a task asks for, to two decimals unless it says otherwise. Whole numbers are not rounded."
)
_LOOKING_UP = (
    "Take values of functions from these tables. Round an argument to two decimals before you look it up. The heading "
    "of the row and the heading of the column add up to the argument."
)
_CONVENTIONS = (
    "Symbols are those of the course: a vector is a row, weights are applied from the right, steps are counted from 1, "
    "and the entries of a vector from 0."
)


def sheet_html(manifest: Manifest, exam: Exam) -> str:
    """The sheet for students, with space for their answers."""
    chapter = escape(exam.chapter.title)
    fields = "".join(
        f'<p class="field"><span>{name}</span><span class="blank" role="img" aria-label="empty field"></span></p>\n'
        for name in ("Name", "Matriculation number")
    )
    header = f"<p>{escape(manifest.title)}</p>\n<h1>Exam: {chapter}</h1>\n{fields}"
    questions = (_question(number, question, False) for number, question in enumerate(exam.questions, 1))
    main = f"{_points(exam)}{_instructions(exam)}{''.join(questions)}"
    return html_page(f"Exam: {chapter}", header, main, f"<p>Sheet {exam.code}</p>\n", _STYLE)


def solutions_html(manifest: Manifest, exam: Exam) -> str:
    """The same questions with their solutions, step by step."""
    chapter = escape(exam.chapter.title)
    header = (
        f"<p>{escape(manifest.title)}</p>\n<h1>Exam: {chapter}, solutions</h1>\n"
        f"<p>For instructors. Seed {exam.seed}, {counted(exam.points, 'point')}. These are the solutions of the sheet "
        f"{exam.code}.</p>\n<p>Results are correct as printed, whether intermediate results are rounded to four "
        "decimals or not at all.</p>\n"
    )
    main = "".join(_question(number, question, True) for number, question in enumerate(exam.questions, 1))
    return html_page(f"Exam: {chapter}, solutions", header, main, f"<p>Solutions of sheet {exam.code}</p>\n", _STYLE)


def _points(exam: Exam) -> str:
    """The table into which the points are written."""
    numbers = range(1, len(exam.questions) + 1)
    possible = [str(question.points) for question in exam.questions] + [str(exam.points)]
    head = "".join(f'<th scope="col">{name}</th>' for name in ("Question", *numbers, "Sum"))
    return _wide(
        "Points",
        '<table class="score">\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n"
        f'<tr><th scope="row">Points possible</th>{"".join(f"<td>{each}</td>" for each in possible)}</tr>\n'
        f'<tr><th scope="row">Points reached</th>{"<td></td>" * len(possible)}</tr>\n</tbody></table>',
    )


def _instructions(exam: Exam) -> str:
    needed = {table.id for question in exam.questions for table in question.tables}
    tables = [table for table in TABLES if table.id in needed]
    shown = f"<p>{_LOOKING_UP}</p>\n{''.join(map(_values, tables))}" if tables else ""
    return (
        '<section aria-labelledby="calculate">\n<h2 id="calculate">How to calculate</h2>\n'
        f"<p>{_ROUNDING}</p>\n<p>{_CONVENTIONS}</p>\n{shown}</section>\n"
    )


def _values(table: Table) -> str:
    """A table of values: a row for each ten arguments."""
    letter = {"exp": "d", "ln": "p", "root": "p"}.get(table.id, "a")
    digits = 1 if (table.step * 10).denominator == 1 else ARGUMENT
    starts = [written(table.argument(row, 0), 1) for row in range(table.rows)]
    head = "".join(f'<th scope="col">+{written(table.argument(0, column), digits)}</th>' for column in range(COLUMNS))
    body = "".join(
        f'<tr><th scope="row">{start}</th>'
        + "".join(f"<td>{_entry(table.entry(table.argument(row, column)))}</td>" for column in range(COLUMNS))
        + "</tr>\n"
        for row, start in enumerate(starts)
    )
    also = f"; {formula(table.negative[0])}" if table.negative else ""
    return _wide(
        table.title,
        '<table class="values">\n'
        f"<caption>{table.title} {formula(table.named(letter))}{also}</caption>\n"
        f'<thead><tr><th scope="col"><var>{letter}</var></th>{head}</tr></thead>\n<tbody>\n{body}</tbody></table>',
    )


def _entry(value: Fraction | None) -> str:
    return "–" if value is None else written(value, 4)


def _question(number: int, question: Question, solved: bool) -> str:
    name = f"question-{number}"
    parts = "".join(
        _part(number, letter, part, solved) for letter, part in zip("abcdefgh", question.parts, strict=False)
    )
    return (
        f'<section class="question" aria-labelledby="{name}">\n<h2 id="{name}">{number}. {escape(question.title)} '
        f'<span class="quiet">({counted(question.points, "point")})</span></h2>\n{_blocks(question.text)}{parts}'
        "</section>\n"
    )


def _part(number: int, letter: str, part: Part, solved: bool) -> str:
    points = counted(part.points, "point")
    task = f'<p class="task"><strong>({letter})</strong> {with_formulas(part.task)} <em>{points}</em></p>\n'
    if not solved:
        return f'{task}<div class="lines" role="img" aria-label="space for the answer">{"<i></i>" * part.lines}</div>\n'
    results = " ".join(f"<span>{with_formulas(answer.shown)}</span>" for answer in part.answers)
    label = "Result" if len(part.answers) == 1 else "Results"
    shown = f'{_blocks(part.steps)}<p class="results"><strong>{label}:</strong> {results}</p>\n'
    return task + _wide(f"solution of {number} ({letter})", f"\n{shown}", "solution")


def _blocks(blocks: Iterable[str | Grid]) -> str:
    return "".join(_grid(each) if isinstance(each, Grid) else f"<p>{with_formulas(each)}</p>\n" for each in blocks)


def _grid(grid: Grid) -> str:
    head = "".join(f'<th scope="col">{with_formulas(each)}</th>' for each in grid.head)
    body = "".join(
        f'<tr><th scope="row">{with_formulas(line[0])}</th>'
        + "".join(f"<td>{with_formulas(each)}</td>" for each in line[1:])
        + "</tr>\n"
        for line in grid.lines
    )
    return _wide(
        grid.caption,
        f'<table class="given">\n<caption>{with_formulas(grid.caption)}</caption>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table>",
    )


def _wide(label: str, html: str, kind: str = "wide") -> str:
    """What may be wider than a phone, in a box that scrolls and that the keyboard reaches."""
    return f'<div class="{kind}" role="region" aria-label="{escape(label)}" tabindex="0">{html}</div>\n'


_STYLE = """
@page { margin: 16mm 18mm 18mm; }
h2 { margin-top: 1.6rem; }
.field { display: flex; align-items: baseline; gap: .6rem; margin: .9rem 0 0; color: var(--ink); }
.field .blank { flex: 1; border-bottom: 1px solid var(--ink); }
.wide, .solution { overflow-x: auto; }
.formula { max-width: none; overflow: visible; }
table { overflow-wrap: normal; }
caption { text-align: left; padding: .3rem 0; font-size: .95em; }
td, th { padding: .2rem .5rem; }
.score, .given { width: auto; }
.given { line-height: 1.25; margin: .3rem 0; }
.score td, .score th { border: 1px solid var(--quiet); text-align: center; min-width: 3.2rem; height: 2rem; }
.values { font-size: .85em; font-variant-numeric: tabular-nums; }
.values td, .values th { text-align: right; padding: .1rem .25rem; }
.values thead th, .values tbody th, .given tbody th { font-weight: 600; }
.question { margin-top: 1.4rem; }
.task { margin-top: .8rem; break-after: avoid; }
.task em { color: var(--quiet); white-space: nowrap; }
.lines { display: block; }
.lines i { display: block; height: 8mm; border-bottom: 1px solid var(--line); }
.solution { margin-left: .2rem; padding-left: .8rem; border-left: 3px solid var(--accent); }
.solution p { margin: .25rem 0; }
.solution .results { margin: .4rem 0; }
.results span { display: inline-block; margin-right: 1.2rem; }
.results .formula, .results .formula * { margin-right: 0; }
math { font-size: 1.15em; }
mtable { border: solid currentColor; border-width: 0 1px; border-radius: .5em; padding: 0 .15em; margin: 0 .1em; }
@media print {
  .question, .wide { break-inside: avoid; }
  .wide, .solution { overflow: visible; }
  h1 { font-size: 17pt; }
  h2 { font-size: 13pt; margin-top: 1rem; }
  body { line-height: 1.45; }
}
"""

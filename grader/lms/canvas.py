"""Points as a CSV file for Canvas's gradebook: *Grades → Import*.

Canvas finds a student by ID, then by SIS User ID, then by SIS Login ID, and only then by name, so the apostrophe before
a name that might be a formula does no harm. It finds an assignment by the number behind its title, `Title (12345)`, or
by the title alone, and offers to create one that it does not find. Columns that are not in the file stay as they are;
an empty cell in a column of the file would delete a score. Therefore the export contains only the columns that identify
students and those of the exported chapters, and where there is nothing to publish, the score that Canvas exported. A
student who is excused there, `EX`, stays so, and one whom the term exempts from a chapter becomes so: the importer
reads `EX` as "excused", in any case (`no_change_to_value?`).

Source: `lib/gradebook_importer.rb` and `lib/gradebook_exporter.rb` in https://github.com/instructure/canvas-lms; see
also https://community.canvaslms.com/t5/Instructor-Guide/How-do-I-import-grades-in-the-Gradebook/ta-p/807.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from grader.counts import number
from grader.gradebook.roster import Student
from grader.lms.exported import Exported, find_column, holds, only_column
from grader.lms.matching import Key, match
from grader.lms.options import System
from grader.lms.rosters import fits, in_english, is_no_student, named_columns
from grader.lms.table import Policy, Standing, Status, Table, worth
from grader.sheets import Cell, ExchangeError, Sheet, exact
from grader.shown import one_line, some

EXCUSED = "EX"
POINTS_POSSIBLE = "    Points Possible"  # with the spaces that Canvas writes


def export_canvas(table: Table, policy: Policy, into: Sheet | None = None, column: str | None = None) -> Exported:
    """The totals, in a file like the exported gradebook `into`, or else with the ids of the imported roster.

    Raises ExchangeError.
    """
    only_column(table.chapters, column)
    return _from_roster(table, policy, column) if into is None else _into(table, policy, into, column)


def _lacking(columns: Mapping[str, int]) -> str:
    """The columns with which Canvas's gradebook begins and that these are not."""
    names = "Student (or LastName and FirstName)"
    has = {"ID": "id" in columns, "Section": "section" in columns}
    has = {names: "student" in columns or {"last name", "first name"} <= columns.keys()} | has
    return (
        " and ".join(name for name, found in has.items() if not found) or "the right order of Student, ID and Section"
    )


def _cell(standing: Standing, policy: Policy) -> Cell:
    """The score to publish, `EX` if the student is exempt; empty if there is none."""
    if standing.status is Status.exempt:
        return EXCUSED
    score = policy.score(standing)
    return "" if score is None else exact(score)


def canvas_id(student: Student) -> str:
    """The student's number in Canvas; empty if it is not known."""
    return next((id_ for id_ in (student.lms_user_id, student.id) if id_.isascii() and id_.isdigit()), "")


def _from_roster(table: Table, policy: Policy, column: str | None) -> Exported:
    header: list[Cell] = ["Student", "ID", "Section", *(column or chapter.title for chapter in table.chapters)]
    rows: list[list[Cell]] = [header, [POINTS_POSSIBLE, "", "", *(exact(worth(chapter)) for chapter in table.chapters)]]
    for student in table.students:
        if id_ := canvas_id(student):
            name = ", ".join(filter(None, (student.last_name, student.first_name))) or student.id
            cells = [_cell(table.of(chapter, student), policy) for chapter in table.chapters]
            if any(cell != "" for cell in cells):
                rows.append([one_line(name), id_, "", *cells])
    notes = [
        "Canvas offers to create each assignment that it does not find by its title; --into uses existing columns."
    ]
    if any("" in row[3:] for row in rows[2:]):
        notes.append("An empty cell deletes the score that Canvas has; --into keeps it.")
    problems = []
    if strangers := [one_line(student.id) for student in table.students if not canvas_id(student)]:
        problems.append(
            f"Without a Canvas ID, so not in the file: {some(strangers)}. Import the roster with  "
            "grader roster EXPORTED_GRADEBOOK.csv"
        )
    return Exported(rows, notes, problems)


def _into(table: Table, policy: Policy, into: Sheet, given: str | None) -> Exported:
    columns = named_columns(into)
    if not fits(System.canvas, columns):
        raise ExchangeError(
            f"{into.path} is not a gradebook exported from Canvas: its header ({some(into.header, 8)}) lacks "
            f"{_lacking(columns)} before the columns of the assignments. In Canvas, choose Grades → Export → "
            "Export Entire Gradebook. "
            f"{in_english([System.canvas])}"
        )
    kept = columns["section"] + 1
    places = [find_column(into, chapter, given, kept) for chapter in table.chapters]
    titles = [
        chapter.title if place is None else into.header[place]
        for chapter, place in zip(table.chapters, places, strict=True)
    ]
    matched = match(table.students, into, _KEYS, lambda cells: cells.get("student") or cells["id"], is_no_student)
    rows: list[list[Cell]] = [[*into.header[:kept], *titles]]
    exported = Exported(rows, _notes(table, places, into), matched.problems, into.delimiter)
    possible: list[Cell] = [POINTS_POSSIBLE, *[""] * (kept - 1)]
    was = next((line.cells for line in into.lines if "points possible" in line.cells[0].casefold()), None)
    for chapter, place in zip(table.chapters, places, strict=True):
        theirs = was[place] if was is not None and place is not None else ""
        possible.append(_kept(theirs) if theirs else exact(worth(chapter)))
        if theirs and not holds(theirs, worth(chapter), 0.005):  # Canvas exports two digits
            exported.notes.append(
                f"Canvas has {theirs} points for {chapter.id}, the chapter has {number(worth(chapter))}. Scores "
                "are exported as they are; change the points of the assignment in Canvas if they should agree."
            )
    rows.append(possible)
    excused: dict[str, None] = {}
    for line, student in matched.rows:
        row: list[Cell] = [*line.cells[:kept]]
        for chapter, place in zip(table.chapters, places, strict=True):
            cell, theirs = _cell(table.of(chapter, student), policy), "" if place is None else line.cells[place]
            is_excused = theirs.upper() == EXCUSED
            if is_excused and cell not in ("", EXCUSED):
                excused[one_line(student.id)] = None
            row.append(_kept(theirs) if cell == "" or is_excused else cell)
        rows.append(row)
    if excused:
        exported.notes.append(f"Excused in Canvas, and left so: {some(list(excused))}.")
    return exported


# by Canvas's number; for students without one, by their login or the number of the university
_KEYS: list[Key] = [
    (lambda cells: cells["id"], canvas_id),
    (lambda cells: cells.get("sis login id", ""), lambda student: "" if canvas_id(student) else student.email),
    (lambda cells: cells.get("sis login id", ""), lambda student: "" if canvas_id(student) else student.id),
    (lambda cells: cells.get("sis user id", ""), lambda student: "" if canvas_id(student) else student.id),
]


def _notes(table: Table, places: list[int | None], into: Sheet) -> list[str]:
    return [
        f"{into.path} has no column for {chapter.id}: Canvas will offer to create the assignment {chapter.title!r}. "
        "To use another column, name it with --column."
        for chapter, place in zip(table.chapters, places, strict=True)
        if place is None
    ]


def _kept(cell: str) -> Cell:
    """A score as Canvas exported it; a number stays one."""
    return exact(float(cell)) if _NUMBER.fullmatch(cell) else cell


_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")

"""Points and comments as a CSV file for Moodle: either for *Grades → Import → CSV file*, or as an assignment's grading
worksheet.

*Grade import.* The instructor maps the columns: Email address or ID number to the user, the grade and the feedback to
the assignment. A student whom Moodle does not find makes it refuse the whole file, so only those with an e-mail address
or an ID number are exported. An empty grade deletes a grade, and a grade without feedback deletes the feedback, so a
student without points to publish keeps the cells of the file `into` or, without one, is not in the export.

*Grading worksheet* (the columns Identifier, Grade, Maximum grade, Last modified (grade), Feedback comments): only Grade
and Feedback comments are filled in, and all other columns are kept, because Moodle checks them. Moodle ignores rows
without a grade.

*Exempt.* No file tells Moodle that a student is exempt. An empty grade is read as no grade (`update_grade_item` in
`load_data.php`), so a student who is exempt from a chapter gets that, with a sentence as feedback. Whether it counts as
0 in the course total is the setting "Exclude empty grades" of the gradebook.

Sources: https://docs.moodle.org/en/Grade_import, https://docs.moodle.org/en/Grade_export,
https://docs.moodle.org/en/Offline_grading_worksheet; `grade/import/csv/classes/load_data.php` and
`mod/assign/feedback/offline/importgradeslib.php` in https://github.com/moodle/moodle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.counts import number
from grader.lms.exported import Exported, find_column, holds, only_column
from grader.lms.matching import Cells, Key, Match, match
from grader.lms.options import System
from grader.lms.rosters import in_english, moodle_id, named_columns
from grader.lms.table import Policy, Standing, Status, Table, worth
from grader.manifest import Chapter
from grader.sheets import Cell, ExchangeError, Sheet, exact, folded
from grader.shown import one_line, some

EXEMPT = "You are exempt from this chapter."
_IDENTITY = ("first name", "last name", "full name", "username", "id number", "email address")


def export_moodle(table: Table, policy: Policy, into: Sheet | None = None, column: str | None = None) -> Exported:
    """The totals with feedback, in a file like `into`, or else with the addresses of the imported roster.

    Raises ExchangeError.
    """
    only_column(table.chapters, column)
    if into is None:
        return _from_roster(table, policy, column)
    if "identifier" in into.columns():
        return _worksheet(table, policy, into)
    return _into(table, policy, into, column)


def _from_roster(table: Table, policy: Policy, column: str | None) -> Exported:
    header: list[Cell] = ["First name", "Last name", "ID number", "Email address"]
    for chapter in table.chapters:
        title = column or chapter.title
        header += [f"Assignment: {title} (Real)", f"Assignment: {title} (Feedback)"]
    exported = Exported([header], [_maximum(chapter) for chapter in table.chapters])
    strangers = []
    for student in table.students:
        cells = [_published(table.of(chapter, student), policy) for chapter in table.chapters]
        if not (student.email or student.lms_user_id):
            strangers.append(one_line(student.id))
        elif any(cells):
            names = (student.first_name, student.last_name, student.lms_user_id, student.email)
            pairs = (pair or ("", "") for pair in cells)
            exported.rows.append([*map(one_line, names), *(cell for pair in pairs for cell in pair)])
    if strangers:
        exported.problems.append(
            f"Without an e-mail address and an ID number, so not in the file: {some(strangers)}. Import the roster "
            "with  grader roster EXPORTED.csv"
        )
    if len(table.chapters) > 1 and any("" in row[4::2] for row in exported.rows[1:]):
        exported.notes.append("An empty grade deletes the grade that Moodle has; --into keeps it.")
    return exported


def _published(standing: Standing, policy: Policy) -> tuple[Cell, Cell] | None:
    """The grade and the feedback; None if nothing is published. Who is exempt has no grade."""
    if standing.status is Status.exempt:
        return "", EXEMPT
    score = policy.score(standing)
    return None if score is None else (exact(score), standing.feedback)


def _maximum(chapter: Chapter) -> str:
    return f"{chapter.id}: the maximum grade in Moodle must be {number(worth(chapter))}, because grades are points."


# --- a file from Moodle -----------------------------------------------------------------------------------------


def _matched(table: Table, into: Sheet) -> Match:
    """Find the student of each row. Raises ExchangeError."""
    columns = named_columns(into)
    if not columns.keys() & {"email address", "id number", "full name"} and "first name" not in columns:
        raise ExchangeError(
            f"{into.path} is not an export of Moodle: its header ({some(into.header, 8)}) has no column Email address, "
            "ID number or Full name. In "
            "Moodle, choose Grades → Export → Plain text file, or the assignment's Download grading worksheet. "
            f"{in_english([System.moodle])}"
        )
    return match(table.students, into, _KEYS, lambda cells: _full_name(cells) or "no name")


def _full_name(cells: Cells) -> str:
    return cells.get("full name") or f"{cells.get('first name', '')} {cells.get('last name', '')}".strip()


_KEYS: list[Key] = [
    (lambda cells: cells.get("email address", ""), lambda student: student.email),
    (lambda cells: cells.get("id number", ""), lambda student: student.lms_user_id),
    (lambda cells: moodle_id(_full_name(cells)), lambda student: student.id),
]


def _into(table: Table, policy: Policy, into: Sheet, given: str | None) -> Exported:
    matched = _matched(table, into)
    columns = named_columns(into)
    kept = [index for index in sorted(columns.values()) if _is_identity(into.header[index], columns, index)]
    header: list[Cell] = [into.header[index] for index in kept]
    places: list[tuple[int | None, int | None]] = []
    notes = []
    for chapter in table.chapters:
        grade = find_column(into, chapter, given, 0)
        said = find_column(into, chapter, given, 0, feedback=True)
        title = given or chapter.title
        header.append(f"Assignment: {title} (Real)" if grade is None else into.header[grade])
        header.append(f"Assignment: {title} (Feedback)" if said is None else into.header[said])
        places.append((grade, said))
        if grade is None:
            notes.append(
                f"{into.path} has no column for {chapter.id}. The export has a new one, which you can map to any "
                "assignment in Moodle; to use another column of the file, name it with --column."
            )
        notes.append(_maximum(chapter))
    rows = [header]
    for line, student in matched.rows:
        row: list[Cell] = [line.cells[index] for index in kept]
        for chapter, place in zip(table.chapters, places, strict=True):
            row += _filled(line.cells, place, _published(table.of(chapter, student), policy))
        rows.append(row)
    return Exported(rows, notes, matched.problems, into.delimiter)


def _is_identity(name: str, columns: Mapping[str, int], index: int) -> bool:
    return any(columns.get(each) == index for each in _IDENTITY) or folded(name) in _IDENTITY


def _filled(
    cells: Sequence[str], place: tuple[int | None, int | None], published: tuple[Cell, Cell] | None
) -> tuple[Cell, Cell]:
    """The grade and the feedback, or what the file has if there is none. A grade `-` in the file means no grade."""
    old_grade, old_feedback = ("" if index is None else cells[index] for index in place)
    if published is None:
        return "" if old_grade == "-" else old_grade, old_feedback
    grade, feedback = published
    return grade, feedback or old_feedback


def _worksheet(table: Table, policy: Policy, into: Sheet) -> Exported:
    """An assignment's grading worksheet, filled in."""
    if len(table.chapters) > 1:
        raise ExchangeError(f"{into.path} is the grading worksheet of one assignment. Export one chapter into it.")
    (chapter,) = table.chapters
    columns = into.columns()
    grade, said = columns.get("grade"), columns.get("feedback comments")
    if grade is None:
        raise ExchangeError(
            f"{into.path} has no column Grade, but {some(into.header, 12)}. Download the grading worksheet from Moodle "
            f"again. {in_english([System.moodle])}"
        )
    matched = _matched(table, into)
    notes = []
    most = columns.get("maximum grade")
    if said is None and any(table.of(chapter, student).feedback for _, student in matched.rows):
        notes.append("The worksheet has no column Feedback comments, so comments are not exported.")
    if most is not None and any(not holds(line.cells[most], worth(chapter), 1e-4) for line, _ in matched.rows):
        notes.append(_maximum(chapter))
    rows: list[list[Cell]] = [list(into.header)]
    for line, student in matched.rows:
        row: list[Cell] = list(line.cells[: len(into.header)])
        new = _filled(line.cells, (grade, said), _published(table.of(chapter, student), policy))
        row[grade] = new[0]
        if said is not None:
            row[said] = new[1]
        rows.append(row)
    return Exported(rows, notes, matched.problems, into.delimiter)

"""Read the roster of a course as Canvas, Moodle and Gradescope export it, or as a plain CSV file.

| system | its file | student id |
|---|---|---|
| Canvas | the exported gradebook: Student (or LastName, FirstName), ID, SIS User ID, SIS Login ID, Section, … | ID |
| Moodle | an export of participants or grades, or a grading worksheet: First name, Last name (or Surname, or Full \
name), ID number, Email address | the full name |
| Gradescope | the downloaded roster: First Name, Last Name, SID, Email, Role | Email |
| any other | id, first_name, last_name, email, lms_user_id | id |

The id is the name of the folder to which `nbgrader zip_collect` sorts the student's submissions, with our
`grader.plugins.downloads`.

Sources: Canvas, `lib/gradebook_exporter.rb` and `lib/gradebook_importer.rb` in
https://github.com/instructure/canvas-lms; Moodle, https://docs.moodle.org/en/Grade_export, `mod/assign/classes/\
downloader.php` (how it names a student's folder) and `clean_param` with PARAM_FILE in https://github.com/moodle/moodle;
Gradescope, https://guides.gradescope.com/hc/en-us/articles/21926598776333.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.gradebook.roster import Student
from grader.lms.options import System
from grader.sheets import ExchangeError, Line, Sheet, original, read_sheet
from grader.shown import named, one_line, some
from grader.submission.names import unfit

MOST_CHARACTERS = 128  # in the gradebook's columns
_NAMES = frozenset({"first name", "last name", "full name"})
_PLAIN = frozenset({"id", "student_id", "email", "lms_user_id"})
_STAFF = frozenset({"instructor", "ta", "reader"})
_ALIASES = {
    "surname": "last name",
    "first name / last name": "full name",
    "name": "full name",
    "student_id": "id",
    "lastname": "last name",
    "firstname": "first name",
    "first_name": "first name",
    "last_name": "last name",
}
# formgrader shows names without escaping them, and students can choose their own in Canvas
_MARKUP = str.maketrans({"<": "‹", ">": "›", '"': "”", "\\": "∖"})
_CANVAS_QUOTED = re.compile(r'="(.*)"', re.DOTALL)  # how Canvas exports a name that begins with =
_NOT_IN_FILE_NAMES = re.compile(r"[\x00-\x1f\x7f&<>\"`|':\\/]|\.\.+")


_TITLES = {
    System.canvas: "Canvas's exported gradebook",
    System.moodle: "Moodle's export of participants or grades",
    System.gradescope: "Gradescope's roster",
    System.csv: "a plain CSV file",
}
_NEEDED = {
    System.canvas: "Student (or LastName and FirstName), ID and Section",
    System.moodle: "First name and Last name (or Full name), with Email address or ID number",
    System.gradescope: "First Name and Last Name (or Name), and Email",
    System.csv: "id",
}


@dataclass(frozen=True)
class Roster:
    """The students of a file, in its order; which rows were refused and why; and what else was left out."""

    system: System
    students: tuple[Student, ...]
    refused: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return _TITLES[self.system]


def read_roster(path: Path, system: System | None = None) -> Roster:
    """Read a roster; the system is recognised from the header if it is not given. Raises ExchangeError, OSError."""
    sheet = read_sheet(path)
    columns = named_columns(sheet)
    chosen = _recognised(columns) if system is None else system
    if chosen is None or not fits(chosen, columns):
        likely = [chosen] if chosen else _likely(columns)
        known = "; ".join(f"{_TITLES[each]} needs {_NEEDED[each]}" for each in likely or System)
        raise ExchangeError(
            f"{path}: the header ({some(sheet.header, 12)}) is not that of a roster. {known}. {in_english(likely)}"
        )
    staff, pretended, rows = 0, 0, []
    for line in sheet.lines:
        cells = {name: original(line.cells[index], sheet.delimiter) for name, index in columns.items()}
        if chosen is System.canvas and is_no_student(line, cells):
            pretended += cells.get("student") == TEST_STUDENT
        elif chosen is System.gradescope and cells.get("role", "").casefold() in _STAFF:
            staff += 1
        else:
            rows.append((line, cells))
    read = [(line, _student(chosen, cells), _too_wide(line, sheet)) for line, cells in rows]
    students, refused = _unambiguous(chosen, read)
    left_out = []
    if staff:
        left_out.append(f"{staff} of the course's staff")
    if pretended:
        left_out.append("Canvas's test student")
    if not students and not refused:
        raise ExchangeError(f"{path} lists no students.")
    return Roster(chosen, tuple(students), tuple(refused), tuple(left_out))


def named_columns(sheet: Sheet) -> dict[str, int]:
    """The index of each column, by its own name and by the name that all formats share, such as `first name`."""
    columns = sheet.columns()
    return {_ALIASES.get(name, name): index for name, index in reversed(columns.items())} | columns


_ENGLISH = {
    System.canvas: "Canvas: Account, Settings, Edit Settings, Language: English (United States), Update Settings",
    System.moodle: "Moodle: the user menu, Language, English; or add ?lang=en to the address of the page",
    System.gradescope: "Gradescope: the switch at the bottom of the page",
}


def in_english(systems: Collection[System] = ()) -> str:
    """How to get a file with English headers from one of these systems, of which only one language is understood."""
    how = "; ".join(text for system, text in _ENGLISH.items() if system in systems or not systems)
    return (
        "Headers are understood in English only. If that system speaks another language, set it to English "
        f"({how}), export the file again, and set your language back."
    )


def _likely(columns: Collection[str]) -> list[System]:
    """Whose header in another language this probably is, by words that Canvas and Moodle leave as they are or that most
    languages share; empty if nothing tells.
    """
    if any(re.search(r"\bsis\b", name) for name in columns):
        return [System.canvas]
    return [System.moodle] if any(re.search(r"mail|courriel|correo|posta", name) for name in columns) else []


TEST_STUDENT = "Student, Test"


def is_no_student(line: Line, cells: Mapping[str, str]) -> bool:
    """Whether a row of Canvas's gradebook is about the assignments, or is the student that teachers pretend to be."""
    return (
        "points possible" in line.cells[0].casefold()
        or all(re.fullmatch(r"(muted|manual posting.*)?", cell, re.IGNORECASE) for cell in line.cells)
        or cells.get("student") == TEST_STUDENT
    )


def _recognised(columns: Mapping[str, int]) -> System | None:
    """The system whose header this is."""
    if fits(System.canvas, columns):
        return System.canvas
    if "email address" in columns or "id number" in columns:
        return System.moodle if fits(System.moodle, columns) else None
    if fits(System.csv, columns):
        return System.csv
    return System.gradescope if fits(System.gradescope, columns) and columns.keys() & {"sid", "role"} else None


def fits(system: System, columns: Mapping[str, int]) -> bool:
    """Whether the columns that the system needs exist."""
    split = "first name" in columns and "last name" in columns
    match system:
        case System.canvas:
            has_names = "student" in columns or {"lastname", "firstname"} <= columns.keys()
            return has_names and "id" in columns and "section" in columns
        case System.moodle:
            return (split or "full name" in columns) and ("email address" in columns or "id number" in columns)
        case System.gradescope:
            return (split or "full name" in columns) and "email" in columns
        case System.csv:
            # a file in another language also has a column ID: then no column with names is understood
            return "id" in columns and (columns.keys() <= _PLAIN or bool(columns.keys() & _NAMES))


# --- ids ------------------------------------------------------------------------------------------------------


def moodle_id(full_name: str) -> str:
    """The student's name in a download of Moodle's submissions, which lacks what a file name cannot have."""
    return _NOT_IN_FILE_NAMES.sub("", full_name.replace("_", " ")).strip()


def gradescope_id(email: str, sid: str) -> str:
    """The student's e-mail address or, if that cannot be a folder's name, their number."""
    return next((name for name in (email, sid) if name and "/" not in name and not name.startswith(".")), "")


def _student(system: System, cells: Mapping[str, str]) -> Student:
    """The student of a row; the id is empty if there is none."""
    first, last, full = (cells.get(name, "") for name in ("first name", "last name", "full name"))
    match system:
        case System.canvas:
            quoted = _CANVAS_QUOTED.fullmatch(cells.get("student", ""))
            name = quoted[1] if quoted else cells.get("student", "")
            if name:
                last, _, first = (part.strip() for part in name.rpartition(",")) if "," in name else ("", "", name)
            login, id_ = cells.get("sis login id", ""), cells["id"]
            email = login if "@" in login else ""
            return _clean(id_ if re.fullmatch(r"[0-9]+", id_) else "", first, last, email, id_)
        case System.moodle:
            whole = f"{first} {last}".strip() or full
            email, number = cells.get("email address", ""), cells.get("id number", "")
            return _clean(moodle_id(whole), first, last or full, email, number)
        case System.gradescope:
            email, sid = cells["email"], cells.get("sid", "")
            return _clean(gradescope_id(email, sid), first, last or full, email, sid)
        case System.csv:
            return _clean(cells["id"], first, last or full, cells.get("email", ""), cells.get("lms_user_id", ""))


def _clean(id_: str, *details: str) -> Student:
    return Student(id_, *(" ".join(one_line(text.translate(_MARKUP)).split()) for text in details))


# --- what is refused ----------------------------------------------------------------------------------------------


Row = tuple[Line, Student, bool]


def _unambiguous(system: System, rows: list[Row]) -> tuple[list[Student], list[str]]:
    """The students that one row each stands for, and why the other rows are refused."""
    refused: dict[int, str] = {}
    fit: dict[str, list[tuple[int, Student]]] = {}
    for line, student, too_wide in rows:
        if why := "has more cells than the header" if too_wide else _unusable(system, student):
            refused[line.number] = f"line {line.number} {why}"
        else:
            fit.setdefault(student.id, []).append((line.number, student))
    single: list[tuple[int, Student]] = []
    for id_, found in fit.items():
        if all(student == found[0][1] for _, student in found):
            single.append(found[0])
        else:
            why = _NAMESAKES if system is System.moodle else "Keep the right one."
            refused[found[0][0]] = f"{_lines(found)} are about different students with the id {id_!r}. {why}"
    by_email: dict[str, list[tuple[int, Student]]] = {}
    for number, student in single:
        by_email.setdefault(student.email.casefold() or f"\0{student.id}", []).append((number, student))
    for found in by_email.values():
        if len(found) > 1:
            ids = ", ".join(repr(student.id) for _, student in found)
            refused[found[0][0]] = (
                f"{_lines(found)} have the same e-mail address {found[0][1].email!r} but different ids ({ids}). "
                "Keep the right one."
            )
    students = [found[0][1] for found in by_email.values() if len(found) == 1]
    return students, [refused[number] for number in sorted(refused)]


_NAMESAKES = (
    "Moodle's downloads tell them apart only by a number that changes. Rename their folders after collecting, and add "
    "both with a plain CSV file (id, first_name, last_name, email) in which id is the folder's name."
)


def _lines(found: list[tuple[int, Student]]) -> str:
    *others, last = (str(number) for number, _ in sorted(found, key=lambda each: each[0]))
    return f"lines {', '.join(others)} and {last}"


def _unusable(system: System, student: Student) -> str:
    """Why a row cannot be imported, beginning with a verb; empty if it can."""
    if system is System.canvas and not student.id:
        return f"has no number in the column ID, but {student.lms_user_id!r}. Export the gradebook from Canvas again."
    if not student.id:
        return f"has no student id ({_NEEDED[system]} are needed)"
    if "/" in student.id or student.id.startswith(".") or unfit(student.id):
        return f"has the id {named(student.id)!r}, which cannot be the name of a submission folder"
    long = next((t for t in (student.id, *vars(student).values()) if len(t) > MOST_CHARACTERS), "")
    return f"has a text of more than {MOST_CHARACTERS} characters: {long[:30]!r} …" if long else ""


def _too_wide(line: Line, sheet: Sheet) -> bool:
    return any(line.cells[len(sheet.header) :])

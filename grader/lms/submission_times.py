"""When students submitted, from what Canvas and Moodle tell about it beside the download of the submissions. The times
go into the `timestamp.txt` of each submission, where Gradescope's are too.

| from | file | a row |
|---|---|---|
| Moodle | the assignment's grading worksheet | Identifier, Full name, Email address, Status, Last modified \
(submission): `Sunday, 1 March 2026, 11:59 PM` |
| Canvas | what the address `/api/v1/courses/…/assignments/…/submissions?per_page=100` shows, saved | `user_id`, \
`submitted_at`: `2026-03-01T22:59:59Z` |
| any other | a CSV file | student (or id), submitted: `2026-03-01 23:59:59 +01:00` |

*Canvas.* The zip of the submissions has no times: names have at most `LATE`, and its entries have the time at which it
was made. The exported gradebook has none either. Only the API gives `submitted_at`, in UTC. It answers a browser that
is logged in, with `while(1);` in front, ten submissions on a page unless `per_page` asks for more.

*Moodle.* The zip has no times of submission either. The worksheet shows them in the time zone of the person who
downloads it, without naming the zone, in the format of the language and without seconds. So a time is that of the
minute's beginning, up to 59 seconds earlier than the real one. In English, it is one of two formats that name the
month; all others are refused. The time is that of the last change, which for a draft is no submission, and for a
reopened attempt the time at which it was reopened.

Nothing is guessed: a row that several students may be, a time without a zone, one that clocks show twice, and another
time than the one that is there already are reported, and nothing is written for them.

Sources: `lib/content_zipper.rb` (get_filename, add_attachment_to_zip), `lib/gradebook_exporter.rb`,
`lib/api/v1/submission.rb` (SUBMISSION_JSON_FIELDS), `lib/api.rb` (per_page) and
`app/controllers/application_controller.rb` (render) in https://github.com/instructure/canvas-lms;
`mod/assign/gradingtable.php` (col_timesubmitted, col_status), `mod/assign/classes/downloader.php`,
`mod/assign/lang/en/assign.php`, `lang/en/langconfig.php` (strftimedaydatetime, the default of `userdate` in
`lib/moodlelib.php`) and `files/classes/local/archive_writer/zip_writer.php` in https://github.com/moodle/moodle.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

import msgspec

from grader.counts import counted
from grader.files import write_whole
from grader.gradebook.people import People
from grader.lms.options import System
from grader.lms.rosters import in_english, moodle_id
from grader.sheets import ExchangeError, Sheet, original, read_sheet
from grader.shown import named, one_form, one_line, some
from grader.submission.timestamp import NAME, TimestampError, submitted_at
from grader.times import TimeError, given_as_utc, local_as_utc, shown

PER_PAGE = 100  # the most submissions on a page of Canvas's API
_COLUMN = "last modified (submission)"
_NO_TIME = ("", "-", "null")
_BEFORE_JSON = "while(1);"
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d\d)\s*(?P<half>[ap])\.?m\.?"
_ENGLISH = tuple(
    re.compile(rf"(?P<weekday>[a-z]+),\s*{day},?\s+(?P<year>\d{{4}}),\s*{_CLOCK}", re.IGNORECASE | re.ASCII)
    for day in (r"(?P<day>\d{1,2})\s+(?P<month>[a-z]+)", r"(?P<month>[a-z]+)\s+(?P<day>\d{1,2})")  # en, en_us
)
_FORMS = (
    "A file with times of submission is Moodle's grading worksheet, with the column Last modified (submission); or the "
    "page of Canvas's API with the assignment's submissions, saved; or a CSV file with the columns student and "
    "submitted."
)


@dataclass(frozen=True)
class Row:
    """What a file tells about one submission: the place in the file, the names by which its student may be known, the
    surest first, the time as it is written there, and what Moodle says of its status.
    """

    place: str
    names: tuple[str, ...]
    text: str
    status: str = ""

    @property
    def has_time(self) -> bool:
        return self.text.casefold() not in _NO_TIME

    @property
    def is_draft(self) -> bool:
        return self.status.casefold().startswith("draft")

    @property
    def is_reopened(self) -> bool:
        return self.status.casefold().startswith("reopened")


@dataclass(frozen=True)
class Entered:
    """What became of the times: by student what was written, in place of which time if there was one, and who had the
    same time already; the drafts among them; who has a submission, but no time; and what has to be looked at. Times are
    in UTC, without a zone.
    """

    written: Mapping[str, datetime] = field(default_factory=dict)
    replaced: Mapping[str, str] = field(default_factory=dict)
    unchanged: tuple[str, ...] = ()
    drafts: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


# --- what the files tell ----------------------------------------------------------------------------------------


def read_rows(path: Path) -> tuple[System, list[Row]]:
    """The system that a file comes from, recognised from its contents, and its rows. Raises ExchangeError, OSError."""
    with path.open("rb") as file:
        begin = file.read(100).removeprefix(b"\xef\xbb\xbf").lstrip()
    if begin.startswith((b"[", b"{", _BEFORE_JSON.encode())):
        return System.canvas, list(_of_canvas(path))
    sheet = read_sheet(path)
    columns = sheet.columns()
    if "identifier" in columns and _COLUMN in columns:
        return System.moodle, list(_of_moodle(sheet))
    student = next((columns[name] for name in ("student", "id") if name in columns), None)
    if student is None or "submitted" not in columns:
        raise ExchangeError(
            f"{path}: the header ({some(sheet.header, 12)}) is not that of a file with times of submission. {_FORMS} "
            f"{in_english([System.moodle])}"
        )
    cells = ((line, _cell(sheet, line.cells, student)) for line in sheet.lines)
    return System.csv, [
        Row(f"{path.name}, line {line.number}", (name,) if name else (), _cell(sheet, line.cells, columns["submitted"]))
        for line, name in cells
    ]


def _cell(sheet: Sheet, cells: Sequence[str], index: int) -> str:
    return one_form(original(cells[index], sheet.delimiter)).strip()


def _of_moodle(sheet: Sheet) -> Iterator[Row]:
    """The number in Identifier is the one in the name of the student's folder; if names are hidden, it has no other."""
    columns = sheet.columns()
    for line in sheet.lines:
        cells = {name: _cell(sheet, line.cells, index) for name, index in columns.items()}
        called, _, number = cells["identifier"].rpartition(" ")
        full = moodle_id(cells.get("full name", ""))
        names = (f"{full or called}_{number}", cells.get("email address", ""), full, cells.get("id number", ""))
        place = f"{sheet.path.name}, line {line.number}"
        yield Row(place, tuple(filter(None, names)), cells[_COLUMN], cells.get("status", ""))


def _of_canvas(path: Path) -> Iterator[Row]:
    try:
        text = path.read_text("utf-8-sig").strip().removeprefix(_BEFORE_JSON)
        tree = msgspec.json.decode(text)
    except (ValueError, RecursionError) as error:
        raise ExchangeError(f"{path} is not the JSON of Canvas's API: {error}. {_SAVE}") from error
    if not isinstance(tree, list) or not all(isinstance(each, dict) and "submitted_at" in each for each in tree):
        raise ExchangeError(f"{path} is not a list of submissions with submitted_at. {_SAVE}")
    for number, each in enumerate(tree, 1):
        student, when = each.get("user_id"), each["submitted_at"]
        yield Row(f"{path.name}, submission {number}", () if student is None else (str(student),), str(when or ""))


_SAVE = (
    "In a browser that is logged in to Canvas, open the assignment's address with /api/v1 before /courses and "
    f"/submissions?per_page={PER_PAGE} at the end, and save the page as it is."
)


# --- times ----------------------------------------------------------------------------------------------------


def read_time(text: str, where: ZoneInfo | None) -> datetime:
    """A time as one of the three systems writes it, in UTC without a zone. `where` is the zone of those without an
    offset; None if it is not known. Raises TimeError.
    """
    plain = " ".join(text.split())  # newer versions of PHP put a narrow space before AM
    for form in _ENGLISH:
        if match := form.fullmatch(plain):
            when = _english(match, text)
            if where is None:
                raise TimeError(f"{text!r} has no time zone")
            return local_as_utc(when, where)
    return given_as_utc(text, where)


def _english(match: re.Match[str], text: str) -> datetime:
    """Raises TimeError if a name is not English, if there is no such day, or if it is another day of the week: then the
    date is of another calendar.
    """
    try:
        weekday, month = _DAYS.index(match["weekday"].casefold()), _MONTHS.index(match["month"].casefold()) + 1
        day = date(int(match["year"]), month, int(match["day"]))
        hour = int(match["hour"])
        if day.weekday() != weekday or not 1 <= hour <= 12:
            raise ValueError
        return datetime(day.year, day.month, day.day, hour % 12 + 12 * (match["half"] in "pP"), int(match["minute"]))
    except ValueError:
        raise TimeError(f"{text!r} is not a time") from None


# --- what is entered --------------------------------------------------------------------------------------------


def enter_times(
    rows: Sequence[Row],
    folders: Mapping[str, Path],
    people: People,
    where: ZoneInfo | None,
    *,
    replace: bool = False,
) -> Entered:
    """Write the times of these rows beside the submissions, which are in `folders`, by student. A time that is there
    already is kept and reported, unless `replace`. Raises OSError.
    """
    trouble: dict[str, list[str]] = {}
    times, drafts = _times(rows, folders, people, where, trouble)
    written: dict[str, datetime] = {}
    replaced: dict[str, str] = {}
    unchanged: list[str] = []
    for student, when in sorted(times.items()):
        before = _before(folders[student])
        if before == shown(when):
            unchanged.append(student)
        elif before and not replace:
            trouble.setdefault(_KEPT, []).append(f"{named(student)} ({one_line(before)}; in the file {shown(when)})")
        else:
            write_whole(folders[student] / NAME, f"{when:%Y-%m-%d %H:%M:%S} UTC\n".encode())
            written[student] = when
            replaced |= {student: before} if before else {}
    return Entered(
        written,
        replaced,
        tuple(unchanged),
        drafts=tuple(sorted(drafts & {*written, *unchanged})),
        without=tuple(student for student in sorted(folders) if not _before(folders[student])),
        problems=tuple(said.format(some(names)) for said, names in trouble.items()),
    )


_ZONE = (
    'Times without a time zone: {}. Say which it is: with a line such as  timezone = "Europe/Berlin"  in term.toml, or '
    "with  --timezone Europe/Berlin . For Moodle, it is the zone in your profile there."
)
_UNREAD = (
    "Not understood with certainty, so not entered: {}. A time from Moodle is understood in English only, such as "
    "Sunday, 1 March 2026, 11:59 PM: choose English in the user menu, and download the worksheet again. Elsewhere, "
    "write it such as 2026-03-01 23:59:00 +01:00."
)
_TWICE = (
    "Clocks in that zone show these times twice or never, because they are put back or forward: {}. Write each with "
    "its offset, in a CSV file with the columns student and submitted."
)
_SEVERAL = "Several times for one student: {}. Keep the one that counts."
_NOWHERE = "A time, but no submission: {}. Was it made after your download? Download and collect again."
_STRANGERS = (
    "Neither in the roster nor with a submission: {}. If it is Canvas's "
    "test student, there is nothing to do. Otherwise import the roster with  grader roster  or correct the name."
)
_REOPENED = (
    "Reopened in Moodle, so the time is that of the reopening: {}. Write the time of the submission in a CSV file with "
    "the columns student and submitted."
)
_KEPT = "Another time is there already, and stays: {}. To take those of the file, repeat the command with --replace."


def _times(
    rows: Sequence[Row],
    folders: Mapping[str, Path],
    people: People,
    where: ZoneInfo | None,
    trouble: dict[str, list[str]],
) -> tuple[dict[str, datetime], set[str]]:
    """The time of each student with a submission, and whose is that of a draft. What cannot be used is added to the
    trouble: names and places, by what is said of them.
    """
    found: dict[str, dict[datetime, Row]] = {}
    for row in (row for row in rows if row.has_time):
        student = _student(row, folders, people)
        try:
            if student is None:
                trouble.setdefault(_STRANGERS, []).append(_label(row.names[-1] if row.names else "no name", row))
            elif student not in folders:
                trouble.setdefault(_NOWHERE, []).append(_label(student, row))
            elif row.is_reopened:
                trouble.setdefault(_REOPENED, []).append(_label(student, row))
            else:
                found.setdefault(student, {})[read_time(row.text, where)] = row
        except TimeError as error:
            said = _ZONE if "no time zone" in str(error) else _TWICE if "clocks" in str(error) else _UNREAD
            trouble.setdefault(said, []).append(_label(f"{student}, {row.text!r}", row))
    for student, its in found.items():
        if len(its) > 1:
            places = "; ".join(f"{shown(when)} in {one_line(row.place)}" for when, row in its.items())
            trouble.setdefault(_SEVERAL, []).append(f"{student} ({places})")
    single = {student: next(iter(its.items())) for student, its in found.items() if len(its) == 1}
    drafts = {student for student, (_, row) in single.items() if row.is_draft}
    return {student: when for student, (when, _) in single.items()}, drafts


def _label(name: str, row: Row) -> str:
    return f"{named(name)} ({one_line(row.place)})"


def _student(row: Row, folders: Collection[str], people: People) -> str | None:
    """The id of a row's student: the first name that is one student's in the roster, or has a submission."""
    ids = (people.student(name) or (name if name in folders else None) for name in row.names)
    return next((id_ for id_ in ids if id_ is not None), None)


def _before(folder: Path) -> str:
    """The time that a submission has, or what stands there instead; empty if there is no `timestamp.txt`."""
    try:
        when = submitted_at(folder)
    except TimestampError as error:
        return str(error)
    return "" if when is None else shown(when)


# --- what is said -----------------------------------------------------------------------------------------------


def lines(entered: Entered, called: Mapping[str, str], where: tzinfo = UTC) -> list[str]:
    """What was entered, as the instructor reads it. `called` has the names of students, by id; `where` is the zone in
    which times are shown.
    """
    found = [f"Entered {counted(len(entered.written), 'time')}; {len(entered.unchanged)} were there already."]
    for student, when in entered.written.items():
        before = f" (before: {one_line(entered.replaced[student])})" if student in entered.replaced else ""
        found.append(f"  {named(called.get(student, student))}: {shown(when, where)}{before}")
    if entered.drafts:
        found.append(
            f"Drafts in Moodle, never submitted for grading: {_called(entered.drafts, called)}. Their time is that of "
            "the last change."
        )
    return found


def to_look_at(entered: Entered, called: Mapping[str, str], pages: Collection[int] = ()) -> list[str]:
    """What has to be looked at. `pages` are the numbers of submissions on pages of Canvas's API."""
    found = list(entered.problems)
    if entered.without:
        more = f" Canvas shows at most {PER_PAGE} on a page: save the address with &page=2 at the end too."
        found.append(
            f"Without a time, so they count as on time: {_called(entered.without, called)}."
            + (more if any(number >= PER_PAGE for number in pages) else "")
        )
    return found


def _called(students: Sequence[str], called: Mapping[str, str]) -> str:
    return some([called.get(student, student) for student in students])

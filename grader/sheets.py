"""Read CSV files as spreadsheets and other systems write them, and write CSV files that a spreadsheet can open safely.

Reading accepts UTF-8 and UTF-16, with or without a byte order mark where that is unambiguous; commas, semicolons or
tabs; and every kind of line break.

A spreadsheet runs a cell that begins with =, +, - or @ as a formula, even in quotes. As OWASP recommends
(https://owasp.org/www-community/attacks/CSV_Injection), `neutral` puts an apostrophe before each of these characters,
or its full-width form, where a cell begins, and before a text that begins with a tab or a line break. Spaces, quotes
and invisible characters before them are looked through. A cell may also begin within a text: a spreadsheet that expects
another separator than the file's ends a cell at each of its own separators and at each line break, quotes or not.

All texts are quoted. Numbers are neither changed nor quoted. A lone `-`, with which Canvas and Moodle say that there is
no grade, is not a formula.
"""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from grader.errors import ExpectedError
from grader.shown import one_form

DIGITS = 6  # after the decimal point; Moodle stores 5, Canvas shows 2
_DELIMITERS = (",", ";", "\t")
_FORMULA = tuple("=+-@")  # after NFKC, which turns full-width forms into these
_BREAKS = tuple("\t\r\n\v\f\x85\u2028\u2029")

Cell = str | Decimal


class ExchangeError(ExpectedError):
    """A file cannot be imported or exported as asked; the message says where, why, and what to do."""


@dataclass(frozen=True)
class Line:
    """A row of a file: the number of its first line, counted from 1, and its cells without surrounding spaces."""

    number: int
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Sheet:
    """A CSV file: its header and the other rows, without empty ones. Every row has at least as many cells as the
    header.
    """

    path: Path
    header: tuple[str, ...]
    lines: tuple[Line, ...]
    delimiter: str = ","

    def columns(self) -> dict[str, int]:
        """The index of each column, by its name in lower case and with single spaces. Of equal names, the first."""
        found: dict[str, int] = {}
        for index, name in enumerate(self.header):
            found.setdefault(folded(name), index)
        return found


def folded(name: str) -> str:
    """A column's name, without differences in case and spaces."""
    return " ".join(name.split()).casefold()


def read_sheet(path: Path) -> Sheet:
    """Read a CSV file. Raises ExchangeError, OSError."""
    text = _decoded(path)
    first, _, rest = text.partition("\n")
    told = ""
    if first.strip().lower().startswith("sep=") and len(first.strip()) <= 5:  # how Excel is told the separator
        told, text = first.strip()[4:] or "\t", rest
    try:
        delimiter = told or max(_DELIMITERS, key=lambda each: _width(text, each))
        lines = [Line(line.number + bool(told), line.cells) for line in _rows(text, delimiter)]
    except csv.Error as error:
        raise ExchangeError(f"{path} cannot be read as CSV: {error}. Save it again as CSV UTF-8.") from error
    if not lines:
        raise ExchangeError(f"{path} is empty.")
    header = lines[0].cells
    while header and not header[-1]:
        header = header[:-1]
    full = (Line(each.number, each.cells + ("",) * (len(header) - len(each.cells))) for each in lines[1:])
    return Sheet(path, header, tuple(full), delimiter)


def _width(text: str, delimiter: str) -> int:
    """The number of cells in the header with this separator."""
    return len(next(_rows(text, delimiter, strict=False), Line(1, ())).cells)


def _rows(text: str, delimiter: str, strict: bool = True) -> Iterator[Line]:
    """The rows that are not empty, with the number of the line that each begins in."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=strict)
    begin = 1
    for cells in reader:
        if any(cell.strip() for cell in cells):
            yield Line(begin, tuple(cell.strip() for cell in cells))
        begin = reader.line_num + 1


def _decoded(path: Path) -> str:
    content = path.read_bytes()
    wide = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        text = content.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ExchangeError(f"{path}:{line}: this is not UTF-8 text. Save the file again as CSV UTF-8.") from error
    if "\0" in text:
        raise ExchangeError(f"{path}: this is not a text file. Save it again as CSV UTF-8.")
    return one_form(text)


def sheet_bytes(rows: Iterable[Sequence[Cell]], delimiter: str = ",", mark: bool = False) -> bytes:
    """A CSV file of these rows in UTF-8, with neutral texts; with a byte order mark for Excel if `mark`."""
    with io.StringIO(newline="") as text:
        writer = csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_NONNUMERIC)
        writer.writerows(
            [cell if isinstance(cell, Decimal) else neutral(cell, delimiter) for cell in row] for row in rows
        )
        return text.getvalue().encode("utf-8-sig" if mark else "utf-8")


def neutral(text: str, delimiter: str = ",") -> str:
    """The text, with an apostrophe wherever a spreadsheet might otherwise take it for a formula."""
    if text == "-":
        return text
    parts = ["'"] if text[:1] in _BREAKS else []
    begins = True  # no visible character since the last place where a cell may begin
    for character in text:
        if begins and _is_formula(character):
            parts.append("'")
        if character in _BREAKS or (character in _DELIMITERS and character != delimiter):
            begins = True
        elif not (character.isspace() or character == '"' or unicodedata.category(character) in ("Cc", "Cf")):
            begins = False
        parts.append(character)
    return "".join(parts)


def original(text: str, delimiter: str = ",") -> str:
    """The text without the apostrophes that `neutral` puts into it."""
    pairs = zip(text, [*text[1:], " "], strict=False)
    bare = "".join(each for each, after in pairs if each != "'" or not (_is_formula(after) or after in _BREAKS))
    return bare if neutral(bare, delimiter) == text else text


def _is_formula(character: str) -> bool:
    return unicodedata.normalize("NFKC", character)[:1] in _FORMULA


def exact(points: float) -> Decimal:
    """Points as a cell: without an exponent, without trailing zeros."""
    text = f"{points:.{DIGITS}f}".rstrip("0").rstrip(".")
    return Decimal("0" if text == "-0" else text)

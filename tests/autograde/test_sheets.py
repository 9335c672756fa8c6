"""CSV files: read however a spreadsheet wrote them, and written so that no spreadsheet runs them."""

import csv
import io
from decimal import Decimal

import pytest

from grader.sheets import ExchangeError, exact, neutral, original, read_sheet, sheet_bytes

TEXT = 'id,Name,Note\nann,"Łukasz, Ø",x\n\nbo,Bö;y,"two\nlines"\ncy,,\n'
CELLS = [("ann", "Łukasz, Ø", "x"), ("bo", "Bö;y", "two\nlines"), ("cy", "", "")]


def written(tmp_path, content):
    path = tmp_path / "roster.csv"
    path.write_bytes(content)
    return path


def delimited(text, delimiter):
    """The same table with another separator, as a spreadsheet would write it."""
    with io.StringIO(newline="") as target:
        csv.writer(target, delimiter=delimiter, lineterminator="\n").writerows(csv.reader(io.StringIO(text)))
        return target.getvalue()


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be with its mark"])
def test_however_a_spreadsheet_writes_it(tmp_path, delimiter, encoding):
    text = delimited(TEXT, delimiter)
    content = b"\xfe\xff" + text.encode("utf-16-be") if "be" in encoding else text.encode(encoding)
    sheet = read_sheet(written(tmp_path, content))
    assert sheet.header == ("id", "Name", "Note")
    assert [line.cells for line in sheet.lines] == CELLS
    assert [line.number for line in sheet.lines] == [2, 4, 6]
    assert sheet.delimiter == delimiter


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_other_line_breaks(tmp_path, end):
    plain = TEXT.replace('"two\nlines"', "two")
    sheet = read_sheet(written(tmp_path, plain.replace("\n", end).encode()))
    assert [(line.number, line.cells[0]) for line in sheet.lines] == [(2, "ann"), (4, "bo"), (5, "cy")]


def test_excel_is_told_the_separator(tmp_path):
    sheet = read_sheet(written(tmp_path, b"sep=;\r\nid;name\r\nann;a,b,c,d\r\n"))
    assert (sheet.header, sheet.lines[0].cells, sheet.lines[0].number) == (("id", "name"), ("ann", "a,b,c,d"), 3)


def test_a_short_row_is_filled_up_and_a_header_ends_with_its_last_name(tmp_path):
    sheet = read_sheet(written(tmp_path, b"id,name,email,,\nann\nbo,Bo,b@x.edu,,\n"))
    assert sheet.header == ("id", "name", "email")
    assert sheet.lines[0].cells == ("ann", "", "")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n\r\n", "is empty"),
        ("id,name\nann,Bö\n".encode("cp1252"), r"roster\.csv:2: this is not UTF-8 text\. Save the file again as CSV"),
        (b"PK\x03\x04\0\0xlsx", "this is not a text file"),
        (b'id,name\nann,"Bo\n', "cannot be read as CSV"),
        (b"\xff\xfea", "this is not UTF-8 text"),
    ],
)
def test_what_cannot_be_read(tmp_path, content, message):
    with pytest.raises(ExchangeError, match=message):
        read_sheet(written(tmp_path, content))


FORMULAS = {
    "=1+1": "'=1+1",
    "+1": "'+1",
    "-1": "'-1",
    "@SUM(A1)": "'@SUM(A1)",
    "＝1": "'＝1",
    "＋1": "'＋1",
    "－1": "'－1",
    "＠x": "'＠x",
    " =1": " '=1",
    "\u200b=1": "\u200b'=1",
    "\x00=1": "\x00'=1",
    "\tx": "'\tx",
    "\r=1": "'\r'=1",
    "\nx": "'\nx",
    "Lee; =1": "Lee; '=1",
    "Lee\t@x": "Lee\t'@x",
    "two\n+lines": "two\n'+lines",
}


@pytest.mark.parametrize("text", FORMULAS)
def test_no_text_becomes_a_formula(text):
    assert neutral(text) == FORMULAS[text]
    (cell, again), _ = csv.reader(io.StringIO(sheet_bytes([[text, "a"], [Decimal(1), ""]]).decode(), newline=""))
    assert (cell, again) == (FORMULAS[text], "a")


@pytest.mark.parametrize("other", [",", ";", "\t"])
@pytest.mark.parametrize("delimiter", [",", ";"])
@pytest.mark.parametrize(
    "text", ['"=1', "a,=1", "a;=1", "a\t=1", "a\n=1", 'a";=1', 'a";"=1', ";;=1", ", =1", "a\r\n-1"]
)
def test_no_cell_is_a_formula_with_another_separator(text, delimiter, other):
    """A spreadsheet that expects another separator reads other cells, of which none may begin like a formula."""
    written = sheet_bytes([["x", text, "y"], [text, "", text]], delimiter).decode()
    read = csv.reader(io.StringIO(written, newline=""), delimiter=other)
    cells = [cell for row in read for cell in row]
    assert any("=" in cell or "-1" in cell for cell in cells)
    assert [cell for cell in cells if cell.strip(' "\r\n').startswith(("=", "-"))] == []


@pytest.mark.parametrize(
    "text", ["", "-", "Ann", "O'Neill", "a=b", "12345", "ann@x.edu", "3-4", "“=”", "a, -b", "    P"]
)
def test_other_text_stays(text):
    assert neutral(text) == text


@pytest.mark.parametrize("text", [*FORMULAS, "", "-", "Ann", "'Ann", "''=1", "a'=1", "it's -1;'", "'"])
def test_a_neutral_text_is_made_neutral_once_and_read_back(text):
    assert neutral(neutral(text)) == neutral(text)
    assert original(neutral(text)) == text


def test_numbers_stay_numbers_and_texts_are_quoted():
    rows = [["=a", 'say "x", y', exact(-1.5), exact(2.0)], ["a;=b\n=c", "", exact(0), exact(1 / 3)]]
    assert sheet_bytes(rows) == b'"\'=a","say ""x"", y",-1.5,2\r\n"a;\'=b\n\'=c","",0,0.333333\r\n'


@pytest.mark.parametrize(
    ("points", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (10.0, "10"),
        (1e-9, "0"),
        (0.1 + 0.2, "0.3"),
        (1234567.25, "1234567.25"),
        (1e-6, "0.000001"),
    ],
)
def test_points_without_exponents(points, text):
    assert str(exact(points)) == text

"""No text of a student forges a line or controls what shows it: one hostile text stands in every place that a student
can choose, and all that each command prints and writes is searched for it.

Before, 21 lines were forged, by `grader autograde`, `report --csv` and `export`; 18 of these outputs and 16 of the
files had characters that control a terminal, reverse a line or are not seen; two CSV files had more lines than rows.
"""

import csv
import io
import json
import shutil

import nbformat
import pytest
from typer.testing import CliRunner

from grader.cells import grade_id
from grader.classreport.choices import Table as TableOf
from grader.cli import commands as cli
from grader.shown import harmless, json_text, named, one_line, some
from tests.autograde.right_work import RIGHT
from tests.hostile_zips import manifest, zipped
from tests.loops import for_each

CHAPTER = "ch01_vanilla_rnn"
FORGED = "FORGED"  # what no line begins with
SCREEN = "\x1b[2J\x1b]0;t\x07\r\x08\x7f\x9b31m"
UNSEEN = "\u202egnp.\u2066\u200b\u200e\ufeff\u2060\u00ad\u061c\U000e0041\u3164"
TEXT = f"=1+1|a\n{FORGED}: all right\r{FORGED}\x85{FORGED}\u2028{FORGED}\x0b{FORGED}\x0c{SCREEN}{UNSEEN}`*_<b>"
FILE = f"a\n{FORGED} b\r{UNSEEN}\x1b[31m"  # in a file's name
IDS = (f"=eve{UNSEEN}", "+ann\u202e", "an\u200bn", "a|b", "m" * 150)  # which can be graded
REFUSED = (f"bo\n{FORGED}: 4 of 4", "cy\x1b[2J", "dee\r")


def cell(book, name):
    return next(each for each in book.cells if grade_id(each) == name)


def right(book):
    for name, source in RIGHT.items():
        cell(book, name).source = source


def raises(book):
    """Texts, types and names of exceptions; results and modules that are named by a student."""
    lines = [f"T = {TEXT!r}", "E = type(T.replace(chr(0), ''), (Exception,), {})", "print(T); import warnings"]
    book.cells.insert(1, nbformat.v4.new_code_cell("\n".join([*lines, "warnings.warn(T)"])))
    book.cells.insert(2, nbformat.v4.new_code_cell("raise ModuleNotFoundError(T, name=T)"))
    book.cells.insert(3, nbformat.v4.new_code_cell(f"import {'m' * 5000}"))
    book.cells.insert(4, nbformat.v4.new_code_cell("raise E(T)"))
    cell(book, "rnn_step").source = "def rnn_step(*a):\n    raise E(T)"
    cell(book, "rnn_forward").source = "def rnn_forward(*a):\n    return {T: T}"


def names(book):
    """Ids of cells, names of attachments and kernels, languages, tags."""
    right(book)
    for each in book.cells:
        each["id"] = TEXT
    book.metadata = {"kernelspec": {"name": TEXT, "display_name": TEXT, "language": TEXT}, "title": TEXT}
    odd = nbformat.v4.new_markdown_cell(TEXT)
    odd["metadata"] = {"nbgrader": {"grade_id": TEXT}, "tags": [TEXT], "name": TEXT, TEXT: TEXT}
    odd["attachments"] = {TEXT: {"image/png": TEXT}}
    book.cells.append(odd)
    book.cells.append(nbformat.v4.new_code_cell(f"# {TEXT}", metadata={"nbgrader": {"grade_id": TEXT}}))


def twice(book):
    for name in RIGHT:
        book.cells.append(cell(book, name).copy())
    book.cells.append(nbformat.v4.new_code_cell("".join(f"{c}_1 = 1\n" for c in "abc") + f"T = {TEXT!r}\nT"))


@pytest.fixture(scope="module")
def term(small_course, tmp_path_factory):
    """What a class hands in."""
    term = tmp_path_factory.mktemp("forged") / "term"
    released = nbformat.read(small_course / "exercises" / CHAPTER / "recurrence.ipynb", 4)

    def hand_in(student, change=right, name="recurrence.ipynb"):
        folder = term / "submitted" / student / CHAPTER
        folder.mkdir(parents=True, exist_ok=True)
        book = nbformat.from_dict(json.loads(json.dumps(released)))
        change(book)
        (folder / name).write_text(json.dumps(book, ensure_ascii=True))
        return folder

    for student in (*IDS, *REFUSED):
        hand_in(student)
    hand_in("exceptions", raises)
    hand_in("names", names)
    hand_in("twice", twice)
    hand_in("renamed", name=f"{FILE}.ipynb")
    for number in range(3):
        hand_in("versions", raises if number else right, f"{FILE} {number}.ipynb")
    (hand_in("json") / "recurrence.ipynb").write_bytes(TEXT.encode())
    (hand_in("foreign") / "recurrence.ipynb").write_text(json.dumps({"cells": [TEXT], "metadata": TEXT}))
    folder = hand_in("files")
    (folder / "timestamp.txt").write_text(TEXT)
    (folder / "large.csv").write_bytes(bytes(9_000_000))
    (folder / f"{FILE}.csv").write_bytes(bytes(9_000_000))
    for number in range(300):
        (folder / f"extra {number:03} |=1.csv").write_text(TEXT)
    for name in (f"{FILE}.zip", f"{CHAPTER}-{FILE}-submission.zip", f"{FILE}.tar.gz"):
        (term / "submitted" / "packed").mkdir(exist_ok=True)
        (term / "submitted" / "packed" / name).write_bytes(b"no archive")
    shutil.copytree(term / "submitted" / "renamed" / CHAPTER, term / "submitted" / "elsewhere" / FILE)
    (term / "submitted" / f"{FILE}.ipynb").write_text("{}")
    return term


@pytest.fixture
def grader(small_course, term, monkeypatch):
    def call(*arguments):
        monkeypatch.chdir(small_course)
        done = CliRunner().invoke(cli.app, [*map(str, arguments), "--term", str(term)])
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        sound(done.stdout, arguments)
        sound(done.stderr, arguments)
        return done

    return call


def sound(text, where):
    """What is printed has no hostile character and no forged line."""
    odd = sorted({f"U+{ord(char):04X}" for char in text if harmless(char) != char})
    assert not odd, (where, odd)
    for line in text.split("\n"):
        assert not line.strip(" '\"·✗✓│").startswith(FORGED), (where, line)
        assert len(line) < 5000, (where, len(line))


def cells_sound(text, where):
    """What a CSV file has is no formula, and each of its lines is a row."""
    rows = list(csv.reader(io.StringIO(text.lstrip("\ufeff"))))
    assert len(rows) == len(text.rstrip("\n").split("\n")), where
    for value in (value for row in rows for value in row):
        assert not value.lstrip().startswith(("=", "+", "@", "\t", "\r")), (where, value)


ROSTER = "id,first_name,last_name,email\n" + "".join(
    f'"{student}","{TEXT}","=2+2",{n}@x\n' for n, student in enumerate(IDS)
)


@pytest.mark.system
@pytest.mark.usefixtures("own_hidden")
def test_every_command(grader, term, tmp_path):
    """One term, from the roster to the exports."""
    (tmp_path / "roster.csv").write_bytes(f"id,first_name,last_name,email\n{ROSTER}".replace("\r", "").encode())
    grader("roster", tmp_path / "roster.csv")
    (term / "term.toml").write_text(
        f'[due]\n{CHAPTER} = 2030-01-01T00:00:00Z\n[extensions.{CHAPTER}]\n"a\\u202eb" = 2030-01-01T00:00:00Z\n'
    )
    grader("due")
    files = {"recurrence.ipynb": b"{}", "a.csv": b""}
    odd = {"created": TEXT, "chapter": TEXT}
    (term / "submitted" / "packed" / "odd.zip").write_bytes(
        zipped([("manifest.json", manifest(files, **odd)), *files.items()])
    )
    collected = grader("collect", CHAPTER)
    assert collected.exit_code == 3
    dry = grader("autograde", CHAPTER, "--dry-run")
    assert "Unexpected in submitted/" in dry.stdout, dry.stderr
    graded = grader("autograde", CHAPTER)
    assert graded.exit_code == 3, graded.stderr
    assert "Needs manual review" in graded.stdout
    assert "\ufffd" in graded.stdout
    assert len(graded.stdout.splitlines()) < 100  # 300 files too many have one line
    (term / "submitted" / IDS[0] / CHAPTER / "recurrence.ipynb").write_text("{}")
    assert "Changed since the last run" in grader("autograde", CHAPTER).stdout
    for more in ((), ("--dry-run",), ("--all",)):
        tree = json.loads(
            grader("autograde", *([] if "--all" in more else [CHAPTER]), *more, "--json", "--force").stdout
        )
        chapters = tree.get("chapters", [tree])
        if not more:
            assert {each["student"] for each in chapters[0]["students"]} >= {*IDS}  # the same, escaped
    grader("autograde", "--all")
    grader("autograde", CHAPTER, "--student", f"nobody{TEXT}".replace("\0", ""))
    grader("feedback", CHAPTER)
    grader("feedback", CHAPTER, "--student", IDS[0])
    grader("report", CHAPTER)
    grader("report", CHAPTER, "--anonymous")
    grader("report", CHAPTER, "--json")
    for table in TableOf:
        cells_sound(grader("report", CHAPTER, "--csv", table.value).stdout, table)
    grader("similar", CHAPTER)
    grader("similar", CHAPTER, "--json")
    for system in ("csv", "canvas", "moodle", "gradescope"):
        grader("export", CHAPTER, "--format", system)
    pages = [
        path for folder in ("feedback", "reports", "exports") for path in (term / folder).rglob("*") if path.is_file()
    ]
    assert len(pages) > 20
    for path in [*pages, *(term / "results").rglob("changes.log")]:
        text = path.read_text("utf-8").removeprefix("\ufeff")
        odd_characters = sorted({f"U+{ord(char):04X}" for char in text if harmless(char) != char})
        assert not odd_characters, (path, odd_characters)
        if path.suffix == ".csv":
            cells_sound(text, path)


# --- the functions -------------------------------------------------------------------------------------------------

CHARACTERS = [
    *SCREEN,
    *UNSEEN.replace("gnp.", ""),
    "\x00",
    "\x1b",
    "\x85",
    "\x9b",
    "\ud800",
    "\u2029",
    "\u202a",
    "\u2069",
]
CHARACTERS += ["\u180e", "\u034f", "\ufffb", "\U000e007f", "\u200c", "\u200d", "\uffa0"]


@for_each("character", [char for char in CHARACTERS if char not in "[]0;t2J31m"])
def test_each_character(character):
    assert harmless(f"a{character}b") == "a\ufffdb"
    assert one_line(f"a{character}\nb\tc") == "a\ufffd\ufffdb c"
    assert "\ufffd" in named(character)
    assert harmless(json_text(json.dumps(f"a{character}", ensure_ascii=False))) == json_text(
        json.dumps(f"a{character}")
    )
    assert json.loads(json_text(json.dumps(f"a{character}", ensure_ascii=False))) == f"a{character}"


def test_what_stays():
    """Line breaks of a text, and joiners of scripts that are written with them."""
    for text in (
        "a\n\tb",
        "Übung ✓ › –",
        "नमस्ते",
        "\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "👩\u200d💻",
        "❤\ufe0f",
    ):
        assert harmless(text) == text
    assert some([f"a\n{n}" for n in range(10)]) == ", ".join(f"a\ufffd{n}" for n in range(8)) + " and 2 more"
    assert named("x" * 300) == "x" * 254 + "…"

"""One upload never stops a collection: every hostile file is named in a line, and all others are collected.

Before, 40 of 99 of these files ended `nbgrader zip_collect` with a traceback, each alone, and no student was collected;
28 were collected in part or with a harmful name, without a word; 29 kB became 12 GB on the disk, and one file had
65,536 lines. `grader collect` passed over 76 of the 86 zips with "There is no zip" and status 0.
"""

import io
import os
import resource
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
from typer.testing import CliRunner

from grader.cli import commands as cli
from grader.manifest import load_manifest
from grader.plugins.unpacking import MAX_DEPTH, MAX_ENTRIES, Unpacking
from grader.shown import one_line
from grader.submission.bounded import ArchiveError, entries, name_problem, same_name
from grader.submission.collect import collect, lines
from grader.submission.folders import find_submissions
from tests.autograde.hostile_said import NOW, SAID
from tests.hostile_zips import BOOK, CHAPTER, HOSTILE, OUTSIDE, beside, nested, submitted, zipped
from tests.loops import for_each
from tests.nbgrader_command import real_nbgrader

ROOT = Path(__file__).parents[2]
COURSE = load_manifest(ROOT / "course.toml")
WHOLE = COURSE.chapter(CHAPTER)
OTHERS = [each.id for each in COURSE.chapters if each.id != CHAPTER]
LONGEST = 1200  # characters of a line

STUDENTS = {name: str(1000 + number) for number, name in enumerate(HOSTILE)}


def test_every_file_has_its_expectation():
    assert NOW.keys() == HOSTILE.keys()
    assert SAID.keys() <= HOSTILE.keys()


def size(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def nothing_outside(folder, term):
    assert [path for path in folder.iterdir() if path != term] == []
    assert not [path for place in ("/tmp", "/") for path in Path(place).iterdir() if OUTSIDE in path.name]


@pytest.mark.system
def test_zip_collect(tmp_path):
    """All hostile files in one download, with two students' right ones between them, through the real command."""
    term = tmp_path / "term"
    archive = term / "downloaded" / CHAPTER / "archive"
    archive.mkdir(parents=True)
    good = [(f"ann_1_10_{CHAPTER}-submission.zip", submitted()), ("bo_2_20_recurrence.ipynb", BOOK)]
    bad = [(f"eve_{STUDENTS[name]}_30_work{ending}", make()) for name, (ending, make) in HOSTILE.items()]
    (archive / "submissions.zip").write_bytes(zipped([*bad[:50], *good, *bad[50:]], zipfile.ZIP_STORED))
    download = (archive / "submissions.zip").read_bytes()
    done = real_nbgrader("zip_collect", CHAPTER, "--log-level=WARN", term=term)
    assert done.returncode == 3, done.stderr[-3000:]
    for line in done.stderr.splitlines():
        assert line == one_line(line)
        assert line.startswith("[ZipCollectApp | WARNING] "), line  # nothing is forged, and there is no traceback
        assert len(line) < LONGEST
    found = {
        path.name: sorted(each.name for each in (path / CHAPTER).iterdir()) for path in (term / "submitted").iterdir()
    }
    assert found.pop("1") == found.pop("2") == ["recurrence.ipynb"]
    assert (archive / "submissions.zip").read_bytes() == download  # nothing is lost of what was submitted
    for name, number in STUDENTS.items():
        collected, said = NOW[name]
        told = [line for line in done.stderr.splitlines() if f"eve_{number}_" in line or f" of {number}." in line]
        assert tuple(found.get(number, ())) == collected, name
        assert len(told) <= 2, (name, told)
        assert any(said in line for line in told) if said else told == [], (name, told)
    assert size(term / "downloaded" / CHAPTER / "extracted") < 200_000_000  # one bomb takes as much as a student may
    nothing_outside(tmp_path, term)


def test_grader_collect(tmp_path, monkeypatch):
    """Each zip has one line, and the two right ones are unpacked."""
    term = tmp_path / "term"
    zips = {name: make() for name, (ending, make) in HOSTILE.items() if ending == ".zip"}
    for student, content in [("ann", submitted()), ("zoe", submitted()), *((STUDENTS[n], c) for n, c in zips.items())]:
        path = term / "submitted" / student / CHAPTER / "work.zip"
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
    told = lines(list(collect(term, WHOLE, others=OTHERS)))
    assert len(told) == len(zips) + 2 + sum(line.startswith("    ") for line in told)
    for line in told:
        assert line == one_line(line)
        assert len(line) < LONGEST
    for student in ("ann", "zoe"):
        assert [path.name for path in (term / "submitted" / student / CHAPTER).iterdir()] == ["recurrence.ipynb"]
    for name, content in zips.items():
        path = term / "submitted" / STUDENTS[name] / CHAPTER / "work.zip"
        (line,) = [line for line in told if f"/{STUDENTS[name]}/" in line]
        expected = SAID.get(name, "the zip contains no manifest.json; grader submit did not make it")
        assert expected.format(STUDENTS[name]) in line, (name, line)
        assert path.is_file() != line.startswith("✓")
        assert line.startswith("✓") or path.read_bytes() == content
    nothing_outside(tmp_path, term)
    monkeypatch.chdir(ROOT)
    again = CliRunner().invoke(cli.app, ["collect", CHAPTER, "--term", str(term)])
    assert (again.exit_code, again.stdout.count("✗")) == (3, len(zips) - 2)
    assert again.stderr.startswith(f"{len(zips) - 2} of {len(zips) - 2} zips were not unpacked. Ask for a new zip of")
    strays = find_submissions(term, WHOLE).strays
    assert {stray.kind for stray in strays} == {"packed", "of submit"}  # `--dry-run` advises  grader collect  for these


def test_a_cut_off_zip_is_not_passed_over(tmp_path, monkeypatch):
    """`grader collect` said "There is no zip of grader submit to unpack." with status 0."""
    path = tmp_path / "submitted" / "bo" / f"{CHAPTER}-submission.zip"
    path.parent.mkdir(parents=True)
    path.write_bytes(submitted()[:-100])
    monkeypatch.chdir(ROOT)
    done = CliRunner().invoke(cli.app, ["collect", CHAPTER, "--term", str(tmp_path)])
    assert done.exit_code == 3
    assert done.stdout.startswith(
        f"✗ submitted/bo/{CHAPTER}-submission.zip: not unpacked: the zip is damaged or cut off"
    )
    assert "Ask for a new zip of  grader submit ch01_vanilla_rnn, or unpack by hand" in done.stderr


def test_other_zips_beside_the_right_one(tmp_path):
    """A student's own data, which is left, one of another chapter, a damaged one of another chapter, links."""
    student = tmp_path / "submitted" / "ann"
    (student / CHAPTER).mkdir(parents=True)
    (student / CHAPTER / "work.zip").write_bytes(submitted())
    (student / CHAPTER / "data.zip").write_bytes(zipped([("a.csv", b"1")]))
    (student / "next.zip").write_bytes(submitted(chapter=OTHERS[0]))
    (student / f"{OTHERS[0]}-submission.zip").write_bytes(submitted()[:-100])
    (student / "link.zip").symlink_to("/etc/passwd")
    os.mkfifo(student / "pipe.zip")
    told = lines(list(collect(tmp_path, WHOLE, others=OTHERS)))
    at = "submitted/ann"
    assert sorted(told) == sorted(
        [
            f"✓ {at}/{CHAPTER}/work.zip: 1 files.",
            "    made with another version of the course (package 0.1.0)",
            f"· {at}/{CHAPTER}/data.zip: left as it is: the zip contains no manifest.json; grader submit did not make "
            "it",
            f"· {at}/next.zip: left as it is: unpack it with  grader collect {OTHERS[0]}",
            f"· {at}/{OTHERS[0]}-submission.zip: left as it is: the zip is damaged or cut off: File is not a zip file. "
            f"By its name it is one of  grader collect {OTHERS[0]}",
            f"✗ {at}/link.zip: not unpacked: it is a link or a special file.",
            f"✗ {at}/pipe.zip: not unpacked: it is a link or a special file.",
        ]
    )


def test_what_cannot_be_read_stops_no_one(tmp_path):
    """A file where a folder has to be."""
    for student in ("ann", "bo", "cy"):
        (tmp_path / "submitted" / student).mkdir(parents=True)
        (tmp_path / "submitted" / student / "work.zip").write_bytes(submitted())
    (tmp_path / "submitted" / "bo" / CHAPTER).write_text("no folder")
    told = [line for line in lines(list(collect(tmp_path, WHOLE))) if not line.startswith("    ")]
    assert told == [
        "✓ submitted/ann/work.zip: 1 files.",
        f"✗ submitted/bo/{CHAPTER}: not unpacked: File exists.",
        "✓ submitted/cy/work.zip: 1 files.",
    ]


# --- the unpacking itself ------------------------------------------------------------------------------------------


def unpacked(tmp_path, **files):
    """What is written, and the lines, for files in the folder of downloads."""
    source, target = tmp_path / "archive", tmp_path / "extracted"
    source.mkdir()
    target.mkdir()
    for name, content in files.items():
        (source / name).write_bytes(content)
    told = list(Unpacking(source, target).lines())
    return {str(path.relative_to(target)): path.read_bytes() for path in target.rglob("*") if path.is_file()}, told


def test_files_that_are_no_plain_files(tmp_path):
    """An instructor who unpacks a download by hand gets the links in it; nbgrader read what they lead to."""
    source, target = tmp_path / "archive", tmp_path / "extracted"
    (source / "ann_1_2_folder").mkdir(parents=True)
    (source / "ann_1_2_folder" / "recurrence.ipynb").write_bytes(BOOK)
    (source / "ann_1_2_secret.ipynb").symlink_to("/etc/passwd")
    (source / "bo_2_2_folder").symlink_to("/etc")
    os.mkfifo(source / "cy_3_2_pipe.ipynb")
    told = list(Unpacking(source, target).lines())
    assert [path.name for path in target.rglob("*") if path.is_file()] == ["recurrence.ipynb"]
    assert [line.split(": ", 2)[2].split(".")[0] for line in told] == ["it is a link"] * 2 + ["it is a special file"]


def test_the_limits_hold_for_all_files_of_a_student(tmp_path, monkeypatch):
    """Many uploads are no way around them, and cost no other student anything."""
    monkeypatch.setattr("grader.plugins.unpacking.MAX_TOTAL", 1000)
    uploads = [(f"eve_1_{n}_work{n}.zip", zipped([(f"{n}.csv", bytes(120))])) for n in range(9)]
    download = zipped([*uploads, ("ann_2_1_work.zip", zipped([("a.csv", bytes(500))]))])
    found, told = unpacked(tmp_path, **{"submissions.zip": download})
    assert sum(len(content) for name, content in found.items() if "eve_1" in name) <= 1000
    assert found["submissions/ann_2_1_work/a.csv"] == bytes(500)
    assert told
    assert all("eve_1_" in line for line in told)


def test_the_limits_hold_for_files_of_unknown_students(tmp_path, monkeypatch):
    """As for a zip that came by mail and was put there under its own name."""
    monkeypatch.setattr("grader.plugins.unpacking.MAX_UNKNOWN", 3000)
    found, told = unpacked(
        tmp_path, **{"work.zip": zipped((f"{n}.zip", zipped([("a.csv", bytes(900))])) for n in range(9))}
    )
    assert sum(map(len, found.values())) <= 3000
    assert "the files of unknown students would be more than 100,000 or have more than 3,000 bytes" in told[-1]


@for_each(("depth", "is_found"), [(depth, depth <= MAX_DEPTH) for depth in range(MAX_DEPTH + 2)])
def test_archives_in_each_other(depth, is_found, tmp_path_factory):
    found, told = unpacked(tmp_path_factory.mktemp("nested"), **{"ann_1_2_work.zip": nested(depth - 1)})
    assert any(name.endswith("recurrence.ipynb") for name in found) == is_found == (not told)


def test_two_archives_of_one_name_have_two_folders(tmp_path):
    """nbgrader unpacked both into one, where the second replaced the files of the first."""
    works = {"w.zip": BOOK, "w.ZIP": b"{}"}
    inner = [(f"a_1_2_{name}", zipped([("recurrence.ipynb", content)])) for name, content in works.items()]
    found, told = unpacked(tmp_path, **{"submissions.zip": zipped(inner)})
    assert {content for name, content in found.items() if name.endswith(".ipynb")} == {b"{}", BOOK}
    assert "a_1_2_w.ZIP: there is another file of this name, so it is 'a_1_2_w~2.ZIP'" in told[0]


def test_what_cannot_be_opened_of_a_class(tmp_path):
    """The download itself is damaged: nothing else is lost, and its line says so."""
    found, told = unpacked(tmp_path, **{"submissions.zip": b"PK\3\4 cut", "ann_1_2_recurrence.ipynb": BOOK})
    assert found == {"ann_1_2_recurrence.ipynb": BOOK}
    assert told[0].startswith("Not collected as it is: submissions.zip: the zip is damaged or cut off")


def test_three_hundred_odd_files_have_one_line(tmp_path):
    """They had 300 lines."""
    names = [f"a\n{n}.csv" for n in range(300)]
    found, told = unpacked(tmp_path, **{"eve_1_2_work.zip": zipped([(name, b"") for name in names])})
    assert list(found) == ["eve_1_2_work.zip"]
    assert len(told) == 1
    assert "; and 295 more. Ask for it again" in told[0]


# --- whatever the bytes --------------------------------------------------------------------------------------------


def read_all(content, name):
    for entry in entries(io.BytesIO(content), name, MAX_ENTRIES):
        if not entry.problem and entry.size < 1_000_000:
            assert len(entry.read()) <= entry.size


SOUND = [(".zip", beside("a.csv", b"1,2\n" * 100)), (".tar.gz", HOSTILE["a tar with a link"][1]())]


@for_each(("ending", "content"), SOUND)
def test_no_damaged_byte_raises_anything_else(ending, content):
    """Every byte is set to three other values, and the file is cut off at each length."""
    places = range(len(content))
    changed = [content[:at] + bytes([value]) + content[at + 1 :] for at in places for value in (0, 127, 255)]
    for damaged in [*changed, *(content[:length] for length in places)]:
        with suppress(ArchiveError):
            read_all(damaged, f"work{ending}")


def test_a_bomb_needs_no_memory(tmp_path):
    """The list of a zip is not read if it is too long, and nothing is unpacked beyond the limit."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for name in ("64k entries that are one", "a size of 4 GB", "120 MB in a tar", "500 entries over each other"):
        ending, make = HOSTILE[name]
        list(Unpacking(tmp_path, tmp_path / "extracted")._file(make(), (f"a_1_2_{name}{ending}",), _room(), MAX_DEPTH))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 600_000  # kilobytes


def _room():
    return Unpacking(Path(), Path())._room(("submissions", "a_1_2_work.zip"))


ODD = (
    "CON",
    "con.py",
    "Aux.tar.gz",
    "NUL ",
    "nul .txt",
    "COM1",
    "lpt9.ipynb",
    "COM²",
    "CONIN$",
    "a.",
    "a ",
    ".a",
    " a",
    "..",
)
ODD += (".", "", "a\u3164b", "a\u00adb", "a\u200db", "a\u202eb", "\U000e0041", "a\tb", "a\x85b", "a\ud800b", "x" * 201)
RIGHT = ("console.py", "com.py", "com10.py", "auxiliary", "nullary.ipynb", "a.b.c", "Übung 1.ipynb", "数.py")


@for_each(("name", "is_right"), [*((name, False) for name in ODD), *((name, True) for name in RIGHT)])
def test_names(name, is_right):
    assert (name_problem(name) == "") == is_right


def test_names_that_are_one_file_on_some_system():
    assert same_name("Übung.IPYNB") == same_name("U\u0308bung.ipynb")
    assert same_name("a.py") != same_name("b.py")

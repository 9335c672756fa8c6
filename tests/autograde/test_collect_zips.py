"""From a student's folder to the gradebook: `grader submit`, `grader collect` or `nbgrader zip_collect`, grading."""

import io
import json
import shutil
import zipfile

import pytest
from typer.testing import CliRunner

from grader.cli import commands as cli
from grader.gradebook import gradebook_url, open_gradebook
from grader.grading import pool
from grader.grading.chapter import autograde
from grader.manifest import load_manifest
from grader.submission.archive import MANIFEST, archive_bytes, submission_manifest
from grader.submission.collect import collect, lines
from grader.submission.folders import find_submissions
from grader.work.submission import prepare
from tests.nbgrader_command import real_nbgrader
from tests.work.student_folder import CHAPTER, RIGHT, ROOT, WITHOUT_BIAS, edited, exercises

COURSE = load_manifest(ROOT / "course.toml")
WHOLE = COURSE.chapter(CHAPTER)
ZIP = f"{CHAPTER}-submission.zip"


def packed(folder, created="2026-03-01T12:00:00+00:00", chapter=WHOLE, partial=False):
    """The zip of a student's folder."""
    made = prepare(folder, COURSE, chapter, [], partial=partial)
    assert not made.reasons
    return archive_bytes(submission_manifest(chapter, made.files, made.notebooks, created), made.files)


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.fixture
def work(tmp_path):
    """A student's folder."""
    folder = exercises(tmp_path / "home")
    edited(folder / "recurrence.ipynb", RIGHT)
    (folder / "helper.txt").write_text("a file with an ending that zip_collect does not know")
    return folder


@pytest.fixture
def term(tmp_path):
    (tmp_path / "term" / "submitted" / "ann" / CHAPTER).mkdir(parents=True)
    return tmp_path / "term"


def put(term, content, name=ZIP, student="ann", chapter=CHAPTER):
    path = term / "submitted" / student / chapter / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def home(term):
    return term / "submitted" / "ann" / CHAPTER


def result(term):
    return lines(list(collect(term, WHOLE, others=[each.id for each in COURSE.chapters])))


@pytest.mark.parametrize("place", [CHAPTER, "."])
@pytest.mark.parametrize("name", [ZIP, "work (2).ZIP"])
def test_a_zip_is_unpacked_as_it_was_packed(term, work, place, name):
    content = packed(work)
    path = put(term, content, name, chapter=place)
    assert result(term) == [f"✓ {path.relative_to(term)}: {len(files(work))} files."]
    assert files(home(term)) == files(work)
    assert not path.exists()
    (kept,) = (term / "collected" / CHAPTER / "ann").iterdir()
    assert kept.read_bytes() == content
    assert result(term) == []


def test_a_newer_zip_replaces_what_the_older_one_left(term, work):
    put(term, packed(work))
    result(term)
    before = set(files(work))
    (work / "helper.txt").unlink()
    edited(work / "recurrence.ipynb", added=["x = 1"])
    (home(term) / "timestamp.txt").write_text("2026-03-01 12:00:00 UTC")  # the instructor's own files stay
    put(term, packed(work, "2026-03-02T12:00:00+00:00"))
    assert result(term) == [
        f"✓ submitted/ann/{CHAPTER}/{ZIP}: {len(before) - 1} files.",
        "    helper.txt of an earlier zip is not in this one, so it was deleted",
    ]
    assert files(home(term)) == files(work) | {"timestamp.txt": b"2026-03-01 12:00:00 UTC"}


def test_of_two_zips_the_newer_one_is_unpacked(term, work):
    old = packed(work)
    edited(work / "recurrence.ipynb", added=["x = 1"])
    put(term, packed(work, "2026-03-02T12:00:00+00:00"), "a.zip")
    put(term, old, "b.zip")
    assert result(term)[1] == "    newer than b.zip"
    assert files(home(term)) == files(work)
    assert len(list((term / "collected" / CHAPTER / "ann").iterdir())) == 2


def test_nothing_that_came_from_no_zip_is_overwritten(term, work):
    path = put(term, packed(work))
    (home(term) / "recurrence.ipynb").write_text("marked by hand")
    (home(term) / "writing.ipynb").mkdir()
    before = files(home(term))
    assert result(term) == [
        f"✗ submitted/ann/{CHAPTER}/{ZIP}: not unpacked: recurrence.ipynb exists with other contents, which came from "
        "no zip; move it away; writing.ipynb exists as a folder or a link; move it away."
    ]
    assert files(home(term)) == before
    assert path.exists()


def test_a_killed_run_is_finished_by_the_next(term, work):
    """Some files are written, and the zip is not moved yet."""
    put(term, packed(work))
    for name in ("recurrence.ipynb", "helper.txt"):
        shutil.copy(work / name, home(term))
    assert result(term)[0].startswith("✓")
    assert files(home(term)) == files(work)


def changed(content, name, text):
    """The zip with another content of one file."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(target, "w") as new:
        for entry in old.infolist():
            new.writestr(entry.filename, text if entry.filename == name else old.read(entry))
    return target.getvalue()


def test_a_zip_that_was_changed_is_reported_and_not_unpacked(term, work):
    path = put(term, changed(packed(work), "recurrence.ipynb", b"{}"))
    assert result(term) == [
        f"✗ submitted/ann/{CHAPTER}/{ZIP}: not unpacked: 'recurrence.ipynb' was changed: its size or checksum differs "
        "from manifest.json."
    ]
    assert path.exists()
    assert files(home(term)) == {ZIP: path.read_bytes()}


def test_a_hostile_zip_writes_nothing_anywhere(term, work):
    tree = json.loads(zipfile.ZipFile(io.BytesIO(packed(work))).read(MANIFEST))
    tree["files"] = []
    path = home(term) / ZIP
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(MANIFEST, json.dumps(tree))
        for name in ("../../../evil.py", "/tmp/evil.py", "..\\evil.py", "\x1b[2J"):
            archive.writestr(name, "evil")
    before = set(term.parent.rglob("*"))
    (line,) = result(term)
    assert line.count("its name contains") == 4
    assert set(term.parent.rglob("*")) == before


def test_a_zip_of_another_chapter_and_one_that_is_none_of_ours(term, work, tmp_path):
    other = COURSE.chapter("ch00_sequences")
    put(term, packed(exercises(tmp_path / "home", other.id), chapter=other))
    with zipfile.ZipFile(home(term) / "own.zip", "w") as archive:
        archive.writestr("recurrence.ipynb", "{}")
    assert result(term) == [
        f"✗ submitted/ann/{CHAPTER}/{ZIP}: not unpacked: it is a submission of ch00_sequences; move it into "
        "submitted/ann/ and run  grader collect ch00_sequences.",
        f"✗ submitted/ann/{CHAPTER}/own.zip: not unpacked: the zip contains no manifest.json; grader submit did not "
        "make it.",
    ]
    assert (home(term) / "own.zip").exists()


def test_another_version_of_the_course_is_mentioned(term, work):
    put(term, packed(work))
    (collected,) = collect(term, WHOLE, "0" * 64)
    assert collected.files
    assert "another version of the course" in collected.notes[0]


def test_a_dry_run_names_the_command(term, work):
    from grader.grading.preflight import stray_lines

    path = put(term, packed(work))
    (line,) = stray_lines(WHOLE, find_submissions(term, WHOLE).strays)
    assert line == (
        f"ann/{CHAPTER}/{ZIP}: is a zip of grader submit. Not graded. Unpack it with  grader collect {CHAPTER}"
    )
    result(term)
    assert not find_submissions(term, WHOLE).strays
    put(term, packed(work))
    found = find_submissions(term, WHOLE)
    assert found.folders == {"ann": home(term)}
    assert [(stray.kind, stray.graded) for stray in found.strays] == [("packed again", True)]
    (line,) = stray_lines(WHOLE, found.strays)
    assert "there are notebooks in ann/ch01_vanilla_rnn/ already, which are graded instead" in line
    path.rename(term / "submitted" / "ann" / ZIP)
    assert [stray.kind for stray in find_submissions(term, WHOLE).strays] == ["packed again"]


def test_the_command(term, work, monkeypatch):
    monkeypatch.chdir(ROOT)

    def call():
        done = CliRunner().invoke(cli.app, ["collect", CHAPTER, "--term", str(term)])
        return done.exit_code, done.stdout, done.stderr

    assert call() == (0, "There is no zip of grader submit to unpack.\n", "")
    put(term, packed(work))
    put(term, changed(packed(work), "helper.txt", b"other"), student="bo")
    status, output, error = call()
    assert (status, error) == (
        3,
        f"1 of 2 zips was not unpacked. Ask for a new zip of  grader submit {CHAPTER}, or unpack by hand what counts "
        f"into submitted/STUDENT/{CHAPTER}/.\n",
    )
    assert output.splitlines()[0] == f"✓ submitted/ann/{CHAPTER}/{ZIP}: 7 files."
    assert output.splitlines()[1].startswith(f"✗ submitted/bo/{CHAPTER}/{ZIP}: not unpacked: 'helper.txt' was changed")
    shutil.rmtree(term / "submitted")
    status, _, error = call()
    assert status == 1
    assert "There is no folder" in error


# --- nbgrader zip_collect ---------------------------------------------------------------------------------------

DOWNLOADS = {
    "canvas": {f"ann_1_2_{ZIP}": "good", f"bo_LATE_3_4_{ZIP}": "bad"},
    "moodle": {f"Ann Lee_11_assignsubmission_file_/{ZIP}": "good", f"Bo Ek_12_assignsubmission_file_/{ZIP}": "bad"},
    "gradescope": {"export/submission_21/*": "good", "export/submission_22/*": "bad"},  # which unpacks zips itself
}


@pytest.mark.system
def test_downloads(tmp_path, work):
    """All files of a whole zip are collected, none of a changed one, which is reported."""
    contents = {"good": packed(work), "bad": changed(packed(work), "recurrence.ipynb", b"{}")}
    archive = tmp_path / "term" / "downloaded" / CHAPTER / "archive"
    archive.mkdir(parents=True)
    for system, entries in DOWNLOADS.items():
        with zipfile.ZipFile(archive / f"{system}.zip", "w") as download:
            for name, which in entries.items():
                if name.endswith("*"):
                    with zipfile.ZipFile(io.BytesIO(contents[which])) as inner:
                        for each in inner.namelist():
                            download.writestr(name[:-1] + each, inner.read(each))
                else:
                    download.writestr(name, contents[which])
    done = real_nbgrader("zip_collect", CHAPTER, term=tmp_path / "term")
    assert done.returncode == 3, done.stderr
    submitted = tmp_path / "term" / "submitted"
    assert {path.name for path in submitted.iterdir()} == {"1", "Ann Lee", "submission_21"}
    for student in submitted.iterdir():
        assert files(student / CHAPTER) == files(work)
    assert done.stderr.count("Not collected, because its manifest does not allow it") == 3
    assert "'recurrence.ipynb' was changed: its size or checksum differs from manifest.json" in done.stderr
    assert "Skipped submission" not in done.stderr  # which named each of the files in them
    assert f"Collected {3 * len(files(work))} files of 3 students." in done.stderr
    assert "marks as late" not in done.stderr  # Bo's submission is late, but is not collected


# --- the same points ---------------------------------------------------------------------------------------------


LOOP = """def rnn_forward(x, h_0, W_xh, W_hh, b_h):
    import helper
    return np.stack([helper.first(x[:, 0], h_0, W_xh, W_hh, b_h)] * x.shape[1], axis=1)"""
ANSWERS = {
    "ann": RIGHT,
    "bo": {"rnn_step": WITHOUT_BIAS, "rnn_forward": LOOP},  # a quarter of the points of the second one
    "cy": {"rnn_step": RIGHT["rnn_step"]},
}


def test_the_zip_grades_to_the_same_points(tmp_path):
    """A class, graded from its folders and from the zips of these folders."""
    first, second = tmp_path / "first", tmp_path / "second"
    for student, answers in ANSWERS.items():
        folder = exercises(tmp_path / student)
        edited(folder / "recurrence.ipynb", answers)
        (folder / "helper.py").write_text("import numpy as np\n\n\n" + RIGHT["rnn_step"].replace("rnn_step", "first"))
        if student == "cy":
            for name in ("writing", "predictions", "unrolling"):
                (folder / f"{name}.ipynb").unlink()
        put(second, packed(folder, partial=True), student=student)
        shutil.copytree(folder, first / "submitted" / student / CHAPTER)
    assert all(each.files and not each.problems for each in collect(second, WHOLE))
    points = []
    for term in (first, second):
        if term == second:
            shutil.copytree(first / "hidden", second / "hidden")  # the same hidden cases
        graded = list(autograde(ROOT, term, CHAPTER, pool.local(2), db_url=gradebook_url(term)))
        assert not any(each.fault for each in graded)
        by_exercise = {
            (each.student, name): verdict.earned
            for each in graded
            for found in each.verdicts.values()
            for name, verdict in found.items()
        }
        with open_gradebook(gradebook_url(term)) as gradebook:
            in_all = {student: gradebook.find_submission(CHAPTER, student).score for student in ANSWERS}
        points.append((by_exercise, in_all))
    assert points[0] == points[1]
    assert points[1][1] == {"ann": 4.0, "bo": 0.5, "cy": 2.0}

"""Who submitted what, in downloads as Canvas, Moodle and Gradescope name and nest them: by the roster and by cells."""

import os
import unicodedata
from pathlib import Path

import pytest
from test_downloads import CHAPTER, ROOT, download, submitted

from grader.gradebook import gradebook_url
from grader.gradebook.enrolment import enrol
from grader.gradebook.people import GroupsError, alike, people, read_groups
from grader.gradebook.roster import Student
from grader.plugins.download_names import DownloadedFile, Unclear, read_name
from grader.submission.notebook_names import is_notebook
from tests.nbgrader_command import nbgrader

RELEASED = {path.stem: path.read_text("utf-8") for path in sorted((ROOT / "exercises" / CHAPTER).glob("*.ipynb"))}
ONE = RELEASED["recurrence"]
ANN, BO = Student("12345", "Ann", "Lee", lms_user_id="12345"), Student("12346", "Bo", "Xu", lms_user_id="12346")


def collect(term, files, name="submissions.zip", *more):
    """What is collected of a download, by student, and what the command says."""
    download(term, name, files)
    done = nbgrader("zip_collect", CHAPTER, "--log-level=WARN", *more, term=term)
    found = {}
    for path in submitted(term):
        student, file = path.split("/")
        found.setdefault(student, []).append(file)
    return {student: sorted(its) for student, its in found.items()}, done.stderr


def roster(term, *students):
    term.mkdir(exist_ok=True)
    enrol(gradebook_url(term), students)


MOODLE = {f"{name}_1234{i}_assignsubmission_file/recurrence.ipynb": ONE for i, name in enumerate(("Ann Lee", "Bo Xu"))}
CANVAS = {"leeann_12345_678_recurrence.ipynb": ONE, "xubo_12346_679_recurrence.ipynb": ONE}
YML = "".join(f"submission_{n}:\n  :submitters:\n  - :email: {n}@example.edu\n" for n in (111, 112))
GRADESCOPE = {"9_export/submission_metadata.yml": YML} | {
    f"9_export/submission_{n}/recurrence.ipynb": ONE for n in (111, 112)
}


@pytest.mark.parametrize(
    ("name", "files", "students"),
    [
        ("DL_2025_26_WS-The vanilla RNN-4711.zip", MOODLE, {"Ann Lee", "Bo Xu"}),
        ("submissions_2026_03_01.zip", CANVAS, {"12345", "12346"}),
        ("rnn_2026_03_gradescope.zip", GRADESCOPE, {"111@example.edu", "112@example.edu"}),
        ("week_3_4_/RNN_2026_1_x.zip", CANVAS, {"12345", "12346"}),
    ],
)
def test_the_name_of_a_download_is_no_students(tmp_path, name, files, students):
    (tmp_path / "downloaded" / CHAPTER / "archive" / name).parent.mkdir(parents=True)
    found, log = collect(tmp_path, files, name)
    assert set(found) == students
    assert f"of {len(students)} students." in log


def test_a_download_that_was_unpacked_by_hand(tmp_path):
    folder = tmp_path / "downloaded" / CHAPTER / "archive" / "DL_2025_26_WS-4711"
    for name, text in MOODLE.items():
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(text)
    assert set(collect(tmp_path, CANVAS)[0]) == {"Ann Lee", "Bo Xu", "12345", "12346"}


@pytest.mark.parametrize("known", [False, True])
def test_what_may_be_a_download_or_a_submission_is_neither(tmp_path, known):
    """A student's zip that names others, beside the others' zips or with a roster: nothing goes to either."""
    if known:
        roster(tmp_path, ANN, BO)
    else:
        download(tmp_path, "xubo_12346_679_work.zip", {"recurrence.ipynb": ONE})
    found, log = collect(tmp_path, {"xubo_12346_1_recurrence.ipynb": ONE}, "leeann_12345_678_work.zip")
    assert found == ({} if known else {"12346": ["recurrence.ipynb"]})
    assert (
        "Not collected: leeann_12345_678_work.zip: by its name it is a submission of 12345, but there are names of "
        "others in it: 12346. If it is a download, rename it" in log
    )


def test_notebooks_that_a_student_numbered_are_told_apart_by_their_cells(tmp_path):
    files = {f"leeann_12345_70{i}_rnn-{i}.ipynb": text for i, text in enumerate(RELEASED.values(), 1)}
    files |= {f"leeann_12345_71{i}_data-{i}.csv": str(i) for i in (1, 2)}  # numbered by the student, too
    files |= {"leeann_12345_720_net.npz": "old", "leeann_12345_721_net-1.npz": "new"}
    files |= {f"xubo_12346_73{i}_hw-{i}.ipynb": ONE for i in (1, 2)}  # one notebook twice
    files |= {f"xubo_12346_74{i}_torn-{i}.ipynb": "{" for i in (1, 2)}  # nobody can tell
    found, log = collect(tmp_path, files)
    assert found == {
        "12345": ["data-1.csv", "data-2.csv", "net.npz", *(f"rnn-{i}.ipynb" for i in range(1, 6))],
        "12346": ["hw.ipynb", "torn-1.ipynb", "torn-2.ipynb"],
    }
    assert submitted(tmp_path)["12345/net.npz"] == "new"
    assert "is newer: xubo_12346_731_hw-1.ipynb" in log


@pytest.mark.parametrize(
    ("name", "student"),
    [
        ("group_1_12345_7001_recurrence.ipynb", "12345"),
        ("group_2_LATE_12346_7002_recurrence.ipynb", "12346"),
        ("team_alpha_12347_7003_recurrence.ipynb", "12347"),
        ("projectgroup3_12348_7004_recurrence.ipynb", "12348"),
        ("leeann_12345_7001_2_recurrence.ipynb", "12345"),
        ("leeann_12345_7001_hw_1_2_last.ipynb", "12345"),
        ("bo_1_2_recurrence.ipynb", "1"),
        ("group_12_34_5678_x.ipynb", None),
        ("eve_66_77_bo_12346_7002_recurrence.ipynb", None),
        ("eve_666_7001_LATE_12346_7002_recurrence.ipynb", None),
        ("team_2_3_alpha_12347_7003_recurrence.ipynb", None),
    ],
)
def test_canvas_without_a_roster(name, student):
    found = read_name(Path(name), (name,))
    assert (found.student if isinstance(found, DownloadedFile) else None) == student


@pytest.mark.parametrize(
    ("name", "student", "file"),
    [
        ("team_2_3_alpha_12346_7003_recurrence.ipynb", "12346", "recurrence.ipynb"),
        ("group_12345678_12346_7003_recurrence.ipynb", "12346", "recurrence.ipynb"),
        ("leeann_12345_7001_bo_99999_7002_recurrence.ipynb", "12345", "bo_99999_7002_recurrence.ipynb"),
        ("leeann_12345_7001_bo_12346_7002_recurrence.ipynb", None, ""),
        ("new_777_7001_2_recurrence.ipynb", "777", "2_recurrence.ipynb"),
    ],
)
def test_canvas_with_a_roster(name, student, file):
    found = read_name(Path(name), (name,), people([ANN, BO]))
    if student is None:
        assert found == Unclear(("12345", "12346"))
    else:
        assert (found.student, found.name) == (student, file)


def test_the_files_of_two_people_go_to_no_one(tmp_path):
    roster(tmp_path, BO)
    files = {"xubo_12346_679_recurrence.ipynb": ONE, "eve_666_7001_xu_12346_1_recurrence.ipynb": ONE}
    found, log = collect(tmp_path, files)
    assert found == {}
    assert "Not collected: 12346: files of several people would go there: eve_666_7001_xu, xubo in submissions." in log


def test_ids_of_another_roster_are_looked_up(tmp_path):
    """A plain roster whose ids are no system's."""
    term = people(
        [Student("ann", "Ann", "Lee", "ann@example.edu", "12345"), Student("x", "Bo", "Xu"), Student("12346")]
    )
    for name, student in (
        ("leeann_12345_7001_a.ipynb", "ann"),
        ("Ann Lee_77_assignsubmission_file/a.ipynb", "ann"),
        ("Bo Xu_78_assignsubmission_file/a.ipynb", "x"),
    ):
        found = read_name(Path(name), Path(name).parts, term)
        assert (found.student, found.is_group) == (student, False)
    assert term.student("12346") is None  # grading added it


def test_a_group_of_moodle(tmp_path):
    roster(tmp_path, Student("Ann Lee", "Ann", "Lee", "a@x.edu"), Student("Bo Xu", "Bo", "Xu", "b@x.edu"))
    files = {
        "Team Red_77_assignsubmission_file/recurrence.ipynb": ONE,
        "Default group_assignsubmission_file/recurrence.ipynb": ONE,
    }
    found, log = collect(tmp_path, files)
    assert set(found) == {"Team Red", "Default group"}
    (told,) = [line for line in log.splitlines() if "may be groups" in line]
    assert "not students: Default group, Team Red. To collect" in told
    (tmp_path / "groups.csv").write_text("group,id\nteam  red,Ann Lee\nteam  red,Bo Xu\n")
    del files["Default group_assignsubmission_file/recurrence.ipynb"]
    for name in ("Team Red_77", "Team Red-Bo Xu_78"):
        files = {f"{name}_assignsubmission_file/{each}.ipynb": RELEASED[each] for each in ("recurrence", "writing")}
        for folder in (tmp_path / "submitted").iterdir():
            os.rename(folder, tmp_path / f"{folder.name} {name}")
        found, log = collect(tmp_path, files, "submissions.zip", "--force")
        assert found == {name: ["recurrence.ipynb", "writing.ipynb"] for name in ("Ann Lee", "Bo Xu")}
        assert "Collected 4 files of 2 students." in log
        assert "may be" not in log


@pytest.mark.parametrize("called", ["Participant", "Teilnehmer-in"])
def test_moodle_without_names(tmp_path, called):
    """Blind marking calls everyone the same; a roster may have the identifiers of the worksheet."""
    roster(tmp_path, Student(f"{called} 1234567", "?"), ANN)
    files = {f"{called}_{number}_assignsubmission_file/recurrence.ipynb": ONE for number in (1234567, 1234568, 1234569)}
    found, log = collect(tmp_path, files)
    assert set(found) == {f"{called} 1234567", f"{called}_1234568", f"{called}_1234569"}
    assert f"2 students are called {called}. They are collected as {called}_1234568, {called}_1234569." in log


def test_capitals_make_no_difference_in_an_address(tmp_path):
    roster(tmp_path, Student("ann", "Ann", "Lee", "Ann.Lee@Example.edu"), Student("bo@example.edu", "Bo", "Xu"))
    yml = "".join(f"submission_{n}:\n  :submitters:\n  - :email: {name}\n" for n, name in ADDRESSES.items())
    files = {"9_export/submission_metadata.yml": yml}
    found, log = collect(tmp_path, files | {f"9_export/submission_{n}/recurrence.ipynb": ONE for n in ADDRESSES})
    assert set(found) == {"ann", "bo@example.edu"}
    assert "Not in the roster" not in log


ADDRESSES = {111: "ann.lee@example.EDU", 112: "Bo@example.edu"}


def test_a_student_is_not_taken_for_the_member_of_a_group(tmp_path):
    name = "Jean-Ann Lee_7_assignsubmission_file/a.ipynb"
    found = read_name(Path(name), Path(name).parts, people([Student("Ann Lee", "Ann", "Lee")]))
    assert found.student == "Jean-Ann Lee"


def test_a_group_of_canvas(tmp_path):
    roster(tmp_path, ANN, BO)
    files = {"group_1_12345_7001_recurrence.ipynb": "old", "group_1_12345_7002_recurrence-1.ipynb": ONE}
    found, log = collect(tmp_path, files)
    assert found == {"12345": ["recurrence.ipynb"]}
    assert "These may be groups and not students: group_1 (collected for 12345 only)." in log
    (tmp_path / "groups.csv").write_text("Group,ID\nGroup 1,12345\nGroup 1,12346\n")
    found, log = collect(tmp_path, files, "submissions.zip", "--force")
    assert found == {"12345": ["recurrence.ipynb"], "12346": ["recurrence.ipynb"]}
    assert submitted(tmp_path)["12346/recurrence.ipynb"] == ONE
    files["xubo_12346_7003_recurrence.ipynb"] = RELEASED["writing"]
    found, log = collect(tmp_path, files, "submissions.zip", "--force")
    assert submitted(tmp_path)["12346/recurrence.ipynb"] == RELEASED["writing"]
    assert "12346 has another submission than that of a group" in log


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Gruppe;Kennung\nRed;1\n", "the columns are Gruppe, Kennung, and group and id are needed"),
        ("group,id\nRed,1\nBlue,1\n", "line 3: 1 is in two groups, Red and Blue"),
        ("group,id\nRed,\n", "line 2: it needs a group and an id"),
    ],
)
def test_groups_that_cannot_be_read(tmp_path, text, why):
    (tmp_path / "groups.csv").write_text(text)
    with pytest.raises(GroupsError, match=why):
        read_groups(tmp_path)


def test_names_have_one_form(tmp_path):
    """Composed in the roster, decomposed in a zip that a Mac has written, and in groups.csv."""
    name = "Zoë Núñez"
    apart = unicodedata.normalize("NFD", name)
    roster(tmp_path, Student(name, "Zoë", "Núñez", "zoe@example.edu"))
    found, log = collect(tmp_path, {f"{apart}_7_assignsubmission_file/übung.ipynb": ONE})
    assert found == {name: ["übung.ipynb"]}
    assert "Not in the roster" not in log
    (tmp_path / "groups.csv").write_text(f"group,id\nRed,{apart}\n")
    assert read_groups(tmp_path) == {"red": (name,)}
    assert alike("Project Group-3 é") == alike("projectgroup3e\N{COMBINING ACUTE ACCENT}")


def test_who_is_not_in_the_roster_is_listed(tmp_path):
    roster(tmp_path, ANN)
    _, log = collect(tmp_path, CANVAS)
    assert "Not in the roster: 12346. They are collected under these names." in log


@pytest.mark.parametrize(
    "name", ["a.ipynb", "a.ipynb.json", "a.ipynb.txt", "A.IPYNB", "a.ipynb (1).json", "a.ipynb-1.json", "a.ipynb(2)"]
)
def test_what_browsers_save_is_a_notebook(name):
    assert is_notebook(name)


@pytest.mark.parametrize(
    "name",
    [
        *("a.ipynb:Zone.Identifier", "a.ipynb_Zone.Identifier", "a.ipynb.crdownload", "a.ipynb.part", "a.ipynb.zip"),
        *("._a.ipynb", ".a.ipynb.icloud", "~$a.ipynb", "a.ipynb~", "a.ipynb.lnk", "a.py", "a.json"),
    ],
)
def test_litter_is_no_notebook(name):
    assert not is_notebook(name)


def test_browsers_endings_are_collected_and_harmless_names_are_not_told(tmp_path):
    files = {
        "leeann_12345_7001_recurrence.ipynb-1.json": ONE,
        "xubo_12346_7002_my-solution.ipynb.txt": ONE,
        "cy_12347_7003_MINE.IPYNB": ONE,
        "dee_12348_7004_other.json": "{}",
    }
    found, log = collect(tmp_path, files)
    assert found == {
        "12345": ["recurrence.ipynb.json"],
        "12346": ["my-solution.ipynb.txt"],
        "12347": ["MINE.IPYNB"],
    }
    assert "Invalid submission notebook name" not in log
    assert "not: dee_12348_7004_other.json of 12348." in log


def test_canvas_test_student_is_left_out_in_silence(tmp_path):
    pretended = {"studenttest_999_700_recurrence.ipynb": ONE}
    found, log = collect(tmp_path / "without", CANVAS | pretended)
    assert set(found) == {"12345", "12346", "999"}  # nothing tells it from a student
    term = tmp_path / "with"
    roster(term, ANN, BO)
    found, log = collect(term, CANVAS | pretended)
    assert set(found) == {"12345", "12346"}
    assert "999" not in log
    assert "Collected 2 files of 2 students." in log
    real = tmp_path / "real"
    roster(real, ANN, BO, Student("999", "Test", "Student"))
    assert set(collect(real, CANVAS | pretended)[0]) == {"12345", "12346", "999"}

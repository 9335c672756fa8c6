"""The autograder zip in an imitation of Gradescope's folder: the same points as `grader autograde`, and no secrets."""

import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from grader.author.course import Course
from grader.author.leaks import find_leaks
from grader.author.wheel import archive_files
from grader.cells import grade_id, notebook_bytes
from grader.cli import commands as cli
from grader.gradescope.pack import autograder_zip
from grader.gradescope.run import graded_submission
from grader.grading import pool
from grader.grading.chapter import autograde
from grader.grading.hidden import hidden_checks, hidden_seed
from grader.manifest import Limits, load_manifest
from grader.running.other_user import OtherUser, of_user
from grader.running.sandbox import SandboxError
from grader.submission.notebook import read_notebook
from tests.autograde.right_work import RIGHT
from tests.gradescope_format import assert_documented
from tests.kept_back import kept_back
from tests.small_course import CHAPTER, write_small_course

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can run code as another user")
WRONG = RIGHT["rnn_step"].replace("@ W_hh", "@ W_hh.T")
HALF = {"rnn_step": RIGHT["rnn_step"], "rnn_forward": RIGHT["rnn_forward"].replace("axis=1", "axis=0")}


@pytest.fixture(scope="module")
def place():
    """A folder that every user of the machine can enter, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="gradescope-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def course(place):
    """The root of a small course, its term, and the zip."""
    root, term = write_small_course(place / "course"), place / "term"
    return root, term, autograder_zip(root, term, CHAPTER)


def submission(root, cells, first=""):
    """The released notebook with these cells, and one at its beginning."""
    notebook = read_notebook(root / "exercises" / CHAPTER / "recurrence.ipynb")
    for cell in notebook.cells:
        cell.source = cells.get(grade_id(cell), cell.source)
    tree = json.loads(notebook_bytes(notebook))
    code = {"cell_type": "code", "source": first, "metadata": {}, "outputs": [], "execution_count": None, "id": "x"}
    tree["cells"].insert(2, code)
    return json.dumps(tree).encode()


@pytest.fixture
def autograder(place, course):
    """Gradescope's folder with the zip unpacked, as its image has it."""
    folder = Path(tempfile.mkdtemp(dir=place))
    folder.chmod(0o755)
    with zipfile.ZipFile(io.BytesIO(course[2])) as archive:
        archive.extractall(folder / "source")  # without the files' modes, as many programs unpack
    shutil.copy(folder / "source" / "run_autograder", folder)
    (folder / "submission").mkdir()
    return folder


@pytest.fixture
def without_course(place):
    """A Python without what only the instructor's machine has."""
    blocked = place / "blocked"
    blocked.mkdir(exist_ok=True)
    for name in ("torch", "nbgrader", "sqlalchemy", "jupytext", "distributed", "copydetect", "bleach", "matplotlib"):
        (blocked / f"{name}.py").write_text(f"raise ImportError('{name} is not in the container')\n")
    (place / "venv" / "bin").mkdir(parents=True, exist_ok=True)
    python = place / "venv" / "bin" / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{blocked}" exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    return place / "venv"


@pytest.fixture
def run(autograder, without_course):
    """Submit these files by name, and run; return the exit status, what it printed, and the results, if any."""

    def call(files):
        for name, content in files.items():
            path = autograder / "submission" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        variables = {"UNROLLED_AUTOGRADER": str(autograder), "UNROLLED_VENV": str(without_course)}
        ended = subprocess.run(
            ["bash", str(autograder / "run_autograder")],
            env={"PATH": os.environ["PATH"], **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        results = autograder / "results" / "results.json"
        printed = ended.stdout + ended.stderr
        return ended.returncode, printed, json.loads(results.read_bytes()) if results.exists() else None

    return call


def points(results):
    return {test["extra_data"]["id"]: test["score"] for test in results["tests"]}


@as_root
@pytest.mark.parametrize("cells", [RIGHT, HALF, {"rnn_step": WRONG}], ids=["right", "half", "wrong"])
def test_the_points_are_those_of_autograde(course, run, cells):
    root, term, _ = course
    student = term / "submitted" / "ann" / CHAPTER
    student.mkdir(parents=True, exist_ok=True)
    (student / "recurrence.ipynb").write_bytes(submission(root, cells))
    (graded,) = autograde(root, term, CHAPTER, pool.here, db_url=None)
    status, printed, results = run({"recurrence.ipynb": submission(root, cells)})
    assert status == 0, printed
    assert points(results) == {name: verdict.earned for name, verdict in graded.by_exercise.items()}
    assert results["score"] == graded.earned
    for test, (name, verdict) in zip(results["tests"], graded.by_exercise.items(), strict=True):
        assert test["max_score"] == verdict.points
        assert test["status"] == ("passed" if verdict else "failed")
        if verdict.diagnosis is not None:
            assert verdict.diagnosis.text.split("`")[0] in test["output"], name


@as_root
def test_the_results_are_in_gradescopes_format(course, run):
    _, _, results = run({"recurrence.ipynb": submission(course[0], {"rnn_step": WRONG})})
    assert_documented(results)
    assert isinstance(results["execution_time"], int)
    assert results["tests"][0]["name"] == "One step of the recurrence (rnn_step)"


@as_root
def test_students_see_no_hidden_input(course, run):
    root, term, _ = course
    says = "def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):\n    raise ValueError(repr(x_t.ravel().tolist()))\n"
    _, printed, results = run({"recurrence.ipynb": submission(root, {"rnn_step": says})})
    shown = json.dumps(results) + printed
    chapter = load_manifest(root / "course.toml").chapter(CHAPTER)
    first = [case.inputs["x_t"] for case in hidden_checks(root, term, chapter)["rnn_step"].cases]
    numbers = {repr(float(number)) for inputs in first for number in inputs.ravel()}
    assert len(numbers) > 20
    assert not [number for number in numbers if number.lstrip("-") in shown]
    assert str(hidden_seed(term)) not in shown


@as_root
def test_a_folder_as_grader_submit_packs_it(course, run):
    folder = f"ann-{CHAPTER}"
    files = {f"{folder}/recurrence.ipynb": submission(course[0], RIGHT), f"{folder}/manifest.json": b"{}"}
    assert points(run(files)[2]) == {"rnn_step": 2, "rnn_forward": 2}


@as_root
@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "contains no notebook of ch01_vanilla_rnn. Submit these files: recurrence.ipynb"),
        ({"work.zip": b"PK"}, "Submit the notebooks themselves"),
        ({"recurrence.ipynb": b"not JSON"}, "the file is not JSON"),
        ({"recurrence.ipynb": b'{"cells": []}'}, "none of this notebook's exercises"),
    ],
    ids=["nothing", "archive", "not JSON", "empty"],
)
def test_a_submission_without_work_gets_no_points_and_a_reason(run, files, said):
    status, printed, results = run(files)
    assert status == 0, printed
    assert results["score"] == 0
    assert points(results) == {"rnn_step": 0, "rnn_forward": 0}
    assert said in results["output"]


def test_if_the_grader_fails_there_are_no_results(course, autograder, run):
    (autograder / "source" / "hidden" / "cases.msgpack").write_bytes(b"")
    status, printed, results = run({"recurrence.ipynb": submission(course[0], RIGHT)})
    assert status != 0
    assert results is None
    assert "Error" in printed


ATTACK = """
import os, socket
def refused(action):
    try:
        action()
    except Exception as error:
        return type(error).__name__
    return "DONE"
base = {base!r}
for what, action in {{
    "cases": lambda: open(base + "/source/hidden/cases.msgpack", "rb").read(),
    "names": lambda: os.listdir(base + "/source/hidden"),
    "mode": lambda: os.chmod(base + "/source/hidden", 0o777),
    "results": lambda: open(base + "/results/results.json", "w"),
    "metadata": lambda: open(base + "/submission_metadata.json").read(),
    "grader": lambda: open(base + "/source/course/grader/codec.py", "a"),
    "term": lambda: os.listdir(os.readlink("/proc/%d/cwd" % os.getppid())),
    "environment": lambda: open("/proc/%d/environ" % os.getppid()).read(),
    "memory": lambda: open("/proc/%d/mem" % os.getppid(), "rb").read(1),
    "root": lambda: os.setuid(0),
    "signal": lambda: os.kill(os.getppid(), 0),
    "network": lambda: socket.socket(),
    "program": lambda: os.execv("/bin/true", ["true"]),
}}.items():
    print("TRIED", what, refused(action))
print("USER", os.getuid())
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        import time
        time.sleep(600)
    os._exit(0)
"""


@as_root
def test_student_code_can_read_no_secret_and_leaves_no_process(course, autograder, tmp_path):
    (autograder / "results").mkdir()
    (autograder / "submission_metadata.json").write_text("{}")
    submitted = submission(course[0], RIGHT, ATTACK.format(base=str(autograder)))
    (autograder / "submission" / "recurrence.ipynb").write_bytes(submitted)
    protect = (autograder / "run_autograder").read_text().partition("cd ")[0]  # all but the grading itself
    subprocess.run(["bash", "-c", protect], env={**os.environ, "UNROLLED_AUTOGRADER": str(autograder)}, check=True)
    _, graded, _ = graded_submission(autograder / "source", autograder / "submission", tmp_path)
    assert graded.fault == ""
    assert graded.earned == 4
    assert not graded.sandboxed
    text = (tmp_path / "autograded" / "submission" / CHAPTER / "recurrence.ipynb").read_text("utf-8")
    cells = json.loads(text)["cells"]
    lines = [line for cell in cells for output in cell.get("outputs", ()) for line in output.get("text", ())]
    found = dict(line.split()[1:] for line in lines if line.startswith("TRIED"))
    assert set(found.values()) <= {"PermissionError", "FileNotFoundError"}, found
    assert len(found) == 13
    assert found["cases"] == found["names"] == found["network"] == found["results"] == "PermissionError"
    (user,) = {line.split()[1] for line in lines if line.startswith("USER")}
    assert int(user) >= 30_000
    assert of_user(int(user)) == []


@as_root
def test_a_bomb_costs_only_its_own_exercise(course, run):
    bomb = "import os\n\ndef rnn_step(**inputs):\n    while True:\n        try:\n            os.fork()\n"
    bomb += "        except OSError:\n            pass\n"
    status, printed, results = run({"recurrence.ipynb": submission(course[0], {**RIGHT, "rnn_step": bomb})})
    assert status == 0, printed
    assert points(results) == {"rnn_step": 0, "rnn_forward": 2}


def test_only_root_can_be_another_user(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(SandboxError, match="only root"):
        OtherUser(Limits())


def test_the_zip_has_its_scripts_on_top_and_neither_solutions_nor_seed(course):
    root, term, content = course
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = archive.namelist()
        modes = {entry.filename: entry.external_attr >> 16 & 0o777 for entry in archive.infolist()}
        everything = b"".join(archive.read(name) for name in names)
        for script in ("setup.sh", "run_autograder"):
            assert archive.read(script).startswith(b"#!/usr/bin/env bash\n")
            assert modes[script] == 0o755
            subprocess.run(["bash", "-n"], input=archive.read(script), check=True)
    assert modes["hidden/cases.msgpack"] == 0o600
    assert not [name for name in names if name.startswith("course/solutions/")]
    assert str(hidden_seed(term)).encode() not in everything
    for path in (root / "solutions").rglob("*.py"):
        assert path.read_bytes() not in everything
    shown = find_leaks(archive_files(content), kept_back(Course(root)))
    assert [str(leak) for leak in shown if "a folder that is not for students" not in leak.what] == []


@as_root
def test_setup_finds_a_python_and_makes_an_environment_for_all_users(place, autograder):
    """With a stand-in for apt-get, and nothing to download."""
    bin_folder, log = autograder / "bin", autograder / "apt.log"
    bin_folder.mkdir()
    (bin_folder / "apt-get").write_text(f'#!/bin/sh\necho "$@" >> {log}\n')
    (bin_folder / "apt-get").chmod(0o755)
    for name in ("python3.13", "python3.12", "python3.11"):
        (bin_folder / name).write_text("#!/bin/sh\nexit 1\n")  # as if it were not installed
        (bin_folder / name).chmod(0o755)
    (bin_folder / "python3").symlink_to(sys.executable)
    (autograder / "source" / "requirements.txt").write_text("")
    venv = autograder / "environment"
    variables = {"UNROLLED_AUTOGRADER": str(autograder), "UNROLLED_VENV": str(venv)}
    path = f"{bin_folder}:/usr/bin:/bin"
    setup = ["bash", str(autograder / "source" / "setup.sh")]
    made = subprocess.run(setup, env={"PATH": path, **variables}, capture_output=True, text=True, check=False)
    library = [*Path(os.__file__).parents, Path(os.__file__)]
    if all(folder.stat().st_mode & 0o005 == 5 or folder.is_file() for folder in library):
        assert made.returncode == 0, made.stderr
    else:  # such as a Python in /root
        assert made.returncode == 1
        assert f"Other users cannot read the Python in {venv}" in made.stderr
    assert log.read_text().splitlines()[0] == "update"
    assert "libseccomp2" in log.read_text()
    subprocess.run([venv / "bin" / "python", "-c", "import sys; assert sys.version_info >= (3, 11)"], check=True)
    assert (autograder / "source" / "hidden").stat().st_mode & 0o077 == 0
    assert (autograder / "source" / "hidden" / "cases.msgpack").stat().st_mode & 0o077 == 0


def test_the_same_course_gives_the_same_zip(course):
    root, term, content = course
    assert autograder_zip(root, term, CHAPTER) == content


def test_the_requirements_are_pinned_and_with_pytorch_only_where_it_is_needed():
    from grader.gradescope.pack import requirements
    from grader.grading.release import released_notebooks

    root = Path(__file__).parents[2]
    manifest = load_manifest(root / "course.toml")
    for chapter, torch in (("ch01_vanilla_rnn", False), ("ch04_gated", True)):
        found = manifest.chapter(chapter)
        lines = requirements(manifest, found, released_notebooks(root, found))
        pinned = [line for line in lines if not line.startswith("--")]
        assert all(line.count("==") == 1 and "+" not in line for line in pinned)
        assert {"numpy", "msgspec", "nbformat"} <= {line.partition("==")[0] for line in pinned}
        assert any(line.startswith("torch==") for line in pinned) is torch
        assert any("whl/cpu" in line for line in lines) is torch


def test_the_command_writes_the_zip(course, monkeypatch):
    root, term, content = course
    monkeypatch.chdir(root)
    result = CliRunner().invoke(cli.app, ["gradescope", CHAPTER, "--term", str(term)])
    assert result.exit_code == 0, result.output
    path = term / "gradescope" / f"{CHAPTER}.zip"
    assert path.read_bytes() == content
    assert path.stat().st_mode & 0o777 == 0o600
    assert "Keep it secret" in result.stdout
    other = CliRunner().invoke(cli.app, ["gradescope", "nothing", "--term", str(term), "--out", str(term / "x.zip")])
    assert other.exit_code == 1
    assert not (term / "x.zip").exists()

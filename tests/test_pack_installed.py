"""The bundle as students use it: unpacked elsewhere, installed by the lines of its README, in an empty environment."""

import json
import os
import re
import shlex
import shutil
import subprocess
import textwrap
import zipfile
from pathlib import Path

import nbformat
import pytest

from grader.author.built_book import BookError, up_to_date_book
from grader.author.course import Course
from grader.author.pack import pack
from grader.cells import cell_source, grade_id

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
CHAPTER, NOTEBOOK = "ch00_sequences", "text"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    """The real course's bundle; with the book if it is built."""
    try:
        with_book = up_to_date_book(ROOT).is_dir()
    except BookError:
        with_book = False
    return pack(ROOT, tmp_path_factory.mktemp("packed") / "unrolled.zip", book=with_book)


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """The environment variables of someone else: no Python path, and a home folder of their own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "UNROLLED", "VIRTUAL"))}
    return {**kept, "HOME": str(tmp_path_factory.mktemp("home"))}


@pytest.fixture(scope="module")
def unpacked(bundle, environment, tmp_path_factory):
    """The bundle unpacked, and installed by step 1 of its README."""
    place = tmp_path_factory.mktemp("a students folder")
    subprocess.run(["unzip", "-q", str(bundle.path)], cwd=place, check=True)
    (folder,) = place.iterdir()
    script = "\n".join(["set -e", *lines_below("Linux and macOS:", folder)])
    done = subprocess.run(["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def lines_below(heading, folder):
    """The lines that the README says to enter, below the first such heading."""
    readme = (folder / "README.txt").read_text("ascii")
    after = readme.partition(f"\n{heading}\n")[2] or readme.partition(f"{heading}\n")[2]
    block = re.match(r"\n((?:    .*\n)+)", after)
    return textwrap.dedent(block[1]).splitlines()


def in_environment(folder, environment, command, cwd):
    """Run a line of bash in the bundle's environment."""
    script = f"set -e\nsource {shlex.quote(str(folder / '.venv/bin/activate'))}\n{command}"
    return subprocess.run(["bash", "-c", script], cwd=cwd, env=environment, capture_output=True, text=True)


def solved(path):
    """Put the solutions into a released notebook, and a call of `hint` at its end."""
    made = next(m for m in Course(ROOT).made if (m.chapter.id, m.notebook.name) == (CHAPTER, NOTEBOOK))
    notebook = nbformat.read(path, 4)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = cell_source(made.instructor, grade_id(cell))
    notebook.cells.append(nbformat.v4.new_code_cell('hint("encode_text")'))
    nbformat.write(notebook, path)
    return [exercise.id for exercise in made.notebook.exercises]


def outputs(path):
    """The plain text of each code cell's outputs, by its name or its source."""
    found = {}
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            shown = [o.get("data", {}).get("text/plain", o.get("text", o.get("evalue", ""))) for o in cell["outputs"]]
            name = cell["metadata"].get("nbgrader", {}).get("grade_id") or "".join(cell["source"])
            found[name] = "".join("".join(each) for each in shown)
    return found


EXECUTE = "jupyter nbconvert --to notebook --execute --inplace text.ipynb"


def test_a_solved_notebook_passes_its_checks(unpacked, environment):
    folder = unpacked / "exercises" / CHAPTER
    exercises = solved(folder / f"{NOTEBOOK}.ipynb")
    done = in_environment(unpacked, environment, EXECUTE, folder)
    assert done.returncode == 0, done.stderr
    shown = outputs(folder / f"{NOTEBOOK}.ipynb")
    assert len(exercises) == 4
    for name in exercises:
        assert "right on all" in shown[f"{name}-check"]
    assert shown['hint("encode_text")'].startswith("Hint 1 for encode_text")
    diary = Path(environment["HOME"], ".unrolled", "diary.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["exercise"] for line in diary] == exercises


def test_the_chapter_is_submitted(unpacked, environment):
    command = next(
        line for line in (unpacked / "README.txt").read_text("ascii").splitlines() if "grader submit" in line
    )
    done = in_environment(unpacked, environment, command, unpacked)
    assert done.returncode == 0, done.stdout + done.stderr
    with zipfile.ZipFile(unpacked / f"{CHAPTER}-submission.zip") as archive:
        inside = {Path(name).name: archive.read(name) for name in archive.namelist()}
    for path in (unpacked / "exercises" / CHAPTER).glob("*.ipynb"):
        assert inside[path.name] == path.read_bytes()


def test_nothing_is_missing(unpacked, environment):
    done = in_environment(unpacked, environment, "grader doctor", unpacked)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_command_works_with_the_packages_of_the_wheel_only(unpacked, environment):
    done = in_environment(unpacked, environment, "grader --help; python -c 'import torch'", unpacked)
    assert "Commands:" in done.stdout
    assert "No module named 'torch'" in done.stderr


def test_on_colab_the_two_lines_are_enough(bundle, unpacked, environment, tmp_path):
    """A notebook and the zip in one folder, and a kernel that has everything but the course."""
    done = in_environment(unpacked, environment, "pip uninstall --yes --quiet unrolled-grader", tmp_path)
    assert done.returncode == 0, done.stderr
    shutil.copy(bundle.path, tmp_path)
    shutil.copy(ROOT / "exercises" / CHAPTER / f"{NOTEBOOK}.ipynb", tmp_path)
    path = tmp_path / f"{NOTEBOOK}.ipynb"
    solved(path)
    notebook = nbformat.read(path, 4)
    readme = (unpacked / "README.txt").read_text("ascii")
    lines = "\n".join(line.strip() for line in readme.splitlines() if re.match(r"    [!%]", line))
    assert len(lines.splitlines()) == 2
    notebook.cells.insert(0, nbformat.v4.new_code_cell(lines))
    nbformat.write(notebook, path)
    done = in_environment(unpacked, environment, EXECUTE, tmp_path)
    assert done.returncode == 0, done.stderr
    shown = outputs(path)
    assert str(tmp_path / unpacked.name / "exercises" / CHAPTER) in shown[lines]
    assert "right on all" in shown["encode_text-check"]

"""What a student installs: the wheel works by itself and holds no solution."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from email import message_from_string
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest

from grader.author.course import Course
from grader.author.leaks import find_leaks
from grader.author.notebooks import instructor_notebook
from grader.author.shown_solutions import solution_pieces, source_pieces
from grader.cells import cell_source
from grader.manifest import load_manifest
from grader.released import Released
from tests.kept_back import kept_back

pytestmark = pytest.mark.system

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the working tree, built and unpacked."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"  # a copy, so that the build leaves nothing behind
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        source.mkdir(exist_ok=True)
        (source / name).write_bytes((ROOT / name).read_bytes())
    listed = subprocess.run(
        ["git", "ls-files", "grader", "solutions"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in listed.stdout.splitlines():
        if (ROOT / name).exists():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((ROOT / name).read_bytes())
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        ".",
        "--no-deps",
        "--no-build-isolation",
        "--quiet",
        "-w",
        str(folder),
    ]
    subprocess.run(command, cwd=source, check=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "unpacked")
    return folder / "unpacked"


def test_the_wheel_holds_no_solution(unpacked: Path) -> None:
    # `feedback/solutions.py` writes a page from solutions that it is given. That it holds none is shown below.
    assert [path.name for path in unpacked.glob("**/solutions*") if path.is_dir() or path.suffix != ".py"] == []
    assert list(unpacked.rglob("*.ipynb")) == []
    manifest = load_manifest(ROOT / "course.toml")
    pieces: dict[str, str] = {}
    for place in manifest.places.values():
        notebook = instructor_notebook(ROOT, manifest, place.chapter, place.notebook)
        pieces |= dict.fromkeys(solution_pieces(cell_source(notebook, place.exercise.id)), place.exercise.id)
    assert pieces
    for path in unpacked.rglob("*.py"):
        shown = {pieces[p] for p in source_pieces(path.read_text("utf-8")) if p in pieces}
        assert not shown, f"{path.relative_to(unpacked)} shows a piece of {shown}"


def test_the_wheel_holds_no_other_way_and_does_not_say_why_one_works(unpacked: Path) -> None:
    files = [
        (path.relative_to(unpacked).as_posix(), path.read_bytes()) for path in unpacked.rglob("*") if path.is_file()
    ]
    assert [str(leak) for leak in find_leaks(files, kept_back(Course(ROOT)))] == []


def test_a_recorded_exception_tells_its_type_alone(unpacked: Path) -> None:
    released = Released(unpacked / "grader" / "data")
    recorded = [
        observation.raised
        for name in released.manifest.places
        for ways in released.checks(name).mistakes.values()
        for way in ways
        for observation in way
        if observation.raised is not None
    ]
    assert recorded
    assert all((raised.text, raised.lines) == ("", ()) for raised in recorded)


ALONE = """
import sys
folder, *allowed = sys.argv[1:]


class Alone:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in sys.stdlib_module_names and top not in allowed:
            raise ModuleNotFoundError(f"{name} is not a dependency of the wheel", name=name)


sys.meta_path.insert(0, Alone())
sys.path.insert(0, folder)
import grader.cli
assert grader.cli.__file__.startswith(folder), grader.cli.__file__
sys.argv = ["grader", "--help"]
grader.cli.main()
"""


def test_the_command_needs_only_what_the_wheel_requires(unpacked: Path, tmp_path: Path) -> None:
    (metadata,) = unpacked.glob("*.dist-info/METADATA")
    required = message_from_string(metadata.read_text("utf-8")).get_all("Requires-Dist")
    names, modules = set(), {"grader"}
    wanted = [canonical(line) for line in required if "extra ==" not in line]
    while wanted:
        if (name := wanted.pop()) not in names:
            names.add(name)
            wanted += [canonical(line) for line in requires(name) or () if "extra ==" not in line]
    for module, providers in packages_distributions().items():
        if names & set(map(canonical, providers)):
            modules.add(module)
    assert {"numpy", "msgspec", "typer", "rich"} <= names
    assert not {"torch", "nbgrader", "nbformat", "IPython", "sqlalchemy"} & modules
    run = [sys.executable, "-I", "-c", ALONE, str(unpacked), *sorted(modules)]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert "Usage:" in done.stdout


def canonical(requirement: str) -> str:
    """The name of the distribution that a requirement is about."""
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement)[0]).lower()


def test_the_wheel_checks_an_exercise_by_itself(unpacked: Path, tmp_path: Path) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import grader; from grader import check, hint, progress;"
        "assert grader.__file__.startswith(sys.argv[1]), grader.__file__;"
        "report = check('rnn_step', lambda x_t, h_prev, W_xh, W_hh, b_h: None);"
        "print(report.verdict.status, hint('rnn_step').level, 'torch' in sys.modules)"
    )
    run = [sys.executable, "-I", "-c", code, str(unpacked)]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout.split(), done.stderr) == (["failed", "1", "False"], "")

"""The students' commands need what the wheel requires, and nothing else."""

import re
import subprocess
import sys
from importlib import metadata

import pytest

from tests.work.student_folder import CHAPTER, RIGHT, ROOT, edited, exercises


def closure():
    """The modules of the packages that the wheel requires, and of those that they require."""
    modules = {}
    for module, owners in metadata.packages_distributions().items():
        for owner in owners:
            modules.setdefault(canonical(owner), set()).add(module)
    found, waiting = set(), ["numpy", "msgspec", "typer", "rich"]
    while waiting:
        name = waiting.pop()
        if name in found or name not in modules:
            continue
        found.add(name)
        required = metadata.requires(name) or []
        waiting += [canonical(re.match(r"[\w.-]+", each)[0]) for each in required if "extra ==" not in each]
    return sorted(set().union(*(modules[name] for name in found)))


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


# Python finds the standard library, the grader, and what the wheel requires, and nothing else.
BLOCKER = f"""
import sys

ALLOWED = {{"grader", *{closure()!r}, *sys.stdlib_module_names}}


class Only:
    # finds the allowed packages alone

    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        return self.finder.find_spec(name, path, target) if self.allows(name.partition(".")[0]) else None

    def allows(self, name):
        return name in ALLOWED or name.startswith("_sysconfigdata")

    def __getattr__(self, name):
        return getattr(self.finder, name)


sys.meta_path[:] = [Only(finder) for finder in sys.meta_path]
"""
FORBIDDEN = ["nbgrader", "nbformat", "IPython", "sqlalchemy", "jupytext", "torch", "bleach", "yaml", "traitlets"]


@pytest.fixture
def alone(tmp_path):
    """Call `python -m grader` with the blocker in this process and in those that it starts."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(BLOCKER)
    (site / "grader").symlink_to(ROOT / "grader")  # and not the course

    def call(*arguments):
        environment = {"PYTHONPATH": str(site), "UNROLLED_DIARY": str(tmp_path / "diary.jsonl"), "PATH": ""}
        environment |= {"HOME": str(tmp_path), "PYTHONIOENCODING": "utf-8"}
        command = [sys.executable, "-P", *arguments]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False
        )

    return call


def test_the_blocker_blocks(alone):
    for name in FORBIDDEN:
        assert "ModuleNotFoundError" in alone("-c", f"import {name}").stderr


def test_the_commands_of_a_student(alone, tmp_path):
    folder = exercises(tmp_path)
    edited(folder / "recurrence.ipynb", RIGHT, ["%matplotlib inline"])
    checked = alone("-m", "grader", "check", str(folder / "recurrence.ipynb"))
    assert checked.stderr == ""
    assert checked.returncode == 0
    assert "2 of 2 exercises right, 4 of 4 points." in checked.stdout
    assert "IPython is not installed, so magics and shell commands are left out of cell " in checked.stdout
    shown = alone("-m", "grader", "progress", CHAPTER)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "✓ 2 done, ◐ 0 started" in shown.stdout
    submitted = alone("-m", "grader", "submit", CHAPTER)
    assert submitted.returncode == 0
    assert f"Wrote {CHAPTER}-submission.zip" in submitted.stdout
    examined = alone("-m", "grader", "doctor")
    assert "✓ NumPy" in examined.stdout
    assert "Traceback" not in examined.stderr


def test_the_help(alone):
    done = alone("-m", "grader", "--help")
    assert done.returncode == 0
    assert all(name in done.stdout for name in ("doctor", "check", "progress", "submit", "collect"))

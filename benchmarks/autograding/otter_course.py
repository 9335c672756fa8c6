"""`otter run` on the plain course, in an environment of its own under build/: one command a notebook, as it works.

The capstone has no tests, so Otter is spared it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from autograding.classes import CHAPTER, ROOT
from autograding.measure import compile_modules, run
from autograding.plain_course import plain, write_helpers
from grader.manifest import load_manifest

ENVIRONMENT = ROOT / "build" / "otter"
OTTER = "otter-grader==7.0.0"
_TEST = """from otter.test_files import test_case

OK_FORMAT = False
name = "{id}"
points = {points}


@test_case()
def test_{id}({id}):
    from plain_tests import test

    test("{id}", {id})
"""


def grade(term: Path, size: int) -> dict[str, Any] | None:
    """Grade the first submissions of a class; None where Otter cannot be had."""
    if not installed():
        return None
    compile_modules(ENVIRONMENT / "bin" / "python")
    walls, cpus, loads, earned = [], [], [], []
    python = ENVIRONMENT / "bin" / "python"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        archives = {n.name: _archive(folder / n.name, n) for n in _notebooks()}
        for student in sorted((term / "submitted").iterdir())[:size]:
            for notebook, archive in archives.items():
                work = folder / student.name / notebook
                write_helpers(work)
                (work / "submission.ipynb").write_bytes(plain(student / CHAPTER / f"{notebook}.ipynb"))
                found = run([python, "-m", "otter", "run", "-a", archive, "-o", work, work / "submission.ipynb"], work)
                if found.status:
                    raise SystemExit("otter run ended badly:\n" + "\n".join(line for _, line in found.lines[-20:]))
                earned.append(points(work))
                walls.append(found.wall)
                cpus.append(found.cpu)
                loads.append(found.load)
    return {
        "submissions": size,
        "wall_s": round(sum(walls), 2),
        "cpu_s": round(sum(cpus), 2),
        "load": max(loads),
        "per_second": round(size / sum(walls), 4),
        "earned": earned,
    }


def points(work: Path) -> float:
    """The points of a notebook, from what Otter wrote there."""
    results = json.loads((work / "results.json").read_text("utf-8"))
    return float(sum(test.get("score", 0.0) for test in results["tests"]))


def _notebooks() -> list[Any]:
    return [n for n in load_manifest(ROOT / "course.toml").chapter(CHAPTER).notebooks if n.exercises]


def _archive(folder: Path, notebook: Any) -> Path:
    """Otter's own archive of tests for one notebook."""
    write_helpers(folder)
    (folder / "tests").mkdir()
    for exercise in notebook.exercises:
        (folder / "tests" / f"{exercise.id}.py").write_text(_TEST.format(id=exercise.id, points=exercise.points))
    command = [ENVIRONMENT / "bin" / "python", "-m", "otter", "generate", "-t", "tests", "-o", "autograder.zip"]
    command += ["--no-environment", "--no-requirements", "plain_tests.py", "tests.pickle"]
    subprocess.run([str(word) for word in command], cwd=folder, check=True, capture_output=True)
    return folder / "autograder.zip"


def installed() -> bool:
    """Make Otter's environment once."""
    if (ENVIRONMENT / "complete").exists():
        return True
    shutil.rmtree(ENVIRONMENT, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", ENVIRONMENT], check=True)
    pip = [ENVIRONMENT / "bin" / "pip", "install", "--quiet", OTTER, "ipykernel", f"numpy=={np.__version__}"]
    if subprocess.run(pip, check=False).returncode:
        print("Otter cannot be installed here, and is left out")
        return False
    (ENVIRONMENT / "complete").touch()
    return True

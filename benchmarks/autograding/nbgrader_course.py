"""`nbgrader autograde` on the plain course: its own folder, its own gradebook, one kernel a notebook."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from autograding.measure import Run, run
from autograding.plain_course import PLAIN, Plain

_NBGRADER = (sys.executable, "-m", "nbgrader")
_STUDENT = re.compile(r"submitted/([^/]+)/")


def make_course(course: Path, term: Path, size: int, plain: Plain = PLAIN) -> None:
    """A course folder of nbgrader's with the first submissions of a class."""
    shutil.rmtree(course, ignore_errors=True)
    chapter = plain.chapter
    _copy(plain.root / "exercises" / chapter, course / "source" / chapter, plain)
    for folder in sorted((term / "submitted").iterdir())[:size]:
        _copy(folder / chapter, course / "submitted" / folder.name / chapter, plain)
    (course / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'plain'\n")
    subprocess.run([*_NBGRADER, "generate_assignment", chapter], cwd=course, check=True, capture_output=True)


def _copy(folder: Path, to: Path, plain: Plain) -> None:
    plain.write_helpers(to)
    for path in folder.glob("*.ipynb"):
        (to / path.name).write_bytes(plain.notebook(path))


def grade(course: Path, plain: Plain = PLAIN, *, memory: bool = False) -> dict[str, Any]:
    """Autograde all of it; a submission that nbgrader gives up on is counted, and took its time all the same."""
    found = run([*_NBGRADER, "autograde", plain.chapter], course, memory=memory)
    return figures(found, course, plain.chapter) | ({"pss_mb": round(found.pss_mb)} if memory else {})


def figures(found: Run, course: Path, chapter: str) -> dict[str, Any]:
    """What a run took, by what it printed and wrote."""
    begun: dict[str, float] = {}
    for seconds, line in found.lines:
        if match := _STUDENT.search(line):
            begun.setdefault(match[1], seconds)
    size = len(list((course / "submitted").iterdir()))
    if len(begun) != size:
        raise SystemExit("nbgrader did not come to all submissions:\n" + "\n".join(line for _, line in found.lines))
    done = len(list((course / "autograded").glob(f"*/{chapter}")))
    warm_up = min(begun.values())
    return {
        "submissions": size,
        "given_up": size - done,
        "wall_s": round(found.wall, 2),
        "cpu_s": round(found.cpu, 2),
        "load": found.load,
        "per_second": round(size / found.wall, 4),
        "warm_up_s": round(warm_up, 2),
        "warm_per_second": round(size / (found.wall - warm_up), 4),
    }

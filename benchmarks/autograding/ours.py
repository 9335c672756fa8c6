"""`grader autograde` as a whole command: sandbox started, gradebook and autograded notebooks written."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import sys
from pathlib import Path
from typing import Any

from autograding.classes import CHAPTER, ROOT
from autograding.measure import run
from grader.author.planted import differences
from grader.grading import store
from grader.grading.hidden import hidden_checks
from grader.manifest import load_manifest


def grade(
    term: Path,
    workers: int,
    *,
    executor: str = "local",
    memory: bool = False,
    verify: bool = True,
    root: Path = ROOT,
    chapter: str = CHAPTER,
) -> Any:
    """Grade a class from nothing but its hidden cases, which are made once a term; return what it took.

    `per_second` counts the whole command; `warm_per_second` leaves out what comes before the first result.
    """
    forget(term)
    hidden_checks(root, term, load_manifest(root / "course.toml").chapter(chapter))
    command = [sys.executable, "-m", "grader", "autograde", chapter, "--term", term, "--workers", workers]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    found = run([*command, "--executor", executor, "--json"], root, memory=memory, env=env)
    if found.status:
        raise SystemExit(f"grader autograde ended with {found.status}:\n" + "\n".join(line for _, line in found.lines))
    students = json.loads(found.output)["students"]
    if verify and (wrong := differences(root, term)):
        raise SystemExit("scores are not the planted ones: " + "; ".join(wrong[:5]))
    times = sorted(path.stat().st_mtime for path in (term / "results" / chapter).glob("*/result.json"))
    parts = {part for student in students for part in student["seconds"]}
    figures = {
        "workers": workers,
        "submissions": len(students),
        "wall_s": round(found.wall, 2),
        "cpu_s": round(found.cpu, 2),
        "machine_s": round(found.machine, 2),
        "load": found.load,
        "per_second": round(len(students) / found.wall, 2),
        "warm_up_s": round(times[0] - found.began, 2),
        "ms": {
            part: round(1e3 * statistics.mean(student["seconds"].get(part, 0.0) for student in students), 1)
            for part in sorted(parts)
        },
    }
    if len(times) > 1:
        figures["warm_per_second"] = round((len(times) - 1) / (times[-1] - times[0]), 2)
    if memory:
        figures["pss_mb"] = round(found.pss_mb)
    return figures


def scores(term: Path) -> dict[str, Any]:
    """What each student earned, exercise by exercise, as the results keep it."""
    stored = {student: store.read(term, CHAPTER, student) for student in store.students(term, CHAPTER)}
    return {
        student: {name: verdict.earned for name, verdict in each.graded.by_exercise.items()}
        for student, each in stored.items()
        if each is not None
    }


def forget(term: Path) -> None:
    """Delete what an earlier run left."""
    for name in ("results", "autograded"):
        shutil.rmtree(term / name, ignore_errors=True)
    (term / "gradebook.db").unlink(missing_ok=True)

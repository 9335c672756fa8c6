"""What recording a submission costs: our writer and nbgrader's API, on SQLite and PostgreSQL.

    python benchmarks/gradebook.py [--record] [--submissions 100]

Both record the same submissions of chapter 01, taken in turn in one run, so that a slow moment of the machine meets
both; the rows are compared at the end. "one row" is the floor: a transaction that inserts one row, which is what the
disk takes to keep a commit. PostgreSQL is a new server with its defaults. With --record the figures are written to
benchmarks/results/gradebook.json. Exits with 1 where our processor time is above the limit.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests" / "autograde")]

import nbgrader_api  # noqa: E402
import postgres_server  # noqa: E402
from autograding import measure as measured  # noqa: E402
from autograding.book import write_page  # noqa: E402
from autograding.classes import CHAPTER as CHAPTER_ID  # noqa: E402

from grader.author.notebooks import student_notebooks  # noqa: E402
from grader.gradebook import gradebook_url, open_gradebook, open_writer, register  # noqa: E402
from grader.gradebook.database import open_engine, transaction  # noqa: E402
from grader.manifest import load_manifest  # noqa: E402

RESULTS = Path(__file__).parent / "results" / "gradebook.json"
LIMIT_MS = 3.0
CHAPTER = load_manifest(ROOT / "course.toml").chapter(CHAPTER_ID)


def submission(share: float) -> dict[str, dict[str, float]]:
    return {n.name: {e.id: e.points * share for e in n.exercises} for n in CHAPTER.notebooks}


def timed(work: Callable[[], None]) -> tuple[float, float]:
    """(wall, CPU) in ms."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return (time.perf_counter() - wall) * 1e3, (time.process_time() - cpu) * 1e3


def measure(ours: str, theirs: str, number: int) -> dict[str, Any]:
    """Medians of first recordings and of later ones, which change all scores; and of the floor."""
    for url in (ours, theirs):
        register(url, CHAPTER, student_notebooks(ROOT, load_manifest(ROOT / "course.toml"), CHAPTER))
    found: dict[str, Any] = {}
    students = nbgrader_api.api.Student.__table__
    with open_engine(ours) as floor, open_gradebook(theirs) as gradebook, open_writer(ours, CHAPTER.id) as writer:

        def one_row(name: str) -> None:
            with transaction(floor) as connection:
                connection.execute(students.insert().values(id=name))

        for what, share, when in (("first", 0.5, datetime(2026, 3, 1)), ("again", 1.0, datetime(2026, 3, 2))):
            times: dict[str, list[tuple[float, float]]] = {"ours": [], "nbgrader": [], "one row": []}
            for n in range(number):
                more = {"timestamp": when}
                times["ours"].append(timed(lambda: writer.record(f"s{n}", submission(share), **more)))  # noqa: B023
                oracle = nbgrader_api.record
                times["nbgrader"].append(
                    timed(lambda: oracle(gradebook, CHAPTER.id, f"s{n}", submission(share), **more))  # noqa: B023
                )
                times["one row"].append(timed(lambda: one_row(f"{what} {n}")))  # noqa: B023
            found[what] = {
                who: {
                    "wall_ms": round(statistics.median(wall for wall, _ in pairs), 2),
                    "cpu_ms": round(statistics.median(cpu for _, cpu in pairs), 2),
                    "mean_wall_ms": round(statistics.mean(wall for wall, _ in pairs), 2),
                }
                for who, pairs in times.items()
            }
    rows, due = nbgrader_api.rows(ours), nbgrader_api.rows(theirs)
    assert {**rows, "student": []} == {**due, "student": []}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--submissions", type=int, default=100)
    arguments = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        urls = [gradebook_url(Path(folder, name)) for name in ("ours", "theirs")]
        found["SQLite"] = measure(*urls, arguments.submissions)
    with postgres_server.running(fsync=True) as server:
        found["PostgreSQL"] = measure(server.new_database(), server.new_database(), arguments.submissions)
    heads = ("ours", "nbgrader", "ratio", "one row", "CPU ours", "nbgrader")
    print(f"{'median ms a submission':24}", *(f"{head:>9}" for head in heads), sep="")
    for database, parts in found.items():
        for what, sides in parts.items():
            ours, theirs = sides["ours"], sides["nbgrader"]
            figures = (
                ours["wall_ms"],
                theirs["wall_ms"],
                theirs["wall_ms"] / ours["wall_ms"],
                sides["one row"]["wall_ms"],
                ours["cpu_ms"],
                theirs["cpu_ms"],
            )
            print(f"{database + ', ' + what:24}", *(f"{figure:9.2f}" for figure in figures), sep="")
    if arguments.record:
        result = {"submissions": arguments.submissions, "on": measured.machine(), **found}
        RESULTS.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
        write_page()
    slowest = max(sides["ours"]["cpu_ms"] for parts in found.values() for sides in parts.values())
    if slowest > LIMIT_MS:
        sys.exit(f"{slowest:.2f} ms of processor a submission; the limit is {LIMIT_MS} ms")


if __name__ == "__main__":
    main()

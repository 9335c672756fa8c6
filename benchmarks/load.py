"""The same scores on a busy machine: one class, graded by 1, 2, 4 and 8 workers while other programs take every core.

    python benchmarks/load.py [--students 12] [--workers 1 2 4 8] [--hogs 2]

The class is a demo class of chapter 01 and five whose notebooks take time: `import torch` and pyplot in a cell of their
own, right work that computes for 60 % of its limit in a cell and in an exercise, an endless loop, and a sleeper.
`--hogs` programs that only compute run on each core. Prints what each number of workers took, and exits with 1 where
any student's points, verdicts or remarks differ from those that one worker found on a machine without hogs.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from autograding.classes import CHAPTER, ROOT
from autograding.ours import forget

from grader.author.demo_class import demo_class
from grader.author.notebooks import instructor_notebook, student_notebooks
from grader.cells import cell_source, grade_id, notebook_bytes
from grader.gradebook import gradebook_url
from grader.grading.chapter import autograde
from grader.grading.pool import local
from grader.manifest import load_manifest

PART = 0.6
NOTEBOOK, EXERCISE = "recurrence", "rnn_step"
MANIFEST = load_manifest(ROOT / "course.toml")
LIMITS = MANIFEST.limits(MANIFEST.chapter(CHAPTER))
SPIN = "import time\n_end = time.process_time() + {}\nwhile time.process_time() < _end: pass"
SLOW = f"""
_quick, _spun = {EXERCISE}, []
def {EXERCISE}(*args, **kwargs):
    if not _spun:
        _spun.append(1)
        exec({SPIN.format(PART * LIMITS.seconds_per_exercise)!r}, {{}})
    return _quick(*args, **kwargs)
"""
CELLS = {
    "torch": "import torch\nassert torch.ones(3).sum() == 3",
    "pyplot": "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.savefig('plot.png')",
    "slow": SPIN.format(PART * LIMITS.seconds_per_cell),
    "endless": "while True: pass",
    "sleeper": "import time\ntime.sleep(1e9)",
}


@dataclass(frozen=True)
class Found:
    """What a run came to: by student what was earned and seen, and how long it all took on the wall."""

    students: dict[str, Any]
    seconds: float


def make(term: Path, students: int) -> None:
    """A demo class, and copies of right work that take time."""
    demo_class(ROOT, term, CHAPTER, students, seed=1)
    for name, source in CELLS.items():
        for each, notebook in right_notebooks().items():
            if each == NOTEBOOK:
                first = next(index for index, cell in enumerate(notebook.cells) if cell.cell_type == "code")
                notebook.cells.insert(first + 1, nbformat.v4.new_code_cell(source, id="slow"))
                if name == "slow":
                    cell = next(cell for cell in notebook.cells if grade_id(cell) == EXERCISE)
                    cell.source += SLOW
            path = term / "submitted" / name / CHAPTER / f"{each}.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(notebook_bytes(notebook))


def right_notebooks() -> dict[str, Any]:
    """The released notebooks with the solution in the cell of each exercise."""
    chapter = MANIFEST.chapter(CHAPTER)
    released = student_notebooks(ROOT, MANIFEST, chapter)
    for notebook in chapter.notebooks:
        solved = instructor_notebook(ROOT, MANIFEST, chapter, notebook)
        exercises = {exercise.id for exercise in notebook.exercises}
        for cell in released[notebook.name].cells:
            if (name := grade_id(cell)) in exercises:
                cell.source = cell_source(solved, name)
    return released


def grade(term: Path, workers: int) -> Found:
    forget(term)
    start = time.perf_counter()
    graded = autograde(ROOT, term, CHAPTER, local(workers), db_url=gradebook_url(term))
    seconds = time.perf_counter() - start
    students = {
        each.student: (
            each.fault,
            sorted(map(repr, each.remarks)),
            {name: (verdict.status, verdict.earned) for name, verdict in each.by_exercise.items()},
        )
        for each in graded
    }
    return Found(dict(sorted(students.items())), seconds)


@contextmanager
def hogs(count: int) -> Iterator[None]:
    """Programs that take whatever processor time there is."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--students", type=int, default=12)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--hogs", type=int, default=2, help="programs on each core that only compute")
    arguments = parser.parse_args()
    different = False
    with tempfile.TemporaryDirectory() as folder:
        term = Path(folder, "term")
        make(term, arguments.students)
        alone = grade(term, 1)
        print(f"1 worker, no hogs: {alone.seconds:.1f} s", flush=True)
        for name in CELLS:
            _, remarks, verdicts = alone.students[name]
            points, ended = sum(earned for _, earned in verdicts.values()), sum("timeout" in each for each in remarks)
            print(f"  {name:8} {points:g} points, {ended} cells stopped", flush=True)
        with hogs(arguments.hogs * (os.cpu_count() or 1)):
            for workers in arguments.workers:
                found = grade(term, workers)
                wrong = [name for name, each in found.students.items() if each != alone.students[name]]
                different |= bool(wrong)
                print(f"{workers} workers under load: {found.seconds:.1f} s, {'different' if wrong else 'the same'}")
                for name in wrong:
                    print(f"  {name}: {found.students[name]}\n  not {alone.students[name]}", flush=True)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())

"""How long a student waits: for what a notebook imports, beyond NumPy's own import, and for `check` in a warm process.

    python benchmarks/check_latency.py [--record] [--times 30] [--only rnn_step …]

Each import is timed in fresh interpreters, taken in turn, so that a slow moment of the machine meets both. Modules are
compiled first. Limits are for processor time, which holds on a busy machine. With --record the figures are written to
benchmarks/results/check_latency.json. Exits with 1 where a limit is missed.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from autograding.measure import compile_modules

from grader import check
from grader.checking.evaluate import observe
from grader.released import COURSE
from grader.spec.load import reference

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results" / "check_latency.json"
IMPORT_LIMIT_MS = 100.0
CHECK_LIMIT_MS = 100.0
TRAINING_LIMIT_MS = 2000.0  # where a function that is given gets asked a hundred times or more: a network is trained
OURS = "from grader import check, hint, progress"  # as the first cell of every notebook


def import_ms(statement: str) -> float:
    """Milliseconds of processor time that a fresh interpreter needs for an import, measured inside it."""
    code = f"import time; t = time.process_time(); {statement}; print((time.process_time() - t) * 1e3)"
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def import_cost(times: int) -> dict[str, float]:
    """Medians over fresh interpreters, in ms; `beyond_numpy` is the median of the differences, pair by pair."""
    pairs = [(import_ms("import numpy"), import_ms(OURS)) for _ in range(times)]
    return {
        "numpy": statistics.median(n for n, _ in pairs),
        "grader": statistics.median(g for _, g in pairs),
        "beyond_numpy": statistics.median(g - n for n, g in pairs),
    }


def check_cost(names: list[str], times: int) -> dict[str, dict[str, float]]:
    """For each exercise, in ms: the first check of the process, then median and maximum of the following ones, and the
    median of their processor times.
    """
    costs = {}
    for name in names:
        function = reference(ROOT, COURSE.manifest.place(name))
        walls, processor = [], []
        for _ in range(times + 1):
            wall, cpu = time.perf_counter(), time.process_time()
            report = check(name, function)
            report._repr_html_()  # what the notebook shows is part of the wait
            walls.append((time.perf_counter() - wall) * 1e3)
            processor.append((time.process_time() - cpu) * 1e3)
        costs[name] = {
            "first": walls[0],
            "median": statistics.median(walls[1:]),
            "max": max(walls[1:]),
            "processor": statistics.median(processor[1:]),
        }
    return costs


def check_limit_ms(name: str) -> float:
    """How long a check of this exercise may take."""
    checks = COURSE.checks(name)
    observations = observe(checks, reference(ROOT, COURSE.manifest.place(name)))
    most = max(len(calls) for o in observations for calls in (o.calls or {"": []}).values())
    return TRAINING_LIMIT_MS if most >= 100 else CHECK_LIMIT_MS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", action="store_true", help="write the figures down")
    parser.add_argument("--times", type=int, default=30, help="checks of an exercise, and fresh interpreters")
    parser.add_argument("--only", nargs="+", default=list(COURSE.manifest.places), metavar="ID")
    arguments = parser.parse_args()
    compile_modules(sys.executable, ROOT / "grader")
    imports, checks = import_cost(arguments.times), check_cost(arguments.only, arguments.times)
    found = {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "machine": platform.machine(),
        "import_ms": {key: round(value, 1) for key, value in imports.items()},
        "check_ms": {name: {key: round(v, 2) for key, v in cost.items()} for name, cost in checks.items()},
    }
    print(json.dumps(found, indent=1))
    if arguments.record:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(found, indent=1) + "\n")
    late = [name for name, cost in checks.items() if cost["processor"] >= check_limit_ms(name)]
    if imports["beyond_numpy"] >= IMPORT_LIMIT_MS:
        late.append(OURS)
    print("too slow: " + ", ".join(late) if late else "all within their limits")
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())

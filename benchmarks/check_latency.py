"""How long a student waits: `import grader` beyond NumPy's own import, and `check` in a warm process.

    python benchmarks/check_latency.py [--record]

Each import is timed in fresh interpreters, taken in turn, so that a slow moment of the machine meets both.
With --record the figures
are written to benchmarks/results/check_latency.json. Exits with 1 where a limit is missed.
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

from grader import check
from grader.author.record import reference
from grader.checking.evaluate import observe
from grader.manifest import load_manifest
from grader.released import COURSE

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results" / "check_latency.json"
IMPORT_LIMIT_MS = 100.0
CHECK_LIMIT_MS = 100.0
TRAINING_LIMIT_MS = 2000.0  # where a function that is given gets asked a hundred times or more: a network is trained
IMPORTS, CHECKS = 15, 50


def import_ms(module: str) -> float:
    """Milliseconds that a fresh interpreter needs for `import module`, measured inside it."""
    code = f"import time; t = time.perf_counter(); import {module}; print((time.perf_counter() - t) * 1e3)"
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def import_cost() -> dict[str, float]:
    """Medians over fresh interpreters, in ms; `beyond_numpy` is the median of the differences, pair by pair."""
    pairs = [(import_ms("numpy"), import_ms("grader")) for _ in range(IMPORTS)]
    return {
        "numpy": statistics.median(n for n, _ in pairs),
        "grader": statistics.median(g for _, g in pairs),
        "beyond_numpy": statistics.median(g - n for n, g in pairs),
    }


def check_cost() -> dict[str, dict[str, float]]:
    """For each exercise, in ms: the first check of the process, then median and maximum of the following ones."""
    costs = {}
    for name, place in load_manifest(ROOT / "course.toml").places.items():
        function = reference(ROOT, place)
        times = []
        for _ in range(CHECKS + 1):
            start = time.perf_counter()
            report = check(name, function)
            report._repr_html_()  # what the notebook shows is part of the wait
            times.append((time.perf_counter() - start) * 1e3)
        costs[name] = {"first": times[0], "median": statistics.median(times[1:]), "max": max(times[1:])}
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
    record = parser.parse_args().record
    imports, checks = import_cost(), check_cost()
    found = {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "machine": platform.machine(),
        "import_ms": {key: round(value, 1) for key, value in imports.items()},
        "check_ms": {name: {key: round(v, 2) for key, v in cost.items()} for name, cost in checks.items()},
    }
    print(json.dumps(found, indent=1))
    if record:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(found, indent=1) + "\n")
    late = [name for name, cost in checks.items() if cost["median"] >= check_limit_ms(name)]
    if imports["beyond_numpy"] >= IMPORT_LIMIT_MS:
        late.append("import grader")
    print("too slow: " + ", ".join(late) if late else "all within their limits")
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())

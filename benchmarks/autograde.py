"""How fast a class is graded: ours, nbgrader and Otter on the same submissions of chapter 01, measured in one run.

    python benchmarks/autograde.py [--record] [--full | --small] [--only nbgrader ours …]

A class of 60: right, wrong, crashing and unwritten solutions of every exercise, and the capstone. Endless loops are
measured apart, since each costs its time limit, and so are two classes whose notebooks import torch: a made-up course
with answers of every kind, and chapter 04's notebook `char_lm`. nbgrader and Otter get the same notebooks with plain
asserts in place of our check cells. All libraries are compiled first, for all of them. nbgrader, whose time a
submission hardly varies, grades the first 6; with --full all 60, and ours grades 6,000 too. --small shows in a few
minutes that everything runs. With --record the figures, the plot and a summary go to benchmarks/results/autograde.* and
into the book's page; parts that were left out by --only keep what stands there. Exits with 1 where a target is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autograding import char_lm_course, measure, nbgrader_course, otter_course, ours, torch_course
from autograding.book import RESULTS, write_page
from autograding.classes import CHAPTER, ROOT, make_class, make_endless
from autograding.report import plot, summary

from grader.manifest import load_manifest

MANIFEST = load_manifest(ROOT / "course.toml")
TARGET_RATIO = 30.0
TARGET_MB = 400
TARGET_600_S = 60.0


@dataclass(frozen=True)
class Sizes:
    """Numbers of submissions. `small` is how many of these the graders with torch get at most."""

    ours: int = 60
    nbgrader: int = 6
    otter: int = 2
    growth: tuple[int, ...] = (60, 600)
    small: int | None = None


FULL = replace(Sizes(), nbgrader=60, growth=(60, 600, 6000))
SMALL = Sizes(3, 1, 1, (3, 6), 2)


def measure_ours(folder: Path, sizes: Sizes) -> Any:
    return [ours.grade(folder / "class", workers) for workers in (1, 2)]


def measure_nbgrader(folder: Path, sizes: Sizes) -> Any:
    nbgrader_course.make_course(folder / "nbgrader", folder / "class", sizes.nbgrader)
    return nbgrader_course.grade(folder / "nbgrader")


def measure_dask(folder: Path, sizes: Sizes) -> Any:
    found = [ours.grade(folder / "class", workers, executor="dask") for workers in (1, 2)]
    expected = ours.scores(folder / "class")
    ours.grade(folder / "class", 2)
    if ours.scores(folder / "class") != expected:
        raise SystemExit("Dask's workers found other scores than local ones")
    return found


def measure_memory(folder: Path, sizes: Sizes) -> Any:
    """Apart from the speed: who reads a process's memory holds it up."""
    return ours.grade(folder / "class", 2, memory=True)


def measure_endless(folder: Path, sizes: Sizes) -> Any:
    make_endless(folder / "endless")
    limits = MANIFEST.limits(MANIFEST.chapter(CHAPTER))
    allowed = {name: getattr(limits, name) for name in ("seconds_per_cell", "seconds_per_exercise")}
    return ours.grade(folder / "endless", 1) | allowed


def measure_growth(folder: Path, sizes: Sizes) -> Any:
    found = []
    for size in sizes.growth:
        make_class(folder / str(size), size)
        found.append(ours.grade(folder / str(size), 2, verify=size <= 600))
    return found


def measure_otter(folder: Path, sizes: Sizes) -> Any:
    return otter_course.grade(folder / "class", sizes.otter)


def measure_torch(folder: Path, sizes: Sizes) -> Any:
    return torch_course.grade(folder / "torch", sizes.small)


def measure_char_lm(folder: Path, sizes: Sizes) -> Any:
    return char_lm_course.grade(folder / "char_lm", sizes.small)


PARTS: dict[str, Callable[[Path, Sizes], Any]] = {
    "ours": measure_ours,
    "nbgrader": measure_nbgrader,
    "dask": measure_dask,
    "memory": measure_memory,
    "endless": measure_endless,
    "growth": measure_growth,
    "otter": measure_otter,
    "torch": measure_torch,
    "char_lm": measure_char_lm,
}


def missed(found: dict[str, Any]) -> list[str]:
    """The targets that these figures do not meet."""
    what = []
    if "nbgrader" in found and "ours" in found:
        ratio = found["ours"][-1]["warm_per_second"] / found["nbgrader"]["warm_per_second"]
        if ratio < TARGET_RATIO:
            what.append(f"{ratio:.0f} times nbgrader's throughput; the target is {TARGET_RATIO:.0f}")
    if "memory" in found and found["memory"]["pss_mb"] >= TARGET_MB:
        what.append(f"{found['memory']['pss_mb']} MB; the target is {TARGET_MB}")
    for each in found.get("growth", ()):
        if each["submissions"] == 600 and each["wall_s"] >= TARGET_600_S:
            what.append(f"{each['wall_s']} s for 600; the target is {TARGET_600_S:.0f} s")
    return what


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="write the figures down")
    parser.add_argument("--full", action="store_true", help="60 submissions for nbgrader, 6,000 for ours: half an hour")
    parser.add_argument("--small", action="store_true", help="a few submissions each, to see that everything runs")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--patience", type=float, default=600, help="seconds to wait for a quiet machine, each time")
    arguments = parser.parse_args()
    if arguments.small and (arguments.record or arguments.full):
        parser.error("figures of a few submissions are not recorded")
    sizes = SMALL if arguments.small else FULL if arguments.full else Sizes()
    measure.patience = 0.0 if arguments.small else arguments.patience
    measure.compile_modules(sys.executable, ROOT / "grader")
    path = RESULTS / "autograde.json"
    found = json.loads(path.read_text()) if len(arguments.only) < len(PARTS) and path.exists() else {}
    chapter = MANIFEST.chapter(CHAPTER)
    counts = {"exercises": len(chapter.exercises), "notebooks": len(chapter.notebooks)}
    found |= {"machine": measure.machine(), "chapter": counts}
    with tempfile.TemporaryDirectory() as name:
        make_class(Path(name, "class"), sizes.ours)
        for part in arguments.only:
            found[part] = PARTS[part](Path(name), sizes)
            print(part, json.dumps(found[part]), flush=True)
            if arguments.record:
                path.write_text(json.dumps(found, indent=1) + "\n")
                path.with_suffix(".md").write_text(summary(found), "utf-8")
                if "growth" in found:
                    plot(found["growth"], path.with_suffix(".svg"))
        if arguments.record and all(part in found for part in PARTS):
            write_page()
    print(summary(found))
    for what in missed(found):
        print(f"missed: {what}")
    return 1 if missed(found) else 0


if __name__ == "__main__":
    sys.exit(main())

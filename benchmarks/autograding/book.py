"""The figures on the book's page about scaling: its parts between `% measured: NAME` and `% end`, from the results."""

from __future__ import annotations

import json
import re
from typing import Any

from autograding.classes import ROOT

PAGE = ROOT / "book" / "scaling.md"
RESULTS = ROOT / "benchmarks" / "results"
_PART = re.compile(r"^% measured: (\w+)\n.*?^% end$", re.MULTILINE | re.DOTALL)


def write_page() -> None:
    """Write the recorded figures into the page."""
    PAGE.write_text(with_figures(PAGE.read_text("utf-8"), *recorded()), "utf-8")


def recorded() -> tuple[dict[str, Any], dict[str, Any]]:
    """The figures of `autograde.py` and of `gradebook.py`."""
    grading, gradebook = (
        json.loads((RESULTS / f"{name}.json").read_text("utf-8")) for name in ("autograde", "gradebook")
    )
    return grading, gradebook


def with_figures(page: str, grading: dict[str, Any], gradebook: dict[str, Any]) -> str:
    """The page with these figures. Every sentence here is true whatever they are."""
    texts = {
        "largest": _largest(grading),
        "table": _table(grading),
        "chapters": _chapters(),
        "dask": _dask(grading),
        "memory": _memory(grading),
        "gradebook": _gradebook(grading, gradebook),
    }
    return _PART.sub(lambda part: f"% measured: {part[1]}\n\n{texts[part[1]]}\n\n% end", page)


def _chapters() -> str:
    found = json.loads((RESULTS / "chapters.json").read_text("utf-8"))
    rows = [
        f"| {name[:4]} | {each['submissions']} | {each['wall_s']:.1f} | {each['cpu_s'] / each['submissions']:.1f} |"
        for name, each in found["chapters"].items()
    ]
    return "\n".join(
        [
            f"Correct submissions of every chapter, capstones included, with 2 workers on {_on(found['machine'])}:",
            "",
            "| chapter | submissions | seconds | processor seconds for each |",
            "|---|---:|---:|---:|",
            *rows,
        ]
    )


def _on(machine: dict[str, Any]) -> str:
    cpu = machine["cpu"].replace("(R)", "").replace(" Processor", "")
    return f"{machine['cores']} cores of an {cpu} processor, Linux {'.'.join(machine['kernel'].split('.')[:2])}"


def _largest(found: dict[str, Any]) -> str:
    largest = max(found["growth"], key=lambda each: each["submissions"])
    return (
        f"With {largest['workers']} workers on {found['machine']['cores']} cores of a server, a class of "
        f"{largest['submissions']:,} in a chapter of {found['chapter']['exercises']} exercises took "
        f"{largest['wall_s']:.0f} s: {largest['warm_per_second']:.3g} submissions per second, once the workers were "
        "warm.\n"
        "An endless loop takes up its whole time limit wherever it is called: one submission that contains one took "
        f"{found['endless']['ms']['run'] / 1e3:.0f} s."
    )


def _table(found: dict[str, Any]) -> str:
    workers = {1: "one worker", 2: "two workers"}
    dask = {1: "one Dask worker", 2: "two Dask workers on the same machine"}
    rows = [(workers[each["workers"]], each) for each in found["ours"]]
    rows += [(workers[each["workers"]], each) for each in found["growth"] if each["submissions"] > 60]
    rows += [(dask[each["workers"]], each) for each in found["dask"]]
    rows.append(("`nbgrader autograde`, one process", found["nbgrader"]))
    rows.append(("two workers, a notebook with a PyTorch model", found["char_lm"]["ours"]))
    rows.append(("`nbgrader autograde`, the same notebook", found["char_lm"]["nbgrader"]))
    lines = [f"| {what} | {each['submissions']:,} | {each['warm_per_second']:.3g} |" for what, each in rows]
    return "\n".join(
        [
            f"All of it on {_on(found['machine'])}, by `python benchmarks/autograde.py`; the complete figures are in "
            "`benchmarks/results/`.",
            "All libraries were compiled to bytecode first, nbgrader's too.",
            "",
            "| what | submissions | submissions per second, warm |",
            "|---|---:|---:|",
            *lines,
        ]
    )


def _dask(found: dict[str, Any]) -> str:
    cluster, local = found["dask"][-1], found["ours"][-1]
    slower = cluster["wall_s"] > local["wall_s"] and cluster["cpu_s"] > local["cpu_s"]
    with_dask, without = (1e3 * each["cpu_s"] / each["submissions"] for each in (cluster, local))
    return (
        f"Dask gives the same scores. With {cluster['workers']} workers, the class of {cluster['submissions']} took "
        f"{cluster['wall_s']:.1f} s with Dask, which includes the start of its cluster, and {local['wall_s']:.1f} s "
        f"without. Each submission took {with_dask:.0f} ms of processor time with Dask and {without:.0f} ms without."
        + (" On one machine, Dask only adds time." if slower else "")
    )


def _memory(found: dict[str, Any]) -> str:
    plain, torch = found["memory"], found["char_lm"]["ours_memory"]
    return (
        f"Without Dask, the command and its {plain['workers']} workers together took at most {plain['pss_mb']} MB, or "
        f"{torch['pss_mb']} MB with the notebook that uses PyTorch. Add what `memory_mb` in `course.toml` allows a "
        "submission for each worker."
    )


def _gradebook(grading: dict[str, Any], found: dict[str, Any]) -> str:
    databases = ("SQLite", "PostgreSQL")
    lines = []
    for what, who in (("`grader`", "ours"), ("nbgrader's own functions", "nbgrader")):
        times = (f"{found[database]['first'][who]['wall_ms']:.0f} ms" for database in databases)
        lines.append(f"| {what} | {' | '.join(times)} |")
    each = grading["ours"][0]["ms"]
    return "\n".join(
        [
            f"| recording one submission, in a transaction of its own | {' | '.join(databases)} |",
            "|---|---:|---:|",
            *lines,
            "",
            f"Measured by `python benchmarks/gradebook.py` on {_on(found['on'])}.",
            "`grader autograde` records several submissions in one transaction. In the class of "
            f"{grading['ours'][0]['submissions']}, whose gradebook is a SQLite file, this took "
            f"{each['gradebook']:.1f} ms per submission, and running its cells {each['run']:.0f} ms.",
        ]
    )

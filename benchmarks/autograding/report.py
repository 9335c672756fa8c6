"""The figures as a page to read and as a plot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from autograding.classes import DISTINCT
from autograding.measure import QUIET_LOAD

_BOTH = ("ours", "nbgrader")
_COUNTED = {
    True: "all processes, as the kernel counts them",
    False: "everything that the machine ran meanwhile, because this kernel does not count for us",
}
PARTS = ("read", "fork", "run", "judge", "write", "gradebook")


def summary(found: dict[str, Any]) -> str:
    """Markdown: what was measured, on what, and how the graders compare."""
    machine = found["machine"]
    lines = [
        "# How fast a class is graded",
        "",
        "Written by `python benchmarks/autograde.py --record`; the numbers stand in `autograde.json`.",
        "",
        f"{machine['date']}: {machine['cores']} cores of {machine['cpu']}, {machine['memory_gb']} GB, "
        f"Linux {machine['kernel']}, Python {machine['python']}, "
        + ", ".join(f"{name} {machine[name]}" for name in ("numpy", "nbgrader", "ipykernel", "distributed"))
        + ".",
        "All libraries were compiled to bytecode first, for all graders.",
        f"Each submission is the whole of chapter 01: {found['chapter']['exercises']} exercises in "
        f"{found['chapter']['notebooks']} notebooks. In classes of more than {DISTINCT} the submissions repeat, and "
        "ours judges equal results only once. *Warm* leaves out all that comes before the first submission. "
        f"*Processor seconds* are those of {_COUNTED[machine['counts_everything']]}. *Load* is that of the minute "
        f"before; the benchmark waits for one below {QUIET_LOAD}.",
        "",
        "| grader | submissions | seconds | a second | a second, warm | processor seconds each | load |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    rows = [(f"ours, {each['workers']} worker(s)", each) for each in found.get("ours", ())]
    rows += [("nbgrader autograde", found["nbgrader"])] if "nbgrader" in found else []
    rows += [("otter run", found["otter"])] if found.get("otter") else []
    rows += [(f"ours, Dask, {each['workers']} worker(s)", each) for each in found.get("dask", ())]
    rows += [(f"ours, 2 workers, {each['submissions']:,}", each) for each in found.get("growth", ())]
    rows += [
        (f"{name}, notebooks with torch", found["torch"][name]) for name in ("ours", "nbgrader") if "torch" in found
    ]
    rows += [(f"{name}, `char_lm` of chapter 04", found["char_lm"][name]) for name in _BOTH if "char_lm" in found]
    lines += [_row(what, each) for what, each in rows]
    lines.append("")
    if "ours" in found and "nbgrader" in found:
        for each in found["ours"]:
            theirs = found["nbgrader"]
            warm = each["warm_per_second"] / theirs["warm_per_second"]
            whole = each["per_second"] / theirs["per_second"]
            cpu = theirs["cpu_s"] / theirs["submissions"] / (each["cpu_s"] / each["submissions"])
            lines.append(
                f"- {each['workers']} worker(s): **{warm:.0f} times** nbgrader's throughput once warm, {whole:.0f} "
                f"times with everything counted; nbgrader takes {cpu:.0f} times as much processor time."
            )
    for each in found.get("ours", ()):
        parts = ", ".join(f"{part} {each['ms'][part]:g}" for part in PARTS if part in each["ms"])
        lines.append(f"- {each['workers']} worker(s), milliseconds a submission: {parts}.")
    if "memory" in found:
        lines.append(f"- Memory of all processes with 2 workers, at most: {found['memory']['pss_mb']} MB (PSS).")
    if "endless" in found:
        endless = found["endless"]
        lines.append(
            f"- A submission with one endless loop ({endless['seconds_per_cell']:g} s for a cell, "
            f"{endless['seconds_per_exercise']:g} s for the cases of an exercise): {endless['ms']['run'] / 1e3:.1f} s."
        )
    if "dask" in found and "ours" in found:
        for dask, local in zip(found["dask"], found["ours"], strict=True):
            cpu_ms = 1e3 * (dask["cpu_s"] - local["cpu_s"]) / dask["submissions"]
            lines.append(
                f"- Dask, {dask['workers']} worker(s): the same scores; {dask['wall_s'] - local['wall_s']:+.1f} s for "
                f"the class (at a load of {dask['load']:g}, local {local['load']:g}), {cpu_ms:+.0f} ms of processor a "
                "submission."
            )
    if "torch" in found:
        torch = found["torch"]
        ratio = torch["ours"]["per_second"] / torch["nbgrader"]["per_second"]
        lines.append(
            f"- A class of {torch['ours']['submissions']} whose notebooks import torch, 2 workers: "
            f"{torch['ours']['per_second']:.3g} a second with everything counted, {ratio:.0f} times nbgrader's "
            f"{torch['nbgrader']['per_second']:.3g}, in {torch['ours_memory']['pss_mb']} MB; nbgrader takes "
            f"{torch['nbgrader']['pss_mb']} MB."
        )
    if "char_lm" in found:
        lines.append(_char_lm(found["char_lm"]))
    if "growth" in found:
        lines += ["", "![Seconds by number of submissions](autograde.svg)"]
    return "\n".join(lines) + "\n"


def _char_lm(found: dict[str, Any]) -> str:
    """The torch assignment: what a submission takes once warm, and how."""
    mine, theirs = (1e3 / found[name]["warm_per_second"] for name in _BOTH)
    parts = ", ".join(f"{part} {found['ours']['ms'][part]:g}" for part in PARTS if part in found["ours"]["ms"])
    return (
        f"- `char_lm`, three exercises of which one is a torch module, 2 workers, once warm: {mine:.0f} ms a "
        f"submission ({parts} in a worker), nbgrader {theirs:.0f} ms, {theirs / mine:.0f} times as long; "
        f"{found['ours_memory']['pss_mb']} MB, nbgrader {found['nbgrader']['pss_mb']} MB."
    )


def _row(what: str, each: dict[str, Any]) -> str:
    warm = each.get("warm_per_second")
    figures = (
        f"{each['submissions']:,}",
        f"{each['wall_s']:.1f}",
        f"{each['per_second']:.3g}",
        "" if warm is None else f"{warm:.3g}",
        f"{each['cpu_s'] / each['submissions']:.3g}",
        f"{each['load']:.1f}",
    )
    note = f"; {each['note']}" if "note" in each else ""
    return f"| {what}{note} | {' | '.join(figures)} |"


def plot(growth: list[dict[str, Any]], path: Path) -> None:
    """Wall and processor seconds by the number of submissions, with a straight line through the largest class."""
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = path.name  # the same figures give the same bytes
    sizes = [each["submissions"] for each in growth]
    figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
    for key, label, mark in (("wall_s", "from start to end", "o-"), ("cpu_s", "processor, all processes", "s--")):
        axes.loglog(sizes, [each[key] for each in growth], mark, label=label)
    last = growth[-1]
    axes.loglog(sizes, [last["wall_s"] * n / last["submissions"] for n in sizes], "k:", label="in proportion")
    axes.set(xlabel="submissions of chapter 01, 2 workers", ylabel="seconds")
    axes.legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)

"""The numbers in the boxes *In practice*, one box at the end of each chapter, from the records of the experiments.

Each function returns what its chapter's box shows, by name, as text. No network is trained here: a record that a box
cites has its settings, its spread and its command on the page that the box links to.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def record_of(name: str) -> Any:
    """The record of an experiment, such as "ch03/adding"."""
    return json.loads(Path(__file__).parent.joinpath(f"{name}.json").read_text("utf-8"))


def plus_minus(mean_and_sd: list[float], digits: int) -> str:
    mean, sd = mean_and_sd
    return f"{mean:.{digits}f}\u00a0±\u00a0{sd:.{digits}f}"


def in_words(count: int) -> str:
    names = "no one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    return names.split()[count]


def scientific(value: float) -> str:
    """Write 2e-09 as 2 × 10⁻⁹, which no line break can divide."""
    digit, _, exponent = f"{value:.0e}".partition("e")
    raised = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{digit}\u00a0×\u00a010{raised}"


def chapter_0() -> dict[str, str]:
    window, counts = record_of("ch00/window"), record_of("ch00/counts")
    rows = {row["window"]: row for row in window["summary"]}
    bits = {(row["model"], row["smoothing"]): row["bits"] for row in counts["models"]}
    tried = {one["lr"]: one["dev_bits"] for one in window["choice"] if one["window"] == 4}
    return {
        "counted": f"{bits['6-gram', 'interpolated']:.2f}",
        "window": f"{min(row['bits'][0] for row in rows.values()):.2f}",
        **{f"lr-{lr:g}": f"{tried[lr]:.2f}" for lr in (0.002, 0.005)},
        **{f"train-{size}": f"{rows[size]['train_bits'][0]:.2f}" for size in (4, 16)},
        **{f"held-out-{size}": f"{rows[size]['bits'][0]:.2f}" for size in (4, 16)},
    }


def chapter_1() -> dict[str, str]:
    runs = record_of("ch01/temporal_xor")["runs"]
    by_size = {size: [run for run in runs if run["hidden_size"] == size] for size in (8, 4, 2)}
    (lost,) = [run for run in by_size[4] if not run["solved"]]
    halfway = [run["errors"] for run in by_size[2] if abs(run["errors"][2] - 1 / 9) < 0.06]
    triple = [run["after_a_stray_bit"]["third_bits"][0] for run in by_size[8]]
    return {
        **{f"solved-{size}": str(sum(run["solved"] for run in these)) for size, these in by_size.items()},
        "runs": str(len(by_size[8])),
        "lost-at": f"{lost['first_below']:,}",
        "lost-error": f"{lost['errors'][2]:.2f}",
        "halfway": f"{sum(sum(errors) / 3 for errors in halfway) / len(halfway):.2f}",
        "stray": f"{sum(triple) / len(triple):.2f}",
        "third": f"{sum(run['errors'][2] for run in by_size[8]) / len(triple):.3f}",
    }


def chapter_2() -> dict[str, str]:
    steps, truncation, loop = (record_of(name) for name in ("ch02/steps", "ch02/truncation", "ch04/first_loop"))
    usual = min(range(len(steps["steps"])), key=lambda i: abs(steps["steps"][i] - 1e-5))
    at_20 = [run["trained"][truncation["taus"].index(20)] for run in truncation["runs"]]
    added = [run["reset"] - run["carried"] for run in loop["runs"]]
    return {
        **{name: scientific(steps["errors"][name]["median"][usual]) for name in ("float64", "float32")},
        "cosine": f"{int(1000 * min(at_20)) / 1000:.3f}",
        "reset": f"{sum(added) / len(added):.2f}",
    }


def chapter_3() -> dict[str, str]:
    museum, clipping, copying, replaced, adding, longer = (
        record_of(f"ch03/{name}") for name in ("museum", "clipping", "copying", "initial_w_hh", "adding", "longer")
    )
    adam = [run for run in museum["runs"] if (run["variant"], run["optimizer"]) == ("right", "adam")]
    norms, acted = [run["norm_median"] for run in adam], [100 * run["share_above_limit"] for run in adam]
    wild = [run for run in clipping["runs"] if (run["cell"], run["optimizer"], run["lr"]) == ("tanh", "sgd", 1.0)]
    free, held = ([run for run in wild if bool(run["clip"]) is clipped] for clipped in (False, True))
    default = {(row["cell"], row["loss"], row["delay"]): row for row in copying["summary"]}["tanh", "answers", 10]
    orthogonal = {(row["kind"], row["delay"]): row for row in replaced["summary"]}["orthogonal", 10]
    tanh = [run for run in longer["runs"] if run["cell"] == "tanh"]
    lstm = adding["summary"]["lstm_1"]
    return {
        "norms": f"{min(norms):.2f} to {max(norms):.2f}",
        "acted": f"{min(acted):.1f} to {max(acted):.1f}",
        "diverged": in_words(sum(run["diverged_at"] is not None for run in free)),
        "diverged-by": str(max(run["diverged_at"] for run in free)),
        "norm-most": scientific(max(run["norm_largest"] for run in free)),
        "held": in_words(sum(run["diverged_at"] is not None for run in held)),
        **{
            name: f"{row['solved']} of {row['runs']} in {row['updates_mean']:,}"
            for name, row in (("default", default), ("orthogonal", orthogonal))
        },
        "tanh": f"{sum(run['solved_at'] is not None for run in tanh)} of {len(tanh)}",
        "gru": "{solved} of {runs}".format(**adding["summary"]["gru"]),
        "early": str(adding["settings"]["early"]),
        "lstm-early": f"{lstm['solved_early']} of {lstm['runs']}",
        "lstm": f"{lstm['solved']} of {lstm['runs']}",
        "lstm-updates": f"{adding['cells']['lstm_1']['updates']:,}",
    }


def chapter_4() -> dict[str, str]:
    latching, cells, adding = (record_of(name) for name in ("ch04/latching", "ch04/text_cells", "ch03/adding"))
    solved = {(row["cell"], row["task"]): row["solved"] for row in latching["results"]}
    tried = {one["lr"]: one["dev_bits"] for one in cells["choice"] if one["cell"] == "lstm"}
    table = {row["cell"]: row for row in cells["summary"]}
    gaps = [row["bits_mean"] - row["train_bits_mean"] for row in table.values()]
    return {
        "seeds": str(len(latching["seeds"])),
        **{f"20-{b}": str(solved[f"lstm_{b}", "20"]) for b in (0, 1)},
        **{f"50-{b}": str(solved[f"lstm_{b}", "50"]) for b in (1, 3)},
        **{name: plus_minus([table[name]["bits_mean"], table[name]["bits_sd"]], 2) for name in ("gru", "lstm")},
        **{f"{name}-lr": f"{cells['cells'][name]['lr']:g}" for name in ("gru", "lstm")},
        **{f"{name}-adding": f"{adding['summary'][name]['updates_mean']:,}" for name in ("gru", "lstm_1")},
        **{f"lr-{lr:g}": f"{tried[lr]:.2f}" for lr in (0.01, 0.03)},
        "gap": f"{min(gaps):.1f}",
    }


def chapter_5() -> dict[str, str]:
    samples, beams, contexts, exposure, phrases = (
        record_of(name) for name in ("ch04/samples", "ch05/beams", "ch05/contexts", "ch05/exposure", "ch05/phrases")
    )
    first, *_, last = beams["summary"].items()
    gains = {updates: found["4, 0"]["exact"][0] - found["1, 0"]["exact"][0] for updates, found in (first, last)}
    context = {(one["train"], one["context"], one["way"]): one for one in contexts["summary"]}
    once, every = (context[300, "final", way] for way in ("initial state", "every step"))
    exact = phrases["summary"]["forward"]["exact"]
    return {
        "distinct": f"{100 * samples['summary']['temperature 0.3']['distinct'][0]:.0f}",
        "distinct-real": f"{100 * samples['held_out']['distinct']:.0f}",
        **{f"updates-{name}": updates for name, updates in zip(("first", "last"), gains, strict=True)},
        "gain-first": f"{gains[first[0]]:.0f}",
        "gain-last": f"{gains[last[0]]:.1f}",
        **{f"bleu-{alpha}": f"{first[1][f'8, {alpha}']['bleu'][0]:.0f}" for alpha in ("0", "0.5", "1")},
        "once": plus_minus([once["mean"][0], once["sd"][0]], 0),
        "every": plus_minus([every["mean"][0], every["sd"][0]], 0),
        "teacher": plus_minus(exposure["summary"]["0"]["in_range"]["exact"], 0),
        "scheduled": plus_minus(exposure["summary"]["0.5"]["in_range"]["exact"], 0),
        "short": f"{exact['3–5'][0]:.0f}",
        "long": f"{exact['11–15'][0]:.0f}",
    }


def chapter_6() -> dict[str, str]:
    gains, alignments, cost = (record_of(f"ch06/{name}") for name in ("gains", "alignments", "cost"))
    summary = gains["summary"]
    to_15, to_30 = (summary[f"phrases to {longest}, additive"]["exact"] for longest in (15, 30))
    erased = [run["erased"]["by_kind"]["determiner"] for run in alignments["runs"] if run["group"] == "additive"]
    changed = [one.get("light noun changes output", 0) / one["light nouns"] for one in erased]
    return {
        "attention": plus_minus(summary["numbers, 300, additive"]["exact"], 1),
        "every": plus_minus(summary["numbers, 300, every step"]["exact"], 1),
        **{f"15-at-{words}": f"{to_15[str(words)][0]:.0f}" for words in (15, 20, 30)},
        "30-at-30": f"{to_30['30'][0]:.0f}",
        "erased": f"{100 * sum(changed) / len(changed):.0f}",
        "gru": f"{round(cost['summary']['nn.GRU']['crossover'], -2):,}",
    }

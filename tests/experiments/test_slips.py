"""The trainings behind "Where the sources slip", and what the pages that belong to no chapter say of records."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np
import pytest

from experiments import slips
from experiments.ch02 import char_rnn
from experiments.ch03 import bounds, clipping, copying
from experiments.ch05 import phrases
from experiments.ch06 import alignments, gains
from experiments.text import python_docs

docs = cache(python_docs)


def recorded(module: Any = slips) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(Path(module.RESULTS_FILE).read_text("utf-8"))
    return record


def test_the_record_is_whole() -> None:
    record = recorded()
    assert record["command"] == "python -m experiments.slips --record"
    assert record["settings"] == slips.SETTINGS
    assert record["text"]["sha256"] == docs().sha256
    assert set(record["versions"]) == {"numpy", "torch"}
    for name in ("chunks", "short"):
        assert [run["seed"] for run in record[name]] == list(slips.SEEDS) == record["seeds"]
    assert {name: len(found) for name, found in record["hello"].items()} == dict.fromkeys(
        ("all", "two"), len(slips.HELLO_SEEDS)
    )
    for name, digits in (("chunks", 3), ("short", 2)):
        for key, found in record["summary"][name].items():
            values = [run[key] for run in record[name]]
            assert found == [round(mean(values), digits), round(stdev(values), digits)]
    assert slips.RESULTS_FILE.stat().st_size < 10_000


# What the page says ---------------------------------------------------------------------------------------------------


def test_a_state_passed_on_is_one_run_and_a_reset_state_is_worse() -> None:
    for run in recorded()["chunks"]:
        assert run["passed on"] == run["in one run"]
        assert run["reset"] > run["passed on"] + 0.1


def test_300_characters_are_memorised_and_unseen_text_is_not_predicted() -> None:
    record = recorded()
    assert record["summary"]["uniform"] == round(math.log2(len(docs().characters)), 2)
    assert record["summary"]["unigram"] < record["summary"]["uniform"] - 0.5
    for run in record["short"]:
        assert run["short"] < 0.5
        assert run["unseen"] > record["summary"]["uniform"] + 0.5
        assert run["improbable"] > 0.4


def test_two_matrices_do_not_learn_hello_and_all_parameters_do() -> None:
    found = recorded()["hello"]
    assert max(found["all"]) < 0.05
    assert min(found["two"]) > math.log(2) / 2 + 0.1


def test_what_the_page_says_of_other_records() -> None:
    counts = [row for row in recorded(bounds)["results"] if row["activation"] == "tanh"]
    total = {key: sum(row[key] for row in counts) for key in counts[0] if key not in ("activation", "seed")}
    assert total["violations"] == total["below_grown"] == 0
    assert total["above_vanished"] > 1000 > total["above_exploded"] > 100
    solved = {
        row["cell"]: (row["solved"], row["runs"])
        for row in recorded(copying)["summary"]
        if (row["delay"], row["loss"]) == (30, "answers")
    }
    assert solved == {"tanh": (0, 5), "orthogonal": (5, 5), "gru": (5, 5)}
    of = {name: row["erased"] for name, row in recorded(alignments)["summary"].items()}
    for name in ("additive", "additive, forward"):
        words = of[name]["words"]
        assert 0.75 * words < of[name]["weight is needed"] < 0.8 * words
        assert of[name]["state is heaviest"] > 0.9 * words
    assert of["additive, current"]["weight is needed"] > 0.9 * of["additive, current"]["words"]
    exact = recorded(gains)["summary"]["phrases to 15, additive"]["exact"]
    assert exact["15"][0] > 75 > exact["20"][0]
    assert exact["30"][0] < 5


def test_what_the_page_of_questions_says_of_records() -> None:
    groups = {(one["cell"], one["optimizer"], one["lr"], one["clip"]): one for one in recorded(clipping)["summary"]}
    without, limited = (groups["tanh", "sgd", 1.0, limit] for limit in (None, 1.0))
    assert without["diverged"] == without["runs"] == limited["runs"] == 5
    assert limited["diverged"] == limited["solved"] == without["solved"] == 0
    assert recorded(phrases)["summary"]["forward"]["runs"] == 5


# Its functions --------------------------------------------------------------------------------------------------------


def test_chunks_of_ten_read_what_one_run_reads() -> None:
    rng = np.random.default_rng(0)
    network, ids = char_rnn.initial(7, 6, rng, radius=2.0), rng.integers(0, 7, 96)
    network["W_hy"] *= 100
    one_run = char_rnn.bits(network, ids)
    assert slips.in_chunks_of_ten(network, ids, keep_state=True) == pytest.approx(one_run, abs=1e-9)
    alone = [
        char_rnn.bits(network, ids[start : start + 11]) * len(ids[start + 1 : start + 11]) for start in range(0, 95, 10)
    ]
    assert slips.in_chunks_of_ten(network, ids, keep_state=False) == pytest.approx(sum(alone) / 95, abs=1e-9)
    assert abs(sum(alone) / 95 - one_run) > 1e-3


# Slow -----------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_part_of_the_record_is_found_again() -> None:
    """CPUs differ in the last bit, and training grows it."""
    text = docs()
    again = slips.chunks_run(0, text)
    assert again["passed on"] == pytest.approx(again["in one run"], abs=2e-3)
    assert again["reset"] > again["passed on"]
    assert slips.short_run(0, text)["unseen"] > math.log2(len(text.characters))
    assert slips.hello_loss(0, True) < 0.05 < math.log(2) / 2 < slips.hello_loss(0, False)

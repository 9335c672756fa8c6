"""One weight for each position: what was recorded of it."""

from __future__ import annotations

import json
from statistics import mean
from typing import Any

import numpy as np
import pytest

from experiments.ch00 import positions
from experiments.text import python_docs


def recorded() -> dict[str, Any]:
    record: dict[str, Any] = json.loads(positions.RESULTS_FILE.read_text("utf-8"))
    return record


def results(question: str, pad: str, test: str) -> list[float]:
    runs = recorded()["runs"]
    return [run[test] for run in runs if (run["question"], run["padding"]) == (question, pad)]


def test_the_record_has_settings_seeds_text_and_its_command() -> None:
    record = recorded()
    assert record["command"] == "python -m experiments.ch00.positions --record"
    assert record["settings"] == positions.SETTINGS
    assert record["text"]["sha256"] == python_docs().sha256
    assert [record["text"]["short"], record["text"]["long"]] == [len(words) for words in positions.all_words()]
    for question in positions.QUESTIONS:
        for pad in positions.PADDINGS:
            assert len(results(question, pad, "short")) == len(positions.SEEDS) == 5


@pytest.mark.parametrize(("question", "hard"), positions.HARD.items())
def test_what_the_page_says_of_the_record(question: str, hard: str) -> None:
    """It fails on long words where the letter's place depends on the length; training on long words helps partly."""
    easy = next(pad for pad in positions.PADDINGS if pad != hard)
    assert min(results(question, easy, "short") + results(question, easy, "long")) > 99.5
    assert max(abs(share - 50) for share in results(question, hard, "long")) < 1
    short, control = results(question, hard, "short"), results(question, hard, "control")
    assert min(short) > 90
    for seed in range(5):
        assert (short[seed] - 50) / 2 < control[seed] - 50, "more than half of the gap is closed"
        assert control[seed] < short[seed]
    assert max(results(question, hard, "fitted")) < 97
    assert mean(control) < mean(results(question, hard, "fitted"))


def test_right_is_the_mean_of_two_shares() -> None:
    never = np.zeros(12 * 27), -1.0
    assert positions.right(never, ["sea", "as", "class"], "begins", "after") == 50
    first_is_s = np.zeros((12, 27))
    first_is_s[0, positions.SYMBOLS.index("s")] = 2
    model = first_is_s.ravel(), -1.0
    assert positions.right(model, ["sea", "as", "class"], "begins", "after") == 100
    assert positions.right(model, ["sea", "as", "class", "it"], "ends", "after") == 25


@pytest.mark.slow
def test_a_part_of_the_record_is_found_again() -> None:
    once = next(run for run in recorded()["runs"] if "control" in run)
    again = positions.run(once["seed"], once["question"], once["padding"])
    for test in ("short", "long", "control", "fitted"):
        assert again[test] == pytest.approx(once[test], abs=2)

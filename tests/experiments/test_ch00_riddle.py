"""The riddle with the star: its windows, and what was recorded."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch

from experiments.ch00 import riddle


def recorded() -> dict[str, Any]:
    record: dict[str, Any] = json.loads(riddle.RESULTS_FILE.read_text("utf-8"))
    return record


def rights(name: str) -> list[list[float]]:
    return [run["right"] for run in recorded()["runs"] if run["trained"] == name]


def test_the_record_has_settings_seeds_versions_and_its_command() -> None:
    record = recorded()
    assert record["command"] == "python -m experiments.ch00.riddle --record"
    assert {key: record["settings"][key] for key in riddle.SETTINGS} == riddle.SETTINGS
    assert set(record["versions"]) == {"torch"}
    assert [(run["trained"], run["seed"]) for run in record["runs"]] == [
        (name, seed) for name in riddle.TRAINED for seed in riddle.SEEDS
    ]


def test_what_the_page_says_of_the_record() -> None:
    """Right where it was trained, and no better than guessing elsewhere."""
    assert all(min(right[:3]) > 0.99 and 0.05 < min(right[3:]) <= max(right[3:]) < 0.15 for right in rights("some"))
    assert all(min(right) > 0.99 for right in rights("all"))


@pytest.mark.parametrize("positions", [[0], [6], [1, 4]])
def test_the_answer_is_the_letter_after_the_star(positions: list[int]) -> None:
    asked, answer = riddle.riddles(200, positions, torch.Generator().manual_seed(0))
    assert asked.shape == (200, riddle.SIZE)
    for window, letter in zip(asked.tolist(), answer.tolist(), strict=True):
        assert window.count(0) == 1
        assert window.index(0) in positions
        assert window[window.index(0) + 1] == letter
        assert 1 <= letter <= riddle.LETTERS


@pytest.mark.slow
def test_a_part_of_the_record_is_found_again() -> None:
    right = riddle.solved(riddle.TRAINED["some"], 7, riddle.SETTINGS["updates"])  # a seed that is not recorded
    assert min(right[:3]) > 0.95
    assert max(right[3:]) < 0.25

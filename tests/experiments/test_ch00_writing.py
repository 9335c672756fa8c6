"""What counts write: its functions, and what was recorded of them."""

from __future__ import annotations

import json
import random
from statistics import median
from typing import Any

import pytest

from experiments.ch00 import writing
from experiments.text import Text, python_docs


def recorded() -> dict[str, Any]:
    record: dict[str, Any] = json.loads(writing.RESULTS_FILE.read_text("utf-8"))
    return record


def test_the_record_has_settings_seeds_text_and_its_command() -> None:
    record, text = recorded(), python_docs()
    assert record["command"] == "python -m experiments.ch00.writing --record"
    assert record["seeds"] == list(writing.SEEDS)
    assert record["text"]["sha256"] == text.sha256
    assert (record["text"]["train"], record["text"]["characters"]) == (len(text.train), len(text.characters))
    assert [row["order"] for row in record["samples"]] == list(writing.ORDERS)
    assert all(len(row["copied"]) == len(writing.SEEDS) == 5 for row in record["samples"])


def test_a_part_of_the_record_is_found_again() -> None:
    record, text = recorded(), python_docs()
    assert writing.unseen(text, 2) == record["unseen"][0]
    assert writing.samples(text, 3) == record["samples"][2]


@pytest.mark.slow
def test_everything_is_recorded() -> None:
    record = recorded()
    assert writing.measured() == {key: record[key] for key in ("unseen", "samples", "people")}


def test_what_the_page_says_of_the_record() -> None:
    record = recorded()
    zeros = [row["zeros"] for row in record["unseen"]]
    assert 0 < zeros[0] < zeros[1] < zeros[2] < zeros[3] < zeros[4]
    rows = {row["order"]: row for row in record["samples"]}
    copied, people = {n: median(row["copied"]) for n, row in rows.items()}, median(record["people"])
    assert 1 < copied[1] < copied[3] < copied[6] < copied[10]
    assert copied[6] > 4 * 6, "several times longer than the order"
    assert copied[10] > 1.5 * people, "clearly longer than in text by people"
    assert 0.8 < copied[6] / people < 1.2, "of similar length"
    assert rows[10]["forced"] > 70 > 50 > rows[6]["forced"] > 30
    train = " ".join(python_docs().train.split())
    assert all(row["sample"] not in train for n, row in rows.items() if n < 10)


def test_a_chain_of_forced_choices_is_written() -> None:
    counts = {(0,): {1: 2}, (1,): {2: 1}, (2,): {0: 5}}
    assert writing.write(counts, [0], 7, random.Random(0)) == [1, 2, 0, 1, 2, 0, 1]


def test_unseen_counts_what_never_followed() -> None:
    text = Text("abab", "abbaab", "ab", "a text")
    assert writing.unseen(text, 2) == {"order": 2, "contexts": 2, "zeros": 40}

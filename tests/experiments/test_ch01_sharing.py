"""Shared and separate weights: the strings, and what was recorded."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from experiments.ch01 import sharing


def recorded() -> dict[str, Any]:
    record: dict[str, Any] = json.loads(sharing.RESULTS_FILE.read_text("utf-8"))
    return record


def test_the_record_has_settings_versions_and_its_command() -> None:
    record = recorded()
    assert record["command"] == "python -m experiments.ch01.sharing --record"
    assert {key: record["settings"][key] for key in sharing.SETTINGS} == sharing.SETTINGS
    assert set(record["versions"]) == {"torch"}
    for kind in sharing.SETS:
        assert np.shape(record[kind]["detected"]) == (5, 11)
        assert np.shape(record[kind]["false_alarms"]) == (5,)


def test_what_the_page_says_of_the_record() -> None:
    """Both kinds solve the first half; in the second, only the shared weights do."""
    shared, separate = (np.array(recorded()[kind]["detected"]) for kind in ("shared", "separate"))
    assert shared.min() > 0.99
    assert separate[:, :5].min() > 0.99
    assert separate[:, 5:].max() < 0.01
    assert max(max(recorded()[kind]["false_alarms"]) for kind in sharing.SETS) < 0.005


@pytest.mark.parametrize("first_half_only", [True, False])
def test_strings_say_where_ab_has_just_been_read(first_half_only: bool) -> None:
    ids, just_read = sharing.strings(300, np.random.default_rng(0), first_half_only)
    words = ["".join("abc"[i] for i in row) for row in ids]
    assert just_read.tolist() == [[word[: t + 1].endswith("ab") for t in range(12)] for word in words]
    assert just_read[:, :6].any()
    assert just_read[:, 6:].any() != first_half_only


@pytest.mark.slow
def test_a_part_of_the_record_is_found_again() -> None:
    settings = {**sharing.SETTINGS, "seeds": 2}  # other initial weights than the recorded ones
    for kind, sets_of_weights in sharing.SETS.items():
        rates, alarms = sharing.detected(sets_of_weights, **settings)
        assert rates[:5].min() > 0.95
        assert (rates[5:].min() > 0.95) if kind == "shared" else (rates[5:].max() < 0.05)
        assert alarms.max() < 0.02

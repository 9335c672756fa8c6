"""The recorded network that spells `hello`: what the record says of it is so."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from experiments.ch01.hello import VOCABULARY, load_record, load_weights
from experiments.ch01.hello_weights import SETTINGS, SHAPES, TEXT, evaluate, train


def test_the_recorded_weights_do_what_is_recorded() -> None:
    record, weights = load_record(), load_weights()
    assert {name: weight.shape for name, weight in weights.items()} == SHAPES
    assert all((np.round(weight, 2) == weight).all() for weight in weights.values())
    assert evaluate({name: torch.from_numpy(weight) for name, weight in weights.items()}) == record["result"]
    assert (record["result"]["greedy"], record["text"], record["vocabulary"]) == (TEXT, TEXT, list(VOCABULARY))
    assert record["trained"].items() >= SETTINGS.items()


def test_without_its_memory_it_cannot_spell() -> None:
    """The two l's are told apart by the state alone."""
    weights = load_weights() | {"W_hh": np.zeros((3, 3))}
    assert evaluate({name: torch.from_numpy(weight) for name, weight in weights.items()})["greedy"] != TEXT


@pytest.mark.parametrize("penalty", [0.0, SETTINGS["penalty"]])
def test_the_penalty_alone_moves_the_row_of_the_letter_that_is_never_read(
    penalty: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without it the row of `o` keeps its initial values; with it the row shrinks."""
    monkeypatch.setitem(SETTINGS, "decimals", 12)
    monkeypatch.setitem(SETTINGS, "penalty", penalty)
    rows = {}
    for updates in (0, 30):
        monkeypatch.setitem(SETTINGS, "updates", updates)
        rows[updates] = train()["W_xh"][VOCABULARY.index("o")].abs()
    assert (rows[30] < rows[0]).all() if penalty else torch.equal(rows[30], rows[0])

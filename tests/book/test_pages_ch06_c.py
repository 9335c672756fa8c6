"""The labelled equation of chapter 6's third page, and what it says in words."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from experiments.ch06 import gains
from experiments.ch06.model import Attending, AttentionSettings


def recorded() -> dict[str, Any]:
    record: dict[str, Any] = json.loads(gains.RESULTS_FILE.read_text("utf-8"))
    return record


@pytest.mark.parametrize(("S", "T"), [(1, 1), (5, 3), (15, 15)])
@pytest.mark.parametrize("score", ["dot", "additive"])
@torch.no_grad()
def test_multiplications_for_scores_and_weighted_sums(score: str, S: int, T: int) -> None:
    """Equation (attention-products): those that PyTorch counts, two operations for each multiplication."""
    H, A = 8, 6
    settings = AttentionSettings(embed_size=4, hidden_size=H, attention_size=A, score=score)
    model = Attending(9, 9, settings)
    ids, lengths = torch.randint(3, 9, (1, S)), torch.tensor([S])
    keys = model.encode(ids, lengths)
    source = keys._replace(projected=keys.keys)  # the keys are projected below, where they are counted
    with FlopCounterMode(display=False) as counter:
        if score == "additive":
            source = keys._replace(projected=model.key(keys.keys))
        model.attend(torch.randn(1, T, H), source)
    expected = {"dot": 2 * S * T * H, "additive": S * T * (A + H) + (S + T) * H * A}[score]
    assert counter.get_total_flops() == 2 * expected


def test_the_current_state_needs_no_loop() -> None:
    """With s_t as the query, all steps at once are what one step at a time gives; with s_{t-1} the context is read."""
    for query, reads in (("current", False), ("previous", True)):
        model = Attending(9, 9, replace(AttentionSettings(embed_size=4, hidden_size=8), query=query, score="dot"))
        assert (model.decoder.input_size == 4 + 8) == reads
        ids, lengths = torch.randint(3, 9, (2, 5)), torch.tensor([5, 3])
        source = model.encode(ids, lengths)
        state, read = model.start(source), torch.randint(3, 9, (2, 4))
        together, _, _ = model.decode_attending(read, state, source)
        for t in range(4):
            one, state, _ = model.decode_attending(read[:, t : t + 1], state, source)
            torch.testing.assert_close(one[:, 0], together[:, t])


def test_the_record_says_what_the_page_says_of_numbers() -> None:
    """The claims of the text that need no number; their sizes are asserted on the page."""
    summary = recorded()["summary"]
    few, fair = summary["numbers, 300, additive"], summary["numbers, 300, every step"]
    assert few["updates"] * 3 == fair["updates"]
    assert few["lowest"] > max(one["exact"] for one in recorded()["runs"] if one["group"] == "numbers, 300, every step")
    assert summary["numbers, 300, dot"]["exact"][0] < fair["exact"][0]
    assert few["exact"][0] < summary["numbers, 8,000, additive"]["exact"][0]


def test_the_record_says_what_the_page_says_of_lengths() -> None:
    summary = recorded()["summary"]
    for name, trained in (("phrases to 15, additive", 15), ("phrases to 30, additive", 30)):
        exact = {int(length): found[0] for length, found in summary[name]["exact"].items()}
        within = [share for length, share in exact.items() if length <= trained]
        beyond = [share for length, share in exact.items() if length > trained + 5]
        assert min(within) > max(beyond), "no length beyond the trained ones is as good as the worst of these"
        share = [exact[length] for length in range(trained + 1, trained + 11)]
        assert share[-1] < 0.2 * share[0], "the page says: ten words beyond the range hardly any"
    to_15, to_30 = (summary[f"phrases to {trained}, additive"]["exact"] for trained in (15, 30))
    assert all(to_30[str(length)][0] > to_15[str(length)][0] + 20 for length in range(20, 31))

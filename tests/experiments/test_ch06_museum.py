"""The silent bugs of multi-head attention: what each program computes, and what was recorded of it."""

from __future__ import annotations

import json
import math
from statistics import mean
from typing import Any

import numpy as np
import pytest
import torch

from experiments.ch06 import museum
from experiments.ch06.museum import ACROSS, AFTER, HALF, HEADS, LENGTH, PROGRAMS, QUERIES, RESHAPED, ROOT, Reverser
from solutions.ch06_attention.self_attention import causal_mask, multi_head_attention

TORCH = torch.__version__.partition("+")[0]
LEAKS = {AFTER, QUERIES, HALF}


def recorded() -> dict[str, Any]:
    record: dict[str, Any] = json.loads(museum.RESULTS_FILE.read_text("utf-8"))
    return record


def test_the_record_has_settings_seeds_versions_and_its_command() -> None:
    record = recorded()
    assert record["command"] == "python -m experiments.ch06.museum --record"
    assert record["seeds"] == list(museum.SEEDS)
    assert len(set(record["seeds"])) >= 5
    assert record["versions"].keys() == {"torch"}
    assert {key: record["settings"][key] for key in museum.SETTINGS} == museum.SETTINGS
    assert museum.RESULTS_FILE.stat().st_size < 120_000


def test_the_summary_follows_from_the_runs() -> None:
    record = recorded()
    assert [(one["program"], one["seed"]) for one in record["runs"]] == [
        (program, seed) for program in PROGRAMS for seed in museum.SEEDS
    ]
    assert record["summary"] == museum.summary(record["runs"])


def test_the_right_program_is_the_exercise() -> None:
    torch.manual_seed(0)
    model = Reverser("right").double()
    x = torch.randn(3, 7, museum.D, dtype=torch.float64)
    W_q, W_k, W_v = (W.T.numpy() for W in model.in_proj.weight.detach().chunk(3))
    W_o = model.out_proj.weight.detach().T.numpy()
    with torch.no_grad():
        y, weights = model.attention(x)
    expected = multi_head_attention(x.numpy(), W_q, W_k, W_v, W_o, HEADS, causal_mask(7))
    np.testing.assert_allclose(y.numpy(), expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(weights.sum(-1).numpy(), 1, rtol=1e-10)


@pytest.mark.parametrize("program", PROGRAMS)
def test_which_programs_see_the_future(program: str) -> None:
    """Changing letters from the fifth on changes the outputs before it only where the future leaks."""
    for seed in museum.SEEDS:
        found = museum.untrained(seed)[program]
        assert (found["future"] > 0) == (program in LEAKS)
        assert (found["differs"] > 0) == (program != "right")
        assert found == pytest.approx(recorded()["untrained"][str(seed)][program], abs=0.01)


def test_what_sums_to_1() -> None:
    torch.manual_seed(0)
    q, k = torch.randn(2, 2, HEADS, 6, 5, dtype=torch.float64)
    allowed = torch.ones(6, 6).tril()
    sums = {QUERIES: (2, torch.ones(6)), ACROSS: (1, allowed), ROOT: (3, torch.ones(6)), "right": (3, torch.ones(6))}
    for program, (axis, expected) in sums.items():
        found = museum.head_weights(q, k, program).sum(axis)
        torch.testing.assert_close(found, expected.double().expand_as(found))
    assert (museum.head_weights(q, k, AFTER).sum(3)[..., :-1] < 1).all()
    torch.testing.assert_close(museum.head_weights(q, k, ROOT), museum.head_weights(q / math.sqrt(HEADS), k, "right"))


def test_a_reshape_alone_gives_each_head_a_part_of_the_sequence() -> None:
    """With T a multiple of the heads, a head gets whole rows of T / heads neighbouring positions."""
    positions = torch.arange(2 * LENGTH)[None, :, None].expand(1, -1, museum.D)
    heads = museum.split(positions, RESHAPED)[0]
    own = 2 * LENGTH // HEADS
    assert [sorted(set(head.flatten().tolist())) for head in heads] == [
        list(range(i * own, (i + 1) * own)) for i in range(HEADS)
    ]
    assert torch.equal(museum.joined(museum.split(positions, RESHAPED), RESHAPED), positions)
    assert torch.equal(museum.joined(museum.split(positions, "right"), "right"), positions)
    assert not torch.equal(museum.joined(museum.split(positions, HALF), HALF), positions)


def test_sequences_are_reversed_after_the_separator() -> None:
    ids = museum.sequences(50, torch.Generator().manual_seed(0))
    assert ids.shape == (50, 2 * LENGTH + 1)
    assert (ids[:, LENGTH] == museum.SEPARATOR).all()
    assert torch.equal(ids[:, :LENGTH].flip(1), ids[:, LENGTH + 1 :])
    assert ids[:, :LENGTH].max() < museum.LETTERS


def test_no_network_that_is_blind_to_the_future_predicts_random_letters() -> None:
    for one in recorded()["runs"]:
        assert one["random_loss_blind"] > math.log(museum.LETTERS) - 0.02
        if one["program"] in LEAKS:
            assert one["random_loss"] < math.log(museum.LETTERS) - 0.5
            assert one["random_loss_blind"] > 5
        else:
            assert one["random_loss"] == pytest.approx(one["random_loss_blind"], abs=0.002)


def test_the_bugs_as_recorded() -> None:
    """What the page says of them."""
    runs = recorded()["runs"]

    def of(program: str, key: str) -> list[float]:
        return [one[key] for one in runs if one["program"] == program]

    assert min(of("right", "exact")) == 100
    assert min(of(ROOT, "exact")) > 99
    assert min(of(ACROSS, "exact")) > 99  # a null result, as is that of ROOT
    for program in LEAKS:
        assert min(of(program, "reversed_accuracy")) > 99
    assert max(of(QUERIES, "exact") + of(HALF, "exact")) < 60
    assert max(of(RESHAPED, "reversed_accuracy")) < 100 / museum.LETTERS + 5
    assert mean(of(RESHAPED, "reversed_loss")) == pytest.approx(math.log(museum.LETTERS), abs=0.05)
    for one in runs:
        if one["program"] == "right":
            assert one["swapped"][ROOT]["largest_weight"] < one["largest_weight"] - 0.05
            assert one["swapped"][ROOT]["reversed_loss"] > 3 * one["reversed_loss"]
            assert one["swapped"][RESHAPED]["reversed_accuracy"] < 30


def test_the_curves_as_recorded() -> None:
    """What the page says of its figures: the dashed line is the best loss of a network that is blind to the future."""
    best = 7 / 16 * math.log(museum.LETTERS)
    curves = {
        program: [one["curve"] for one in recorded()["runs"] if one["program"] == program] for program in PROGRAMS
    }
    for program in (AFTER, QUERIES):
        assert max(curve[-1] for curve in curves[program]) < 0.5 * best
    for program in ("right", ROOT):
        assert max(abs(curve[-1] - best) for curve in curves[program]) < 0.03
    assert max(curve[20] for curve in curves["right"]) < best + 0.03
    assert min(curve[-1] for curve in curves[RESHAPED]) > 1.8


@pytest.mark.slow
@pytest.mark.parametrize("program", ["right", AFTER, RESHAPED])
def test_a_program_trains_as_recorded(program: str) -> None:
    record = recorded()
    if record["versions"]["torch"] != TORCH:
        pytest.skip("recorded with another torch")
    then = next(one for one in record["runs"] if one["program"] == program and one["seed"] == 10)
    today = museum.run(program, 10, updates=30)
    assert today["curve"] == pytest.approx(then["curve"][:3], abs=0.05)

"""The caption network that looks at places: its parts, and what it recorded."""

from __future__ import annotations

import json
from statistics import mean

import numpy as np
import pytest
import torch

from experiments.ch05 import captions, shapes
from experiments.ch05.shapes import Thing
from experiments.ch06 import looks_at_picture as looking


def test_it_learns_from_the_pictures_settings_and_seeds_of_chapter_5() -> None:
    assert {key: looking.SETTINGS[key] for key in captions.SETTINGS} == captions.SETTINGS
    assert looking.SEEDS == captions.SEEDS
    assert looking.NETWORKS["attention"]["pairs"] == shapes.SEEN


def test_places_are_where_their_receptive_fields_are() -> None:
    """The slopes of one place with respect to the pixels are not 0 around its centre, and nowhere else."""
    torch.manual_seed(0)
    model = looking.LookingCaptioner(4, 2, 3).double().eval()
    x = torch.randn(1, 3, 32, 32, dtype=torch.float64, requires_grad=True)
    for row, column in ((3, 4), (4, 3)):
        (slopes,) = torch.autograd.grad(model.start(x).places[0, 8 * row + column].sum(), x)
        found = np.argwhere(slopes[0].abs().sum(0).numpy() > 0)
        for at, centre in zip(found.T, (looking.CENTRES[row], looking.CENTRES[column]), strict=True):
            assert (at.min() + at.max() + 1) / 2 == pytest.approx(centre, abs=1)
            assert at.max() - at.min() < 21


def test_places_at_a_shape() -> None:
    found = looking.places_at(Thing("blue", "cross", x=24.5, y=8.5, radius=2.5))
    assert found[2, 6]
    assert found.sum() == 5
    assert [list(at) for at in np.argwhere(found)] == [[1, 6], [2, 5], [2, 6], [2, 7], [3, 6]]


def test_kinds_and_phrases_of_words() -> None:
    assert looking.kinds_of("a blue cross left of an orange circle") == [
        ("article", 0),
        ("colour", 0),
        ("shape", 0),
        ("relation", 0),
        ("relation", 0),
        ("article", 1),
        ("colour", 1),
        ("shape", 1),
    ]
    assert looking.kinds_of("a blue cross above a green circle")[3] == ("relation", 0)
    assert looking.pairs_in("a blue cross above a green circle") == [("blue", "cross"), ("green", "circle")]


def test_uniform_weights_are_uniform_and_others_depend_on_the_state() -> None:
    torch.manual_seed(0)
    data = shapes.pictures(3, 0)
    for uniform in (True, False):
        model = looking.LookingCaptioner(4, 2, 3, uniform=uniform).eval()
        alpha = looking.weights_of(model, data.pixels, data.captions)
        assert alpha.shape[2:] == (8, 8)
        torch.testing.assert_close(alpha.sum(dim=(2, 3)), torch.ones(alpha.shape[:2]))
        assert torch.allclose(alpha, torch.full_like(alpha, 1 / 64), atol=1e-7) == uniform


def test_looks_are_counted_as_in_a_slow_loop() -> None:
    torch.manual_seed(1)
    model, data = looking.LookingCaptioner(4, 2, 3).eval(), shapes.pictures(12, 0)
    found = looking.looked(model, data)
    own: dict[str, list[bool]] = {}
    for pixels, caption, scene in zip(data.pixels, data.captions, data.scenes, strict=True):
        if len({thing.pair for thing in scene}) == 2:
            alpha = looking.weights_of(model, pixels[None], [caption])[0]
            named = looking.pairs_in(caption)
            for t, (kind, phrase) in enumerate(looking.kinds_of(caption)):
                place = int(alpha[t].argmax())
                thing = next(thing for thing in scene if thing.pair == named[phrase])
                away = np.hypot(4 * (place % 8) + 0.5 - thing.x, 4 * (place // 8) + 0.5 - thing.y)
                own.setdefault(f"{kind} {phrase + 1}", []).append(bool(away <= thing.radius + 2))
    assert {name: one["words"] for name, one in found.items()} == {name: len(of) for name, of in own.items()}
    for name, of in own.items():
        assert found[name]["own"] == pytest.approx(100 * mean(of), abs=0.01)


def test_a_network_learns_a_few_pictures() -> None:
    few = shapes.pictures(16, 0, kind="one")
    settings = {**looking.SETTINGS, "channels": 8, "hidden_size": 24, "updates": 60, "batch": 16, "lr": 0.02}
    model, losses = looking.fit(few, 0, settings)
    assert losses[0] > 2.5
    assert mean(losses[-5:]) < 1
    assert len(captions.greedy(model, few.pixels)) == 16  # type: ignore[arg-type]


def test_the_record_follows_from_its_runs() -> None:
    record = json.loads(looking.RESULTS_FILE.read_text("utf-8"))
    assert record["command"] == "python -m experiments.ch06.looks_at_picture --record"
    assert {key: record["settings"][key] for key in looking.SETTINGS} == looking.SETTINGS
    assert record["seeds"] == list(looking.SEEDS)
    found = [(one["network"], one["seed"]) for one in record["runs"]]
    assert found == [(name, seed) for name in looking.NETWORKS for seed in looking.SEEDS]
    assert record["summary"] == looking.summary(record["runs"])
    assert set(record["versions"]) == {"numpy", "torch"}

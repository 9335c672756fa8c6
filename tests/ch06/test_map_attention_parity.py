"""MapAttention and the oracle of its check equal PyTorch's attention to 1e-11. Also the notebook's numbers and loop."""

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from grader.spec.load import load_module
from solutions.ch06_attention import pictures
from solutions.ch06_attention.pictures import MapAttention
from tests.conftest import ROOT
from tests.loops import for_each
from tests.prose import check_shown, numbers, section, table

CHECK = load_module(ROOT / "solutions/ch06_attention/MapAttention/spec.py", "_checks_MapAttention_parity")
RANDOM = [tuple(np.random.default_rng(seed).integers(1, 6, size=5).tolist()) for seed in range(20)]
SMALL = [tuple(1 + (n >> k & 1) for k in range(5)) for n in range(32)]


def made(sizes):
    """A module in float64 with random weights, its weights as arrays, and the arguments of a call."""
    B, H, C, Y, X = sizes
    rng = np.random.default_rng(sizes)
    weights = {"query.weight": rng.normal(size=(C, H))}
    module = MapAttention(H, C).double()
    module.load_state_dict({name: torch.from_numpy(w.copy()) for name, w in weights.items()})
    return module, weights, {"state": rng.normal(size=(B, H)), "feature_map": rng.normal(size=(B, C, Y, X))}


@for_each("sizes", [*RANDOM, *SMALL])
def test_reference_and_oracle_equal_pytorchs_attention(sizes):
    module, weights, call = made(sizes)
    state, feature_map = (torch.from_numpy(value) for value in call.values())
    keys = feature_map.permute(0, 2, 3, 1).reshape(len(state), -1, feature_map.shape[1])  # (B, P, C)
    query = torch.nn.functional.linear(state, module.query.weight)[:, None]
    identity = torch.eye(keys.shape[1], dtype=torch.float64).expand(len(keys), -1, -1)
    with torch.no_grad():
        expected = (
            scaled_dot_product_attention(query, keys, keys, scale=1.0)[:, 0],
            scaled_dot_product_attention(query, keys, identity, scale=1.0)[:, 0].view(-1, *feature_map.shape[2:]),
        )
        ours = module(state, feature_map)
    theirs = CHECK.oracle({}, weights, **call, run={})
    for due, one, other in zip(expected, ours, theirs, strict=True):
        np.testing.assert_allclose(one.numpy(), due.numpy(), rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(other, due.numpy(), rtol=1e-11, atol=1e-11)


def test_the_worked_example_of_the_notebook():
    call = CHECK.EXAMPLE.inputs
    text = section("ch06_attention", "pictures", "Attention over a feature map").partition("**A worked example.**")[2]
    feature_map, state = call["feature_map"][0, :, 0], call["state"][0]  # (C, X), (H,)
    query = call["weights"]["query.weight"] @ state
    stated = numbers(text.partition("| place |")[0].replace("\n", " "))
    np.testing.assert_allclose(stated, [*feature_map[0], *feature_map[1], *state, *query], atol=1e-12)
    (context,), alphas = CHECK.oracle(**call)
    for p, (place, m, products, score, weight) in enumerate(table(text, "| place |")):
        assert int(place) == p
        check_shown(numbers(m), feature_map[:, p])
        sign = np.where(np.array(["-" in part for part in products.replace("- ", "+ -").split("+")]), -1, 1)
        check_shown(sign * np.abs(numbers(products)), query * feature_map[:, p])
        check_shown(float(score), query @ feature_map[:, p])
        check_shown(float(weight), alphas[0, 0, p])
    check_shown(numbers(text.partition("The context is ")[2])[:2], context)


def test_right_captions_are_true():
    rng = np.random.default_rng(0)
    for unseen in (False, True):
        for _ in range(100):
            scene = pictures.make_scene(rng, unseen)
            assert (pictures.UNSEEN in [thing[:2] for thing in scene]) == unseen
            found = pictures.right_captions(scene)
            assert len(found) in (2, 4)
            assert all(set(caption.split()) < set(pictures.WORDS) for caption in found)
            at = {f"{colour} {shape}": (row, column) for colour, shape, row, column in scene}
            for caption in found:
                first, second = " ".join(caption.split()[:2]), " ".join(caption.split()[3:])
                down, right = np.subtract(at[second], at[first])
                assert {"above": down, "below": -down, "left": right, "right": -right}[caption.split()[2]] > 4


def test_pictures_show_their_scenes():
    scenes, pixels, ids = pictures.make_pictures(20, seed=3)
    assert pixels.shape == (20, 3, 24, 24)
    assert ids.shape == (20, 5)
    for scene, picture, row in zip(scenes, pixels, ids.tolist(), strict=True):
        assert " ".join(pictures.WORDS[i] for i in row) in pictures.right_captions(scene)
        for colour, shape, r, c in scene:
            part = picture[pictures.COLOURS.index(colour), r - 3 : r + 4, c - 3 : c + 4].numpy()
            assert abs(part - pictures.drawn(shape)).max() < 0.7  # noise


def test_the_notebook_learns_and_draws():
    """Its own settings, but fewer updates."""
    scenes, pixels, ids = pictures.make_pictures(300, seed=0)
    torch.manual_seed(0)
    model = pictures.Captioner()
    losses = pictures.train_on_pictures(model, torch.optim.Adam(model.parameters(), lr=0.005), pixels, ids, 40)
    assert losses[0] == pytest.approx(np.log(len(pictures.WORDS)), abs=0.3)
    assert np.mean(losses[-10:]) < 1.3
    captions, weights = pictures.write_captions(model, pixels[:4])
    assert weights.shape == (4, 5, 6, 6)
    torch.testing.assert_close(weights.sum(dim=(2, 3)), torch.ones(4, 5))
    lines = pictures.drawn_beside(pixels[0], captions[0], weights[0]).split("\n")
    assert lines[0].split() == ["picture", *captions[0].split()]
    assert len(lines) == 7
    assert 0 <= pictures.share_right(captions, scenes[:4]) <= 100

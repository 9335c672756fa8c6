"""The scores that exercises of chapter 6 receive: equal to PyTorch, pure, and clear about what they cannot take."""

from pathlib import Path

import numpy as np
import pytest
import torch

import solutions.ch06_attention
from grader.checking.fixtures import builders
from tests.loops import for_each

SOURCE = Path(solutions.ch06_attention.__file__).parent / "fixtures.py"
BUILD = builders(SOURCE.read_text("utf-8"))
SIZES = [(3, 5, 4, 2, 6), (1, 4, 3, 2, 1), (2, 1, 1, 3, 2), (4, 2, 1, 1, 1)]


def drawn(B, S, H, K, A):
    rng = np.random.default_rng([B, S, H, K, A])
    shapes = {"query": (B, H), "keys": (B, S, K), "W": (H, K), "W_q": (H, A), "W_k": (K, A), "v": (A,)}
    return {name: rng.normal(size=shape) for name, shape in shapes.items()}


def equal(got, expected):
    np.testing.assert_allclose(got, expected.detach().numpy(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("sizes", SIZES)
def test_a_bilinear_score_equals_pytorch(sizes):
    given = drawn(*sizes)
    query, keys, W = (torch.from_numpy(given[name]) for name in ("query", "keys", "W"))
    expected = torch.nn.functional.bilinear(query[:, None].expand(*keys.shape[:2], -1).contiguous(), keys, W[None])
    equal(BUILD["bilinear"](W=given["W"])(given["query"], given["keys"]), expected[..., 0])


@pytest.mark.parametrize("sizes", SIZES)
def test_a_dot_score_equals_pytorch(sizes):
    B, S, H, _, A = sizes
    given = drawn(B, S, H, H, A)
    query, keys = torch.from_numpy(given["query"]), torch.from_numpy(given["keys"])
    expected = torch.bmm(keys, query[:, :, None])[:, :, 0]
    equal(BUILD["dot"](size=H)(given["query"], given["keys"]), expected)
    equal(BUILD["dot"](size=H, factor=H**-0.5)(given["query"], given["keys"]), expected / H**0.5)


@pytest.mark.parametrize("sizes", SIZES)
def test_an_additive_score_equals_pytorch(sizes):
    given = drawn(*sizes)
    query, keys, W_q, W_k, v = (torch.from_numpy(given[name]) for name in ("query", "keys", "W_q", "W_k", "v"))
    linear = torch.nn.functional.linear
    hidden = torch.tanh(linear(query, W_q.T)[:, None] + linear(keys, W_k.T))
    score = BUILD["additive"](W_q=given["W_q"], W_k=given["W_k"], v=given["v"])
    equal(score(given["query"], given["keys"]), linear(hidden, v[None])[..., 0])


@pytest.mark.parametrize("name", ["additive", "bilinear", "dot"])
def test_scores_change_none_of_their_arguments_and_take_them_by_name_too(name):
    given = drawn(2, 3, 4, 4, 2)
    parameters = {"additive": ("W_q", "W_k", "v"), "bilinear": ("W",), "dot": ()}[name]
    score = BUILD[name](**{p: given[p] for p in parameters}, **({"size": 4} if name == "dot" else {}))
    query, keys = given["query"].copy(), given["keys"].copy()
    first = score(query, keys)
    assert (first == score(keys=keys, query=query)).all()
    assert (query == given["query"]).all()
    assert (keys == given["keys"]).all()
    first[:] = 0  # a copy
    assert score(query, keys).any()


BILINEAR = BUILD["bilinear"](W=np.ones((4, 2)))
ADDITIVE = BUILD["additive"](W_q=np.ones((4, 3)), W_k=np.ones((2, 3)), v=np.ones(3))
DOT = BUILD["dot"](size=4)
QUERY, KEYS = np.zeros((3, 4)), np.zeros((3, 5, 2))


@for_each(
    ("score", "query", "keys", "said"),
    [
        (BILINEAR, KEYS, QUERY, "`query`, the first argument, must have the shape (B, 4), one query for each row; it"),
        (ADDITIVE, KEYS, QUERY, "it has the shape (3, 5, 2)"),
        (ADDITIVE, QUERY[0], KEYS, "it has the shape (4,)"),
        (ADDITIVE, QUERY[:, :3], KEYS, "it has the shape (3, 3)"),
        (
            BILINEAR,
            QUERY,
            KEYS[:, 0],
            "`keys`, the second argument, must have the shape (B, S, 2), S keys for each row",
        ),
        (DOT, QUERY, KEYS, "must have the shape (B, S, 4)"),
        (ADDITIVE, QUERY[:2], KEYS, "`query` has 2 rows and `keys` has 3"),
        (DOT, None, KEYS, "`query` must be an array of numbers; it has the dtype object"),
        (BILINEAR, QUERY, KEYS > 0, "`keys` must be an array of numbers; it has the dtype bool"),
    ],
)
def test_what_a_score_cannot_take_is_said(score, query, keys, said):
    with pytest.raises(ValueError, match=r"^score: ") as caught:
        score(query, keys)
    assert said in str(caught.value)

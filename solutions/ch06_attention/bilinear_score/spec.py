"""How `bilinear_score` is checked: against PyTorch's bilinear form."""

import numpy as np
import torch

from grader.spec.spec import Case, Output, Spec, change, instead


def oracle(query, keys, W):
    """`torch.nn.functional.bilinear` of each pair of a query and a key of the same row."""
    B, S, K = keys.shape
    pairs = torch.from_numpy(np.repeat(query, S, axis=0)), torch.from_numpy(keys.reshape(B * S, K))
    return torch.nn.functional.bilinear(*pairs, torch.from_numpy(W)[None]).reshape(B, S).numpy()


EXAMPLE = Case(
    sizes={"B": 2, "S": 2, "H": 2, "K": 3},
    inputs={
        "query": np.array([[1.00, -0.50], [0.30, 2.00]]),
        "keys": np.array([[[2.00, 0.50, -1.00], [-1.00, 0.30, 1.50]], [[0.40, -0.70, 0.20], [-0.60, 1.30, -0.40]]]),
        "W": np.array([[0.50, -1.00, 0.30], [0.80, 0.40, -0.60]]),
    },
)
SQUARE = "keys as large as the query"


def case(rng, B, S, H, K):
    return Case(
        {"B": B, "S": S, "H": H, "K": K},
        {"query": rng.normal(size=(B, H)), "keys": rng.normal(size=(B, S, K)), "W": rng.normal(size=(H, K))},
        kind=SQUARE if H == K else "ordinary",
    )


def cases(rng):
    yield case(rng, B=2, S=3, H=4, K=5)
    yield case(rng, B=3, S=4, H=2, K=2)
    yield case(rng, B=3, S=3, H=3, K=2)
    yield case(rng, B=2, S=5, H=3, K=3)
    yield case(rng, B=1, S=3, H=2, K=4)
    yield case(rng, B=4, S=1, H=3, K=2)
    yield case(rng, B=2, S=3, H=1, K=3)
    yield case(rng, B=3, S=2, H=4, K=1)
    yield case(rng, B=4, S=4, H=4, K=4)
    yield case(rng, B=2, S=3, H=1, K=1)


SPEC = Spec(
    outputs=[Output("scores", ("B", "S"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
)
QW = "query @ W"
SUM = "(keys * in_key_space[:, None]).sum(axis=2)"

SPEC.mistakes(
    {
        "W_transposed": [
            change(QW, "query @ W.T"),
            change(QW, "query", (SUM, "np.einsum('bh,bsk,kh->bs', query, keys, W)")),
        ],
        **instead(
            QW,
            {
                "W_not_used": "query",
                "tanh_of_the_query": "np.tanh(query @ W)",
            },
        ),
        "W_applied_twice": [
            change(SUM, "((keys @ W.T) * in_key_space[:, None]).sum(axis=2)"),
            change(SUM, "((keys @ W) * in_key_space[:, None]).sum(axis=2)"),
        ],
        **instead(
            SUM,
            {
                "scaled_by_sqrt_K": f"{SUM} / np.sqrt(keys.shape[2])",
                "scaled_by_sqrt_H": f"{SUM} / np.sqrt(query.shape[1])",
                "keys_reshaped": "(in_key_space[:, None] @ keys.reshape(len(keys), keys.shape[2], -1))[:, 0]",
            },
        ),
        **instead(
            ".sum(axis=2)",
            {
                "mean_in_place_of_sum": ".mean(axis=2)",
                "not_summed": "",
            },
        ),
        "summed_over_the_positions": change("axis=2", "axis=1"),
        "query_of_another_row": change("in_key_space[:, None]", "in_key_space"),
        "query_along_the_positions": [
            change("in_key_space[:, None]", "in_key_space[:, :, None]"),
            change("in_key_space[:, None]", "in_key_space[:, :, None]", ("axis=2", "axis=1")),
        ],
        "all_axes_reversed": change(SUM, "in_key_space @ keys.T"),
        "every_query_with_every_row": [
            change(SUM, "keys @ in_key_space.T"),
            change(SUM, "in_key_space @ keys.swapaxes(1, 2)"),
            change(SUM, "np.dot(in_key_space, keys.swapaxes(1, 2))"),
        ],
    }
)


@SPEC.alternative
def keys_projected(query, keys, W):
    """Map the keys to the size of the query, and compare there."""
    return ((keys @ W.T) @ query[:, :, None])[..., 0]


@SPEC.alternative
def all_at_once(query, keys, W):
    """A single sum over both indices."""
    return np.einsum("bh,hk,bsk->bs", query, W, keys)


@SPEC.alternative
def row_by_row(query, keys, W):
    """Matrix products of one row at a time."""
    return np.array([k @ W.T @ q for q, k in zip(query, keys, strict=True)])

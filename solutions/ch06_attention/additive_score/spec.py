"""How `additive_score` is checked: against loops over rows, positions and units."""

import math

import numpy as np

from grader.spec.spec import Case, Output, Spec, change, instead


def oracle(query, keys, W_q, W_k, v):
    """Unit by unit of the hidden layer, with Python's own numbers."""
    (B, S, _), scores = keys.shape, np.zeros(keys.shape[:2])
    for b in range(B):
        for j in range(S):
            for a in range(len(v)):
                total = math.fsum([*(query[b] * W_q[:, a]), *(keys[b, j] * W_k[:, a])])
                scores[b, j] += v[a] * math.tanh(total)
    return scores


EXAMPLE = Case(
    sizes={"B": 2, "S": 2, "H": 2, "K": 3, "A": 2},
    inputs={
        "query": np.array([[1.00, -0.50], [0.30, 2.00]]),
        "keys": np.array([[[2.00, 0.50, -1.00], [-1.00, 0.30, 1.50]], [[0.40, -0.70, 0.20], [-0.60, 1.30, -0.40]]]),
        "W_q": np.array([[0.60, -0.20], [0.40, 0.70]]),
        "W_k": np.array([[0.50, 0.30], [-0.40, 0.20], [0.10, -0.90]]),
        "v": np.array([1.50, -0.80]),
    },
)


def case(rng, B, S, H, K, A):
    return Case(
        {"B": B, "S": S, "H": H, "K": K, "A": A},
        {
            "query": rng.normal(size=(B, H)),
            "keys": rng.normal(size=(B, S, K)),
            "W_q": rng.uniform(-1, 1, size=(H, A)),
            "W_k": rng.uniform(-1, 1, size=(K, A)),
            "v": rng.normal(size=A),
        },
    )


def cases(rng):
    yield case(rng, B=2, S=3, H=4, K=5, A=6)
    yield case(rng, B=3, S=4, H=2, K=2, A=5)
    yield case(rng, B=3, S=3, H=2, K=4, A=2)
    yield case(rng, B=1, S=4, H=3, K=2, A=3)
    yield case(rng, B=2, S=1, H=3, K=4, A=5)
    yield case(rng, B=3, S=2, H=1, K=3, A=2)
    yield case(rng, B=2, S=3, H=3, K=1, A=4)
    yield case(rng, B=4, S=2, H=3, K=2, A=1)
    yield case(rng, B=3, S=3, H=3, K=3, A=3)


SPEC = Spec(
    outputs=[Output("scores", ("B", "S"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
)
TANH = "np.tanh(q[:, None] + k)"

SPEC.mistakes(
    {
        **instead(
            TANH,
            {
                "tanh_missing": "(q[:, None] + k)",
                "tanh_of_each_part": "(np.tanh(q)[:, None] + np.tanh(k))",
                "sigmoid_in_place_of_tanh": "(1 / (1 + np.exp(-(q[:, None] + k))))",
            },
        ),
        "v_inside_the_tanh": change(f"{TANH} @ v", "np.tanh((q[:, None] + k) @ v)"),
        **instead(
            f"{TANH} @ v",
            {
                "v_scales_the_units": "np.tanh((q[:, None] + k) * v).sum(axis=2)",
                "summed_without_v": f"{TANH}.sum(axis=2)",
                "mean_over_the_units": f"({TANH} * v).mean(axis=2)",
                "summed_over_the_positions": f"({TANH} * v).sum(axis=1)",
            },
        ),
        **instead(
            "@ v",
            {
                "not_summed": "* v",
                "scaled_by_sqrt_A": "@ v / np.sqrt(len(v))",
            },
        ),
        "projections_multiplied": change("q[:, None] + k", "q[:, None] * k"),
        "relu_in_place_of_tanh": change("np.tanh(q[:, None] + k)", "np.maximum(q[:, None] + k, 0)"),
        **instead(
            "q[:, None]",
            {
                "query_of_another_row": "q",
                "query_along_the_positions": "q[:, :, None]",
            },
        ),
        "every_query_with_every_row": [
            change("q[:, None]", "q[:, None, None]"),
            change("q[:, None] + k", "q[:, None] + k[:, :, None]"),
        ],
        "W_q_and_W_k_exchanged": change("query @ W_q, keys @ W_k", "query @ W_k, keys @ W_q"),
        "W_q_for_both": change("keys @ W_k", "keys @ W_q"),
    }
)


@SPEC.alternative
def one_matrix_for_both(query, keys, W_q, W_k, v):
    """Query and key side by side, times both matrices one above the other."""
    B, S, _ = keys.shape
    both = np.concatenate([np.broadcast_to(query[:, None], (B, S, query.shape[1])), keys], axis=2)
    return (np.tanh(both @ np.vstack([W_q, W_k])) * v).sum(axis=-1)


@SPEC.alternative
def position_by_position(query, keys, W_q, W_k, v):
    """A loop over the source positions."""
    return np.stack([np.tanh(query @ W_q + keys[:, j] @ W_k) @ v for j in range(keys.shape[1])], axis=1)


@SPEC.alternative
def with_einsum(query, keys, W_q, W_k, v):
    """Axes by name."""
    projected = np.einsum("bh,ha->ba", query, W_q)[:, np.newaxis, :] + np.einsum("bsk,ka->bsa", keys, W_k)
    return np.einsum("bsa,a->bs", np.tanh(projected), v)

"""How `additive_score` is checked: against loops over rows, positions and units."""

import math

import numpy as np

from grader.author.spec import Case, Output, Spec, change


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
    why=r"""
The projected query (B, A) gets an axis for the positions, (B, 1, A), so that it is added to the projected key at every
position of its own row. Without the tanh the score would be the sum of a term of the query and a term of the key; the
first is the same for all keys of a row, so it would cancel in the softmax, and the weights would not depend on the
query at all. The keys do not change while a sentence is decoded, so a decoder computes `keys @ W_k` only once.
""",
)

TANH = "np.tanh(q[:, None] + k)"
SPEC.mistake(
    "tanh_missing",
    "The tanh is missing. Apply it to the sum of the two projections, before `v`: without it, the query adds the same "
    "number to all scores of its row, which changes nothing after a softmax.",
    change(TANH, "(q[:, None] + k)"),
    tempts="The formula is read as two linear maps.",
)
SPEC.mistake(
    "tanh_of_each_part",
    "You apply the tanh to the projections of query and key separately. Add the two first and apply it to the sum, "
    "because only then does the query decide how much an entry of the key counts.",
    change(TANH, "(np.tanh(q)[:, None] + np.tanh(k))"),
    tempts="Each projection looks like a layer of its own.",
)
SPEC.mistake(
    "v_inside_the_tanh",
    "You multiply by `v` before the tanh. Apply the tanh to the A units first, and `v` to the result: a score may be "
    "any real number, not only one between −1 and 1.",
    change(f"{TANH} @ v", "np.tanh((q[:, None] + k) @ v)"),
    change(f"{TANH} @ v", "np.tanh((q @ v)[:, None] + k @ v)"),
    tempts="The activation comes last in most layers.",
)
SPEC.mistake(
    "v_scales_the_units",
    "You multiply the units by `v` inside the tanh. Apply the tanh first, and take the dot product with `v` of the "
    "result.",
    change(f"{TANH} @ v", "np.tanh((q[:, None] + k) * v).sum(axis=2)"),
    tempts="The brackets of the formula are read over.",
)
SPEC.mistake(
    "summed_without_v",
    "You sum over the A units without `v`. Take the dot product with `v`, the learned weight of each unit.",
    change(f"{TANH} @ v", f"{TANH}.sum(axis=2)"),
    tempts="A sum over the last axis makes one number too.",
)
SPEC.mistake(
    "mean_over_the_units",
    "You take the mean over the A units. Take the sum of the units, each times its entry of `v`: `… @ v`.",
    change(f"{TANH} @ v", f"({TANH} * v).mean(axis=2)"),
    tempts="A mean does not grow with the number of units.",
)
SPEC.mistake(
    "not_summed",
    "You multiply the units by `v` entry by entry, but the sum over the A units is missing. A score is one number for "
    "each key.",
    change("@ v", "* v"),
    tempts="`*` is taken for the dot product.",
)
SPEC.mistake(
    "summed_over_the_positions",
    "You sum over the source positions. Sum over the last axis instead, the A units, so that every position keeps a "
    "score of its own: `… @ v` does so.",
    change(f"{TANH} @ v", f"({TANH} * v).sum(axis=1)"),
    tempts="axis=1 is the last axis of most arrays up to here.",
)
SPEC.mistake(
    "projections_multiplied",
    "You multiply the projections of query and key. Add them: this is the *additive* score.",
    change("q[:, None] + k", "q[:, None] * k"),
    tempts="The other scores multiply query and key.",
)
SPEC.mistake(
    "sigmoid_in_place_of_tanh",
    "You apply a sigmoid. Use the tanh, whose values are between −1 and 1.",
    change(TANH, "(1 / (1 + np.exp(-(q[:, None] + k))))"),
    tempts="Gates compare and weigh with a sigmoid.",
)
SPEC.mistake(
    "relu_in_place_of_tanh",
    "You apply a ReLU. Use the tanh, whose values are between −1 and 1.",
    change("np.tanh(q[:, None] + k)", "np.maximum(q[:, None] + k, 0)"),
    tempts="A ReLU is the usual activation of a hidden layer elsewhere.",
)
SPEC.mistake(
    "scaled_by_sqrt_A",
    "You divide by the square root of A. Do not scale additive scores: `v` can learn any scale.",
    change("@ v", "@ v / np.sqrt(len(v))"),
    tempts="The dot product could be scaled.",
)
SPEC.mistake(
    "query_of_another_row",
    "You add the projected query (B, A) to the projected keys (B, S, A) as it is. NumPy aligns the last axes, so the "
    "query of row j meets the key at position j of *every* row, and sizes other than B = S or B = 1 raise an "
    "exception. Give it an axis for the positions: `[:, None]` makes it (B, 1, A).",
    change("q[:, None]", "q"),
    tempts="It works for a batch of one row.",
)
SPEC.mistake(
    "query_along_the_positions",
    "You put the new axis of the projected query last, which makes it (B, A, 1): its entries then meet source "
    "positions instead of units. Put the new axis in the middle, `[:, None]`, which makes it (B, 1, A).",
    change("q[:, None]", "q[:, :, None]"),
    tempts="`[..., None]` is the usual way to give an array one more axis.",
)
SPEC.mistake(
    "every_query_with_every_row",
    "You compare each query with the keys of *all* rows, so your result has an axis B too many. Add the projected "
    "query only to the keys of its own row: `[:, None]` makes it (B, 1, A).",
    change("q[:, None]", "q[:, None, None]"),
    change("q[:, None] + k", "q[:, None] + k[:, :, None]"),
    tempts="With enough axes of length 1, everything broadcasts.",
)
SPEC.mistake(
    "W_q_and_W_k_exchanged",
    "You apply `W_k` to the query and `W_q` to the keys. Multiply the query by `W_q`, (H, A), and the keys by "
    "`W_k`, (K, A): with H = K the shapes do not tell the two apart.",
    change("query @ W_q, keys @ W_k", "query @ W_k, keys @ W_q"),
    tempts="With H = K both ways run.",
)
SPEC.mistake(
    "W_q_for_both",
    "You project both the query and the keys with `W_q`. The keys have their own weights, `W_k`.",
    change("keys @ W_k", "keys @ W_q"),
    tempts="A line copied and half changed.",
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

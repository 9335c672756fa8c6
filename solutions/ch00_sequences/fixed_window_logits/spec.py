"""How `fixed_window_logits` is checked: against PyTorch's layers, with the embeddings concatenated one by one."""

import numpy as np
import torch

from grader.spec.spec import Case, Output, Spec, change, instead


def oracle(ids, E, W_1, b_1, W_2, b_2):
    """One embedding for each position, concatenated, then two linear layers."""
    ids, E, W_1, b_1, W_2, b_2 = map(torch.from_numpy, (ids, E, W_1, b_1, W_2, b_2))
    x = torch.cat([torch.nn.functional.embedding(ids[:, k], E) for k in range(ids.shape[1])], dim=1)
    hidden = torch.tanh(torch.nn.functional.linear(x, W_1.T, b_1))
    return torch.nn.functional.linear(hidden, W_2.T, b_2).numpy()


EXAMPLE = Case(
    sizes={"B": 2, "n": 2, "V": 3, "D": 2, "H": 2},
    inputs={
        "ids": np.array([[2, 0], [0, 2]]),
        "E": np.array([[0.20, -1.50], [0.70, 0.40], [-0.90, 1.10]]),
        "W_1": np.array([[0.50, -0.20], [0.30, 0.80], [-0.60, 0.10], [0.40, -0.70]]),
        "b_1": np.array([0.10, -0.30]),
        "W_2": np.array([[1.20, -0.50, 0.30], [0.40, 0.90, -1.00]]),
        "b_2": np.array([0.05, -0.10, 0.20]),
    },
)


def case(rng, B, n, V, D, H):
    """Windows whose ids are not the same read backwards, unless there is only one."""
    while True:
        ids = rng.integers(V, size=(B, n))
        if V == 1 or n == 1 or (ids != ids[:, ::-1]).any(axis=1).all():
            break
    return Case(
        {"B": B, "n": n, "V": V, "D": D, "H": H},
        {
            "ids": ids,
            "E": rng.normal(size=(V, D)),
            "W_1": rng.normal(size=(n * D, H)) / np.sqrt(n * D),
            "b_1": rng.normal(size=H),
            "W_2": rng.normal(size=(H, V)),
            "b_2": rng.normal(size=V),
        },
    )


def cases(rng):
    yield case(rng, B=2, n=3, V=4, D=3, H=5)
    yield case(rng, B=3, n=3, V=3, D=3, H=3)
    yield case(rng, B=4, n=2, V=6, D=3, H=5)
    yield case(rng, B=1, n=4, V=5, D=2, H=3)
    yield case(rng, B=3, n=1, V=4, D=2, H=5)
    yield case(rng, B=2, n=3, V=5, D=1, H=4)
    yield case(rng, B=2, n=3, V=4, D=3, H=1)
    yield case(rng, B=3, n=2, V=1, D=2, H=4)
    yield case(rng, B=5, n=8, V=12, D=6, H=10)


SPEC = Spec(
    outputs=[Output("logits", ("B", "V"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
)
X = "E[ids].reshape(len(ids), -1)"
HIDDEN = "np.tanh(x @ W_1 + b_1)"

SPEC.mistakes(
    {
        "entries_interleaved": change(X, "E[ids].transpose(0, 2, 1).reshape(len(ids), -1)"),
        **instead(
            "E[ids]",
            {
                "rows_of_the_batch_mixed": "E[ids.T]",
                "window_reversed": "E[ids[:, ::-1]]",
                "ids_sorted": "E[np.sort(ids, axis=1)]",
            },
        ),
        **instead(
            HIDDEN,
            {
                "tanh_missing": "x @ W_1 + b_1",
                "bias_outside_the_tanh": "np.tanh(x @ W_1) + b_1",
            },
        ),
        "another_nonlinearity": [
            change(HIDDEN, "np.maximum(x @ W_1 + b_1, 0)"),
            change(HIDDEN, "1 / (1 + np.exp(-(x @ W_1 + b_1)))"),
        ],
        **instead(
            "hidden @ W_2 + b_2",
            {
                "tanh_of_the_logits": "np.tanh(hidden @ W_2 + b_2)",
                "log_probabilities": "(z := hidden @ W_2 + b_2) - np.log(np.exp(z).sum(axis=1, keepdims=True))",
            },
        ),
        "bias_at_every_position": change(HIDDEN, "np.tanh(x @ W_1 + ids.shape[1] * b_1)"),
        "tanh_at_every_position": [
            change(HIDDEN, f"sum({part} for k in range(ids.shape[1])){after}", (X, "E[ids]"))
            for part, after in (
                ("np.tanh(x[:, k] @ W_1.reshape(ids.shape[1], -1, len(b_1))[k] + b_1)", ""),
                ("np.tanh(x[:, k] @ W_1.reshape(ids.shape[1], -1, len(b_1))[k])", " + b_1"),
            )
        ],
        "embeddings_added": [
            change(X, "np.tile(E[ids].mean(axis=1), ids.shape[1])"),
            change(X, "E[ids].sum(axis=1)", ("x @ W_1", "x @ W_1[: E.shape[1]]")),
        ],
    }
)


@SPEC.alternative
def position_by_position(ids, E, W_1, b_1, W_2, b_2):
    """Each position has a block of D rows of `W_1`; their contributions are added up."""
    D, a = E.shape[1], b_1
    for k in range(ids.shape[1]):
        a = a + E[ids[:, k]] @ W_1[k * D : (k + 1) * D]
    return np.tanh(a) @ W_2 + b_2


@SPEC.alternative
def concatenated(ids, E, W_1, b_1, W_2, b_2):
    """The embeddings concatenated along the last axis."""
    x = np.concatenate([E[column] for column in ids.T], axis=1)
    return np.tanh(x @ W_1 + b_1) @ W_2 + b_2


@SPEC.alternative
def row_by_row(ids, E, W_1, b_1, W_2, b_2):
    """One window after the other."""
    logits = []
    for window in ids:
        x = np.hstack([E[i] for i in window])
        logits.append(W_2.T @ np.tanh(W_1.T @ x + b_1) + b_2)
    return np.array(logits)

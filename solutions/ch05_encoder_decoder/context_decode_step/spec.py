"""How `context_decode_step` is checked: against `torch.nn.GRUCell` and `torch.nn.Linear`."""

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Gates, Output, Spec, change, instead


def oracle(y_prev, s_prev, context, E, W_x, W_h, b_x, b_h, W_p, b_p):
    """PyTorch's cell, whose weights are (3H, in), on the embedding and the context side by side."""
    cell = torch.nn.GRUCell(len(W_x), len(W_h), dtype=torch.float64)
    head = torch.nn.Linear(*W_p.shape, dtype=torch.float64)
    with torch.no_grad():
        cell.weight_ih.copy_(torch.from_numpy(W_x.T))
        cell.weight_hh.copy_(torch.from_numpy(W_h.T))
        cell.bias_ih.copy_(torch.from_numpy(b_x))
        cell.bias_hh.copy_(torch.from_numpy(b_h))
        head.weight.copy_(torch.from_numpy(W_p.T))
        head.bias.copy_(torch.from_numpy(b_p))
        embedded = torch.nn.functional.embedding(torch.from_numpy(y_prev), torch.from_numpy(E))
        s = cell(torch.hstack([embedded, torch.from_numpy(context)]), torch.from_numpy(s_prev))
        return head(s).numpy(), s.numpy()


EXAMPLE = Case(
    sizes={"B": 1, "V": 4, "D": 1, "H": 1},
    inputs={
        "y_prev": np.array([1]),
        "s_prev": np.array([[0.25]]),
        "context": np.array([[0.70]]),
        "E": np.array([[0.00], [0.80], [-1.10], [0.50]]),
        "W_x": np.array([[0.70, -0.50, 1.20], [-0.40, 0.90, 0.60]]),
        "W_h": np.array([[0.40, 0.60, -0.80]]),
        "b_x": np.array([0.10, -0.20, 0.30]),
        "b_h": np.array([-0.30, 0.25, 0.15]),
        "W_p": np.array([[-2.00, 0.50, 1.00, 3.00]]),
        "b_p": np.array([0.10, -0.40, 0.30, -0.20]),
    },
)


def case(rng, B, V, D, H):
    return Case(
        sizes={"B": B, "V": V, "D": D, "H": H},
        inputs={
            "y_prev": rng.integers(V, size=B),
            "s_prev": rng.uniform(-0.9, 0.9, size=(B, H)),
            "context": rng.uniform(-0.9, 0.9, size=(B, H)),
            "E": rng.normal(size=(V, D)),
            "W_x": rng.normal(size=(D + H, 3 * H)) * 1.5 / np.sqrt(D + H),
            "W_h": rng.normal(size=(H, 3 * H)) / np.sqrt(H),
            "b_x": rng.normal(size=3 * H) / 2,
            "b_h": rng.normal(size=3 * H) / 2,
            "W_p": rng.normal(size=(H, V)),
            "b_p": rng.normal(size=V),
        },
    )


def cases(rng):
    yield case(rng, B=2, V=5, D=3, H=3)
    yield case(rng, B=3, V=6, D=2, H=4)
    yield case(rng, B=4, V=3, D=5, H=2)
    yield case(rng, B=1, V=4, D=2, H=3)
    yield case(rng, B=3, V=1, D=1, H=2)
    yield case(rng, B=2, V=4, D=3, H=1)
    yield case(rng, B=4, V=5, D=4, H=4)


SPEC = Spec(
    outputs=[Output("logits", ("B", "V")), Output("s", ("B", "H"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[Facet("logits", 1, outputs=("logits",)), Facet("s", 1, outputs=("s",))],
    gates=[
        Gates("rzn", inputs=("W_x", "W_h", "b_x", "b_h")),
        Gates("rzn", inputs=("W_x", "b_x")),
        Gates("rzn", inputs=("W_h", "b_h")),
    ],
)
ROW, CELL = "[E[y_prev], context]", "gru_cell(x, s_prev, "


def own_gru(y_prev, s_prev, context, E, W_x, W_h, b_x, b_h, candidate):
    """The new state, with these pre-activations of the candidate, a function of both sides' blocks n, r and more."""
    x = np.concatenate([E[y_prev], context], axis=1)
    (x_r, x_z, x_n), (h_r, h_z, h_n) = (np.split(side, 3, axis=1) for side in (x @ W_x + b_x, s_prev @ W_h + b_h))
    r, z = 1 / (1 + np.exp(-x_r - h_r)), 1 / (1 + np.exp(-x_z - h_z))
    H = s_prev.shape[1]
    n = np.tanh(candidate(x_n, h_n, r, s_prev, W_h[:, 2 * H :], b_h[2 * H :]))
    return (1 - z) * n + z * s_prev


def reset_before_the_product(y_prev, s_prev, context, E, W_x, W_h, b_x, b_h, W_p, b_p):
    s = own_gru(y_prev, s_prev, context, E, W_x, W_h, b_x, b_h, lambda x, h, r, s, W, b: x + (r * s) @ W + b)
    return s @ W_p + b_p, s


def b_h_outside_the_reset(y_prev, s_prev, context, E, W_x, W_h, b_x, b_h, W_p, b_p):
    s = own_gru(y_prev, s_prev, context, E, W_x, W_h, b_x, b_h, lambda x, h, r, s, W, b: x + r * (h - b) + b)
    return s @ W_p + b_p, s


SPEC.mistakes(
    {
        "context_first": change(ROW, "[context, E[y_prev]]"),
        "context_added_to_the_state": change(
            ROW, "[E[y_prev], np.zeros_like(context)]", (CELL, "gru_cell(x, s_prev + context, ")
        ),
        "context_added_twice": change(CELL, "gru_cell(x, s_prev + context, "),
        "context_is_the_state": [
            change(ROW, "[E[y_prev], np.zeros_like(context)]", (CELL, "gru_cell(x, context, ")),
            change(ROW, "[E[y_prev], s_prev]", (CELL, "gru_cell(x, context, ")),
        ],
        "two_steps_for_one": change(
            'gru_cell(x, s_prev, {"W_x": W_x,',
            'gru_cell(E[y_prev], s_prev, {"W_x": W_x[: E.shape[1]], "W_h": W_h, "b_x": b_x, "b_h": b_h})\n'
            's = gru_cell(context, s, {"W_x": W_x[E.shape[1] :],',
        ),
        "r_before_the_product": reset_before_the_product,
        "b_hn_not_gated": b_h_outside_the_reset,
        "context_added_to_the_new_state": [
            change('"b_h": b_h})', '"b_h": b_h}) + context'),
            change(ROW, "[E[y_prev], np.zeros_like(context)]", ('"b_h": b_h})', '"b_h": b_h}) + context')),
        ],
    }
)
SPEC.mistakes(
    {
        "head_reads_the_context": [
            change("return s @ W_p", "return (s + context) @ W_p"),
            change("return s @ W_p", "return context @ W_p"),
        ],
        "head_reads_the_previous_state": change("return s @ W_p", "return s_prev @ W_p"),
        "probabilities_returned": [
            change(
                "return s @ W_p + b_p, s",
                "p = np.exp(s @ W_p + b_p)\nreturn p / p.sum(axis=1, keepdims=True), s",
            ),
            change(
                "return s @ W_p + b_p, s",
                "z = s @ W_p + b_p\nreturn z - np.log(np.exp(z).sum(axis=1, keepdims=True)), s",
            ),
        ],
        "word_returned": change("return s @ W_p + b_p", "return (s @ W_p + b_p).argmax(axis=1)"),
    },
    keeps=["s"],
)
SPEC.mistakes(
    {
        **instead(
            "b_p, s",
            {
                "s_prev_returned": "b_p, s_prev",
                "context_returned": "b_p, context",
                "axis_for_layers": "b_p, s[None]",
            },
        ),
    },
    keeps=["logits"],
)


@SPEC.alternative
def two_products(y_prev, s_prev, context, E, W_x, W_h, b_x, b_h, W_p, b_p):
    """The rows of `W_x` for the embedding and for the context apart, and the step of the GRU written out."""
    D = E.shape[1]
    read = E[y_prev] @ W_x[:D] + context @ W_x[D:] + b_x
    (x_r, x_z, x_n), (h_r, h_z, h_n) = np.split(read, 3, axis=1), np.split(s_prev @ W_h + b_h, 3, axis=1)
    r, z = 1 / (1 + np.exp(-x_r - h_r)), 1 / (1 + np.exp(-x_z - h_z))
    s = (1 - z) * np.tanh(x_n + r * h_n) + z * s_prev
    return np.dot(s, W_p) + b_p, s


@SPEC.alternative
def written_into_one_array(y_prev, s_prev, context, E, W_x, W_h, b_x, b_h, W_p, b_p):
    """One array for the input, filled in two parts, row by row."""
    (B, H), D = s_prev.shape, E.shape[1]
    s = np.empty((B, H))
    for b in range(B):
        x = np.empty(D + H)
        x[:D], x[D:] = E[y_prev[b]], context[b]
        a, u = (x @ W_x + b_x).reshape(3, H), (s_prev[b] @ W_h + b_h).reshape(3, H)
        r, z = 0.5 + 0.5 * np.tanh((a + u)[:2] / 2)
        n = np.tanh(a[2] + r * u[2])
        s[b] = n + z * (s_prev[b] - n)
    return s @ W_p + b_p, s

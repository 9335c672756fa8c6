"""How `context_decode_step` is checked: against `torch.nn.GRUCell` and `torch.nn.Linear`."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Gates, Output, Spec, change


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
    why=r"""
The row $[E[y_{t-1}],\, c]$ times `W_x` is the sum of two products: the embedding times the first D rows of `W_x`, and
the context times the other H rows. The GRU itself does not change; only its input is wider. Because the context
reaches the gates and the candidate at every step, the state need not keep it, and is free for what has already been
written.
""",
)


ROW, CELL = "[E[y_prev], context]", "gru_cell(x, s_prev, "
SPEC.mistake(
    "context_first",
    "You put the context in front of the embedding. Put the embedding first, then the context: the first D rows of "
    "`W_x` belong to the embedding, the other H rows to the context.",
    change(ROW, "[context, E[y_prev]]"),
    tempts="In an equation, c is often written first, and the shapes fit either way.",
)
SPEC.mistake(
    "context_added_to_the_state",
    "You add the context to the previous state, so it goes through `W_h`. Put it into the *input* instead, beside the "
    "embedding, where it has weights of its own: the last H rows of `W_x`.",
    change(ROW, "[E[y_prev], np.zeros_like(context)]", (CELL, "gru_cell(x, s_prev + context, ")),
    tempts="Context and state have the same shape, so they can be added.",
)
SPEC.mistake(
    "context_added_twice",
    "You put the context into the input and add it to the previous state as well. The input is enough: leave the "
    "previous state as it is.",
    change(CELL, "gru_cell(x, s_prev + context, "),
    tempts="The decoder starts from the context, and this step receives it too.",
)
SPEC.mistake(
    "context_is_the_state",
    "You take the context for the previous state, and leave it out of the input. Start from `s_prev`, and put the "
    "context into the input, beside the embedding.",
    change(ROW, "[E[y_prev], np.zeros_like(context)]", (CELL, "gru_cell(x, context, ")),
    change(ROW, "[E[y_prev], s_prev]", (CELL, "gru_cell(x, context, ")),
    tempts="In the first exercise, the context was the initial state.",
)
SPEC.mistake(
    "context_added_to_the_new_state",
    "You add the context to the new state. Put it into the *input* only, beside the embedding, and return the state as "
    "the cell computes it.",
    change('"b_h": b_h})', '"b_h": b_h}) + context'),
    change(ROW, "[E[y_prev], np.zeros_like(context)]", ('"b_h": b_h})', '"b_h": b_h}) + context')),
    tempts="What the decoder knows seems to be the sum of its state and the context.",
)
SPEC.mistake(
    "head_reads_the_context",
    "Your head reads the context, alone or added to the new state. Let it read the new state: the context has already "
    "entered through the input.",
    change("return s @ W_p", "return (s + context) @ W_p"),
    change("return s @ W_p", "return context @ W_p"),
    tempts="In Cho et al. (2014) the head sees the context too, with weights of its own.",
    keeps=["s"],
)
SPEC.mistake(
    "head_reads_the_previous_state",
    "Your head reads the previous state, which knows nothing of `y_prev`. Let it read the new state.",
    change("return s @ W_p", "return s_prev @ W_p"),
    tempts="The names differ by a suffix.",
    keeps=["s"],
)
SPEC.mistake(
    "s_prev_returned",
    "You return the previous state as `s`. Return the new state, from which the next step continues.",
    change("b_p, s", "b_p, s_prev"),
    tempts="The names differ by a suffix.",
    keeps=["logits"],
)
SPEC.mistake(
    "context_returned",
    "You return the context as `s`. Return the new state; the context is the same at every step, and the caller has it "
    "already.",
    change("b_p, s", "b_p, context"),
    tempts="The context is what is passed along unchanged from step to step.",
    keeps=["logits"],
)
SPEC.mistake(
    "probabilities_returned",
    "You apply a softmax, or its logarithm, to the logits. Return the logits as they are: the loss and the search take "
    "the softmax or its logarithm where they need it.",
    change(
        "return s @ W_p + b_p, s",
        "p = np.exp(s @ W_p + b_p)\nreturn p / p.sum(axis=1, keepdims=True), s",
    ),
    change(
        "return s @ W_p + b_p, s",
        "z = s @ W_p + b_p\nreturn z - np.log(np.exp(z).sum(axis=1, keepdims=True)), s",
    ),
    tempts="A decoder ends in a softmax, and some texts call its result the logits.",
    keeps=["s"],
)
SPEC.mistake(
    "word_returned",
    "You return the most probable word of each row. Return the logits of *all* words, (B, V): which word is written is "
    "decided outside of this step.",
    change("return s @ W_p + b_p", "return (s @ W_p + b_p).argmax(axis=1)"),
    tempts="The next step needs a word.",
    keeps=["s"],
)
SPEC.mistake(
    "axis_for_layers",
    "Your `s` has an additional axis for layers. This decoder has a single layer, and its state has the shape (B, H), "
    "like `s_prev`.",
    change("b_p, s", "b_p, s[None]"),
    tempts="In the first exercise, the states of the layers were stacked.",
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

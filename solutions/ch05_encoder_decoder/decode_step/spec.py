"""How `decode_step` is checked: against PyTorch's stacked GRU and linear layer on a sequence of one step."""

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Output, Spec, change, instead
from solutions.ch05_encoder_decoder.encode.spec import GATES, layer


def oracle(y_prev, s_prev, E, layers, W_p, b_p):
    """PyTorch's stacked GRU, whose weights are (3H, in), and its linear layer, on a sequence of one step."""
    gru = torch.nn.GRU(E.shape[1], len(W_p), num_layers=len(layers), batch_first=True, dtype=torch.float64)
    head = torch.nn.Linear(*W_p.shape, dtype=torch.float64)
    with torch.no_grad():
        for number, layer in enumerate(layers):
            getattr(gru, f"weight_ih_l{number}").copy_(torch.from_numpy(layer["W_x"].T))
            getattr(gru, f"weight_hh_l{number}").copy_(torch.from_numpy(layer["W_h"].T))
            getattr(gru, f"bias_ih_l{number}").copy_(torch.from_numpy(layer["b_x"]))
            getattr(gru, f"bias_hh_l{number}").copy_(torch.from_numpy(layer["b_h"]))
        head.weight.copy_(torch.from_numpy(W_p.T))
        head.bias.copy_(torch.from_numpy(b_p))
        embedded = torch.nn.functional.embedding(torch.from_numpy(y_prev), torch.from_numpy(E))
        outputs, s = gru(embedded[:, None], torch.from_numpy(s_prev))
        return head(outputs[:, 0]).numpy(), s.numpy()


EXAMPLE = Case(
    sizes={"B": 1, "V": 4, "D": 1, "H": 1, "L": 2},
    inputs={
        "y_prev": np.array([1]),
        "s_prev": np.array([[[-0.03]], [[0.34]]]),
        "E": np.array([[0.00], [0.80], [-1.10], [0.50]]),
        "layers": [
            {
                "W_x": np.array([[0.70, -0.50, 1.20]]),
                "W_h": np.array([[0.40, 0.60, -0.80]]),
                "b_x": np.array([0.10, -0.20, 0.30]),
                "b_h": np.array([-0.30, 0.25, 0.15]),
            },
            {
                "W_x": np.array([[-0.60, 0.35, 1.50]]),
                "W_h": np.array([[0.90, -0.45, 0.55]]),
                "b_x": np.array([0.20, -0.10, -0.40]),
                "b_h": np.array([0.05, -0.35, 0.65]),
            },
        ],
        "W_p": np.array([[-2.00, 0.50, 1.00, 3.00]]),
        "b_p": np.array([0.10, -0.40, 0.30, -0.20]),
    },
)


def case(rng, B, V, D, H, L):
    return Case(
        sizes={"B": B, "V": V, "D": D, "H": H, "L": L},
        inputs={
            "y_prev": rng.integers(V, size=B),
            "s_prev": rng.uniform(-0.9, 0.9, size=(L, B, H)),
            "E": rng.normal(size=(V, D)),
            "layers": [layer(rng, H if number else D, H) for number in range(L)],
            "W_p": rng.normal(size=(H, V)),
            "b_p": rng.normal(size=V),
        },
    )


def cases(rng):
    yield case(rng, B=2, V=5, D=3, H=3, L=2)
    yield case(rng, B=3, V=6, D=4, H=5, L=2)
    yield case(rng, B=1, V=7, D=2, H=2, L=3)
    yield case(rng, B=4, V=3, D=2, H=3, L=1)
    yield case(rng, B=3, V=1, D=1, H=2, L=2)
    yield case(rng, B=2, V=4, D=3, H=1, L=2)
    yield case(rng, B=3, V=5, D=3, H=3, L=3)


SPEC = Spec(
    outputs=[Output("logits", ("B", "V")), Output("s", ("L", "B", "H"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[Facet("logits", 1, outputs=("logits",)), Facet("s", 1, outputs=("s",))],
    gates=GATES,
)
STEP = "x = gru_cell(x, h_prev, layer)"
HEAD = "return x @ W_p + b_p"


def gru_cell(x_t, h_prev, layer):
    """The step that is given in the notebook, written out gate by gate."""
    (x_r, x_z, x_n), (h_r, h_z, h_n) = (
        np.split(side, 3, axis=1) for side in (x_t @ layer["W_x"] + layer["b_x"], h_prev @ layer["W_h"] + layer["b_h"])
    )
    r, z = 1 / (1 + np.exp(-x_r - h_r)), 1 / (1 + np.exp(-x_z - h_z))
    return (1 - z) * np.tanh(x_n + r * h_n) + z * h_prev


SPEC.mistakes(
    {
        **instead(
            HEAD,
            {
                "head_reads_the_bottom_layer": "return s[0] @ W_p + b_p",
                "head_reads_the_previous_state": "return s_prev[-1] @ W_p + b_p",
                "word_returned": "return (x @ W_p + b_p).argmax(axis=1)",
            },
        ),
        "head_reads_all_layers": [
            change(HEAD, "return sum(s) @ W_p + b_p"),
            change(HEAD, "return np.mean(s, axis=0) @ W_p + b_p"),
        ],
        "probabilities_returned": [
            change(
                "return x @ W_p + b_p, np.stack(s)",
                "p = np.exp(x @ W_p + b_p)\nreturn p / p.sum(axis=1, keepdims=True), np.stack(s)",
            ),
            change(
                "return x @ W_p + b_p, np.stack(s)",
                "z = x @ W_p + b_p\nreturn z - np.log(np.exp(z).sum(axis=1, keepdims=True)), np.stack(s)",
            ),
            change("return x @ W_p + b_p, np.stack(s)", "p = np.exp(x @ W_p + b_p)\nreturn p / p.sum(), np.stack(s)"),
        ],
    },
    keeps=["s"],
)
SPEC.mistakes(
    {
        "two_layers_assumed": change(HEAD, "return s[1] @ W_p + b_p"),
        "every_layer_reads_the_embedding": change("gru_cell(x, ", "gru_cell(E[y_prev], "),
        **instead(
            "gru_cell(x, h_prev, layer)",
            {
                "previous_state_of_the_layer_below": "gru_cell(x if not s else s_prev[len(s) - 1], h_prev, layer)",
                "arguments_exchanged": "gru_cell(h_prev, x, layer)",
            },
        ),
        "one_state_for_all_layers": [
            change("gru_cell(x, h_prev, ", "gru_cell(x, s_prev[-1], "),
            change("gru_cell(x, h_prev, ", "gru_cell(x, s_prev[0], "),
        ],
        "state_passed_up": change("gru_cell(x, h_prev, ", "gru_cell(x, x if s else h_prev, "),
        "one_layer_for_all": [
            change("h_prev, layer)", "h_prev, layers[0])"),
            change("h_prev, layer)", "h_prev, layers[-1])"),
        ],
        "layers_in_reverse_order": [
            change("zip(layers, s_prev, ", "zip(layers[::-1], s_prev[::-1], "),
            change("zip(layers, s_prev, ", "zip(layers[::-1], s_prev[::-1], ", ("np.stack(s)", "np.stack(s[::-1])")),
        ],
    }
)
SPEC.mistakes(
    {
        **instead(
            "np.stack(s)",
            {
                "s_prev_returned": "s_prev",
                "s_in_reverse_order": "np.stack(s[::-1])",
                "batch_axis_first": "np.stack(s, axis=1)",
                "list_of_states": "s",
            },
        ),
        "top_state_for_all_layers": change("np.stack(s)", "np.stack([x] * len(s))"),
        "top_state_only": [change("np.stack(s)", "x"), change("np.stack(s)", "x[None]")],
        "other_layers_not_updated": [
            change("np.stack(s)", "np.stack([*s_prev[:-1], x])"),
            change("np.stack(s)", "np.stack([s[0], *s_prev[1:]])"),
        ],
        "states_joined": [
            change("np.stack(s)", "np.concatenate(s)"),
            change("np.stack(s)", "np.concatenate(s, axis=1)"),
        ],
    },
    keeps=["logits"],
)


@SPEC.alternative
def by_number(y_prev, s_prev, E, layers, W_p, b_p):
    """An array of new states, filled from the lowest layer to the highest."""
    s = np.empty_like(s_prev)
    for number in range(len(layers)):
        s[number] = gru_cell(s[number - 1] if number else E[y_prev], s_prev[number], layers[number])
    return s[-1] @ W_p + b_p, s


@SPEC.alternative
def top_down(y_prev, s_prev, E, layers, W_p, b_p):
    """By recursion: the top layer asks for the new state of the layer below."""

    def states(number):
        if number < 0:
            return [E[y_prev]]
        below = states(number - 1)
        return [*below, gru_cell(below[-1], s_prev[number], layers[number])]

    _, *s = states(len(layers) - 1)
    return np.einsum("bh,hv->bv", s[-1], W_p) + b_p, np.array(s)


@SPEC.alternative
def row_by_row(y_prev, s_prev, E, layers, W_p, b_p):
    """Each row of the batch by itself."""
    logits, s = [], np.array(s_prev)
    for b, word in enumerate(y_prev):
        x = E[word : word + 1]
        for number, weights in enumerate(layers):
            x = s[number, b : b + 1] = gru_cell(x, s_prev[number, b : b + 1], weights)
        logits.append((x @ W_p)[0] + b_p)
    return np.array(logits), s

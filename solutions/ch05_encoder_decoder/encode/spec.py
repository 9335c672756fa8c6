"""How `encode` is checked: against `torch.nn.GRU`, run on each row separately, without its padding."""

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Gates, Output, Spec, change, instead


def oracle(ids, lengths, E, layers):
    """PyTorch's stacked GRU on each row without its padding; its weights are (3H, in)."""
    (D, _), H = layers[0]["W_x"].shape, len(layers[0]["W_h"])
    gru = torch.nn.GRU(D, H, num_layers=len(layers), batch_first=True, dtype=torch.float64)
    context = np.zeros((len(layers), len(ids), H))
    with torch.no_grad():
        for number, layer in enumerate(layers):
            getattr(gru, f"weight_ih_l{number}").copy_(torch.from_numpy(layer["W_x"].T))
            getattr(gru, f"weight_hh_l{number}").copy_(torch.from_numpy(layer["W_h"].T))
            getattr(gru, f"bias_ih_l{number}").copy_(torch.from_numpy(layer["b_x"]))
            getattr(gru, f"bias_hh_l{number}").copy_(torch.from_numpy(layer["b_h"]))
        embedding = torch.nn.Embedding.from_pretrained(torch.from_numpy(E))
        for row, length in enumerate(lengths):
            if length > 0:
                _, final = gru(embedding(torch.from_numpy(ids[row : row + 1, : int(length)])))
                context[:, row] = final[:, 0].numpy()
    return context


FULL, PADDED, EMPTY = "full length", "padding", "length 0"
EXAMPLE = Case(
    sizes={"B": 2, "S": 3, "V": 5, "D": 1, "H": 1, "L": 2},
    inputs={
        "ids": np.array([[3, 4, 2], [4, 2, 0]]),
        "lengths": np.array([3, 2]),
        "E": np.array([[0.60], [0.00], [-0.50], [1.20], [-0.90]]),
        "layers": [
            {
                "W_x": np.array([[0.40, -0.60, 1.50]]),
                "W_h": np.array([[-0.70, 0.80, 0.90]]),
                "b_x": np.array([0.20, -0.30, 0.10]),
                "b_h": np.array([0.15, 0.35, -0.20]),
            },
            {
                "W_x": np.array([[-0.50, 0.90, 2.00]]),
                "W_h": np.array([[0.60, -0.40, -1.10]]),
                "b_x": np.array([0.30, -0.80, 0.25]),
                "b_h": np.array([-0.10, 0.45, 0.70]),
            },
        ],
    },
    kind=PADDED,
)


def layer(rng, D, H):
    return {
        "W_x": rng.normal(size=(D, 3 * H)) * 1.5 / np.sqrt(D),
        "W_h": rng.normal(size=(H, 3 * H)) / np.sqrt(H),
        "b_x": rng.normal(size=3 * H) / 2,
        "b_h": rng.normal(size=3 * H) / 2,
    }


def case(rng, lengths, S, V, D, H, L, kind):
    """Rows of these lengths, in this order. No id occurs twice in a row, and padding can be any id."""
    return Case(
        sizes={"B": len(lengths), "S": S, "V": V, "D": D, "H": H, "L": L},
        inputs={
            "ids": np.array([rng.permutation(V)[:S] for _ in lengths]),
            "lengths": np.array(lengths),
            "E": rng.normal(size=(V, D)),
            "layers": [layer(rng, H if number else D, H) for number in range(L)],
        },
        kind=kind,
    )


def cases(rng):
    yield case(rng, [3, 3], S=3, V=6, D=2, H=2, L=2, kind=FULL)
    yield case(rng, [4], S=4, V=7, D=3, H=1, L=1, kind=FULL)
    yield case(rng, [1, 1, 1], S=1, V=1, D=1, H=3, L=2, kind=FULL)
    yield case(rng, [6, 2, 1, 3], S=6, V=9, D=3, H=5, L=2, kind=PADDED)
    yield case(rng, [2, 4, 3], S=6, V=8, D=3, H=3, L=3, kind=PADDED)  # no row is full
    yield case(rng, [3], S=4, V=5, D=3, H=2, L=1, kind=PADDED)
    yield case(rng, [4, 0, 4], S=4, V=7, D=2, H=2, L=2, kind=EMPTY)
    yield case(rng, [0], S=2, V=3, D=2, H=3, L=1, kind=EMPTY)


GATES = [
    Gates("rzn", inputs=("W_x", "W_h", "b_x", "b_h")),
    Gates("rzn", inputs=("W_x", "b_x")),
    Gates("rzn", inputs=("W_h", "b_h")),
]
SPEC = Spec(
    outputs=[Output("context", ("L", "B", "H"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("rows of full length", share=2, kinds=(FULL,)),
        Facet("rows with padding", share=3, kinds=(PADDED,)),
        Facet("rows of length 0", share=1, kinds=(EMPTY,)),
    ],
    gates=GATES,
)
NEW = "np.where(real[:, t, None], gru_cell(x[:, t], h, layer), h)"
CELL = "gru_cell(x[:, t], h, layer)"


def gru_cell(x_t, h_prev, layer):
    """The step that is given in the notebook, written out gate by gate."""
    (x_r, x_z, x_n), (h_r, h_z, h_n) = (
        np.split(side, 3, axis=1) for side in (x_t @ layer["W_x"] + layer["b_x"], h_prev @ layer["W_h"] + layer["b_h"])
    )
    r, z = 1 / (1 + np.exp(-x_r - h_r)), 1 / (1 + np.exp(-x_z - h_z))
    return (1 - z) * np.tanh(x_n + r * h_n) + z * h_prev


def one_state_for_the_stack(ids, lengths, E, layers):
    h = np.zeros((len(ids), len(layers[0]["W_h"])))
    context = np.zeros((len(layers), *h.shape))
    for t in range(ids.shape[1]):
        x = E[ids[:, t]]
        for number, layer in enumerate(layers):
            x = h = np.where((t < lengths)[:, None], gru_cell(x, h, layer), h)
            context[number] = h
    return context


def one_array_many_times(ids, lengths, E, layers):
    h = [np.zeros((len(ids), len(layers[0]["W_h"])))] * len(layers)
    for t in range(ids.shape[1]):
        x = E[ids[:, t]]
        for number, layer in enumerate(layers):
            h[number][:] = np.where((t < lengths)[:, None], gru_cell(x, h[number], layer), h[number])
            x = h[number]
    return np.stack(h)


SPEC.mistakes(
    {
        **instead(
            NEW,
            {
                "state_at_the_padded_end": CELL,
                "only_the_top_layer_stops": f"np.where(real[:, t, None] | (len(context) < len(layers) - 1), {CELL}, h)",
            },
        ),
        "padding_set_to_zero": [
            change(NEW, "gru_cell(x[:, t] * real[:, t, None], h, layer)"),
            change("x, context = E[ids], []", "x, context = E[ids] * real[:, :, None], []", (NEW, CELL)),
        ],
        "one_step_too_many": change("length_mask(lengths, ", "length_mask(lengths + 1, "),
        "one_length_for_all": [
            *(
                change("length_mask(lengths, ", f"length_mask(np.full_like(lengths, {one}), ")
                for one in ("lengths[0]", "lengths[-1]", "lengths.max()", "lengths.min()")
            )
        ],
        "only_the_lowest_layer_stops": change(
            "np.where(real[:, t, None], ", "np.where(real[:, t, None] | bool(context), "
        ),
    },
    keeps=["rows of full length"],
)
SPEC.mistakes(
    {
        "mask_inverted": change(NEW, f"np.where(real[:, t, None], h, {CELL})"),
        "id_0_taken_for_padding": change("length_mask(lengths, ids.shape[1])", "ids != 0"),
        "first_step_left_out": change("real[:, t, None], ", "real[:, t, None] & (t > 0), "),
        "last_step_left_out": change(
            "range(ids.shape[1])",
            "range(ids.shape[1] - 1)",
            ("np.stack(states, axis=1)", "np.stack(states or [h], axis=1)"),
        ),
        "upper_layers_without_memory": [
            change(CELL, "gru_cell(x[:, t], np.zeros_like(h) if context else h, layer)"),
            change(
                "context.append(h)",
                "context.append(gru_cell(context[-1], np.zeros_like(h), layer) if context else h)",
            ),
        ],
        "arguments_exchanged": change("gru_cell(x[:, t], h, layer)", "gru_cell(h, x[:, t], layer)"),
        "top_layer_only": [change("np.stack(context)", "np.stack(context)[-1:]"), change("np.stack(context)", "h")],
        **instead(
            "x = np.stack(states, axis=1)",
            {
                "every_layer_reads_the_embeddings": "x = E[ids]",
                "previous_states_of_the_layer_below": "x = np.stack([np.zeros_like(h), *states[:-1]], axis=1)",
            },
        ),
        "final_state_at_every_step": change("np.stack(states, axis=1)", "np.stack([h] * len(states), axis=1)"),
        "starts_from_the_layer_below": change(
            'h, states = np.zeros((len(ids), len(layer["W_h"]))), []',
            "states = []",
            ("for layer in layers:", 'h = np.zeros((len(ids), len(layers[0]["W_h"])))\nfor layer in layers:'),
        ),
        "layers_in_reverse_order": [
            change("in layers", "in layers[::-1]"),
            change("in layers", "in layers[::-1]", ("np.stack(context)", "np.stack(context[::-1])")),
        ],
        **instead(
            "np.stack(context)",
            {
                "context_in_reverse_order": "np.stack(context[::-1])",
                "batch_axis_first": "np.stack(context, axis=1)",
                "list_of_states": "context",
            },
        ),
        "one_layer_for_all": [change("h, layer)", "h, layers[0])"), change("h, layer)", "h, layers[-1])")],
        "states_of_all_steps": [
            change("context.append(h)", "context.append(np.stack(states, axis=1))"),
            change("np.stack(context)", "x"),
        ],
        "mean_over_time": [
            change("context.append(h)", "context.append(np.mean(states, axis=0))"),
            change(
                "context.append(h)",
                "context.append(sum(h_t * real[:, t, None] for t, h_t in enumerate(states))\n"
                "               / np.maximum(lengths, 1)[:, None])",
            ),
        ],
        "layers_joined": [
            change("np.stack(context)", "np.concatenate(context, axis=1)"),
            change("np.stack(context)", "np.concatenate(context)"),
        ],
        "sentences_read_backward": change(
            "length_mask(lengths, ids.shape[1])",
            "length_mask(lengths, ids.shape[1])[:, ::-1]",
            ("E[ids]", "E[ids][:, ::-1]"),
        ),
        "state_passed_up": one_state_for_the_stack,
        "one_array_for_all_layers": one_array_many_times,
    }
)
SPEC.mistakes(
    {
        "state_set_to_zero": change(NEW, f"{CELL} * real[:, t, None]"),
    },
    keeps=["rows of full length", "rows of length 0"],
)
SPEC.mistakes(
    {
        "length_0_takes_the_last_step": change(
            NEW, CELL, ("context.append(h)", "context.append(np.stack(states)[lengths - 1, np.arange(len(ids))])")
        ),
        "length_0_takes_the_first_step": change("length_mask(lengths, ", "length_mask(np.maximum(lengths, 1), "),
    },
    keeps=["rows of full length", "rows with padding"],
)


@SPEC.alternative
def state_picked_at_the_end(ids, lengths, E, layers):
    """All states of each layer, with the zero state in front, so that a row's length is the index of its last state."""
    inputs, context = E[ids], []
    for layer in layers:
        h = [np.zeros((len(ids), len(layer["b_h"]) // 3))]
        for t in range(inputs.shape[1]):
            h.append(gru_cell(inputs[:, t], h[-1], layer))
        h = np.array(h)
        context.append(h[lengths, np.arange(len(ids))])
        inputs = np.moveaxis(h[1:], 0, 1)
    return np.array(context)


@SPEC.alternative
def row_by_row(ids, lengths, E, layers):
    """Each row by itself, for as many steps as it has; at each step, up through all layers."""
    context = np.zeros((len(layers), len(ids), len(layers[0]["W_h"])))
    for b, n in enumerate(lengths):
        for token in ids[b, :n]:
            below = E[token][None]
            for number, layer in enumerate(layers):
                below = gru_cell(below, context[number, b : b + 1], layer)
                context[number, b] = below[0]
    return context


@SPEC.alternative
def only_the_rows_that_go_on(ids, lengths, E, layers):
    """At each step, only the rows that have not ended, up to the end of the longest row."""
    h = np.zeros((len(layers), len(ids), layers[0]["W_h"].shape[0]))
    for t in range(max(lengths)):
        on = lengths > t
        x = E[ids[on, t]]
        for number in range(len(layers)):
            x = gru_cell(x, h[number, on], layers[number])
            h[number, on] = x
    return h

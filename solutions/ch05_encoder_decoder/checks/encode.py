"""How `encode` is checked: against `torch.nn.GRU`, run on each row separately, without its padding."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Gates, Output, Spec, change


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
    gates=[
        Gates("rzn", inputs=("W_x", "W_h", "b_x", "b_h")),
        Gates("rzn", inputs=("W_x", "b_x")),
        Gates("rzn", inputs=("W_h", "b_h")),
    ],
    why=r"""
The two loops are those of a stacked network: over the layers, and inside it over the steps. At each step, `np.where`
takes the new state in the rows that have an id there, and keeps the old one in the rows that have ended. After the
last step, `h` is therefore the state at each row's own end, whatever the padding contains, and a row of length 0 still
has its zero state. The layers above read the kept states at the padded steps, but by then their own rows have ended
too. It would be just as good to store all states and to pick the one at `lengths - 1`; then a length of 0 has to be
treated separately, because the index −1 is the last step of the array.
""",
)


NEW = "np.where(real[:, t, None], gru_cell(x[:, t], h, layer), h)"
CELL = "gru_cell(x[:, t], h, layer)"
SPEC.mistake(
    "state_at_the_padded_end",
    "You take the states at the end of the padded array. Take each row's states after its last *real* id, which "
    "`lengths` tells you: at the later steps a row reads nothing but padding.",
    change(NEW, CELL),
    tempts="After the loop, the last state is in the variable; for a shorter row it has read the padding too.",
    keeps=["rows of full length"],
)
SPEC.mistake(
    "only_the_top_layer_stops",
    "Only your top layer has its state at each row's own end. The states of the layers below come from the end of the "
    "padded array. Take the state of *every* layer after the row's last real id.",
    change(NEW, f"np.where(real[:, t, None] | (len(context) < len(layers) - 1), {CELL}, h)"),
    tempts="The outputs of the top layer are all stored and can be indexed; of the other layers, only the last state "
    "is left after the loop.",
    keeps=["rows of full length"],
)
SPEC.mistake(
    "mask_inverted",
    "You keep the old state at the real steps, and take the new one at the padding. Do the opposite: `np.where(mask, "
    "new, old)` takes the new state where the mask is True.",
    change(NEW, f"np.where(real[:, t, None], h, {CELL})"),
    tempts="The order of the two arrays in `np.where` is easily confused.",
)
SPEC.mistake(
    "id_0_taken_for_padding",
    "You take id 0 for padding and do not use `lengths`. Here `lengths` alone says what is real: the padding may have "
    "any id, and id 0 may be a real token.",
    change("length_mask(lengths, ids.shape[1])", "ids != 0"),
    tempts="`ids != pad_id` is a usual way to make a mask, and the padding id is mostly 0.",
)
SPEC.mistake(
    "first_step_left_out",
    "You leave out the first id of each row. Start at t = 0: the zero state is the state *before* the first id.",
    change("real[:, t, None], ", "real[:, t, None] & (t > 0), "),
    tempts="In the equations the first step reads the initial state, so the loop seems to start at 1.",
)
SPEC.mistake(
    "upper_layers_without_memory",
    "From the second layer on, the state of a layer depends only on the last state of the layer below, as after a "
    "single step from a zero state. Let every layer read the states of *all* steps, one after the other, and start "
    "each step from its own previous state.",
    change(CELL, "gru_cell(x[:, t], np.zeros_like(h) if context else h, layer)"),
    change(
        "context.append(h)",
        "context.append(gru_cell(context[-1], np.zeros_like(h), layer) if context else h)",
    ),
    tempts="The final state of the lowest layer seems to contain everything that the layer above needs.",
)
SPEC.mistake(
    "arguments_exchanged",
    "You call `gru_cell` with the state first and the input second. Its order is input, previous state, weights. (The "
    "exchange raises no error if the two have the same size.)",
    change("gru_cell(x[:, t], h, layer)", "gru_cell(h, x[:, t], layer)"),
    tempts="Some libraries and texts name the state first.",
)
SPEC.mistake(
    "padding_set_to_zero",
    "You set the embeddings of the padding to 0 and let the network read them. Keep the state from the last real step "
    "instead: an input of 0 is still an input, and the state changes through `W_h` and the biases.",
    change(NEW, "gru_cell(x[:, t] * real[:, t, None], h, layer)"),
    change("x, context = E[ids], []", "x, context = E[ids] * real[:, :, None], []", (NEW, CELL)),
    tempts="An embedding of 0, which `padding_idx` gives, seems to do nothing.",
    keeps=["rows of full length"],
)
SPEC.mistake(
    "state_set_to_zero",
    "You set a row's state to 0 once the row has ended. Keep the state from the last real step: it is the context of "
    "this row.",
    change(NEW, f"{CELL} * real[:, t, None]"),
    tempts="A mask is multiplied in, as one does with a loss, but here it erases the state.",
    keeps=["rows of full length", "rows of length 0"],
)
SPEC.mistake(
    "length_0_takes_the_last_step",
    "In a row of length 0 you take the state at the end of the padded array: `lengths - 1` is −1 there, and this index "
    "counts from the end. Such a row has read nothing, so its state is zero in every layer.",
    change(NEW, CELL, ("context.append(h)", "context.append(np.stack(states)[lengths - 1, np.arange(len(ids))])")),
    tempts="Taking the states at `lengths - 1` is right for all other lengths, and the index −1 raises no error.",
    keeps=["rows of full length", "rows with padding"],
)
SPEC.mistake(
    "length_0_takes_the_first_step",
    "In a row of length 0 you take the state after the first step. Such a row has read nothing, so its state is zero "
    "in every layer.",
    change("length_mask(lengths, ", "length_mask(np.maximum(lengths, 1), "),
    tempts="Replacing a length of 0 by 1 avoids the index −1.",
    keeps=["rows of full length", "rows with padding"],
)
SPEC.mistake(
    "one_step_too_many",
    "You read one step too many in each row that has padding, and so its first padded id too. In a row of length n, "
    "the real ids are at the steps 0 to n − 1: step t is real if `t < lengths`.",
    change("length_mask(lengths, ", "length_mask(lengths + 1, "),
    tempts="The index n does not exist in a row of full length, and a comparison with `<=` hides the mistake.",
    keeps=["rows of full length"],
)
SPEC.mistake(
    "one_length_for_all",
    "You read the same number of steps in every row. Use each row's own length.",
    *(
        change("length_mask(lengths, ", f"length_mask(np.full_like(lengths, {one}), ")
        for one in ("lengths[0]", "lengths[-1]", "lengths.max()", "lengths.min()")
    ),
    tempts="A single slice for the whole batch is simpler.",
    keeps=["rows of full length"],
)
SPEC.mistake(
    "top_layer_only",
    "You return the final state of the top layer only. Return the final states of *all* layers, the lowest first: each "
    "layer of the decoder starts from the state of the same layer of the encoder.",
    change("np.stack(context)", "np.stack(context)[-1:]"),
    change("np.stack(context)", "h"),
    tempts="In a classifier, only the top layer's last state counts.",
)
SPEC.mistake(
    "every_layer_reads_the_embeddings",
    "Every layer reads the embeddings. From the second layer on, each reads the *states* of the layer below, step by "
    "step.",
    change("x = np.stack(states, axis=1)", "x = E[ids]"),
    tempts="One input array for all layers is at hand. (It works only if embedding and state have the same size.)",
)
SPEC.mistake(
    "previous_states_of_the_layer_below",
    "A layer reads the *previous* state of the layer below. Let it read the state of the same step: at step t, first "
    "compute the new state of the lower layer, then give it to the layer above.",
    change("x = np.stack(states, axis=1)", "x = np.stack([np.zeros_like(h), *states[:-1]], axis=1)"),
    tempts="In a loop over the steps that contains a loop over the layers, the list of the old states is read where "
    "the new ones should be.",
)
SPEC.mistake(
    "final_state_at_every_step",
    "A layer reads the final state of the layer below at every step. Let it read the states of *all* steps, each at "
    "its own step.",
    change("np.stack(states, axis=1)", "np.stack([h] * len(states), axis=1)"),
    tempts="The final state is what is stored for the context.",
)
SPEC.mistake(
    "starts_from_the_layer_below",
    "A layer starts from the final state of the layer below. Start every layer from a zero state of its own.",
    change(
        'h, states = np.zeros((len(ids), len(layer["W_h"]))), []',
        "states = []",
        ("for layer in layers:", 'h = np.zeros((len(ids), len(layers[0]["W_h"])))\nfor layer in layers:'),
    ),
    tempts="The initial state is set only once, before both loops.",
)
SPEC.mistake(
    "only_the_lowest_layer_stops",
    "Only your lowest layer stops at the end of a row. The layers above go on over the padded steps, where they read "
    "the same state of the layer below again and again. Stop *every* layer at the row's own end.",
    change("np.where(real[:, t, None], ", "np.where(real[:, t, None] | bool(context), "),
    tempts="The layers above do not see the padding itself, so they seem to need no mask.",
    keeps=["rows of full length"],
)
SPEC.mistake(
    "layers_in_reverse_order",
    "You go through the layers from the last to the first. Layer 0 is the lowest one, which reads the embeddings.",
    change("in layers", "in layers[::-1]"),
    change("in layers", "in layers[::-1]", ("np.stack(context)", "np.stack(context[::-1])")),
    tempts="In a picture, the top layer comes first.",
)
SPEC.mistake(
    "context_in_reverse_order",
    "Your context begins with the top layer. Begin with layer 0, the lowest one.",
    change("np.stack(context)", "np.stack(context[::-1])"),
    tempts="The top layer is the most important one.",
)
SPEC.mistake(
    "one_layer_for_all",
    "You use the weights of one layer in all layers. Give each layer its own dict of weights.",
    change("h, layer)", "h, layers[0])"),
    change("h, layer)", "h, layers[-1])"),
    tempts="An index is left over from the time when there was only one layer.",
)
SPEC.mistake(
    "states_of_all_steps",
    "You return the states of all steps. The context is one state for each layer and row: the one after the row's last "
    "real id.",
    change("context.append(h)", "context.append(np.stack(states, axis=1))"),
    change("np.stack(context)", "x"),
    tempts="The outputs of a recurrent network are usually the states of all steps.",
)
SPEC.mistake(
    "mean_over_time",
    "You return the mean of a layer's states. Return a single state, the one after the row's last real id.",
    change("context.append(h)", "context.append(np.mean(states, axis=0))"),
    change(
        "context.append(h)",
        "context.append(sum(h_t * real[:, t, None] for t, h_t in enumerate(states))\n"
        "               / np.maximum(lengths, 1)[:, None])",
    ),
    tempts="Averaging is another common way to reduce many states to one, and the page compares the two.",
)
SPEC.mistake(
    "batch_axis_first",
    "Your context has the batch as its first axis, (B, L, H). Put the layers first, (L, B, H): `context[0]` is then "
    "the state of layer 0 for the whole batch.",
    change("np.stack(context)", "np.stack(context, axis=1)"),
    tempts="Batch first is the rule of this course. PyTorch's final states are the exception that this result follows.",
)
SPEC.mistake(
    "layers_joined",
    "You join the states of all layers into one long array. Stack them along a new axis, which `np.stack` makes: the "
    "result has the shape (L, B, H).",
    change("np.stack(context)", "np.concatenate(context, axis=1)"),
    change("np.stack(context)", "np.concatenate(context)"),
    tempts="`np.concatenate` sounds like the right function to put arrays together.",
)
SPEC.mistake(
    "list_of_states",
    "You return a list of the layers' states. Stack them into one array of shape (L, B, H), with `np.stack`.",
    change("np.stack(context)", "context"),
    tempts="All states are there, so it is easily forgotten that they are in a list.",
)
SPEC.mistake(
    "sentences_read_backward",
    "You read each row from its end to its beginning. Start with the first id: a source that is reversed on purpose "
    "comes reversed in `ids`.",
    change(
        "length_mask(lengths, ids.shape[1])",
        "length_mask(lengths, ids.shape[1])[:, ::-1]",
        ("E[ids]", "E[ids][:, ::-1]"),
    ),
    tempts="Reversing the source is a well-known trick.",
)


def gru_cell(x_t, h_prev, layer):
    """The step that is given in the notebook, written out gate by gate."""
    (x_r, x_z, x_n), (h_r, h_z, h_n) = (
        np.split(side, 3, axis=1) for side in (x_t @ layer["W_x"] + layer["b_x"], h_prev @ layer["W_h"] + layer["b_h"])
    )
    r, z = 1 / (1 + np.exp(-x_r - h_r)), 1 / (1 + np.exp(-x_z - h_z))
    return (1 - z) * np.tanh(x_n + r * h_n) + z * h_prev


@SPEC.mistake(
    "state_passed_up",
    "All your layers share one variable for the state, so at each step a layer starts from the state that the layer "
    "below has just computed. That state is its *input* only: give each layer a state of its own.",
    tempts="One variable `h` is enough for a single layer.",
)
def one_state_for_the_stack(ids, lengths, E, layers):
    h = np.zeros((len(ids), len(layers[0]["W_h"])))
    context = np.zeros((len(layers), *h.shape))
    for t in range(ids.shape[1]):
        x = E[ids[:, t]]
        for number, layer in enumerate(layers):
            x = h = np.where((t < lengths)[:, None], gru_cell(x, h, layer), h)
            context[number] = h
    return context


@SPEC.mistake(
    "one_array_for_all_layers",
    "All your layers write their states into one array. A list that is multiplied, `[a] * L`, contains the same array "
    "L times, so writing into one entry changes all of them. Give each layer an array of its own, for example with "
    "`np.zeros((L, B, H))`.",
    tempts="`[0] * L` is the usual way to make a list of L numbers, and works because numbers cannot be changed.",
)
def one_array_many_times(ids, lengths, E, layers):
    h = [np.zeros((len(ids), len(layers[0]["W_h"])))] * len(layers)
    for t in range(ids.shape[1]):
        x = E[ids[:, t]]
        for number, layer in enumerate(layers):
            h[number][:] = np.where((t < lengths)[:, None], gru_cell(x, h[number], layer), h[number])
            x = h[number]
    return np.stack(h)


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

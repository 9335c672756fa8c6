"""Programs that the spec of `encode` does not contain; beside each wrong one is what it is told."""

import numpy as np
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

from grader.spec.trials import Trials
from solutions.ch05_encoder_decoder.encoder import gru_cell

TRIALS = Trials()


NEW = "np.where(real[:, t, None], gru_cell(x[:, t], h, layer), h)"


CELL = "gru_cell(x[:, t], h, layer)"


def one_step_fewer(ids, lengths, E, layers):
    h = np.zeros((len(layers), len(ids), layers[0]["W_h"].shape[0]))
    for t in range(ids.shape[1] - 1):
        x, real = E[ids[:, t]], (t < lengths)[:, None]
        for number, layer in enumerate(layers):
            h[number] = np.where(real, gru_cell(x, h[number], layer), h[number])
            x = h[number]
    return h


def mask_without_an_axis(ids, lengths, E, layers):
    h = [np.zeros((len(ids), layer["W_h"].shape[0])) for layer in layers]
    for t in range(ids.shape[1]):
        x = E[ids[:, t]]
        for number, layer in enumerate(layers):
            h[number] = np.where(t < lengths, gru_cell(x, h[number], layer), h[number])
            x = h[number]
    return np.array(h)


WRONG = {
    "one step fewer, all layers at once": (one_step_fewer, "last_step_left_out"),
    "a mask without an axis for the units": (mask_without_an_axis, None),
    "one step too few": ([("length_mask(lengths, ", "length_mask(lengths - 1, ")], "altered input: less lengths"),
    "the input frozen, not the state": (
        [
            (NEW, CELL),
            ("x[:, t]", "x[np.arange(len(ids)), np.minimum(t, np.maximum(lengths - 1, 0))]"),
        ],
        None,
    ),
    "picked from the wrong row": (
        [("context.append(h)", "context.append(h[np.argsort(-lengths, kind='stable')])")],
        "rows_in_another_order",
    ),
    "the last row for all": ([("context.append(h)", "context.append(np.repeat(h[-1:], len(h), axis=0))")], None),
    "the first row for all": (
        [("context.append(h)", "context.append(np.repeat(h[:1], len(h), axis=0))")],
        "first_sequence_only",
    ),
    "starts from ones": ([("np.zeros(", "np.ones(")], None),
    "starts from the embedding": (
        [('np.zeros((len(ids), len(layer["W_h"])))', "np.tanh(x[:, 0] @ layer['W_x'])[:, : len(layer['W_h'])]")],
        None,
    ),
    "state forgotten": ([("x[:, t], h, layer", "x[:, t], 0 * h, layer")], None),
    "the first id again and again": ([("gru_cell(x[:, t]", "gru_cell(x[:, 0]")], None),
    "the first id skipped": ([("range(ids.shape[1])", "range(1, ids.shape[1])")], None),
    "the last id skipped": (
        [("E[ids]", "E[ids[:, : ids.shape[1] - 1]]"), ("range(ids.shape[1])", "range(x.shape[1])")],
        {None, "last_step_left_out"},
    ),
    "a residual": ([("x = np.stack(states, axis=1)", "x = x[:, :, :1] + np.stack(states, axis=1)")], None),
    "no embedding": ([("E[ids]", "ids[:, :, None] * np.ones(E.shape[1])")], None),
    "sum of all states": ([("context.append(h)", "context.append(np.sum(states, axis=0))")], None),
    "maximum of all states": ([("context.append(h)", "context.append(np.max(states, axis=0))")], None),
    "axes in another order": ([("np.stack(context)", "np.stack(context, axis=2)")], None),
    "a tuple of states": ([("np.stack(context)", "tuple(context)")], "list_of_states"),
    "top layer for all": ([("np.stack(context)", "np.stack([h] * len(layers))")], None),
    "a tuple": ([("np.stack(context)", "x, np.stack(context)")], "after: [-1] missing"),
    "float32": ([("np.stack(context)", "np.stack(context).astype('f4')")], "float32"),
    "negated": ([("np.stack(context)", "-np.stack(context)")], "sign"),
    "gates exchanged": (
        [
            (
                "for layer in layers:\n",
                "for layer in [{k: np.concatenate([np.split(w, 3, -1)[i] for i in (1, 0, 2)], -1) "
                "for k, w in layer.items()} for layer in layers]:\n",
            )
        ],
        "altered input: read z, r, n, W_x, W_h, b_x and b_h, r, z, n",
    ),
    "zeros from the first padding on": (
        [
            (
                "x, context = E[ids], []",
                "E = np.where(np.arange(len(E))[:, None] == 0, 0, E)\nx, context = E[ids], []",
            )
        ],
        None,
    ),
}


def packed_by_torch(ids, lengths, E, layers):
    gru = torch.nn.GRU(E.shape[1], len(layers[0]["W_h"]), len(layers), batch_first=True, dtype=torch.float64)
    for number, layer in enumerate(layers):
        for theirs, ours in {"weight_ih": "W_x", "weight_hh": "W_h", "bias_ih": "b_x", "bias_hh": "b_h"}.items():
            getattr(gru, f"{theirs}_l{number}").data = torch.tensor(layer[ours].T.copy())
    some = lengths > 0
    context = np.zeros((len(layers), len(ids), len(layers[0]["W_h"])))
    if some.any():
        packed = pack_padded_sequence(torch.tensor(E[ids[some]]), torch.tensor(lengths[some]), True, False)
        context[:, some] = gru(packed)[1].detach().numpy()
    return context


def sorted_by_length(ids, lengths, E, layers):
    order = np.argsort(-lengths)
    H = layers[0]["W_h"].shape[0]
    context = np.zeros((len(layers), len(ids), H))
    for t in range(int(lengths.max())):
        rows = order[: (lengths > t).sum()]
        below = E[ids[rows, t]]
        for h, layer in zip(context, layers, strict=True):
            below = h[rows] = gru_cell(below, h[rows], layer)
    return context


def by_recursion(ids, lengths, E, layers):
    def final(sequence, layer):
        states = [np.zeros((1, layer["W_h"].shape[0]))]
        for x in sequence:
            states.append(gru_cell(x[None], states[-1], layer))
        return states

    context = []
    for row, n in zip(ids, lengths, strict=True):
        sequence, tops = [E[i] for i in row[:n]], []
        for layer in layers:
            states = final(sequence, layer)
            tops.append(states[-1][0])
            sequence = [state[0] for state in states[1:]]
        context.append(tops)
    return np.array(context).swapaxes(0, 1)


TRIALS.all_wrong(WRONG)
TRIALS.all_right([packed_by_torch, sorted_by_length, by_recursion])

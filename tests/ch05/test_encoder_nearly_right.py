"""Programs for `pad_batch`, `length_mask` and `encode` that no spec contains.

A nearly right program must fail and must not be given a false name: beside each is the diagnosis that is true of it,
or None. A program that is right in another style must pass.
"""

from itertools import zip_longest

import numpy as np
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

from grader.author.changes import change, define, plain_code
from solutions.ch05_encoder_decoder import encoder
from solutions.ch05_encoder_decoder.encoder import gru_cell
from tests.loops import for_each
from tests.nearly_right import fails, passes

with open(encoder.__file__, encoding="utf-8") as file:
    SOURCE = file.read()


def changed(exercise_id, *pairs):
    """The reference solution with these texts replaced."""
    first, *more = pairs
    code = change(*first, *more).apply(plain_code(SOURCE, exercise_id))
    return define(exercise_id, code, encoder, "nearly right")


FILLED = "np.full((len(sequences), lengths.max()), pad_id)"
WRONG_PADDING = {
    "a row for each position": ([("return ids, lengths", "return ids.T, lengths")], "transposed For ids"),
    "lengths first": ([("return ids, lengths", "return lengths, ids")], "order"),
    "ids alone": ([("return ids, lengths", "return ids")], None),
    "a list of lists": ([("return ids, lengths", "return [list(row) for row in ids], lengths")], None),
    "floats": ([("), pad_id)", "), float(pad_id))")], "ids_are_floats"),
    "both as floats": (
        [("return ids, lengths", "return ids * 1.0, lengths * 1.0")],
        "ids_are_floats For ids",
    ),
    "padded to a fixed length": ([("lengths.max()", "10")], None),
    "padded with -1": ([("), pad_id)", "), -1)")], None),
    "padded with pad_id + 1": ([("), pad_id)", "), pad_id + 1)")], "counterfactual: more pad_id"),
    "the longest length for all": (
        [("return ids, lengths", "return ids, np.full_like(lengths, max(lengths))")],
        "padded_length_for_all",
    ),
    "the largest length alone": (
        [("return ids, lengths", "return ids, lengths.max()")],
        "after: maximum over B For lengths",
    ),
    "lengths counted with a padding": (
        [("return ids, lengths", "return ids, lengths + 1")],
        "after: one more For lengths",
    ),
    "centred": (
        [("row[: len(sequence)]", "n = (len(row) - len(sequence)) // 2\nrow[n : n + len(sequence)]")],
        None,
    ),
    "each sequence reversed": (
        [("= sequence\n", "= sequence[::-1]\n")],
        "counterfactual: reversed each entry of sequences",
    ),
    "sorted within a row": ([("= sequence\n", "= sorted(sequence)\n")], None),
    "lists extended in place": (
        [
            (FILLED, "np.array([s.extend([pad_id] * (max(lengths) - len(s))) or s for s in sequences])"),
            ("row[: len(sequence)] = sequence", "pass"),
        ],
        None,
    ),
    "ragged": ([(FILLED, "np.array(sequences)")], None),
    "rows in reverse": ([("in zip(ids, ", "in zip(ids[::-1], ")], "after: reversed along B For ids"),
}

MASK = "np.arange(max_length) < lengths[:, None]"
WRONG_MASKS = {
    "a column for each row": ([(MASK, f"({MASK}).T")], "after: axes B and S exchanged"),
    "padding, and one more": ([("<", ">")], None),
    "a list of lists": ([(MASK, f"({MASK}).tolist()")], None),
    "as wide as the batch is high": ([("np.arange(max_length)", "np.arange(len(lengths))")], None),
    "one column more": ([("np.arange(max_length)", "np.arange(max_length + 1)")], "counterfactual: more max_length"),
    "words": ([(MASK, f"np.where({MASK}, 'real', 'padding')")], None),
    "all real": ([("<", ">= 0 *")], None),
    "the first position only": ([("< lengths[:, None]", "< np.minimum(lengths, 1)[:, None]")], None),
    "min of length and S - 1": ([("lengths[:, None]", "np.minimum(lengths, max_length - 1)[:, None]")], None),
    "sorted": ([("lengths[:, None]", "np.sort(lengths)[::-1][:, None]")], None),
    "positions, not truth": ([(MASK, f"np.arange(max_length) * ({MASK})")], None),
    "one flat row": ([(MASK, f"({MASK}).ravel()")], "after: flat"),
}

NEW = "np.where(real[:, t, None], gru_cell(x[:, t], h, layer), h)"
CELL = "gru_cell(x[:, t], h, layer)"
WRONG_ENCODERS = {
    "one step too few": ([("length_mask(lengths, ", "length_mask(lengths - 1, ")], "counterfactual: less lengths"),
    "one step too many": ([("length_mask(lengths, ", "length_mask(lengths + 1, ")], "one_step_too_many"),
    "the mask inverted": ([("np.where(real", "np.where(~real")], "mask_inverted"),
    "kept and new exchanged": ([(f"{CELL}, h)", f"h, {CELL})")], "mask_inverted"),
    "the last layer stops alone": (
        [("np.where(real[:, t, None], ", "np.where(real[:, t, None] | (len(context) < len(layers) - 1), ")],
        "only_the_top_layer_stops",
    ),
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
    "the last id skipped": ([("range(ids.shape[1])", "range(ids.shape[1] - 1)")], None),
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
        "counterfactual: read z, r, n, W_x, W_h, b_x and b_h, r, z, n",
    ),
    "0 taken for the padding": ([("length_mask(lengths, ids.shape[1])", "ids != 0")], "id_0_taken_for_padding"),
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

WRONG = [
    (exercise_id, name, changed(exercise_id, *pairs), allowed)
    for exercise_id, programs in (
        ("pad_batch", WRONG_PADDING),
        ("length_mask", WRONG_MASKS),
        ("encode", WRONG_ENCODERS),
    )
    for name, (pairs, allowed) in programs.items()
]


@for_each(("exercise_id", "name", "function", "allowed"), WRONG)
def test_a_nearly_right_one(exercise_id, name, function, allowed):
    fails(exercise_id, function, allowed)


# Right, in other styles -----------------------------------------------------------------------------------------------


def padded_by_torch(sequences, pad_id):
    tensors = [torch.tensor(sequence, dtype=torch.int64) for sequence in sequences]
    ids = pad_sequence(tensors, batch_first=True, padding_value=pad_id)
    return ids.numpy(), np.array([len(tensor) for tensor in tensors])


def padded_by_np_pad(sequences, pad_id):
    S = max(len(s) for s in sequences)
    rows = [np.pad(np.array(s, dtype=int), (0, S - len(s)), constant_values=pad_id) for s in sequences]
    return np.vstack(rows), np.array(list(map(len, sequences)))


def filled_entry_by_entry(sequences, pad_id):
    lengths = []
    for sequence in sequences:
        lengths.append(len(sequence))
    ids = np.zeros((len(sequences), max(lengths)), dtype=np.int32)
    for b in range(len(sequences)):
        for t in range(max(lengths)):
            ids[b, t] = sequences[b][t] if t < lengths[b] else pad_id
    return ids, np.array(lengths)


def with_zip_longest(sequences, pad_id):
    rows = zip(*zip_longest(*sequences, fillvalue=pad_id), strict=True)
    return np.array(list(rows)), np.array([len(sequence) for sequence in sequences])


def by_cumulative_sum(lengths, max_length):
    return np.cumsum(np.ones((len(lengths), max_length)), axis=1) <= lengths.reshape(-1, 1)


def by_subtraction(lengths, max_length):
    return (lengths[:, np.newaxis] - np.arange(max_length)[np.newaxis]) > 0


def by_repetition(lengths, max_length):
    positions = np.tile(np.arange(max_length), (len(lengths), 1))
    return np.logical_not(positions >= np.repeat(lengths, max_length).reshape(positions.shape))


def list_of_booleans(lengths, max_length):
    rows = []
    for n in lengths:
        rows.append([True] * n + [False] * (max_length - n))
    return np.array(rows)


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


def steps_outside_layers_inside(ids, lengths, E, layers):
    states = [np.zeros((len(ids), layer["W_h"].shape[0])) for layer in layers]
    for t in range(ids.shape[1]):
        going_on = (lengths > t)[:, None]
        x = E[ids[:, t]]
        for number, layer in enumerate(layers):
            new = gru_cell(x, states[number], layer)
            states[number] = going_on * new + (1 - going_on) * states[number]
            x = states[number]
    return np.stack(states)


def gathered_and_multiplied(ids, lengths, E, layers):
    outputs, finals = E[ids], []
    for layer in layers:
        h = np.zeros((ids.shape[0], layer["W_h"].shape[0]))
        hs = np.zeros((*ids.shape, h.shape[1]))
        for t in range(ids.shape[1]):
            h = hs[:, t] = gru_cell(outputs[:, t], h, layer)
        last = hs[np.arange(len(ids)), lengths - 1]
        finals.append(last * (lengths > 0)[:, None])
        outputs = hs
    return np.array(finals)


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


RIGHT = [
    ("pad_batch", padded_by_torch),
    ("pad_batch", padded_by_np_pad),
    ("pad_batch", filled_entry_by_entry),
    ("pad_batch", with_zip_longest),
    ("length_mask", by_cumulative_sum),
    ("length_mask", by_subtraction),
    ("length_mask", by_repetition),
    ("length_mask", list_of_booleans),
    ("encode", packed_by_torch),
    ("encode", steps_outside_layers_inside),
    ("encode", gathered_and_multiplied),
    ("encode", sorted_by_length),
    ("encode", by_recursion),
]


@for_each(("exercise_id", "function"), RIGHT)
def test_a_right_one_passes_however_it_is_written(exercise_id, function):
    passes(exercise_id, function)

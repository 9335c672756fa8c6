"""Programs for `decode_step` and `context_decode_step` that no spec contains.

A nearly right program must fail and must not be given a false name: beside each is the diagnosis that is true of it,
or None. A program that is right in another style must pass.
"""

import numpy as np
import pytest
import torch

from grader.author.changes import change, define, plain_code
from solutions.ch05_encoder_decoder import decoder
from solutions.ch05_encoder_decoder.decoder import gru_cell
from tests.loops import for_each
from tests.nearly_right import fails, passes

with open(decoder.__file__, encoding="utf-8") as file:
    SOURCE = file.read()


def changed(exercise_id, *pairs):
    """The reference solution with these texts replaced."""
    first, *more = pairs
    code = change(*first, *more).apply(plain_code(SOURCE, exercise_id))
    return define(exercise_id, code, decoder, "nearly right")


CELL, LOGITS, RETURNED = "gru_cell(x, h_prev, layer)", "return x @ W_p + b_p", "return x @ W_p + b_p, np.stack(s)"
SWAPPED = "{k: np.concatenate([np.split(w, 3, -1)[i] for i in (1, 0, 2)], -1) for k, w in layer.items()}"
WRONG_STEPS = {
    "state first": ([(RETURNED, "return np.stack(s), x @ W_p + b_p")], "order"),
    "logits alone": ([(", np.stack(s)", "")], None),
    "no bias": ([("W_p + b_p", "W_p")], "zeros b_p"),
    "bias twice": ([("+ b_p", "+ 2 * b_p")], "doubled b_p"),
    "starts from zero": ([("h_prev, layer)", "0 * h_prev, layer)")], "zeros s_prev"),
    "no embedding": ([("E[y_prev]", "np.zeros((len(y_prev), E.shape[1]))")], "zeros E"),
    "the next word": ([("E[y_prev]", "E[(y_prev + 1) % len(E)]")], None),
    "the word of the first row": ([("E[y_prev]", "E[np.full_like(y_prev, y_prev[0])]")], "first_row y_prev"),
    "a step with no input above": ([(CELL, "gru_cell(x if not s else np.zeros_like(x), h_prev, layer)")], None),
    "a residual": ([("s.append(x)", "s.append(x)\nx = x + h_prev")], None),
    "a tanh before the head": ([(LOGITS, "return np.tanh(x) @ W_p + b_p")], None),
    "the head twice": ([(LOGITS, "return (x @ W_p + b_p) @ W_p.T @ W_p + b_p")], None),
    "states in reverse": ([("in zip(layers, s_prev,", "in zip(layers, s_prev[::-1],")], None),
    "weights in reverse": ([("in zip(layers, s_prev,", "in zip(layers[::-1], s_prev,")], "reversed layers"),
    "the lowest layer left out": ([("s.append(x)", "s.append(x)\nx = x if len(s) > 1 else E[y_prev]")], None),
    "the lowest layer alone": (
        [("return x @", "return s[0] @"), ("np.stack(s)", "np.stack(s[:1])")],
        "head_reads_the_bottom_layer For logits",
    ),
    "two steps": ([(CELL, f"gru_cell(x, {CELL}, layer) if len(s) == 0 else {CELL}")], None),
    "all states old but logits": ([("s.append(x)", "s.append(h_prev)")], "s_prev_returned"),
    "z before r": ([(CELL, f"gru_cell(x, h_prev, {SWAPPED})")], "read z, r, n, W_x, W_h, b_x and b_h, r, z, n"),
    "logits divided": ([(LOGITS, "return (x @ W_p + b_p) / np.sqrt(len(W_p))")], None),
    "logits of the first row": ([(LOGITS, "return (x @ W_p + b_p)[0]")], "after: first entry along B For logits"),
    "shifted logits": (
        [(RETURNED, "z = x @ W_p + b_p\nreturn z - z.max(axis=1, keepdims=True), np.stack(s)")],
        None,
    ),
    "softmax over the batch": (
        [(RETURNED, "p = np.exp(x @ W_p + b_p)\nreturn p / p.sum(axis=0, keepdims=True), np.stack(s)")],
        "after: softmax along B For logits",
    ),
    "argmax kept as a column": ([(LOGITS, "return (x @ W_p + b_p).argmax(axis=1, keepdims=True)")], None),
    "s in place": (
        [
            ("s.append(x)", "h_prev[:] = x"),
            ("np.stack(s)", "s_prev"),
        ],
        None,
    ),
    "float32": ([("np.stack(s)", "np.stack(s).astype('f4')")], "float32 For s"),
    "a tuple of states": ([("np.stack(s)", "tuple(s)")], "list_of_states"),
}

ROW, STEP = "np.concatenate([E[y_prev], context], axis=1)", "gru_cell(x, s_prev, "
WRONG_WITH_CONTEXT = {
    "no context": ([(ROW, "np.concatenate([E[y_prev], np.zeros_like(context)], axis=1)")], "zeros context"),
    "no context, weights cut": (
        [(ROW, "E[y_prev]"), ('"W_x": W_x', '"W_x": W_x[: E.shape[1]]')],
        "zeros context",
    ),
    "no embedding": (
        [(ROW, "context"), ('"W_x": W_x', '"W_x": W_x[E.shape[1] :]')],
        "zeros E",
    ),
    "the state for the context": (
        [(ROW, "np.concatenate([E[y_prev], s_prev], axis=1)")],
        "in_place_of s_prev, context",
    ),
    "the context for the state": ([(STEP, "gru_cell(x, context, ")], "in_place_of context, s_prev"),
    "exchanged": (
        [(ROW, "np.concatenate([E[y_prev], s_prev], axis=1)"), (STEP, "gru_cell(x, context, ")],
        "context_is_the_state",
    ),
    "starts from zero": ([(STEP, "gru_cell(x, 0 * s_prev, ")], "zeros s_prev"),
    "context of the first row": (
        [("E[y_prev], context]", "E[y_prev], context[:1] + 0 * context]")],
        "first_row context",
    ),
    "mean of the contexts": (
        [("E[y_prev], context]", "E[y_prev], context.mean(axis=0, keepdims=True) + 0 * context]")],
        None,
    ),
    "joined along the batch": ([("context], axis=1", "context], axis=0")], None),
    "added to the embedding": ([(ROW, "E[y_prev] + context")], None),
    "three parts": ([(ROW, "np.concatenate([E[y_prev], context, s_prev], axis=1)")], None),
    "the context in front": (
        [(ROW, "np.concatenate([context, E[y_prev]], axis=1)")],
        "context_first",
    ),
    "half of the context": ([("E[y_prev], context]", "E[y_prev], context / 2]")], None),
    "tanh of the context": ([("E[y_prev], context]", "E[y_prev], np.tanh(context)]")], None),
    "context times state": ([("E[y_prev], context]", "E[y_prev], context * s_prev]")], None),
    "no bias in the head": ([("W_p + b_p", "W_p")], "zeros b_p"),
    "biases exchanged": ([('"b_x": b_x, "b_h": b_h', '"b_x": b_h, "b_h": b_x')], "exchanged b_x, b_h"),
    "one bias twice": ([('"b_h": b_h', '"b_h": b_x')], "in_place_of b_x, b_h"),
    "state first": ([("return s @ W_p + b_p, s", "return s, s @ W_p + b_p")], "order"),
    "the head reads the input": ([("s @ W_p + b_p", "x[:, -len(W_p) :] @ W_p + b_p")], "head_reads_the_context"),
    "context returned too": ([("b_p, s", "b_p, s, context")], None),
    "state and context": ([("b_p, s", "b_p, np.hstack([s, context])")], None),
    "next context": ([("b_p, s", "b_p, s + context")], "context_added_to_the_new_state For s"),
    "float32": ([("b_p, s", "b_p, s.astype('f4')")], "float32 For s"),
    "in place": ([("s = gru_cell", "s_prev += 0.1\ns = gru_cell")], None),
}

WRONG = [
    (exercise_id, name, changed(exercise_id, *pairs), allowed)
    for exercise_id, programs in (("decode_step", WRONG_STEPS), ("context_decode_step", WRONG_WITH_CONTEXT))
    for name, (pairs, allowed) in programs.items()
]


@for_each(("exercise_id", "name", "function", "allowed"), WRONG)
def test_a_nearly_right_one(exercise_id, name, function, allowed):
    fails(exercise_id, function, allowed)


# Right, in other styles -----------------------------------------------------------------------------------------------


def loaded(module, layer, suffix=""):
    for theirs, ours in {"weight_ih": "W_x", "weight_hh": "W_h", "bias_ih": "b_x", "bias_hh": "b_h"}.items():
        getattr(module, theirs + suffix).data = torch.tensor(layer[ours].T.copy())
    return module


def cells_of_torch(y_prev, s_prev, E, layers, W_p, b_p):
    x, s = torch.tensor(E[y_prev]), []
    for number, layer in enumerate(layers):
        cell = loaded(torch.nn.GRUCell(x.shape[1], len(W_p), dtype=torch.float64), layer)
        x = cell(x, torch.tensor(s_prev[number]))
        s.append(x.detach().numpy())
    return s[-1] @ W_p + b_p, np.array(s)


def a_copy_overwritten(y_prev, s_prev, E, layers, W_p, b_p):
    s = s_prev.copy()
    x = np.take(E, y_prev, axis=0)
    for l in range(s.shape[0]):  # noqa: E741
        s[l] = gru_cell(x, s[l], layers[l])
        x = s[l]
    logits = np.zeros((len(y_prev), len(b_p)))
    for b in range(len(y_prev)):
        logits[b] = b_p + s[-1, b] @ W_p
    return logits, s


def first_layer_apart(y_prev, s_prev, E, layers, W_p, b_p):
    new = [gru_cell(E[y_prev, :], s_prev[0], layers[0])]
    for i in range(1, len(layers)):
        new.append(gru_cell(new[i - 1], s_prev[i], layers[i]))
    return np.add(np.matmul(new[-1], W_p), b_p), np.concatenate([h[None] for h in new])


def one_hot(y_prev, s_prev, E, layers, W_p, b_p):
    x = np.eye(len(E))[y_prev] @ E
    s = []
    while len(s) < len(layers):
        x = gru_cell(x, s_prev[len(s)], layers[len(s)])
        s += [x]
    return [x @ W_p + b_p, np.stack(s)]


def cell_of_torch(y_prev, s_prev, context, E, W_x, W_h, b_x, b_h, W_p, b_p):
    cell = torch.nn.GRUCell(len(W_x), len(W_h), dtype=torch.float64)
    loaded(cell, {"W_x": W_x, "W_h": W_h, "b_x": b_x, "b_h": b_h})
    s = cell(torch.tensor(np.column_stack([E[y_prev], context])), torch.tensor(s_prev)).detach().numpy()
    return s @ W_p + b_p, s


def hstacked(y_prev, s_prev, context, E, W_x, W_h, b_x, b_h, W_p, b_p):
    s = gru_cell(np.hstack((E[y_prev], context)), s_prev, dict(W_x=W_x, W_h=W_h, b_x=b_x, b_h=b_h))  # noqa: C408
    return b_p + s.dot(W_p), s


def context_as_a_bias(y_prev, s_prev, context, E, W_x, W_h, b_x, b_h, W_p, b_p):
    """The context's part of the input's side is added to the bias, one row after the other."""
    D, s = E.shape[1], np.zeros_like(s_prev)
    for b in range(len(s)):
        layer = {"W_x": W_x[:D], "W_h": W_h, "b_x": b_x + context[b] @ W_x[D:], "b_h": b_h}
        s[b] = gru_cell(E[y_prev[b]][None], s_prev[b][None], layer)[0]
    return s @ W_p + b_p, s


RIGHT = [
    ("decode_step", cells_of_torch),
    ("decode_step", a_copy_overwritten),
    ("decode_step", first_layer_apart),
    ("decode_step", one_hot),
    ("context_decode_step", cell_of_torch),
    ("context_decode_step", hstacked),
    ("context_decode_step", context_as_a_bias),
]


@pytest.mark.parametrize(("exercise_id", "function"), RIGHT, ids=[f"{e}: {f.__name__}" for e, f in RIGHT])
def test_a_right_one_passes_however_it_is_written(exercise_id, function):
    passes(exercise_id, function)

"""Programs that the spec of `decode_step` does not contain; beside each wrong one is what it is told."""

import numpy as np
import torch

from grader.spec.trials import Trials
from solutions.ch05_encoder_decoder.decoder import gru_cell

TRIALS = Trials()


CELL, LOGITS, RETURNED = "gru_cell(x, h_prev, layer)", "return x @ W_p + b_p", "return x @ W_p + b_p, np.stack(s)"


SWAPPED = "{k: np.concatenate([np.split(w, 3, -1)[i] for i in (1, 0, 2)], -1) for k, w in layer.items()}"


def every_row_written(y_prev, s_prev, E, layers, W_p, b_p):
    x, s = E[y_prev], np.zeros(s_prev.shape)
    for h, layer in zip(s_prev, layers, strict=True):
        x = gru_cell(x, h, layer)
        s[:] = x
    return x @ W_p + b_p, s


WRONG = {
    "every row written": (every_row_written, "top_state_for_all_layers"),
    "a column of the table": ([("E[y_prev]", "E.T[y_prev]")], None),
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


def one_hot(y_prev, s_prev, E, layers, W_p, b_p):
    x = np.eye(len(E))[y_prev] @ E
    s = []
    while len(s) < len(layers):
        x = gru_cell(x, s_prev[len(s)], layers[len(s)])
        s += [x]
    return [x @ W_p + b_p, np.stack(s)]


TRIALS.all_wrong(WRONG)
TRIALS.all_right([cells_of_torch, a_copy_overwritten, one_hot])

"""Programs that the spec of `context_decode_step` does not contain; beside each wrong one is what it is told."""

import numpy as np
import torch

from grader.spec.trials import Trials
from solutions.ch05_encoder_decoder.decoder import gru_cell

TRIALS = Trials()


ROW, STEP = "np.concatenate([E[y_prev], context], axis=1)", "gru_cell(x, s_prev, "


def written_out(candidate):
    """The GRU written out with a loop over the rows, with another candidate."""

    def student(y_prev, s_prev, context, E, W_x, W_h, b_x, b_h, W_p, b_p):
        H, s = s_prev.shape[1], []
        for b, word in enumerate(y_prev):
            h = s_prev[b]
            a = np.append(E[word], context[b]) @ W_x + b_x
            r, z = 0.5 + 0.5 * np.tanh((a + h @ W_h + b_h)[: 2 * H].reshape(2, H) / 2)
            n = np.tanh(a[2 * H :] + candidate(r, h, W_h[:, 2 * H :], b_h[2 * H :]))
            s.append((1 - z) * n + z * h)
        return np.array(s) @ W_p + b_p, np.array(s)

    return student


def word_then_context(y_prev, s_prev, context, E, W_x, W_h, b_x, b_h, W_p, b_p):
    s, D = s_prev, E.shape[1]
    for x, W in ((E[y_prev], W_x[:D]), (context, W_x[D:])):
        s = gru_cell(x, s, {"W_x": W, "W_h": W_h, "b_x": b_x, "b_h": b_h})
    return s @ W_p + b_p, s


WRONG = {
    "r times the state": (written_out(lambda r, h, W, b: (r * h) @ W + b), "r_before_the_product"),
    "the bias outside": (written_out(lambda r, h, W, b: r * (h @ W) + b), "b_hn_not_gated"),
    "no bias in the candidate": (written_out(lambda r, h, W, b: r * (h @ W)), None),
    "first the word, then the context": (word_then_context, "two_steps_for_one"),
    "no context": ([(ROW, "np.concatenate([E[y_prev], np.zeros_like(context)], axis=1)")], "zeros context"),
    "no embedding": (
        [(ROW, "context"), ('"W_x": W_x', '"W_x": W_x[E.shape[1] :]')],
        "zeros E",
    ),
    "the state for the context": (
        [(ROW, "np.concatenate([E[y_prev], s_prev], axis=1)")],
        "in_place_of s_prev, context",
    ),
    "the context for the state": ([(STEP, "gru_cell(x, context, ")], "in_place_of context, s_prev"),
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
    "half of the context": ([("E[y_prev], context]", "E[y_prev], context / 2]")], None),
    "tanh of the context": ([("E[y_prev], context]", "E[y_prev], np.tanh(context)]")], None),
    "context times state": ([("E[y_prev], context]", "E[y_prev], context * s_prev]")], None),
    "no bias in the head": ([("W_p + b_p", "W_p")], "zeros b_p"),
    "biases exchanged": ([('"b_x": b_x, "b_h": b_h', '"b_x": b_h, "b_h": b_x')], "exchanged b_x, b_h"),
    "one bias twice": ([('"b_h": b_h', '"b_h": b_x')], "in_place_of b_x, b_h"),
    "state first": ([("return s @ W_p + b_p, s", "return s, s @ W_p + b_p")], "order"),
    "context returned too": ([("b_p, s", "b_p, s, context")], None),
    "state and context": ([("b_p, s", "b_p, np.hstack([s, context])")], None),
    "next context": ([("b_p, s", "b_p, s + context")], "context_added_to_the_new_state For s"),
    "float32": ([("b_p, s", "b_p, s.astype('f4')")], "float32 For s"),
    "in place": ([("s = gru_cell", "s_prev += 0.1\ns = gru_cell")], None),
}


def loaded(module, layer, suffix=""):
    for theirs, ours in {"weight_ih": "W_x", "weight_hh": "W_h", "bias_ih": "b_x", "bias_hh": "b_h"}.items():
        getattr(module, theirs + suffix).data = torch.tensor(layer[ours].T.copy())
    return module


def cell_of_torch(y_prev, s_prev, context, E, W_x, W_h, b_x, b_h, W_p, b_p):
    cell = torch.nn.GRUCell(len(W_x), len(W_h), dtype=torch.float64)
    loaded(cell, {"W_x": W_x, "W_h": W_h, "b_x": b_x, "b_h": b_h})
    s = cell(torch.tensor(np.column_stack([E[y_prev], context])), torch.tensor(s_prev)).detach().numpy()
    return s @ W_p + b_p, s


def context_as_a_bias(y_prev, s_prev, context, E, W_x, W_h, b_x, b_h, W_p, b_p):
    """The context's part of the input's side is added to the bias, one row after the other."""
    D, s = E.shape[1], np.zeros_like(s_prev)
    for b in range(len(s)):
        layer = {"W_x": W_x[:D], "W_h": W_h, "b_x": b_x + context[b] @ W_x[D:], "b_h": b_h}
        s[b] = gru_cell(E[y_prev[b]][None], s_prev[b][None], layer)[0]
    return s @ W_p + b_p, s


TRIALS.all_wrong(WRONG)
TRIALS.all_right([cell_of_torch, context_as_a_bias])

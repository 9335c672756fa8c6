"""Programs that the spec of `attention_step` does not contain; beside each wrong one is what it is told."""

import numpy as np
import torch

from grader.spec.trials import Trials
from solutions.ch06_attention.decoder import attend, gru_cell, masked_softmax

TRIALS = Trials()


WEIGH, CONTEXT = "masked_softmax(score(s_prev, keys), mask)", "context = attend(weights, keys)"


INPUT, HEAD, RETURN = "[E[y_prev], context]", "[s, context]", "return logits, s, weights"


CELL = "gru_cell(x, s_prev, W_x, W_h, b_x, b_h)"


LOGITS = "logits = np.concatenate([s, context], axis=1) @ W_p + b_p"


MAX = "a - a.max(axis=1, keepdims=True)"


NORMALISED = "\nweights = e / e.sum(axis=1, keepdims=True)"


SWAPPED = "np.hstack([np.split({0}, 3, -1)[i] for i in (1, 0, 2)])"


WRONG = {
    # the query
    "Luong: attends with the state of a GRU without context": (
        [
            (
                f"weights = {WEIGH}",
                "s = gru_cell(E[y_prev], s_prev, W_x[: E.shape[1]], W_h, b_x, b_h)\n"
                "weights = masked_softmax(score(s, keys), mask)",
            ),
            ("x = np.concatenate([E[y_prev], context], axis=1)", ""),
            (f"\ns = {CELL}", "\n"),
        ],
        "query_is_the_new_state",
    ),
    "attends again for the head, returns the first weights": (
        [(LOGITS, f"context = attend(masked_softmax(score(s, keys), mask), keys)\n{LOGITS}")],
        "attends_again For logits",
    ),
    "query of zeros": ([(WEIGH, WEIGH.replace("s_prev", "0 * s_prev"))], None),
    "query of the first row": ([(WEIGH, WEIGH.replace("s_prev", "s_prev[:1] + 0 * s_prev"))], None),
    "keys and query exchanged": ([(WEIGH, WEIGH.replace("s_prev, keys", "keys, s_prev"))], None),
    "a negative score": ([(WEIGH, WEIGH.replace("score(", "-score("))], None),
    # the mask
    "no mask": ([(WEIGH, WEIGH.replace(", mask)", ", np.ones_like(mask))"))], "true mask"),
    "the mask is inverted": ([(WEIGH, WEIGH.replace(", mask)", ", ~mask)"))], "inverted mask"),
    "mask after the context only": (
        [
            (f"weights = {WEIGH}", f"a = score(s_prev, keys)\ne = np.exp({MAX}){NORMALISED}"),
            (CONTEXT, "context = attend(weights * mask, keys)"),
        ],
        "masked_after_softmax For s and logits",
    ),
    "masked weights in the context, returned with padding": (
        [(RETURN, "return logits, s, masked_softmax(score(s_prev, keys), np.ones_like(mask))")],
        "true mask For weights",
    ),
    "the negative number is too small": (
        [(f"weights = {WEIGH}", f"a = np.where(mask, score(s_prev, keys), -1.0)\ne = np.exp({MAX}){NORMALISED}")],
        None,
    ),
    "the last key is always masked": (
        [(WEIGH, "masked_softmax(score(s_prev, keys), mask & (np.arange(mask.shape[1]) < mask.shape[1] - 1))")],
        "last_step_zero mask",
    ),
    "the mask of the first row": (
        [(WEIGH, WEIGH.replace(", mask)", ", mask[:1] | (0 * mask > 0))"))],
        "first_row mask",
    ),
    # weights and context
    "scores divided by their sum": (
        [
            (
                f"weights = {WEIGH}",
                "e = score(s_prev, keys) * mask\nweights = e / np.where(mask.any(1), e.sum(1), 1)[:, None]",
            )
        ],
        None,
    ),
    "logarithms of the weights": (
        [(RETURN, "return logits, s, np.log(np.maximum(weights, 1e-300))")],
        "after: exponential missing For weights",
    ),
    "weights of the batch's first row": (
        [(CONTEXT, "context = attend(weights[:1] + 0 * weights, keys)")],
        "first_sequence_only For s and logits",
    ),
    # the GRU
    "no embedding": ([(INPUT, "[0 * E[y_prev], context]")], "zeros E"),
    "the state in the input": ([(INPUT, "[E[y_prev], context + s_prev.mean()]")], None),
    "z before r": (
        [(CELL, "gru_cell(x, s_prev, " + ", ".join(SWAPPED.format(n) for n in ("W_x", "W_h", "b_x", "b_h")) + ")")],
        "read z, r, n, W_x, W_h, b_x and b_h, r, z, n",
    ),
    "biases exchanged": ([(CELL, CELL.replace("b_x, b_h", "b_h, b_x"))], "exchanged b_x, b_h"),
    "no bias": ([("W_p + b_p", "W_p")], "zeros b_p"),
    "the next word": ([("E[y_prev]", "E[(y_prev + 1) % len(E)]")], None),
    "two steps": ([(f"s = {CELL}", f"s = {CELL.replace('s_prev', CELL)}")], None),
    # the head
    "head with the old context of zeros": ([(HEAD, "[s, keys[:, 0]]")], None),
    "head with a tanh on the context": ([(HEAD, "[s, np.tanh(context)]")], None),
    # what is returned
    "logits alone": ([(RETURN, "return logits")], None),
    "without the weights": ([(RETURN, "return logits, s")], None),
    "another order": ([(RETURN, "return s, logits, weights")], "order"),
    "weights before the state": ([(RETURN, "return logits, weights, s")], "order"),
    "the keys in place": ([(CONTEXT, f"keys *= mask[:, :, None]\n{CONTEXT}")], None),
    "float32": ([(RETURN, "return logits, s, weights.astype('f4')")], "float32 For weights"),
}


def a_large_negative_number(y_prev, s_prev, keys, mask, E, score, W_x, W_h, b_x, b_h, W_p, b_p):
    e = np.where(mask, score(s_prev, keys), -1e9)
    w = np.exp(e - e.max(axis=1, keepdims=True))
    w = w / w.sum(axis=1, keepdims=True) * mask
    c = np.matmul(w[:, None], keys)[:, 0]
    s = gru_cell(np.column_stack([E[y_prev], c]), s_prev, W_x, W_h, b_x, b_h)
    return np.column_stack([s, c]) @ W_p + b_p, s, w


def renormalised(y_prev, s_prev, keys, mask, E, score, W_x, W_h, b_x, b_h, W_p, b_p):
    """An ordinary softmax, then the mask, then divided by the remaining sum."""
    e = np.exp(np.clip(score(s_prev, keys), -600, 600))
    w = e / e.sum(axis=1, keepdims=True) * mask
    total = w.sum(axis=1, keepdims=True)
    w = np.divide(w, total, out=np.zeros_like(w), where=total > 0)
    c = np.einsum("bs,bsk->bk", w, keys)
    s = gru_cell(np.concatenate((E[y_prev], c), -1), s_prev, W_x, W_h, b_x, b_h)
    return np.concatenate((s, c), -1) @ W_p + b_p, s, w


def with_torch(y_prev, s_prev, keys, mask, E, score, W_x, W_h, b_x, b_h, W_p, b_p):
    real = torch.tensor(mask)
    e = torch.tensor(score(s_prev, keys)).masked_fill(~real, -torch.inf)
    w = torch.nan_to_num(torch.softmax(e, dim=-1), nan=0.0).numpy()
    c = attend(w, keys)
    s = gru_cell(np.concatenate([E[y_prev], c], axis=1), s_prev, W_x, W_h, b_x, b_h)
    return [np.concatenate([s, c], axis=1) @ W_p + b_p, s, w]


def one_row_at_a_time(y_prev, s_prev, keys, mask, E, score, W_x, W_h, b_x, b_h, W_p, b_p):
    rows = []
    for b in range(len(y_prev)):
        w = masked_softmax(score(s_prev[b : b + 1], keys[b : b + 1]), mask[b : b + 1])
        c = attend(w, keys[b : b + 1])
        x = np.concatenate([E[y_prev[b : b + 1]], c], axis=1)
        s = gru_cell(x, s_prev[b : b + 1], W_x, W_h, b_x, b_h)
        rows.append((np.concatenate([s, c], axis=1) @ W_p + b_p, s, w))
    return tuple(np.concatenate(parts) for parts in zip(*rows, strict=True))


def real_keys_only(y_prev, s_prev, keys, mask, E, score, W_x, W_h, b_x, b_h, W_p, b_p):
    weights, context = np.zeros(mask.shape), np.zeros((len(keys), keys.shape[-1]))
    for b, real in enumerate(mask):
        if real.sum() == 0:
            continue
        e = score(s_prev[b][None], keys[b, real][None])[0]
        weights[b, real] = np.exp(e) / np.exp(e).sum()
        context[b] = weights[b, real] @ keys[b, real]
    s = gru_cell(np.c_[E[y_prev], context], s_prev, W_x, W_h, b_x, b_h)
    return np.c_[s, context] @ W_p + b_p, s, weights


def zeroed_padding(y_prev, s_prev, keys, mask, E, score, W_x, W_h, b_x, b_h, W_p, b_p):
    """Keys of the padding set to zero, in a copy, which is harmless as long as the softmax has a mask."""
    clean = np.where(mask[:, :, None], keys, 0)
    w = masked_softmax(score(s_prev, clean), mask)
    c = attend(w, clean)
    s = gru_cell(np.concatenate([np.take(E, y_prev, axis=0), c], axis=1), s_prev, W_x, W_h, b_x, b_h)
    return s @ W_p[: s.shape[1]] + c @ W_p[s.shape[1] :] + b_p, s, w


def cell_of_torch(y_prev, s_prev, keys, mask, E, score, W_x, W_h, b_x, b_h, W_p, b_p):
    w = masked_softmax(score(s_prev, keys), mask)
    c = attend(w, keys)
    cell = torch.nn.GRUCell(len(W_x), len(W_h), dtype=torch.float64)
    for name, value in {"weight_ih": W_x.T, "weight_hh": W_h.T, "bias_ih": b_x, "bias_hh": b_h}.items():
        getattr(cell, name).data = torch.tensor(value.copy())
    s = cell(torch.tensor(np.hstack([E[y_prev], c])), torch.tensor(s_prev)).detach().numpy()
    return np.hstack([s, c]) @ W_p + b_p, s, w


def logs_of_sums(y_prev, s_prev, keys, mask, E, score, W_x, W_h, b_x, b_h, W_p, b_p):
    e = np.where(mask, score(s_prev, keys), -np.inf)
    total = np.logaddexp.reduce(e, axis=1, keepdims=True)
    w = np.where(mask, np.exp(e - np.where(np.isfinite(total), total, 0)), 0.0)
    c = np.tensordot(w[:, None], keys, axes=([2], [1])).diagonal(axis1=0, axis2=2)[0].T
    s = gru_cell(np.concatenate([np.eye(len(E))[y_prev] @ E, c], axis=1), s_prev, W_x, W_h, b_x, b_h)
    return np.concatenate([s, c], axis=1) @ W_p + b_p, s, w


RIGHT = [
    a_large_negative_number,
    renormalised,
    with_torch,
    one_row_at_a_time,
    real_keys_only,
    zeroed_padding,
    cell_of_torch,
    logs_of_sums,
]

TRIALS.all_wrong(WRONG)
TRIALS.all_right(RIGHT)

"""Programs that the spec of `multi_head_attention` does not contain; beside each wrong one is what it is told."""

from textwrap import dedent

import numpy as np
import torch

from grader.spec.trials import Trials
from solutions.ch06_attention.self_attention import self_attention, softmax

TRIALS = Trials()


SPLIT, JOINED = "(x @ W).reshape(B, T, num_heads, d).swapaxes(1, 2)", "heads.swapaxes(1, 2).reshape(B, T, D)"


ROOT, ALLOWED, HEADS = "np.sqrt(d)", "mask if mask.ndim == 2 else mask[:, None]", "heads = softmax(scores) @ v"


BLOCKS = "np.where(allowed, scores, -np.inf)"


WRONG = {
    "batch and heads mixed": ([(SPLIT, "(x @ W).reshape(T, num_heads, B, d).transpose(2, 1, 0, 3)")], None),
    "joined after another exchange": ([(JOINED, "heads.transpose(0, 3, 1, 2).reshape(B, T, D)")], None),
    "joined from the transposed": ([(JOINED, "heads.swapaxes(1, 3).reshape(B, T, D)")], None),
    "one big head": (
        [("d = x.shape, x.shape[2] // num_heads", "d, num_heads = x.shape, x.shape[2], 1")],
        "num_heads_ignored",
    ),
    "one column each": ([("d = x.shape, x.shape[2] // num_heads", "d, num_heads = x.shape, 1, x.shape[2]")], None),
    "first block of queries": (
        [("scores = q @", "scores = q[:, :1] @")],
        None,
    ),
    "first block of values": ([(HEADS, "heads = softmax(scores) @ v[:, :1]")], None),
    "queries in reverse": ([("scores = q @", "scores = q[:, ::-1] @")], None),
    "scale T by the root of two": ([(ROOT, "np.sqrt(2)")], None),
    "scale num_heads": ([(ROOT, "num_heads")], None),
    "W_o transposed": ([("@ W_o", "@ W_o.T")], "transposed W_o"),
    "W_v for W_o": ([("@ W_o", "@ W_v")], "in_place_of W_v, W_o"),
    "W_o twice": ([("@ W_o", "@ W_o @ W_o")], None),
    "W_q transposed": ([("in (W_q, W_k, W_v)", "in (W_q.T, W_k, W_v)")], "transposed W_q"),
    "keys and queries exchanged": ([("in (W_q, W_k, W_v)", "in (W_k, W_q, W_v)")], "exchanged W_q, W_k"),
    "values from the keys": ([("in (W_q, W_k, W_v)", "in (W_q, W_k, W_k)")], "in_place_of W_k, W_v"),
    "queries not projected": ([("in (W_q, W_k, W_v)", "in (np.eye(D), W_k, W_v)")], None),
    "mask ignored": ([(BLOCKS, "scores")], "default mask"),
    "mask inverted": ([("np.where(allowed,", "np.where(~allowed,")], "inverted mask"),
    "mask transposed": ([("np.where(allowed,", "np.where(allowed.swapaxes(-1, -2),")], "transposed mask"),
    "causal always": ([("if mask is not None:", "mask = np.tril(np.ones((T, T), dtype=bool))\nif True:")], None),
    "mask of two axes by mistake": (
        [(ALLOWED, "mask[None] if mask.ndim == 2 else mask[None]")],
        "mask_without_a_batch_only",
    ),
    "maximum over the heads": (
        [(f"{JOINED} @ W_o", "np.tile(heads.max(axis=1), num_heads) @ W_o")],
        None,
    ),
    "heads one late": ([(JOINED, "np.roll(heads, 1, axis=1).swapaxes(1, 2).reshape(B, T, D)")], None),
    "no values in the sum": ([(HEADS, "heads = v")], None),
    "a residual": ([("return heads", "return x + heads")], None),
    "heads returned": ([(f"return {JOINED} @ W_o", "return heads")], None),
    "a list": ([(f"return {JOINED} @ W_o", f"return ({JOINED} @ W_o).tolist()")], None),
    "float32": ([(f"{JOINED} @ W_o", f"({JOINED} @ W_o).astype('f4')")], "float32"),
    "W_q in place": ([("q, k, v =", "W_q /= np.sqrt(d)\nq, k, v ="), (f"(2, 3) / {ROOT}", "(2, 3)")], None),
}


def loop_that_forgets_the_mask(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    d = x.shape[2] // num_heads
    heads = [self_attention(x, *(W[:, i * d : (i + 1) * d] for W in (W_q, W_k, W_v)))[0] for i in range(num_heads)]
    return np.concatenate(heads, axis=2) @ W_o


def multihead_of_torch(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    """PyTorch's module; rows that attend to nothing are NaN there."""
    D = len(W_o)
    module = torch.nn.MultiheadAttention(D, num_heads, bias=False, batch_first=True, dtype=torch.float64)
    module.in_proj_weight.data = torch.from_numpy(np.concatenate([W_q.T, W_k.T, W_v.T]))
    module.out_proj.weight.data = torch.from_numpy(W_o.T.copy())
    if mask is not None:
        mask = torch.from_numpy(~(mask if mask.ndim == 2 else np.repeat(mask, num_heads, axis=0)))
    x = torch.from_numpy(x)
    with torch.no_grad():
        return module(x, x, x, attn_mask=mask)[0].nan_to_num().numpy()


def own_self_attention(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    d, heads = len(W_o) // num_heads, []
    for i in range(num_heads):
        cols = np.arange(i * d, i * d + d)
        y, _ = self_attention(x, W_q[:, cols], W_k[:, cols], W_v[:, cols], mask=mask)
        heads += [y]
    return np.dstack(heads).reshape(x.shape) @ W_o if len(x) == 0 else np.concatenate(heads, -1) @ W_o


def batch_and_heads_in_one(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    B, T, D = x.shape

    def split(a):
        return a.reshape(B, T, num_heads, D // num_heads).transpose(0, 2, 1, 3).reshape(B * num_heads, T, -1)

    q, k, v = split(x @ W_q), split(x @ W_k), split(x @ W_v)
    scores = q @ k.transpose(0, 2, 1) * (D // num_heads) ** -0.5
    if mask is not None:
        scores[~np.repeat(np.broadcast_to(mask, (B, T, T)), num_heads, axis=0)] = -np.inf
    y = (softmax(scores) @ v).reshape(B, num_heads, T, -1).transpose(0, 2, 1, 3)
    return y.reshape(B, T, D) @ W_o


def zeros_filled(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    joined, d = np.zeros(x.shape), x.shape[2] // num_heads
    for first in range(0, x.shape[2], d):
        part = np.s_[:, first : first + d]
        joined[:, :, first : first + d] = self_attention(x, W_q[part], W_k[part], W_v[part], mask)[0]
    return np.einsum("btd,de->bte", joined, W_o)


TRIALS.all_wrong(WRONG)
TRIALS.all_wrong(
    {
        "loop_that_forgets_the_mask": (loop_that_forgets_the_mask, "default mask"),
    }
)
TRIALS.all_right([multihead_of_torch, own_self_attention, batch_and_heads_in_one, zeros_filled])


TRIALS.all_wrong(
    {
        "one head with all columns": (
            """
            def multi_head_attention(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
                e = (x @ W_q) @ (x @ W_k).transpose(0, 2, 1) * (x.shape[2] / num_heads) ** -0.5
                return softmax(e if mask is None else np.where(mask, e, -np.inf)) @ (x @ W_v) @ W_o
            """,
            "num_heads_ignored",
        ),
        "minus ten in each head": (
            """
            def multi_head_attention(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
                y = []
                for q, k, v in zip(*(np.split(x @ W, num_heads, axis=2) for W in (W_q, W_k, W_v))):
                    e = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[2])
                    y.append(softmax(e if mask is None else e - 10 * ~mask) @ v)
                return np.concatenate(y, axis=2) @ W_o
            """,
            "masked_scores_not_low_enough",
        ),
    },
    dedent,
)

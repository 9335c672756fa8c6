"""Programs that the spec of `self_attention` does not contain; beside each wrong one is what it is told."""

from textwrap import dedent

import numpy as np
import torch

from grader.spec.trials import Trials
from solutions.ch06_attention.self_attention import self_attention, softmax

TRIALS = Trials()


SCALE, MASKED, SOFTMAX = "np.sqrt(W_k.shape[1])", "np.where(mask, scores, -np.inf)", "weights = softmax(scores)"


RETURN = "return weights @ v, weights"


WRONG = {
    "cube root": ([(SCALE, "np.cbrt(W_k.shape[1])")], None),
    "square": ([(SCALE, "W_k.shape[1] ** 2")], None),
    "temperature 2": ([(SCALE, "np.sqrt(W_k.shape[1]) / 2")], None),
    "norms of queries and keys": (
        [(SCALE, "(np.linalg.norm(q, axis=2)[:, :, None] * np.linalg.norm(k, axis=2)[:, None])")],
        None,
    ),
    "mask ignored": ([(MASKED, "scores")], "default mask"),
    "mask inverted": ([("np.where(mask,", "np.where(~mask,")], "inverted mask"),
    "mask transposed": ([("np.where(mask,", "np.where(mask.swapaxes(-1, -2),")], "transposed mask"),
    "mask and causal": ([(MASKED, "np.where(np.tril(mask), scores, -np.inf)")], None),
    "keys of its own never": (
        [(MASKED, "np.where(mask & ~np.eye(x.shape[1], dtype=bool), scores, -np.inf)")],
        None,
    ),
    "renormalised over everything": (
        [(MASKED, "scores"), (SOFTMAX, f"{SOFTMAX}\nif mask is not None:\n    weights = softmax(weights * mask)")],
        None,
    ),
    "queries are keys": ([("x @ W_q, x @ W_k", "x @ W_k, x @ W_k")], "in_place_of W_k, W_q"),
    "keys are queries": ([("x @ W_q, x @ W_k", "x @ W_q, x @ W_q")], "in_place_of W_q, W_k"),
    "softmax over all pairs": (
        [(SOFTMAX, "weights = np.exp(scores) / np.exp(scores).sum(axis=(1, 2), keepdims=True)")],
        "softmax_over_all_pairs",
    ),
    "softmax over the batch": (
        [(SOFTMAX, "weights = softmax(np.moveaxis(scores, 0, -1))\nweights = np.moveaxis(weights, -1, 0)")],
        None,
    ),
    "softmax twice": ([(SOFTMAX, "weights = softmax(softmax(scores))")], "after: softmax along keys For weights"),
    "hard attention": (
        [(SOFTMAX, "weights = (scores == scores.max(axis=-1, keepdims=True)) * 1.0")],
        None,
    ),
    "sigmoid": ([(SOFTMAX, "weights = 1 / (1 + np.exp(-scores))")], None),
    "weights first": ([(RETURN, "return weights, weights @ v")], "order"),
    "weights transposed in the result": (
        [(RETURN, "return weights @ v, weights.swapaxes(1, 2)")],
        "after: axes T and keys exchanged For weights",
    ),
    "powers returned": ([(RETURN, "return weights @ v, np.exp(scores)")], None),
    "log weights returned": (
        [(RETURN, "return weights @ v, np.log(weights + 1e-300)")],
        "after: exponential missing For weights",
    ),
    "a residual": ([("return weights @ v", "return weights @ v + x[:, :, :1]")], None),
    "a mean": ([("return weights @ v", "return weights @ v / x.shape[1]")], "averaged"),
    "values scaled": ([("x @ W_v", "x @ W_v / np.sqrt(W_v.shape[1])")], None),
    "the last output": ([("return weights @ v,", "return (weights @ v)[:, -1],")], "after: last entry along T For y"),
    "float32": ([("return weights @ v,", "return (weights @ v).astype('f4'),")], "float32"),
    "x in place": ([("q, k, v =", "x *= 0.5\nq, k, v =")], None),
    "mask in place": ([("if mask is not None:", "if mask is not None:\n    mask[..., 0] = True")], None),
}


def minus_ten(x, W_q, W_k, W_v, mask=None):
    scores = np.einsum("btk,bsk->bts", x @ W_q, x @ W_k) / np.sqrt(W_q.shape[1])
    if mask is not None:
        scores = np.where(mask, scores, -10.0)
    weights = softmax(scores)
    return weights @ (x @ W_v), weights


def all_sequences_as_one(x, W_q, W_k, W_v, mask=None):
    B, T, D = x.shape
    scores = (x.reshape(B * T, D) @ W_q) @ (x.reshape(B * T, D) @ W_k).T / np.sqrt(W_k.shape[1])
    weights = softmax(scores)
    y = (weights @ (x.reshape(B * T, D) @ W_v)).reshape(B, T, -1)
    return y, np.stack([weights[b * T : (b + 1) * T, b * T : (b + 1) * T] for b in range(B)])


def scaled_dot_product_of_torch(x, W_q, W_k, W_v, mask=None):
    x, W_q, W_k, W_v = (torch.from_numpy(a) for a in (x, W_q, W_k, W_v))
    eye = torch.eye(x.shape[1], dtype=torch.float64).expand(len(x), -1, -1)
    allowed = None if mask is None else torch.from_numpy(mask)
    v = torch.cat([x @ W_v, eye], dim=2)
    both = torch.nn.functional.scaled_dot_product_attention(x @ W_q, x @ W_k, v, attn_mask=allowed).nan_to_num()
    return both[..., : W_v.shape[1]].numpy(), both[..., W_v.shape[1] :].numpy()


def position_by_position(x, W_q, W_k, W_v, mask=None):
    (B, T, _), weights = x.shape, []
    for b in range(B):
        allowed = np.ones((T, T), bool) if mask is None else mask[b] if mask.ndim == 3 else mask
        for t in range(T):
            row = np.zeros(T)
            for s in range(T):
                if allowed[t, s]:
                    row[s] = np.exp(np.dot(x[b, t] @ W_q, x[b, s] @ W_k) / len(W_k.T) ** 0.5)
            weights.append(row / row.sum() if row.sum() > 0 else row)
    weights = np.array(weights).reshape(B, T, T)
    return weights @ x @ W_v, weights


def nan_replaced(x, W_q, W_k, W_v, mask=None):
    scores = np.matmul(x @ W_q, np.transpose(x @ W_k, (0, 2, 1))) / np.sqrt(W_q.shape[-1])
    scores = scores if mask is None else np.where(mask, scores, -np.inf)
    with np.errstate(all="ignore"):
        weights = np.nan_to_num(np.exp(scores) / np.exp(scores).sum(2)[:, :, None])
    return [weights @ (x @ W_v), weights]


def minus_a_billion_and_zeros(x, W_q, W_k, W_v, mask=None):
    mask = np.ones((1, x.shape[1], x.shape[1]), bool) if mask is None else mask
    scores = np.einsum("btk,bsk->bts", x @ W_q, x @ W_k) * W_k.shape[1] ** -0.5
    weights = softmax(scores - 1e9 * ~mask) * mask
    return np.einsum("bts,bsm->btm", weights, x @ W_v), weights


def scores_of_one_matrix(x, W_q, W_k, W_v, mask=None):
    """A bilinear score: W_q W_kᵀ in the middle."""
    scores = x @ (W_q @ W_k.T) @ x.swapaxes(1, 2) / np.sqrt(W_k.shape[1])
    weights = softmax(scores + (0 if mask is None else np.log(mask.astype(float) + 0.0)) * 1.0)
    return weights @ (x @ W_v), weights


TRIALS.all_wrong(WRONG)
TRIALS.all_wrong(
    {
        "minus_ten": (minus_ten, "masked_scores_not_low_enough"),
        "all_sequences_as_one": (all_sequences_as_one, None),
    }
)
TRIALS.all_right(
    [scaled_dot_product_of_torch, position_by_position, nan_replaced, minus_a_billion_and_zeros, scores_of_one_matrix]
)


TRIALS.all_wrong(
    {
        "transposed with T": (
            """
            def self_attention(x, W_q, W_k, W_v, mask=None):
                e = np.matmul(x @ W_q, np.transpose(x @ W_k)) / W_q.shape[1] ** 0.5
                a = softmax(e if mask is None else np.where(mask, e, -np.inf))
                return a @ (x @ W_v), a
            """,
            "all_axes_reversed",
        ),
        "minus a thousand": (
            """
            def self_attention(x, W_q, W_k, W_v, mask=None):
                e = np.einsum("bik,bjk->bij", x @ W_q, x @ W_k) / W_q.shape[1] ** 0.5
                a = softmax(e if mask is None else e - 1000 * (1 - mask))
                return a @ (x @ W_v), a
            """,
            "masked_row_attends",
        ),
        "a mask is there": (
            """
            def self_attention(x, W_q, W_k, W_v, mask=None):
                e = np.einsum("bik,bjk->bij", x @ W_q, x @ W_k) / W_q.shape[1] ** 0.5
                a = softmax(np.where(mask, e, -np.inf) if mask else e)
                return a @ (x @ W_v), a
            """,
            "mask_tested_as_one_truth_value",
        ),
    },
    dedent,
)

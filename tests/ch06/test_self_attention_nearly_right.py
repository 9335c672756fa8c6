"""Programs for `self_attention`, `causal_mask` and `multi_head_attention` that no spec contains.

A nearly right program must fail and must not be given a false name: beside each is the diagnosis that is true of it,
or None. A program that is right in another style must pass.
"""

import numpy as np
import pytest
import torch

from grader.author.changes import change, define, plain_code
from solutions.ch06_attention import self_attention as notebook
from solutions.ch06_attention.self_attention import self_attention, softmax
from tests.loops import for_each
from tests.nearly_right import fails, passes

with open(notebook.__file__, encoding="utf-8") as file:
    SOURCE = file.read()


def changed(exercise_id, *pairs):
    """The reference solution with these texts replaced."""
    first, *more = pairs
    code = change(*first, *more).apply(plain_code(SOURCE, exercise_id))
    return define(exercise_id, code, notebook, "nearly right")


# Small changes of the reference solution ------------------------------------------------------------------------------

SCALE, MASKED, SOFTMAX = "np.sqrt(W_k.shape[1])", "np.where(mask, scores, -np.inf)", "weights = softmax(scores)"
RETURN = "return weights @ v, weights"
WRONG_SELF = {
    "divided twice": ([(SCALE, "np.sqrt(W_k.shape[1]) / np.sqrt(W_k.shape[1])")], "scaled_without_the_root"),
    "cube root": ([(SCALE, "np.cbrt(W_k.shape[1])")], None),
    "square": ([(SCALE, "W_k.shape[1] ** 2")], None),
    "root of the rows of the keys": ([(SCALE, "np.sqrt(k.shape[1])")], "scaled_by_root_T"),
    "root of the batch": ([(SCALE, "np.sqrt(len(k))")], "scaled_by_root_B"),
    "temperature 2": ([(SCALE, "np.sqrt(W_k.shape[1]) / 2")], None),
    "norms of queries and keys": (
        [(SCALE, "(np.linalg.norm(q, axis=2)[:, :, None] * np.linalg.norm(k, axis=2)[:, None])")],
        None,
    ),
    "mask ignored": ([(MASKED, "scores")], "default mask"),
    "mask inverted": ([("np.where(mask,", "np.where(~mask,")], "inverted mask"),
    "mask transposed": ([("np.where(mask,", "np.where(mask.swapaxes(-1, -2),")], "transposed mask"),
    "multiplied by the mask": ([(MASKED, "scores * mask")], "masked_with_zero"),
    "added to the mask": ([(MASKED, "scores + mask")], "mask_added_to_the_scores"),
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
    "keys and queries exchanged": ([("x @ W_q, x @ W_k", "x @ W_k, x @ W_q")], "scores_transposed"),
    "softmax over axis 1": (
        [(SOFTMAX, "weights = np.exp(scores) / np.maximum(np.exp(scores).sum(axis=1, keepdims=True), 1e-300)")],
        "softmax_over_the_queries",
    ),
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
    "powers not divided": ([(SOFTMAX, "weights = np.exp(scores)")], "powers_not_normalised"),
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

TRIL = "np.tril(np.ones((T, T), dtype=bool))"
WRONG_MASK = {
    "all": ([(TRIL, "np.ones((T, T), dtype=bool)")], "everything_allowed"),
    "none": ([(TRIL, "np.zeros((T, T), dtype=bool)")], None),
    "one too large": ([(TRIL, "np.tril(np.ones((T + 1, T + 1), dtype=bool))")], "more T"),
    "one row": ([(TRIL, "np.tril(np.ones((T, T), dtype=bool))[-1]")], None),
    "itself and the previous one": (
        [(TRIL, "np.tril(np.triu(np.ones((T, T), dtype=bool), k=-1))")],
        None,
    ),
    "anti-diagonal": ([(TRIL, f"{TRIL}[::-1]")], "after: reversed along T"),
    "as strings": ([(TRIL, f"{TRIL}.astype(str)")], None),
    "as a list": ([(TRIL, f"{TRIL}.tolist()")], None),
    "uint8": ([(TRIL, f"{TRIL}.astype('u1')")], None),
    "scores": ([(TRIL, f"np.where({TRIL}, -np.inf, 0.0)")], None),
}

SPLIT, JOINED = "(x @ W).reshape(B, T, num_heads, d).swapaxes(1, 2)", "heads.swapaxes(1, 2).reshape(B, T, D)"
ROOT, ALLOWED, HEADS = "np.sqrt(d)", "mask if mask.ndim == 2 else mask[:, None]", "heads = softmax(scores) @ v"
BLOCKS = "np.where(allowed, scores, -np.inf)"
WRONG_HEADS = {
    "split with a transpose first": (
        [(SPLIT, "(x @ W).swapaxes(1, 2).reshape(B, num_heads, d, T).swapaxes(2, 3)[:, ::-1]")],
        "heads_in_reverse",
    ),
    "heads before batch": (
        [(SPLIT, "(x @ W).reshape(num_heads, B, T, d).swapaxes(0, 1)")],
        "split_with_a_reshape_alone",
    ),
    "batch and heads mixed": ([(SPLIT, "(x @ W).reshape(T, num_heads, B, d).transpose(2, 1, 0, 3)")], None),
    "joined after another exchange": ([(JOINED, "heads.transpose(0, 3, 1, 2).reshape(B, T, D)")], None),
    "joined from the transposed": ([(JOINED, "heads.swapaxes(1, 3).reshape(B, T, D)")], None),
    "one big head": (
        [("d = x.shape, x.shape[2] // num_heads", "d, num_heads = x.shape, x.shape[2], 1")],
        "one num_heads",
    ),
    "one column each": ([("d = x.shape, x.shape[2] // num_heads", "d, num_heads = x.shape, 1, x.shape[2]")], None),
    "the last block for all": (
        [(SPLIT, "np.repeat((x @ W)[:, None, :, -d:], num_heads, axis=1)")],
        "all_heads_use_the_same_block",
    ),
    "first block of queries": (
        [("scores = q @", "scores = q[:, :1] @")],
        None,
    ),
    "first block of values": ([(HEADS, "heads = softmax(scores) @ v[:, :1]")], None),
    "queries in reverse": ([("scores = q @", "scores = q[:, ::-1] @")], None),
    "scale T by the root of two": ([(ROOT, "np.sqrt(2)")], None),
    "scale D": ([(ROOT, "D")], "scaled_by_D"),
    "scale num_heads": ([(ROOT, "num_heads")], None),
    "multiplied by the root": ([("/ np.sqrt(d)", "* np.sqrt(d)")], "multiplied_by_the_root"),
    "scaled after the softmax": (
        [("/ np.sqrt(d)", ""), ("softmax(scores)", "softmax(scores) / np.sqrt(d)")],
        "scaled_after_the_softmax",
    ),
    "W_o transposed": ([("@ W_o", "@ W_o.T")], "transposed W_o"),
    "W_o left of it": ([(f"{JOINED} @ W_o", f"(W_o @ {JOINED}.swapaxes(1, 2)).swapaxes(1, 2)")], "transposed W_o"),
    "W_v for W_o": ([("@ W_o", "@ W_v")], "in_place_of W_v, W_o"),
    "W_o twice": ([("@ W_o", "@ W_o @ W_o")], None),
    "W_q transposed": ([("in (W_q, W_k, W_v)", "in (W_q.T, W_k, W_v)")], "transposed W_q"),
    "all transposed": ([("in (W_q, W_k, W_v)", "in (W_q.T, W_k.T, W_v.T)")], "weights_transposed"),
    "keys and queries exchanged": ([("in (W_q, W_k, W_v)", "in (W_k, W_q, W_v)")], "exchanged W_q, W_k"),
    "scores transposed": ([("q @ k.swapaxes(2, 3)", "k @ q.swapaxes(2, 3)")], "exchanged W_q, W_k"),
    "values from the keys": ([("in (W_q, W_k, W_v)", "in (W_q, W_k, W_k)")], "in_place_of W_k, W_v"),
    "queries not projected": ([("in (W_q, W_k, W_v)", "in (np.eye(D), W_k, W_v)")], None),
    "mask ignored": ([(BLOCKS, "scores")], "default mask"),
    "mask inverted": ([("np.where(allowed,", "np.where(~allowed,")], "inverted mask"),
    "mask transposed": ([("np.where(allowed,", "np.where(allowed.swapaxes(-1, -2),")], "transposed mask"),
    "mask for the last head only": (
        [
            ("scores = np.where", "scores[:, -1:] = np.where"),
            (BLOCKS, "np.where(allowed, scores[:, -1:], -np.inf)"),
        ],
        "mask_for_one_head_only",
    ),
    "causal always": ([("if mask is not None:", "mask = np.tril(np.ones((T, T), dtype=bool))\nif True:")], None),
    "mask of two axes by mistake": (
        [(ALLOWED, "mask[None] if mask.ndim == 2 else mask[None]")],
        "mask_without_a_batch_only",
    ),
    "heads averaged after W_o": ([("@ W_o", "@ W_o / num_heads")], "heads_averaged"),
    "maximum over the heads": (
        [(f"{JOINED} @ W_o", "np.tile(heads.max(axis=1), num_heads) @ W_o")],
        None,
    ),
    "heads one late": ([(JOINED, "np.roll(heads, 1, axis=1).swapaxes(1, 2).reshape(B, T, D)")], None),
    "the first head alone": ([(f"{JOINED} @ W_o", "heads[:, 0] @ W_o[:d]")], "only_one_head_counts"),
    "the last head alone": ([(f"{JOINED} @ W_o", "heads[:, -1] @ W_o[-d:]")], "only_one_head_counts"),
    "no values in the sum": ([(HEADS, "heads = v")], None),
    "a residual": ([("return heads", "return x + heads")], None),
    "heads returned": ([(f"return {JOINED} @ W_o", "return heads")], None),
    "a list": ([(f"return {JOINED} @ W_o", f"return ({JOINED} @ W_o).tolist()")], None),
    "float32": ([(f"{JOINED} @ W_o", f"({JOINED} @ W_o).astype('f4')")], "float32"),
    "W_q in place": ([("q, k, v =", "W_q /= np.sqrt(d)\nq, k, v ="), (f"(2, 3) / {ROOT}", "(2, 3)")], None),
}


# Programs that students write with loops and with their own self_attention --------------------------------------------


def loop_without_W_o(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    d = x.shape[2] // num_heads
    heads = [
        self_attention(x, *(W[:, i * d : (i + 1) * d] for W in (W_q, W_k, W_v)), mask)[0] for i in range(num_heads)
    ]
    return np.concatenate(heads, axis=2)


def loop_stacked_interleaved(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    d = x.shape[2] // num_heads
    heads = [
        self_attention(x, *(W[:, i * d : (i + 1) * d] for W in (W_q, W_k, W_v)), mask)[0] for i in range(num_heads)
    ]
    return np.stack(heads, axis=-1).reshape(x.shape) @ W_o


def loop_stacked_and_reshaped(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    d = x.shape[2] // num_heads
    heads = [
        self_attention(x, *(W[:, i * d : (i + 1) * d] for W in (W_q, W_k, W_v)), mask)[0] for i in range(num_heads)
    ]
    return np.stack(heads, axis=1).reshape(x.shape) @ W_o


def loop_over_strided_columns(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    heads = [self_attention(x, W_q[:, i::num_heads], W_k[:, i::num_heads], W_v[:, i::num_heads], mask)[0]
             for i in range(num_heads)]  # fmt: skip
    return np.concatenate(heads, axis=2) @ W_o


def loop_with_a_fixed_slice(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    d = x.shape[2] // num_heads
    heads = [self_attention(x, W_q[:, :d], W_k[:, :d], W_v[:, :d], mask)[0] for _ in range(num_heads)]
    return np.concatenate(heads, axis=2) @ W_o


def loop_with_both_results(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    d = x.shape[2] // num_heads
    heads = [self_attention(x, *(W[:, i * d : (i + 1) * d] for W in (W_q, W_k, W_v)), mask) for i in range(num_heads)]
    return np.concatenate([h[0] for h in heads], axis=2) @ W_o, np.stack([h[1] for h in heads], axis=1)


def loop_that_forgets_the_mask(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    d = x.shape[2] // num_heads
    heads = [self_attention(x, *(W[:, i * d : (i + 1) * d] for W in (W_q, W_k, W_v)))[0] for i in range(num_heads)]
    return np.concatenate(heads, axis=2) @ W_o


def loop_with_overlapping_slices(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    d = x.shape[2] // num_heads
    y = np.zeros_like(x)
    for i in range(num_heads):
        own = slice(i, i + d)
        y += self_attention(x, W_q[:, own], W_k[:, own], W_v[:, own], mask)[0] @ W_o[own]
    return y


def loop_that_overwrites(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    heads = [None]
    for own in np.split(np.arange(x.shape[2]), num_heads):
        heads[0] = self_attention(x, W_q[:, own], W_k[:, own], W_v[:, own], mask)[0] @ W_o[own]
    return heads[0]


def loop_that_returns_inside(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    y = np.zeros(x.shape)
    for own in np.split(np.arange(x.shape[2]), num_heads):
        y += self_attention(x, W_q[:, own], W_k[:, own], W_v[:, own], mask)[0] @ W_o[own]
        if np.isfinite(y).all():
            break
    return y


def loop_over_columns_of_W_o(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    d, heads = x.shape[2] // num_heads, []
    for i in range(num_heads):
        own = slice(i * d, (i + 1) * d)
        heads.append(self_attention(x, W_q[:, own], W_k[:, own], W_v[:, own], mask)[0] @ W_o[own, own])
    return np.concatenate(heads, axis=2)


def one_attention_then_split(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    y, _ = self_attention(x, W_q, W_k, W_v, mask)
    return y @ W_o


def batch_folded_into_heads(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    """The heads are repeated as sequences, with a mask (B, T, T) repeated in the wrong order."""
    B, T, D = x.shape
    d = D // num_heads
    q, k, v = ((x @ W).reshape(B, T, num_heads, d).swapaxes(1, 2).reshape(B * num_heads, T, d) for W in (W_q, W_k, W_v))
    scores = q @ k.swapaxes(1, 2) / np.sqrt(d)
    if mask is not None:
        scores = np.where(np.tile(mask, (num_heads, 1, 1)) if mask.ndim == 3 else mask, scores, -np.inf)
    y = (softmax(scores) @ v).reshape(B, num_heads, T, d).swapaxes(1, 2).reshape(B, T, D)
    return y @ W_o


def nan_from_a_plain_softmax(x, W_q, W_k, W_v, mask=None):
    scores = np.einsum("btk,bsk->bts", x @ W_q, x @ W_k) / np.sqrt(W_q.shape[1])
    if mask is not None:
        scores[~np.broadcast_to(mask, scores.shape)] = -np.inf
    with np.errstate(all="ignore"):
        weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    return weights @ (x @ W_v), weights


def minus_ten(x, W_q, W_k, W_v, mask=None):
    scores = np.einsum("btk,bsk->bts", x @ W_q, x @ W_k) / np.sqrt(W_q.shape[1])
    if mask is not None:
        scores = np.where(mask, scores, -10.0)
    weights = softmax(scores)
    return weights @ (x @ W_v), weights


def einsum_over_the_queries(x, W_q, W_k, W_v, mask=None):
    weights = self_attention(x, W_q, W_k, W_v, mask)[1]
    return np.einsum("bts,btm->bsm", weights, x @ W_v), weights


def all_sequences_as_one(x, W_q, W_k, W_v, mask=None):
    B, T, D = x.shape
    scores = (x.reshape(B * T, D) @ W_q) @ (x.reshape(B * T, D) @ W_k).T / np.sqrt(W_k.shape[1])
    weights = softmax(scores)
    y = (weights @ (x.reshape(B * T, D) @ W_v)).reshape(B, T, -1)
    return y, np.stack([weights[b * T : (b + 1) * T, b * T : (b + 1) * T] for b in range(B)])


FUNCTIONS = [
    ("self_attention", nan_from_a_plain_softmax, "masked_row_not_a_number"),
    ("self_attention", minus_ten, None),
    ("self_attention", einsum_over_the_queries, "weights_transposed"),
    ("self_attention", all_sequences_as_one, None),
    ("multi_head_attention", loop_without_W_o, "output_projection_left_out"),
    ("multi_head_attention", loop_stacked_interleaved, "joined_interleaved"),
    ("multi_head_attention", loop_stacked_and_reshaped, "joined_with_a_reshape_alone"),
    ("multi_head_attention", loop_over_strided_columns, "heads_interleaved"),
    ("multi_head_attention", loop_with_a_fixed_slice, "all_heads_use_the_same_block"),
    ("multi_head_attention", loop_with_both_results, "weights_returned_too"),
    ("multi_head_attention", loop_that_forgets_the_mask, "default mask"),
    ("multi_head_attention", loop_with_overlapping_slices, "blocks_overlap"),
    ("multi_head_attention", loop_that_overwrites, "only_one_head_counts"),
    ("multi_head_attention", loop_that_returns_inside, "only_one_head_counts"),
    ("multi_head_attention", loop_over_columns_of_W_o, "projected_block_by_block"),
    ("multi_head_attention", one_attention_then_split, "one num_heads"),
    ("multi_head_attention", batch_folded_into_heads, "masks_in_the_order_of_the_heads"),
]

WRONG = [
    *(
        (exercise_id, name, changed(exercise_id, *pairs), allowed)
        for exercise_id, programs in (
            ("self_attention", WRONG_SELF),
            ("causal_mask", WRONG_MASK),
            ("multi_head_attention", WRONG_HEADS),
        )
        for name, (pairs, allowed) in programs.items()
    ),
    *((exercise_id, function.__name__, function, allowed) for exercise_id, function, allowed in FUNCTIONS),
]

ODD = {  # no slip that a student is likely to make: these are here so that they get no false name
    *("cube root", "square", "temperature 2", "norms of queries and keys", "mask and causal"),
    *("keys of its own never", "renormalised over everything", "hard attention", "sigmoid", "powers returned"),
    *("a residual", "values scaled", "none", "itself and the previous one", "as strings", "scores"),
    *("batch and heads mixed", "joined after another exchange", "joined from the transposed", "one column each"),
    *("first block of queries", "first block of values", "queries in reverse", "scale T by the root of two"),
    *("W_o twice", "queries not projected", "causal always", "maximum over the heads", "heads one late"),
    *("no values in the sum", "one row", "scale num_heads"),
}
TOLD_OTHERWISE = {"x in place", "mask in place", "W_q in place", "as a list", "a list", "uint8", "heads returned"}


@for_each(("exercise_id", "name", "function", "allowed"), WRONG)
def test_a_nearly_right_one(exercise_id, name, function, allowed):
    fails(exercise_id, function, allowed)


def test_nine_in_ten_are_named():
    likely = [allowed for _, name, _, allowed in WRONG if name not in ODD | TOLD_OTHERWISE]
    assert len(likely) >= 60
    assert sum(allowed is not None for allowed in likely) >= 0.9 * len(likely)


# Right, in other styles -----------------------------------------------------------------------------------------------


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


def list_of_lists(T):
    return np.array([[column <= row for column in range(T)] for row in range(T)])


def not_the_upper_triangle(T):
    return ~np.triu(np.ones((T, T)), k=1).astype(bool)


def from_indices(T):
    mask = np.zeros((T, T), dtype=np.bool_)
    mask[np.tril_indices(T)] = True
    return mask


def cumulative(T):
    return np.cumsum(np.eye(T), axis=1).T > 0


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


def split_of_the_products(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = (np.stack(np.split(x @ W, num_heads, axis=2)) for W in (W_q, W_k, W_v))  # (heads, B, T, d)
    scores = q @ np.moveaxis(k, -1, -2) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)  # (B, T, T) fits, because the heads come first
    return np.concatenate(list(softmax(scores) @ v), axis=-1) @ W_o


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


RIGHT = [
    ("self_attention", scaled_dot_product_of_torch),
    ("self_attention", position_by_position),
    ("self_attention", nan_replaced),
    ("self_attention", minus_a_billion_and_zeros),
    ("self_attention", scores_of_one_matrix),
    ("causal_mask", list_of_lists),
    ("causal_mask", not_the_upper_triangle),
    ("causal_mask", from_indices),
    ("causal_mask", cumulative),
    ("multi_head_attention", multihead_of_torch),
    ("multi_head_attention", own_self_attention),
    ("multi_head_attention", split_of_the_products),
    ("multi_head_attention", batch_and_heads_in_one),
    ("multi_head_attention", zeros_filled),
]


@pytest.mark.filterwarnings("ignore:divide by zero")
@for_each(("exercise_id", "function"), RIGHT)
def test_a_right_one_passes_however_it_is_written(exercise_id, function):
    passes(exercise_id, function)

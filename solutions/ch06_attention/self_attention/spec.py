"""How `self_attention` is checked: against PyTorch's `scaled_dot_product_attention`, one query at a time."""

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Output, Spec, change, instead


def oracle(x, W_q, W_k, W_v, mask=None):
    """PyTorch's attention for each query, over the keys that it may attend to; values of one-hot rows give weights."""
    (B, T, _), M = x.shape, W_v.shape[1]
    q, k, v = (torch.from_numpy(np.einsum("btd,dk->btk", x, W)) for W in (W_q, W_k, W_v))
    y, weights = np.zeros((B, T, M)), np.zeros((B, T, T))
    allowed = np.broadcast_to(True if mask is None else mask, (B, T, T))
    for b in range(B):
        for t in range(T):
            (at,) = np.nonzero(allowed[b, t])
            if len(at) > 0:
                attended = torch.hstack([v[b, at], torch.eye(len(at), dtype=torch.float64)])
                row = torch.nn.functional.scaled_dot_product_attention(q[b, t : t + 1], k[b, at], attended)[0].numpy()
                y[b, t], weights[b, t, at] = row[:M], row[M:]
    return y, weights


FREE, SHARED, OWN, NOTHING = "no mask", "mask (T, T)", "mask (B, T, T)", "a row all masked"
EXAMPLE = Case(
    sizes={"B": 1, "T": 3, "D": 2, "K": 4, "M": 1},
    inputs={
        "x": np.array([[[0.50, -1.00], [1.20, 0.40], [-0.80, 1.00]]]),
        "W_q": np.array([[1.00, -0.50, 0.30, 0.80], [0.60, 1.50, -0.70, -0.20]]),
        "W_k": np.array([[0.70, 0.60, -1.10, 0.70], [-0.30, 1.10, 0.50, 0.60]]),
        "W_v": np.array([[2.00], [-0.60]]),
        "mask": np.array([[True, True, False], [True, True, True], [True, False, True]]),
    },
    kind=SHARED,
)


def a_mask(rng, shape, rows_of_nothing=0):
    """A random mask. Every row allows the position itself, but not all; the given number of rows allow nothing."""
    T = shape[-1]
    mask = (rng.random(shape) < 0.5) | np.eye(T, dtype=bool)
    if T > 1:
        mask[..., np.arange(T), (np.arange(T) + 1) % T] = False
    mask[..., rng.permutation(T)[:rows_of_nothing], :] = False
    return mask


def case(rng, B, T, D, K, M, kind=FREE):
    inputs = {
        "x": rng.normal(size=(B, T, D)),
        "W_q": rng.normal(size=(D, K)) * 1.5 / np.sqrt(D),
        "W_k": rng.normal(size=(D, K)) * 1.5 / np.sqrt(D),
        "W_v": rng.normal(size=(D, M)),
    }
    if kind != FREE:
        inputs["mask"] = a_mask(rng, (B, T, T) if kind == OWN else (T, T), 1 if kind == NOTHING else 0)
    return Case({"B": B, "T": T, "D": D, "K": K, "M": M}, inputs, kind=kind)


def cases(rng):
    yield case(rng, B=1, T=2, D=3, K=4, M=2)
    yield case(rng, B=2, T=3, D=4, K=5, M=6)
    yield case(rng, B=3, T=5, D=2, K=4, M=1)
    yield case(rng, B=2, T=1, D=3, K=2, M=4)
    yield case(rng, B=2, T=4, D=1, K=3, M=2)
    yield case(rng, B=4, T=3, D=2, K=1, M=3)
    yield case(rng, B=3, T=3, D=3, K=3, M=3)
    yield case(rng, B=2, T=4, D=3, K=5, M=2, kind=SHARED)
    yield case(rng, B=4, T=3, D=5, K=2, M=1, kind=SHARED)
    yield case(rng, B=3, T=3, D=2, K=4, M=3, kind=SHARED)
    yield case(rng, B=2, T=4, D=3, K=5, M=2, kind=OWN)
    yield case(rng, B=3, T=2, D=4, K=3, M=5, kind=OWN)
    yield case(rng, B=2, T=4, D=3, K=5, M=2, kind=NOTHING)
    yield case(rng, B=2, T=1, D=2, K=3, M=2, kind=NOTHING)  # the only position may not attend


SPEC = Spec(
    outputs=[Output("y", ("B", "T", "M")), Output("weights", ("B", "T", "keys"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("without a mask", share=1, kinds=(FREE,)),
        Facet("with a mask", share=1, kinds=(SHARED, OWN, NOTHING)),
    ],
)
SCORES, MASKED, WEIGHTS = "/ np.sqrt(W_k.shape[1])", "np.where(mask, scores, -np.inf)", "weights = softmax(scores)"
RETURN = "return weights @ v, weights"
UNMASKED = ["without a mask"]
PLAIN = """
with np.errstate(all="ignore"):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
"""


def softmax(scores):
    """As the one that is given in the notebook, with another way to treat a row of nothing but -inf."""
    with np.errstate(invalid="ignore"):
        powers = np.nan_to_num(np.exp(scores - scores.max(axis=-1, keepdims=True)))
    return powers / np.maximum(powers.sum(axis=-1, keepdims=True), 1)


def the_whole_mask_for_each_sequence(x, W_q, W_k, W_v, mask=None):
    y, weights = np.zeros((*x.shape[:2], W_v.shape[1])), np.zeros((len(x), x.shape[1], x.shape[1]))
    for b in range(len(x)):
        scores = (x[b] @ W_q) @ (x[b] @ W_k).T / np.sqrt(W_k.shape[1])
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
        weights[b] = softmax(scores)
        y[b] = weights[b] @ (x[b] @ W_v)
    return y, weights


def mask_of_each_sequence(x, W_q, W_k, W_v, mask=None):
    y, weights = [], []
    for b in range(len(x)):
        scores = (x[b] @ W_q) @ (x[b] @ W_k).T / np.sqrt(W_k.shape[1])
        if mask is not None:
            scores = np.where(mask[b], scores, -np.inf)
        weights.append(softmax(scores))
        y.append(weights[-1] @ (x[b] @ W_v))
    return np.stack(y), np.stack(weights)


SPEC.mistakes(
    {
        **instead(
            SCORES,
            {
                "not_scaled": "",
                "scaled_by_root_T": "/ np.sqrt(x.shape[1])",
                "scaled_by_root_B": "/ np.sqrt(len(x))",
                "scaled_without_the_root": "/ W_k.shape[1]",
                "multiplied_by_the_root": "* np.sqrt(W_k.shape[1])",
                "scaled_by_root_M": "/ np.sqrt(W_v.shape[1])",
            },
        ),
        "scaled_by_root_D": change(SCORES, "/ np.sqrt(x.shape[2])"),
        "scaled_after_the_softmax": change(SCORES, "", (WEIGHTS, f"{WEIGHTS} / np.sqrt(W_k.shape[1])")),
        **instead(
            WEIGHTS,
            {
                "softmax_over_the_queries": "weights = softmax(scores.swapaxes(1, 2)).swapaxes(1, 2)",
                "powers_not_normalised": "weights = np.exp(scores)",
            },
        ),
        "softmax_over_all_pairs": [
            change(
                WEIGHTS,
                "weights = np.exp(scores)\n"
                "weights = weights / np.maximum(weights.sum(axis=(1, 2), "
                "keepdims=True), 1e-9)",
            ),
            change(WEIGHTS, "weights = np.exp(scores)\nweights = weights / max(weights.sum(), 1e-9)"),
        ],
        "no_softmax": change(WEIGHTS, "weights = scores", (MASKED, "np.where(mask, scores, 0)")),
        "scores_transposed": change("q @ k.swapaxes(1, 2)", "k @ q.swapaxes(1, 2)"),
        "all_axes_reversed": change("k.swapaxes(1, 2)", "k.T"),
        "keys_reshaped": change("k.swapaxes(1, 2)", "k.reshape(len(x), -1, x.shape[1])"),
        "weights_transposed": [
            change(RETURN, "return weights.swapaxes(1, 2) @ v, weights"),
            change(RETURN, "return weights.swapaxes(1, 2) @ v, weights.swapaxes(1, 2)"),
        ],
        **instead(
            "x @ W_v",
            {
                "values_not_projected": "x",
                "values_are_keys": "x @ W_k",
            },
        ),
        **instead(
            RETURN,
            {
                "weights_left_out": "return weights @ v",
                "scores_returned": "return weights @ v, scores",
            },
        ),
    }
)
SPEC.mistakes(
    {
        "masked_after_the_softmax": change(
            MASKED, "scores", (WEIGHTS, f"{WEIGHTS}\nif mask is not None:\n    weights = weights * mask")
        ),
        "masked_with_zero": change("-np.inf", "0.0"),
        **instead(
            MASKED,
            {
                "minus_infinity_times_zero": "scores + ~mask * -np.inf",
                "mask_added_to_the_scores": "scores + mask",
                "mask_of_the_first_sequence": "np.where(mask if mask.ndim == 2 else mask[:1], scores, -np.inf)",
            },
        ),
        "masked_row_attends": [
            *(change("-np.inf", low) for low in ("-100.0", "-1e3", "-1e9")),
            change(MASKED, "scores + np.where(mask, 0, -1e9)"),
            change(MASKED, "np.where(mask | ~mask.any(axis=-1, keepdims=True), scores, -np.inf)"),
        ],
        "masked_scores_not_low_enough": [
            change(MASKED, masked.format(low))
            for low in ("-5.0", "-10.0")
            for masked in ("np.where(mask, scores, {})", "scores + ~mask * {}")
        ],
        "masked_row_not_a_number": change(WEIGHTS, PLAIN),
        "mask_without_a_batch_only": [
            the_whole_mask_for_each_sequence,
            change(f"scores = {MASKED}", "scores[:, ~mask] = -np.inf"),
        ],
        "mask_with_a_batch_only": [
            mask_of_each_sequence,
            change(f"scores = {MASKED}", "scores[~mask] = -np.inf"),
        ],
        "mask_tested_as_one_truth_value": change("if mask is not None:", "if mask:"),
    },
    keeps=UNMASKED,
)


@SPEC.alternative
def one_sequence_at_a_time(x, W_q, W_k, W_v, mask=None):
    """A loop over the batch, with the mask broadcast to all sequences first."""
    B, T, _ = x.shape
    allowed = np.broadcast_to(np.ones((T, T), dtype=bool) if mask is None else mask, (B, T, T))
    y, weights = np.zeros((B, T, W_v.shape[1])), np.zeros((B, T, T))
    for b in range(B):
        powers = np.exp((x[b] @ W_q) @ (x[b] @ W_k).T / W_q.shape[1] ** 0.5) * allowed[b]
        total = powers.sum(axis=1)
        weights[b] = powers / np.where(total == 0, 1, total)[:, None]
        y[b] = weights[b] @ x[b] @ W_v
    return y, weights


@SPEC.alternative
def with_einsum(x, W_q, W_k, W_v, mask=None):
    """Every product with named axes; W_q is scaled, not the scores, and the weights are normalised after the mask."""
    q, k, v = (np.einsum("btd,dk->btk", x, W) for W in (W_q / np.sqrt(len(W_q[0])), W_k, W_v))
    weights = softmax(np.einsum("bik,bjk->bij", q, k))
    if mask is not None:
        weights = weights * mask
        total = weights.sum(-1, keepdims=True)
        weights = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    return np.einsum("bij,bjm->bim", weights, v), weights

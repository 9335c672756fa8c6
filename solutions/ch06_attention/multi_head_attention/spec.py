"""How `multi_head_attention` is checked: against PyTorch's `scaled_dot_product_attention`, head by head."""

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Output, Spec, change, instead


def oracle(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    """Each head by itself, each query over the keys that it may attend to, added through its own rows of W_o."""
    (B, T, D), d = x.shape, x.shape[2] // num_heads
    allowed = np.broadcast_to(True if mask is None else mask, (B, T, T))
    x, W_q, W_k, W_v, W_o = (torch.tensor(array) for array in (x, W_q, W_k, W_v, W_o))
    y = torch.zeros((B, T, D), dtype=torch.float64)
    for first in range(0, D, d):
        own = slice(first, first + d)
        q, k, v = x @ W_q[:, own], x @ W_k[:, own], x @ W_v[:, own]
        for b in range(B):
            for t in range(T):
                (at,) = np.nonzero(allowed[b, t])
                if len(at) > 0:
                    head = torch.nn.functional.scaled_dot_product_attention(q[b, t : t + 1], k[b, at], v[b, at])
                    y[b, t] += head[0] @ W_o[own]
    return y.numpy()


ONE, SEVERAL, SHARED, OWN, NOTHING = "one head", "several heads", "mask (T, T)", "mask (B, T, T)", "a row all masked"
EXAMPLE = Case(
    sizes={"B": 1, "T": 3, "D": 2, "num_heads": 2},
    inputs={
        "x": np.array([[[1.00, -0.50], [0.40, 2.00], [-1.50, 0.80]]]),
        "W_q": np.array([[0.70, -0.64], [0.50, 0.46]]),
        "W_k": np.array([[1.10, 0.30], [-0.60, 0.80]]),
        "W_v": np.array([[0.80, -0.60], [-0.20, 1.30]]),
        "W_o": np.array([[0.60, -0.70], [1.40, 0.35]]),
        "num_heads": 2,
        "mask": np.array([[True, False, False], [True, True, False], [True, True, True]]),
    },
    kind=SHARED,
)


def a_mask(rng, shape, rows_of_nothing=0):
    """A random mask. Every row allows the position itself, but not all; the given number of rows allow nothing."""
    T = shape[-1]
    mask = (rng.random(shape) < 0.5) | np.eye(T, dtype=bool)
    mask[..., np.arange(T), (np.arange(T) + 1) % T] = False
    mask[..., rng.permutation(T)[:rows_of_nothing], :] = False
    return mask


def case(rng, B, T, D, num_heads, kind=SEVERAL):
    inputs = {
        "x": rng.normal(size=(B, T, D)),
        "W_q": rng.normal(size=(D, D)) * 1.5 / np.sqrt(D),
        "W_k": rng.normal(size=(D, D)) * 1.5 / np.sqrt(D),
        "W_v": rng.normal(size=(D, D)) / np.sqrt(D),
        "W_o": rng.normal(size=(D, D)),
        "num_heads": num_heads,
    }
    if kind in (SHARED, OWN, NOTHING):
        inputs["mask"] = a_mask(rng, (B, T, T) if kind == OWN else (T, T), 1 if kind == NOTHING else 0)
    return Case({"B": B, "T": T, "D": D, "num_heads": num_heads}, inputs, kind=kind)


def cases(rng):
    yield case(rng, B=1, T=2, D=3, num_heads=1, kind=ONE)
    yield case(rng, B=3, T=4, D=2, num_heads=1, kind=ONE)
    yield case(rng, B=2, T=3, D=1, num_heads=1, kind=ONE)
    yield case(rng, B=1, T=3, D=4, num_heads=2)
    yield case(rng, B=4, T=5, D=6, num_heads=2)
    yield case(rng, B=5, T=4, D=6, num_heads=3)
    yield case(rng, B=2, T=3, D=4, num_heads=4)  # one column for each head
    yield case(rng, B=2, T=1, D=6, num_heads=2)
    yield case(rng, B=2, T=2, D=4, num_heads=2)  # B = T = num_heads = d
    yield case(rng, B=2, T=4, D=6, num_heads=3, kind=SHARED)
    yield case(rng, B=3, T=3, D=6, num_heads=3, kind=SHARED)
    yield case(rng, B=2, T=4, D=6, num_heads=3, kind=OWN)
    yield case(rng, B=3, T=5, D=6, num_heads=2, kind=OWN)
    yield case(rng, B=2, T=4, D=6, num_heads=2, kind=NOTHING)


SPEC = Spec(
    outputs=[Output("y", ("B", "T", "D"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("one head", share=1, kinds=(ONE,)),
        Facet("several heads", share=3, kinds=(SEVERAL,)),
        Facet("with a mask", share=2, kinds=(SHARED, OWN, NOTHING)),
    ],
)
SPLIT = "(x @ W).reshape(B, T, num_heads, d).swapaxes(1, 2) for W"
SIZES = "(B, T, D), d = x.shape, x.shape[2] // num_heads"
SCALE, MASKED = "/ np.sqrt(d)", "np.where(allowed, scores, -np.inf)"
ALLOWED, HEADS = "mask if mask.ndim == 2 else mask[:, None]", "heads = softmax(scores) @ v"
JOINED = "heads.swapaxes(1, 2).reshape(B, T, D)"
INTERLEAVED = "(x @ W).reshape(B, T, d, num_heads).transpose(0, 3, 1, 2) for W"
ONE_HEAD, UNMASKED = ["one head"], ["one head", "several heads"]
PLAIN = """
with np.errstate(all="ignore"):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    heads = powers / powers.sum(axis=-1, keepdims=True) @ v
"""


def attention(x, W_q, W_k, W_v, mask):
    """One head: the weighted sums of the values. Only powers that are allowed count."""
    powers = np.exp((x @ W_q) @ (x @ W_k).swapaxes(-1, -2) / np.sqrt(W_q.shape[-1]))
    if mask is not None:
        powers = powers * mask
    total = powers.sum(axis=-1, keepdims=True)
    return powers @ (x @ W_v) / np.where(total == 0, 1, total)


SPEC.mistakes(
    {
        "split_with_a_reshape_alone": [
            change(SPLIT, "(x @ W).reshape(B, num_heads, T, d) for W"),
            change(SPLIT, "(x @ W).reshape(B, num_heads, T, d) for W", (JOINED, "heads.reshape(B, T, D)")),
            change(SPLIT, "(x @ W).reshape(num_heads, B, T, d).swapaxes(0, 1) for W"),
            change(
                SPLIT,
                "(x @ W).reshape(num_heads, B, T, d).swapaxes(0, 1) for W",
                (JOINED, "heads.swapaxes(0, 1).reshape(B, T, D)"),
            ),
        ],
        "joined_with_a_reshape_alone": [
            change(JOINED, "heads.reshape(B, T, D)"),
            change(JOINED, "heads.swapaxes(0, 1).reshape(B, T, D)"),
        ],
        **instead(
            SPLIT,
            {
                "weights_split_with_a_reshape_alone": "x[:, None] @ W.reshape(num_heads, D, d) for W",
                "input_split": (
                    "np.stack([x[..., i : i + d] @ W[i : i + d, i : i + d] for i in range(0, D, d)], axis=1) for W"
                ),
            },
        ),
        "heads_interleaved": [
            change(SPLIT, INTERLEAVED),
            change(SPLIT, INTERLEAVED, (JOINED, "heads.transpose(0, 2, 3, 1).reshape(B, T, D)")),
        ],
        **instead(
            JOINED,
            {
                "joined_interleaved": "heads.transpose(0, 2, 3, 1).reshape(B, T, D)",
                "heads_in_reverse": "heads[:, ::-1].swapaxes(1, 2).reshape(B, T, D)",
            },
        ),
        "all_heads_use_the_same_block": [
            change(SPLIT, "np.repeat((x @ W)[:, None, :, :d], num_heads, axis=1) for W"),
            change(SPLIT, "np.repeat((x @ W)[:, None, :, -d:], num_heads, axis=1) for W"),
        ],
        "blocks_overlap": [
            change(SPLIT, "np.stack([(x @ W)[..., i : i + d] for i in range(num_heads)], axis=1) for W"),
            change(
                SPLIT,
                "np.stack([(x @ W)[..., i : i + d] for i in range(num_heads)], axis=1) for W",
                (f"{JOINED} @ W_o", "sum(heads[:, i] @ W_o[i : i + d] for i in range(num_heads))"),
            ),
        ],
        "only_one_head_counts": [
            change(f"{JOINED} @ W_o", "heads[:, 0] @ W_o[:d]"),
            change(f"{JOINED} @ W_o", "heads[:, -1] @ W_o[-d:]"),
        ],
        **instead(
            f"{JOINED} @ W_o",
            {
                "projected_block_by_block": (
                    "np.concatenate([heads[:, i] @ W_o[i * d :, i * d :][:d, :d] for i in range(num_heads)], axis=-1)"
                ),
                "heads_averaged": f"{JOINED} @ W_o / num_heads",
            },
        ),
        **instead(
            HEADS,
            {
                "weights_of_the_first_head": "heads = softmax(scores[:, :1]) @ v",
                "weights_averaged": "heads = softmax(scores).mean(axis=1, keepdims=True) @ v",
            },
        ),
        "scaled_by_root_D": change(SCALE, "/ np.sqrt(D)"),
        "num_heads_ignored": [
            change(SIZES, "(B, T, D), d, num_heads = x.shape, x.shape[2], 1"),
            change(SIZES, f"{SIZES}\nsize, d, num_heads = d, D, 1", (SCALE, "/ np.sqrt(size)")),
        ],
        "heads_added": [
            change(f"{JOINED} @ W_o", "heads.sum(axis=1) @ W_o[:d]"),
            change(f"{JOINED} @ W_o", "heads.mean(axis=1) @ W_o[:d]"),
            change(f"{JOINED} @ W_o", "np.tile(heads.sum(axis=1), num_heads) @ W_o"),
            change(f"{JOINED} @ W_o", "np.tile(heads.mean(axis=1), num_heads) @ W_o"),
        ],
    },
    keeps=ONE_HEAD,
)
SPEC.mistakes(
    {
        "heads_behind_the_positions": [
            change(SPLIT, "(x @ W).reshape(B, T, num_heads, d) for W", (JOINED, "heads.reshape(B, T, D)")),
            change(
                SPLIT, "(x @ W).reshape(B, T, num_heads, d) for W", (JOINED, "heads.swapaxes(1, 2).reshape(B, T, D)")
            ),
        ],
        "num_heads_for_head_size": [
            change(SIZES, "(B, T, D), d, num_heads = x.shape, num_heads, x.shape[2] // num_heads"),
            change(SPLIT, "(x @ W).reshape(B, T, d, num_heads).swapaxes(1, 2) for W"),
        ],
        "all_axes_reversed": change("k.swapaxes(2, 3)", "k.T"),
        "output_projection_left_out": change(f"{JOINED} @ W_o", JOINED),
        **instead(
            SCALE,
            {
                "not_scaled": "",
                "scaled_by_root_num_heads": "/ np.sqrt(num_heads)",
                "scaled_by_root_T": "/ np.sqrt(T)",
                "scaled_without_the_root": "/ d",
                "scaled_by_D": "/ D",
                "multiplied_by_the_root": "* np.sqrt(d)",
            },
        ),
        "scaled_after_the_softmax": change(SCALE, "", (HEADS, f"{HEADS} / np.sqrt(d)")),
        **instead(
            HEADS,
            {
                "softmax_over_the_heads": "heads = np.moveaxis(softmax(np.moveaxis(scores, 1, -1)), -1, 1) @ v",
                "softmax_over_the_queries": "heads = softmax(scores.swapaxes(2, 3)).swapaxes(2, 3) @ v",
            },
        ),
        "keys_reshaped": change("k.swapaxes(2, 3)", "k.reshape(B, num_heads, d, T)"),
        **instead(
            "in (W_q, W_k, W_v)",
            {
                "values_not_projected": "in (W_q, W_k, np.eye(D))",
                "nothing_projected": "in (np.eye(D),) * 3",
            },
        ),
        "weights_transposed": change(SPLIT, "np.stack([x @ W[i : i + d].T for i in range(0, D, d)], axis=1) for W"),
        "weights_returned_too": [
            change(f"return {JOINED} @ W_o", f"return {JOINED} @ W_o, softmax(scores)"),
            change(f"return {JOINED} @ W_o", f"return {JOINED} @ W_o, softmax(scores).mean(axis=1)"),
        ],
    }
)
SPEC.mistakes(
    {
        "mask_for_one_head_only": [
            change(
                "scores = np.where", "scores[:, :1] = np.where", (MASKED, "np.where(allowed, scores[:, :1], -np.inf)")
            ),
            change(
                "scores = np.where", "scores[:, -1:] = np.where", (MASKED, "np.where(allowed, scores[:, -1:], -np.inf)")
            ),
        ],
        "masked_after_the_softmax": change(
            MASKED,
            "scores",
            (
                HEADS,
                "weights = softmax(scores)\nif mask is not None:\n    weights = weights * allowed\nheads = weights @ v",
            ),
        ),
        "masked_with_zero": change("-np.inf", "0.0"),
        "masked_scores_not_low_enough": [
            change(MASKED, masked.format(low))
            for low in ("-5.0", "-10.0")
            for masked in ("np.where(allowed, scores, {})", "scores + ~allowed * {}")
        ],
        "mask_tested_as_one_truth_value": change("if mask is not None:", "if mask:"),
        **instead(
            MASKED,
            {
                "minus_infinity_times_zero": "scores + ~allowed * -np.inf",
                "mask_added_to_the_scores": "scores + allowed",
            },
        ),
        **instead(
            ALLOWED,
            {
                "masks_in_the_order_of_the_heads": (
                    "mask if mask.ndim == 2 else np.tile(mask, (num_heads, 1, 1)).reshape(B, num_heads, T, T)"
                ),
                "mask_without_a_batch_only": "mask",
                "mask_with_a_batch_only": "mask[:, None]",
                "mask_of_the_first_sequence": "mask if mask.ndim == 2 else mask[:1, None]",
            },
        ),
        "masked_row_attends": [
            change("-np.inf", "-1e9"),
            change(MASKED, "scores + np.where(allowed, 0, -1e9)"),
            change(MASKED, "np.where(allowed | ~allowed.any(axis=-1, keepdims=True), scores, -np.inf)"),
        ],
        "masked_row_not_a_number": change(HEADS, PLAIN),
    },
    keeps=UNMASKED,
)


@SPEC.alternative
def head_by_head(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    """A loop over the heads, each with its own columns; the outputs are joined at the end."""
    blocks = zip(*(np.split(W, num_heads, axis=1) for W in (W_q, W_k, W_v)), strict=True)
    return np.concatenate([attention(x, *block, mask) for block in blocks], axis=-1) @ W_o


@SPEC.alternative
def added_through_W_o(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    """The contributions of the heads, each through its own rows of `W_o`, one sequence after the other."""
    d, y = x.shape[-1] // num_heads, np.zeros_like(x)
    for b, row in enumerate(x):
        allowed = mask if mask is None or mask.ndim == 2 else mask[b]
        for i in range(num_heads):
            own = slice(i * d, (i + 1) * d)
            y[b] += attention(row, W_q[:, own], W_k[:, own], W_v[:, own], allowed) @ W_o[own]
    return y


@SPEC.alternative
def with_einsum(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    """The heads as a named axis of the weights themselves."""
    D, d = len(W_q), len(W_q) // num_heads
    q, k, v = (np.einsum("btD,Dhd->bhtd", x, W.reshape(D, num_heads, d)) for W in (W_q, W_k, W_v))
    powers = np.exp(np.einsum("bhid,bhjd->bhij", q, k) / d**0.5)
    if mask is not None:
        powers *= np.broadcast_to(mask, (len(x), *powers.shape[2:]))[:, np.newaxis]
    total = powers.sum(-1)
    heads = np.einsum("bhij,bhjd->bhid", powers, v) / (total + (total == 0))[..., None]
    return np.einsum("bhtd,hdD->btD", heads, W_o.reshape(num_heads, d, D))

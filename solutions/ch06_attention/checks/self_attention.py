"""How `self_attention` is checked: against PyTorch's `scaled_dot_product_attention`, one query at a time."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Output, Spec, change


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
    why=r"""
The product `q @ k.swapaxes(1, 2)` contains the dot product of every query with every key of the same sequence: `@`
multiplies the last two axes, (T, K) and (K, T), and keeps the batch apart. The sum of K products of independent numbers
of variance 1 has the variance K, so dividing by $\sqrt{K}$ keeps the scores at one size, however many columns there
are. A score of −∞ gives a power of exactly 0, so a forbidden position takes no part in the sum of the softmax either.
""",
)


SCORES, MASKED, WEIGHTS = "/ np.sqrt(W_k.shape[1])", "np.where(mask, scores, -np.inf)", "weights = softmax(scores)"
RETURN = "return weights @ v, weights"
UNMASKED = ["without a mask"]
SPEC.mistake(
    "not_scaled",
    "You do not scale the scores. Divide them by the square root of the number of columns of `W_k`, before the "
    "softmax: the more terms a dot product has, the larger it gets.",
    change(SCORES, ""),
    tempts="The dot product is the idea, the scale looks like a detail.",
)
SPEC.mistake(
    "scaled_by_root_T",
    "You divide the scores by √T, where T is the number of positions. Divide by the square root of the number of "
    "columns of `W_k`: each score is a sum of so many products, however long the sequence is.",
    change(SCORES, "/ np.sqrt(x.shape[1])"),
    tempts="`shape[1]` of the keys is T, because the batch comes first.",
)
SPEC.mistake(
    "scaled_by_root_B",
    "You divide the scores by √B, where B is the number of sequences. Divide by the square root of the number of "
    "columns of `W_k`: no sequence may depend on how many others there are.",
    change(SCORES, "/ np.sqrt(len(x))"),
    tempts="`len` of the queries is B, because the batch comes first.",
)
SPEC.mistake(
    "scaled_by_root_D",
    "You divide the scores by √D, where D is the size of the input. Divide by the square root of the number of "
    "*columns* of `W_k`: each score is a sum of so many products.",
    change(SCORES, "/ np.sqrt(x.shape[2])"),
    change(SCORES, "/ np.sqrt(len(W_k))"),
    tempts="In many examples D and the size of the keys are equal, so either works.",
)
SPEC.mistake(
    "scaled_without_the_root",
    "You divide the scores by the number of columns of `W_k`. Divide by its square *root*: the standard deviation of a "
    "sum grows with the root of the number of its terms.",
    change(SCORES, "/ W_k.shape[1]"),
    tempts="Dividing a sum by the number of its terms gives a mean, which looks reasonable.",
)
SPEC.mistake(
    "multiplied_by_the_root",
    "You multiply the scores by √K. Divide by it: the more terms a dot product has, the larger it gets, and the scale "
    "makes up for that.",
    change(SCORES, "* np.sqrt(W_k.shape[1])"),
    tempts="Scaling by a root can mean either.",
)
SPEC.mistake(
    "scaled_by_root_M",
    "You divide the scores by the square root of the number of columns of `W_v`. Take the columns of `W_k`: the values "
    "play no part in the scores.",
    change(SCORES, "/ np.sqrt(W_v.shape[1])"),
    tempts="Queries, keys and values have the same number of columns in most examples.",
)
SPEC.mistake(
    "scaled_after_the_softmax",
    "You divide by √K after the softmax, so the weights of a position no longer sum to 1. Divide the *scores*, before "
    "the softmax.",
    change(SCORES, "", (WEIGHTS, f"{WEIGHTS} / np.sqrt(W_k.shape[1])")),
    tempts="The formula is read from the left, where the softmax comes first.",
)
SPEC.mistake(
    "softmax_over_the_queries",
    "You take the softmax over the queries, so each *column* of the weights sums to 1. Take it over the keys, the last "
    "axis: each position divides its attention among all positions.",
    change(WEIGHTS, "weights = softmax(scores.swapaxes(1, 2)).swapaxes(1, 2)"),
    tempts="For (B, V), the softmax was over `axis=1`, and here this is the axis of the queries.",
)
SPEC.mistake(
    "softmax_over_all_pairs",
    "You divide the powers by the sum over more than one row, so the weights of a position do not sum to 1. Sum the "
    "powers of each row, over the last axis alone, and keep this axis (`keepdims=True`).",
    change(
        WEIGHTS,
        "weights = np.exp(scores)\nweights = weights / np.maximum(weights.sum(axis=(1, 2), keepdims=True), 1e-9)",
    ),
    change(WEIGHTS, "weights = np.exp(scores)\nweights = weights / max(weights.sum(), 1e-9)"),
    tempts="A sum without an axis is the sum over everything.",
)
SPEC.mistake(
    "powers_not_normalised",
    "You use the powers exp(score) as weights. Divide each row of them by its sum, so that the weights of a position "
    "sum to 1: the softmax that is given does both.",
    change(WEIGHTS, "weights = np.exp(scores)"),
    tempts="The power is the part of the softmax that one remembers.",
)
SPEC.mistake(
    "no_softmax",
    "You use the scores as weights. Apply a softmax to each row of scores first, so that the weights are positive and "
    "sum to 1.",
    change(WEIGHTS, "weights = scores", (MASKED, "np.where(mask, scores, 0)")),
    tempts="The shapes fit, and the result is a weighted sum too.",
)
SPEC.mistake(
    "scores_transposed",
    "Your scores are transposed: row t has the scores of *key* t. Row t must belong to query t, so multiply the "
    "queries by the transposed keys, not the keys by the transposed queries.",
    change("q @ k.swapaxes(1, 2)", "k @ q.swapaxes(1, 2)"),
    change("x @ W_q, x @ W_k,", "x @ W_k, x @ W_q,"),
    tempts="Both products have the shape (B, T, T).",
)
SPEC.mistake(
    "keys_reshaped",
    "You bring the keys into shape with `reshape`, which keeps the numbers in the order in which they are stored, so "
    "the entries of different keys are mixed. Exchange the last two axes instead, with `swapaxes`.",
    change("k.swapaxes(1, 2)", "k.reshape(len(x), -1, x.shape[1])"),
    tempts="The shape is the wanted one, and nothing complains.",
)
SPEC.mistake(
    "weights_transposed",
    "You multiply the values by the transposed weights. Row t of the weights belongs to the output at position t, so "
    "multiply the weights as they are: sum over their last axis.",
    change(RETURN, "return weights.swapaxes(1, 2) @ v, weights"),
    change(RETURN, "return weights.swapaxes(1, 2) @ v, weights.swapaxes(1, 2)"),
    tempts="Both axes have the length T, so no shape complains.",
)
SPEC.mistake(
    "values_not_projected",
    "You take the rows of `x` for the values. Multiply them by `W_v` first: what a position offers to others has "
    "weights of its own.",
    change("x @ W_v", "x"),
    tempts="A weighted sum of the inputs is what attention over an encoder's states computes.",
)
SPEC.mistake(
    "values_are_keys",
    "You take the weighted sum of the keys. Sum the *values*: a key only decides how much its position counts.",
    change("x @ W_v", "x @ W_k"),
    tempts="In attention over an encoder's states, keys and values are the same.",
)
SPEC.mistake(
    "masked_after_the_softmax",
    "You apply the mask after the softmax, so the weights of a row with forbidden positions sum to less than 1: these "
    "positions still count in the sum of its softmax. Mask the *scores*, before the softmax.",
    change(MASKED, "scores", (WEIGHTS, f"{WEIGHTS}\nif mask is not None:\n    weights = weights * mask")),
    tempts="Weights of 0 are what is wanted, so it seems enough to set them.",
    keeps=UNMASKED,
)
SPEC.mistake(
    "masked_with_zero",
    "You set the forbidden *scores* to 0, but a score of 0 is a score like any other: the softmax gives it a weight "
    "above 0. Set them to −∞ (`-np.inf`).",
    change("-np.inf", "0.0"),
    tempts="Multiplying by a mask of 0 and 1 is the usual way to leave something out.",
    keeps=UNMASKED,
)
SPEC.mistake(
    "minus_infinity_times_zero",
    "You multiply −∞ by the mask or its opposite. Where that is 0, the product is NaN, not 0, and the NaN spreads "
    "through the whole row. Choose with `np.where` instead of multiplying.",
    change(MASKED, "scores + ~mask * -np.inf"),
    tempts="With −1e9 in place of −∞ the same line works.",
    keeps=UNMASKED,
)
SPEC.mistake(
    "mask_added_to_the_scores",
    "You add the mask to the scores, where `True` counts as 1 and `False` as 0, so a forbidden position keeps its "
    "score. Set the score of each forbidden position to −∞ instead: `np.where` picks between the two.",
    change(MASKED, "scores + mask"),
    tempts="In other programs, masks consist of 0 and −∞ and are added.",
    keeps=UNMASKED,
)
SPEC.mistake(
    "masked_row_attends",
    "A position that may attend to nothing gets weights that sum to 1. Its weights must all be 0: a large negative "
    "number in place of −∞ hides a position only where another one is allowed.",
    change("-np.inf", "-1e9"),
    change(MASKED, "scores + np.where(mask, 0, -1e9)"),
    change(MASKED, "np.where(mask | ~mask.any(axis=-1, keepdims=True), scores, -np.inf)"),
    tempts="Many programs use −1e9, which gives the same result as long as a row is not masked as a whole.",
    keeps=UNMASKED,
)
PLAIN = """
with np.errstate(all="ignore"):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
"""
SPEC.mistake(
    "masked_row_not_a_number",
    "A position that may attend to nothing gets NaN, because the softmax of a row of −∞ divides 0 by 0 or subtracts −∞ "
    "from −∞. Its weights must all be 0, as the softmax that is given in the notebook returns them.",
    change(WEIGHTS, PLAIN),
    tempts="The softmax of earlier chapters never met a row without a single finite score.",
    keeps=UNMASKED,
)
SPEC.mistake(
    "weights_left_out",
    "You return the output alone. Return two results: the output, then the weights.",
    change(RETURN, "return weights @ v"),
    tempts="The output is what the next layer needs.",
)
SPEC.mistake(
    "scores_returned",
    "You return the scores in place of the weights. Return what the softmax makes of them.",
    change(RETURN, "return weights @ v, scores"),
    tempts="They have the same shape.",
)
SPEC.mistake(
    "mask_of_the_first_sequence",
    "You use the mask of the first sequence for the whole batch. A mask of shape (B, T, T) has one for each sequence.",
    change(MASKED, "np.where(mask if mask.ndim == 2 else mask[:1], scores, -np.inf)"),
    tempts="A mask that is the same for the whole batch is the usual case.",
    keeps=UNMASKED,
)


def softmax(scores):
    """As the one that is given in the notebook, with another way to treat a row of nothing but -inf."""
    with np.errstate(invalid="ignore"):
        powers = np.nan_to_num(np.exp(scores - scores.max(axis=-1, keepdims=True)))
    return powers / np.maximum(powers.sum(axis=-1, keepdims=True), 1)


@SPEC.mistake(
    "mask_without_a_batch_only",
    "You use a mask of shape (B, T, T) as a whole for each single sequence, as is right for the shape (T, T). Sequence "
    "b needs `mask[b]` if the mask has three axes.",
    tempts="The causal mask, which is the most frequent one, has the shape (T, T).",
    keeps=UNMASKED,
)
def the_whole_mask_for_each_sequence(x, W_q, W_k, W_v, mask=None):
    y, weights = np.zeros((*x.shape[:2], W_v.shape[1])), np.zeros((len(x), x.shape[1], x.shape[1]))
    for b in range(len(x)):
        scores = (x[b] @ W_q) @ (x[b] @ W_k).T / np.sqrt(W_k.shape[1])
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
        weights[b] = softmax(scores)
        y[b] = weights[b] @ (x[b] @ W_v)
    return y, weights


@SPEC.mistake(
    "mask_with_a_batch_only",
    "You take `mask[b]` for sequence b, which is right for a mask of shape (B, T, T). Of a mask of shape (T, T), this "
    "is a single row, which all queries then share. Use such a mask as a whole for every sequence.",
    tempts="A loop over the sequences indexes everything with `b`.",
    keeps=UNMASKED,
)
def mask_of_each_sequence(x, W_q, W_k, W_v, mask=None):
    y, weights = [], []
    for b in range(len(x)):
        scores = (x[b] @ W_q) @ (x[b] @ W_k).T / np.sqrt(W_k.shape[1])
        if mask is not None:
            scores = np.where(mask[b], scores, -np.inf)
        weights.append(softmax(scores))
        y.append(weights[-1] @ (x[b] @ W_v))
    return np.stack(y), np.stack(weights)


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

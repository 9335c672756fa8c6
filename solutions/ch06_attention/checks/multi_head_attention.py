"""How `multi_head_attention` is checked: against PyTorch's `scaled_dot_product_attention`, head by head."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Output, Spec, change


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
    why=r"""
A row of `x @ W_q` contains the queries of all heads, one block after the other. `reshape(B, T, num_heads, d)` cuts each
row into its blocks without moving a number, and only then `swapaxes(1, 2)` puts the axis of the heads in front of the
positions. A reshape to (B, num_heads, T, d) alone would cut the numbers of a sequence in the order in which they are
stored, so a head would mix positions. Afterwards the two steps are undone in the opposite order. The product with `W_o`
is the sum over all heads of head i times its own block of rows.
""",
)


SPLIT = "(x @ W).reshape(B, T, num_heads, d).swapaxes(1, 2) for W"
SCALE, MASKED = "/ np.sqrt(d)", "np.where(allowed, scores, -np.inf)"
ALLOWED, HEADS = "mask if mask.ndim == 2 else mask[:, None]", "heads = softmax(scores) @ v"
JOINED = "heads.swapaxes(1, 2).reshape(B, T, D)"
INTERLEAVED = "(x @ W).reshape(B, T, d, num_heads).transpose(0, 3, 1, 2) for W"
ONE_HEAD, UNMASKED = ["one head"], ["one head", "several heads"]
SPEC.mistake(
    "split_with_a_reshape_alone",
    "You split the heads with a `reshape` that puts the heads before the positions, and this mixes positions: a "
    "reshape keeps the order in which the numbers are stored, and there the positions come first. Reshape to (B, T, "
    "num_heads, d), then exchange the axes 1 and 2.",
    change(SPLIT, "(x @ W).reshape(B, num_heads, T, d) for W"),
    change(SPLIT, "(x @ W).reshape(B, num_heads, T, d) for W", (JOINED, "heads.reshape(B, T, D)")),
    change(SPLIT, "(x @ W).reshape(num_heads, B, T, d).swapaxes(0, 1) for W"),
    change(
        SPLIT,
        "(x @ W).reshape(num_heads, B, T, d).swapaxes(0, 1) for W",
        (JOINED, "heads.swapaxes(0, 1).reshape(B, T, D)"),
    ),
    tempts="The shape is the wanted one, and nothing complains.",
    keeps=ONE_HEAD,
)
SPEC.mistake(
    "joined_with_a_reshape_alone",
    "You join the heads with a `reshape` alone, which mixes positions and heads, because the heads still come before "
    "the positions. Exchange the axes 1 and 2 back, to (B, T, num_heads, d), and then reshape to (B, T, D).",
    change(JOINED, "heads.reshape(B, T, D)"),
    change(JOINED, "heads.swapaxes(0, 1).reshape(B, T, D)"),
    tempts="The shape is the wanted one, and nothing complains.",
    keeps=ONE_HEAD,
)
SPEC.mistake(
    "heads_behind_the_positions",
    "You leave the axis of the heads behind that of the positions, (B, T, num_heads, d), so `@` compares the *heads* "
    "of one position with each other, and a mask does not fit. Exchange the axes 1 and 2: (B, num_heads, T, d).",
    change(SPLIT, "(x @ W).reshape(B, T, num_heads, d) for W", (JOINED, "heads.reshape(B, T, D)")),
    change(SPLIT, "(x @ W).reshape(B, T, num_heads, d) for W", (JOINED, "heads.swapaxes(1, 2).reshape(B, T, D)")),
    tempts="The columns are split as they should be, and without a mask nothing complains.",
)
SPEC.mistake(
    "weights_split_with_a_reshape_alone",
    "You split `W_q`, `W_k` and `W_v` with a `reshape` that puts the heads first, which cuts them into groups of rows: "
    "a reshape keeps the order in which the numbers are stored, row by row. Head i owns the i-th block of *columns*.",
    change(SPLIT, "x[:, None] @ W.reshape(num_heads, D, d) for W"),
    tempts="The shape is the wanted one, and nothing complains.",
    keeps=ONE_HEAD,
)
SPEC.mistake(
    "heads_interleaved",
    "Your heads take turns column by column: head 0 owns the columns 0, num_heads, 2 · num_heads, … Each head owns a "
    "*block* of d neighbouring columns, so in a reshape the axis of the heads comes before that of their columns: "
    "(B, T, num_heads, d).",
    change(SPLIT, INTERLEAVED),
    change(SPLIT, INTERLEAVED, (JOINED, "heads.transpose(0, 2, 3, 1).reshape(B, T, D)")),
    tempts="Both orders of the two axes split the columns without an error.",
    keeps=ONE_HEAD,
)
SPEC.mistake(
    "joined_interleaved",
    "You join the heads column by column: the first column of each head, then the second of each. Put whole heads side "
    "by side, in the order of the heads: the rows of `W_o` come in these blocks.",
    change(JOINED, "heads.transpose(0, 2, 3, 1).reshape(B, T, D)"),
    tempts="`np.stack` along a last axis and a reshape have the right shape too.",
    keeps=ONE_HEAD,
)
SPEC.mistake(
    "num_heads_for_head_size",
    "You exchange the number of heads and their size: your heads own `num_heads` columns each. There are `num_heads` "
    "heads, with D / `num_heads` columns each.",
    change(
        "(B, T, D), d = x.shape, x.shape[2] // num_heads",
        "(B, T, D), d, num_heads = x.shape, num_heads, x.shape[2] // num_heads",
    ),
    tempts="Both numbers divide D.",
)
SPEC.mistake(
    "output_projection_left_out",
    "You leave out the output projection. Multiply the joined heads by `W_o`, so that the heads act together.",
    change(f"{JOINED} @ W_o", JOINED),
    tempts="The joined heads have the shape of the result already.",
)
SPEC.mistake(
    "all_heads_use_the_same_block",
    "All your heads use the same block of columns, so they are equal. Head i owns the i-th block: the columns from "
    "i · d up to (i + 1) · d.",
    change(SPLIT, "np.repeat((x @ W)[:, None, :, :d], num_heads, axis=1) for W"),
    change(SPLIT, "np.repeat((x @ W)[:, None, :, -d:], num_heads, axis=1) for W"),
    tempts="A slice without the number of the head, `[:, :d]`, has the right shape.",
    keeps=ONE_HEAD,
)
SPEC.mistake(
    "blocks_overlap",
    "Your blocks overlap: the block of head i begins at column i. It begins at i · d and ends before (i + 1) · d, so "
    "that each column belongs to one head.",
    change(SPLIT, "np.stack([(x @ W)[..., i : i + d] for i in range(num_heads)], axis=1) for W"),
    change(
        SPLIT,
        "np.stack([(x @ W)[..., i : i + d] for i in range(num_heads)], axis=1) for W",
        (f"{JOINED} @ W_o", "sum(heads[:, i] @ W_o[i : i + d] for i in range(num_heads))"),
    ),
    tempts="The slice `i : i + d` has the right length.",
    keeps=ONE_HEAD,
)
SPEC.mistake(
    "only_one_head_counts",
    "Only one of your heads reaches the result. Is there a `return` inside the loop over the heads, or is a variable "
    "overwritten in it? Join the outputs of all heads, then multiply by `W_o`.",
    change(f"{JOINED} @ W_o", "heads[:, 0] @ W_o[:d]"),
    change(f"{JOINED} @ W_o", "heads[:, -1] @ W_o[-d:]"),
    tempts="A line too far to the right or to the left.",
    keeps=ONE_HEAD,
)
SPEC.mistake(
    "projected_block_by_block",
    "You multiply each head by a block of d rows *and* d columns of `W_o`, so each head fills its own d columns of the "
    "result. Use all columns of `W_o`: join the heads first, and then multiply.",
    change(
        f"{JOINED} @ W_o",
        "np.concatenate([heads[:, i] @ W_o[i * d :, i * d :][:d, :d] for i in range(num_heads)], axis=-1)",
    ),
    tempts="Every other matrix is cut into blocks for the heads.",
    keeps=ONE_HEAD,
)
SPEC.mistake(
    "weights_of_the_first_head",
    "All your heads use the weights of attention that the first head computes, with their own values. Each head has "
    "queries and keys of its own, so compute the weights for each head.",
    change(HEADS, "heads = softmax(scores[:, :1]) @ v"),
    tempts="The weights are computed once, outside of the loop over the heads.",
    keeps=ONE_HEAD,
)
SPEC.mistake(
    "weights_averaged",
    "Your heads attend alike: you average their weights, or their outputs, each with all columns of `W_v`. Keep the "
    "heads apart: each multiplies its own weights by its own block of values.",
    change(HEADS, "heads = softmax(scores).mean(axis=1, keepdims=True) @ v"),
    tempts="PyTorch's `MultiheadAttention` returns weights that are averaged over the heads.",
    keeps=ONE_HEAD,
)
SPEC.mistake(
    "not_scaled",
    "You do not scale the scores. Divide them by √d, where d = D / `num_heads` is the number of columns of a head: the "
    "more terms a dot product has, the larger it gets.",
    change(SCALE, ""),
    tempts="The split into heads takes all attention.",
)
SPEC.mistake(
    "scaled_by_root_D",
    "You divide the scores by √D. Divide by √d, where d = D / `num_heads`: each score is a sum of d products, because "
    "a head has only d columns.",
    change(SCALE, "/ np.sqrt(D)"),
    tempts="For a single head, √D is right.",
    keeps=ONE_HEAD,
)
SPEC.mistake(
    "scaled_by_root_num_heads",
    "You divide the scores by the square root of the *number* of heads. Divide by √d, where d = D / `num_heads` is the "
    "number of columns of a head: each score is a sum of d products.",
    change(SCALE, "/ np.sqrt(num_heads)"),
    tempts="The two numbers are easily exchanged.",
)
SPEC.mistake(
    "scaled_by_root_T",
    "You divide the scores by √T, where T is the number of positions. Divide by √d, where d = D / `num_heads`: each "
    "score is a sum of d products, however long the sequence is.",
    change(SCALE, "/ np.sqrt(T)"),
    tempts="With the heads as an axis of their own, the indices of the shape have moved.",
)
SPEC.mistake(
    "scaled_without_the_root",
    "You divide the scores by d. Divide by its square root, √d: the standard deviation of a sum grows with the root of "
    "the number of its terms.",
    change(SCALE, "/ d"),
    tempts="Dividing a sum by the number of its terms gives a mean, which looks reasonable.",
)
SPEC.mistake(
    "scaled_by_D",
    "You divide the scores by D. Divide by √d, where d = D / `num_heads`: each score is a sum of d products, and the "
    "standard deviation of a sum grows with the root of the number of its terms.",
    change(SCALE, "/ D"),
    tempts="The size of a row of queries is D, and the root is forgotten.",
)
SPEC.mistake(
    "multiplied_by_the_root",
    "You multiply the scores by √d. Divide by it: the more terms a dot product has, the larger it gets, and the scale "
    "makes up for that.",
    change(SCALE, "* np.sqrt(d)"),
    tempts="Scaling by a root can mean either.",
)
SPEC.mistake(
    "scaled_after_the_softmax",
    "You divide by √d after the softmax, so the weights of a position no longer sum to 1. Divide the *scores*, before "
    "the softmax.",
    change(SCALE, "", (HEADS, f"{HEADS} / np.sqrt(d)")),
    tempts="The formula is read from the left, where the softmax comes first.",
)
SPEC.mistake(
    "heads_in_reverse",
    "You join the heads in reverse order. Head 0 comes first, as in `W_q`: the rows of `W_o` come in the order of the "
    "heads.",
    change(JOINED, "heads[:, ::-1].swapaxes(1, 2).reshape(B, T, D)"),
    tempts="A loop that puts each new head in front of the others.",
    keeps=ONE_HEAD,
)
SPEC.mistake(
    "heads_averaged",
    "Your result is the right one divided by the number of heads: you take a mean over the heads. Join them side by "
    "side and multiply by `W_o`, which adds up their contributions.",
    change(f"{JOINED} @ W_o", f"{JOINED} @ W_o / num_heads"),
    tempts="Several results of one kind are often averaged.",
    keeps=ONE_HEAD,
)
SPEC.mistake(
    "heads_added",
    "You add or average the outputs of the heads, or multiply all of them by the same rows of `W_o`, so the heads "
    "cannot be told apart afterwards. Join them side by side instead: each head has its own block of d rows of `W_o`.",
    change(f"{JOINED} @ W_o", "heads.sum(axis=1) @ W_o[:d]"),
    change(f"{JOINED} @ W_o", "heads.mean(axis=1) @ W_o[:d]"),
    change(f"{JOINED} @ W_o", "np.tile(heads.sum(axis=1), num_heads) @ W_o"),
    change(f"{JOINED} @ W_o", "np.tile(heads.mean(axis=1), num_heads) @ W_o"),
    tempts="The heads have the same shape, so they can be added.",
    keeps=ONE_HEAD,
)
SPEC.mistake(
    "softmax_over_the_heads",
    "You take the softmax over the heads. Take it over the keys, the last axis: `axis=1` is the axis of the heads now, "
    "and each head divides its own attention among all positions.",
    change(HEADS, "heads = np.moveaxis(softmax(np.moveaxis(scores, 1, -1)), -1, 1) @ v"),
    tempts="In a program for (B, T, T) that is extended by an axis, `axis=1` is left as it was.",
)
SPEC.mistake(
    "softmax_over_the_queries",
    "You take the softmax over the queries. Take it over the keys, the last axis: each position divides its attention "
    "among all positions.",
    change(HEADS, "heads = softmax(scores.swapaxes(2, 3)).swapaxes(2, 3) @ v"),
    tempts="Both axes have the length T.",
)
SPEC.mistake(
    "keys_reshaped",
    "You bring the keys into shape with `reshape`, which keeps the numbers in the order in which they are stored, so "
    "the entries of different keys are mixed. Exchange the last two axes instead, with `swapaxes`.",
    change("k.swapaxes(2, 3)", "k.reshape(B, num_heads, d, T)"),
    tempts="The shape is the wanted one, and nothing complains.",
)
SPEC.mistake(
    "values_not_projected",
    "You take the columns of `x` for the values. Multiply `x` by `W_v` first.",
    change("in (W_q, W_k, W_v)", "in (W_q, W_k, np.eye(D))"),
    tempts="The shapes fit without the product.",
)
SPEC.mistake(
    "nothing_projected",
    "You split `x` itself into heads, for queries, keys and values. Multiply it by `W_q`, `W_k` and `W_v` first: what "
    "a head looks for, and what it passes on, is learned.",
    change("in (W_q, W_k, W_v)", "in (np.eye(D),) * 3"),
    tempts="The shapes fit without the products.",
)
SPEC.mistake(
    "input_split",
    "You split the columns of `x` among the heads, so each head sees only a part of the input. Every head sees all of "
    "`x`: split the columns of `W_q`, `W_k` and `W_v`, or those of the products.",
    change(SPLIT, "np.stack([x[..., i : i + d] @ W[i : i + d, i : i + d] for i in range(0, D, d)], axis=1) for W"),
    tempts="Splitting the features of the input among the heads sounds like what the text says.",
    keeps=ONE_HEAD,
)
SPEC.mistake(
    "weights_transposed",
    "You multiply `x` by the transposes of `W_q`, `W_k` and `W_v`, so each head owns a block of their *rows*. Head i "
    "owns the i-th block of *columns*: use the matrices as they are.",
    change(SPLIT, "np.stack([x @ W[i : i + d].T for i in range(0, D, d)], axis=1) for W"),
    tempts="`W[i * d : (i + 1) * d]` is the shortest slice, and PyTorch stores weights transposed.",
)
SPEC.mistake(
    "mask_for_one_head_only",
    "Only one of your heads obeys the mask. Mask the scores of every head: what is forbidden is forbidden to all.",
    change("scores = np.where", "scores[:, :1] = np.where", (MASKED, "np.where(allowed, scores[:, :1], -np.inf)")),
    change("scores = np.where", "scores[:, -1:] = np.where", (MASKED, "np.where(allowed, scores[:, -1:], -np.inf)")),
    tempts="The line stands before the loop over the heads or after it.",
    keeps=UNMASKED,
)
SPEC.mistake(
    "masked_after_the_softmax",
    "You apply the mask after the softmax, so the weights of a row with forbidden positions sum to less than 1. Mask "
    "the *scores*, before the softmax.",
    change(
        MASKED,
        "scores",
        (
            HEADS,
            "weights = softmax(scores)\nif mask is not None:\n    weights = weights * allowed\nheads = weights @ v",
        ),
    ),
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
    change(MASKED, "scores + ~allowed * -np.inf"),
    tempts="With −1e9 in place of −∞ the same line works.",
    keeps=UNMASKED,
)
SPEC.mistake(
    "mask_added_to_the_scores",
    "You add the mask to the scores, where `True` counts as 1 and `False` as 0, so a forbidden position keeps its "
    "score. Set the score of each forbidden position to −∞ instead: `np.where` picks between the two.",
    change(MASKED, "scores + allowed"),
    tempts="In other programs, masks consist of 0 and −∞ and are added.",
    keeps=UNMASKED,
)
SPEC.mistake(
    "masks_in_the_order_of_the_heads",
    "Your heads and sequences get each other's masks: you repeat the masks (B, T, T) as a whole for each head, but in "
    "your scores the heads of one sequence stand together. Give the masks an axis for the heads, `mask[:, None]`, or "
    "repeat each mask `num_heads` times in a row with `np.repeat`.",
    change(ALLOWED, "mask if mask.ndim == 2 else np.tile(mask, (num_heads, 1, 1)).reshape(B, num_heads, T, T)"),
    tempts="`np.tile` and `np.repeat` give arrays of the same shape.",
    keeps=UNMASKED,
)
SPEC.mistake(
    "masked_row_attends",
    "A position that may attend to nothing gets weights that sum to 1. Its weights must all be 0, in every head: a "
    "large negative number in place of −∞ hides a position only where another one is allowed.",
    change("-np.inf", "-1e9"),
    change(MASKED, "scores + np.where(allowed, 0, -1e9)"),
    change(MASKED, "np.where(allowed | ~allowed.any(axis=-1, keepdims=True), scores, -np.inf)"),
    tempts="Many programs use −1e9, which gives the same result as long as a row is not masked as a whole.",
    keeps=UNMASKED,
)
PLAIN = """
with np.errstate(all="ignore"):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    heads = powers / powers.sum(axis=-1, keepdims=True) @ v
"""
SPEC.mistake(
    "masked_row_not_a_number",
    "A position that may attend to nothing gets NaN, because the softmax of a row of −∞ divides 0 by 0 or subtracts −∞ "
    "from −∞. Its weights must all be 0, as the softmax that is given in the notebook returns them.",
    change(HEADS, PLAIN),
    tempts="The softmax of earlier chapters never met a row without a single finite score.",
    keeps=UNMASKED,
)
SPEC.mistake(
    "mask_without_a_batch_only",
    "Your mask is right for the shape (T, T), but in one of shape (B, T, T) the batch is where the scores, "
    "(B, num_heads, T, T), have the heads. Give it an axis for the heads, `mask[:, None]`.",
    change(ALLOWED, "mask"),
    tempts="For scores of shape (B, T, T), NumPy broadcasts either shape by itself.",
    keeps=UNMASKED,
)
SPEC.mistake(
    "mask_with_a_batch_only",
    "Your mask is right for the shape (B, T, T), but `mask[:, None]` of shape (T, T) takes its rows for sequences. "
    "Leave such a mask as it is: NumPy broadcasts (T, T) to all sequences and heads.",
    change(ALLOWED, "mask[:, None]"),
    tempts="The axis for the heads has to be added for the other shape.",
    keeps=UNMASKED,
)
SPEC.mistake(
    "mask_of_the_first_sequence",
    "You use the mask of the first sequence for the whole batch. A mask of shape (B, T, T) has one for each sequence.",
    change(ALLOWED, "mask if mask.ndim == 2 else mask[:1, None]"),
    tempts="A mask that is the same for the whole batch is the usual case.",
    keeps=UNMASKED,
)
SPEC.mistake(
    "weights_returned_too",
    "You return a pair. Return `y` alone, without the weights.",
    change(f"return {JOINED} @ W_o", f"return {JOINED} @ W_o, softmax(scores)"),
    change(f"return {JOINED} @ W_o", f"return {JOINED} @ W_o, softmax(scores).mean(axis=1)"),
    tempts="`self_attention` returns both.",
)


def attention(x, W_q, W_k, W_v, mask):
    """One head: the weighted sums of the values. Only powers that are allowed count."""
    powers = np.exp((x @ W_q) @ (x @ W_k).swapaxes(-1, -2) / np.sqrt(W_q.shape[-1]))
    if mask is not None:
        powers = powers * mask
    total = powers.sum(axis=-1, keepdims=True)
    return powers @ (x @ W_v) / np.where(total == 0, 1, total)


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

"""How `alignment_accuracy` is checked: against a count in plain Python. `gold` decides which words are counted."""

import numpy as np

from grader.author.spec import Case, Output, Spec, change


def oracle(weights, gold):
    """Count, word by word."""
    right = counted = 0
    for row, index in zip(weights.tolist(), gold.tolist(), strict=True):
        if index >= 0:
            counted += 1
            right += row.index(max(row)) == index
    return right / counted


EXAMPLE = Case(
    sizes={"T": 4, "S": 3},
    inputs={
        "weights": np.array([[0.70, 0.20, 0.10], [0.15, 0.40, 0.45], [0.05, 0.30, 0.65], [0.25, 0.60, 0.15]]),
        "gold": np.array([0, 1, -1, 1]),
    },
)


def case(weights, gold):
    return Case(dict(zip("TS", weights.shape, strict=True)), {"weights": weights, "gold": np.array(gold)})


def slips(weights, gold):
    """What the mistakes below that only count differently would return."""
    T, S = weights.shape
    best, aligned = weights.argmax(axis=1), gold >= 0
    right = best == gold
    counted = aligned.sum()
    before = np.cumprod(aligned).astype(bool)  # before the first -1
    yield from (right.sum() / T, right.sum() / S, (best == gold % S).sum() / T, right.sum(), T - counted + right.sum())
    yield (weights.argmin(axis=1)[aligned] == gold[aligned]).mean()
    yield 1 - right.sum() / counted
    yield (T - counted + right.sum()) / T
    yield right[gold > 0].mean()
    yield right[before].mean() if before.any() else 0
    yield (weights[aligned, gold[aligned]] > 0.5).mean()
    yield (best[aligned] == gold[aligned] - 1).mean()


def drawn(rng, T, S, skipped):
    """Rows of weights that sum to 1, and an alignment to which somewhat more than half of them fit. Drawn until no slip
    gives the right result. The first entry is aligned, and one of the skipped words has its largest weight at the end.
    """
    while True:
        weights = rng.uniform(0.05, 1.0, size=(T, S)) + 2.0 * np.eye(S)[rng.integers(S, size=T)]
        weights /= weights.sum(axis=1, keepdims=True)
        gold = weights.argmax(axis=1)
        wrong = rng.choice(T, size=T // 3, replace=False)
        gold[wrong] = (gold[wrong] + rng.integers(1, S, size=len(wrong))) % S
        places = 1 + rng.choice(T - 1, size=skipped, replace=False)
        gold[places] = -1
        at_the_end = (weights.argmax(axis=1)[places] == S - 1).any()
        distinct = {0, S - 1} <= {*gold.tolist()} and all(
            abs(slip - oracle(weights, gold)) > 0.01 for slip in slips(weights, gold)
        )
        if at_the_end and distinct:
            return case(weights, gold)


def cases(rng):
    yield drawn(rng, T=9, S=5, skipped=2)
    yield drawn(rng, T=8, S=8, skipped=2)
    yield drawn(rng, T=12, S=6, skipped=3)
    yield drawn(rng, T=10, S=11, skipped=2)
    yield case(np.array([[0.10, 0.35, 0.30, 0.25], [0.05, 0.60, 0.15, 0.20], [0.15, 0.05, 0.10, 0.70]]), [1, 2, 3])
    yield case(np.array([[0.40, 0.60], [0.80, 0.20], [0.30, 0.70]]), [-1, 0, 0])
    yield case(np.array([[0.20, 0.50, 0.30]]), [1])
    yield case(np.array([[1.00], [1.00]]), [0, -1])
    yield case(np.array([[0.45, 0.30, 0.25], [0.10, 0.25, 0.65]]), [2, 0])  # none is right


SPEC = Spec(
    outputs=[Output("accuracy")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    why="""
`aligned` picks the same rows from both sides of the comparison, so the mean runs over the counted words only. Every row
of `weights` belongs to one target word, and the largest weight in it is searched along the source words, axis 1.
""",
)


COMPARE = "np.mean(weights.argmax(axis=1)[aligned] == gold[aligned])"
SPEC.mistake(
    "unaligned_counted_as_wrong",
    "You count the words whose `gold` is −1 as wrong, or divide by the number of all target words. Leave them out of "
    "both numbers, the right ones and the total.",
    change(COMPARE, "np.mean(weights.argmax(axis=1) == gold)"),
    change(COMPARE, "np.sum(weights.argmax(axis=1)[aligned] == gold[aligned]) / len(gold)"),
    tempts="−1 never equals an index, so the comparison runs, and its mean looks like an accuracy.",
)
SPEC.mistake(
    "unaligned_counted_as_right",
    "You count the words whose `gold` is −1 as right. Leave them out: they translate no word, so wherever the decoder "
    "looks says nothing.",
    change(COMPARE, "np.mean((weights.argmax(axis=1) == gold) | ~aligned)"),
    tempts="What cannot be wrong seems to be right.",
)
SPEC.mistake(
    "unaligned_is_the_last_word",
    "You use −1 as an index, and it means the last source word. Leave out the words whose `gold` is −1.",
    change(COMPARE, "np.mean(weights.argmax(axis=1) == gold % weights.shape[1])"),
    change(COMPARE, "np.mean(weights[np.arange(len(gold)), gold] == weights.max(axis=1))"),
    tempts="Python counts negative indices from the end, so nothing fails.",
)
SPEC.mistake(
    "first_word_left_out",
    "You leave out the words that are aligned with source word 0, or count them as wrong. Only −1 means that there is "
    "no alignment; 0 is the first source word.",
    change("gold != -1", "gold > 0"),
    change("gold != -1", "gold != 0"),
    change(COMPARE, "np.sum((weights.argmax(axis=1) == gold) & (gold > 0)) / aligned.sum()"),
    tempts="In many programs, 0 stands for *nothing*.",
)
SPEC.mistake(
    "stops_at_the_first_unaligned",
    "You stop at the first −1. Skip this word and continue with the next: words without an alignment may stand "
    "anywhere.",
    change("gold != -1", "np.cumprod(gold != -1).astype(bool)", (COMPARE, f"{COMPARE} if aligned.any() else 0.0")),
    tempts="In a loop, `break` is written where `continue` is meant; and padding, which ends a row, is often −1.",
)
SPEC.mistake(
    "right_words_not_found",
    "Your accuracy is 0 although some words are right. Compare the *position* of the largest weight of each row, its "
    "`argmax`, with `gold`, for the words whose `gold` is not −1, and return a share: `//` and `all` only give 0 or 1.",
    change("argmax", "max"),
    change("gold != -1", "gold == -1"),
    change(COMPARE, "np.sum(weights.argmax(axis=1)[aligned] == gold[aligned]) // aligned.sum()"),
    tempts="One letter, one sign or three letters too few, and nothing fails.",
)
SPEC.mistake(
    "smallest_weight",
    "You take the source word with the smallest weight. Take the one with the largest.",
    change("argmax", "argmin"),
    tempts="The two functions differ in two letters; in searches, the smallest cost wins.",
)
SPEC.mistake(
    "weight_at_gold",
    "You average the weights of the right source words. Count instead how often the largest weight is there: each word "
    "is either right or wrong.",
    change(COMPARE, "weights[aligned, gold[aligned]].mean()"),
    change(COMPARE, "weights[aligned, gold[aligned]].sum() / len(gold)"),
    tempts="How much weight is on the right word is another reasonable measure.",
)
SPEC.mistake(
    "needs_a_majority",
    "You count a word as right if the weight of its source word exceeds one half. Compare the *position* of the "
    "largest weight with `gold`: the largest weight may well be smaller than one half.",
    change(COMPARE, "np.mean(weights[aligned, gold[aligned]] > 0.5)"),
    change(COMPARE, "np.mean(np.round(weights[aligned, gold[aligned]]))"),
    tempts="With two source words, the two are the same.",
)
SPEC.mistake(
    "number_returned",
    "You return how many words are right. Divide by the number of the words that are counted.",
    change("np.mean(", "np.sum("),
    tempts="The sum of a comparison is the last number but one of this function.",
)
SPEC.mistake(
    "percentage_returned",
    "You return a percentage. Return a share between 0 and 1.",
    change("np.mean(", "100 * np.mean("),
    tempts="Accuracies are printed as percentages.",
)
SPEC.mistake(
    "error_returned",
    "You return the share of the words that are wrong. Return the share of those that are right.",
    change("] == gold", "] != gold"),
    tempts="A comparison is easily inverted, and error rates are as common as accuracies.",
)
SPEC.mistake(
    "argmax_over_targets",
    "You search the largest weight along the target words. Search along the source words, axis 1: every target word "
    "has a row of `weights`.",
    change(
        "weights.argmax(axis=1)[aligned]",
        "weights.argmax(axis=0)[: len(gold)][aligned[: weights.shape[1]]]",
        ("== gold[aligned]", "== gold[: weights.shape[1]][aligned[: weights.shape[1]]]"),
    ),
    tempts="Axis 0 is the default of many functions.",
)
SPEC.mistake(
    "divided_by_the_source_words",
    "You divide by the number of source words. Divide by the number of target words that are counted.",
    change(COMPARE, "np.sum(weights.argmax(axis=1)[aligned] == gold[aligned]) / weights.shape[1]"),
    tempts="`weights` has two lengths, and S is the one that stands last.",
)
SPEC.mistake(
    "unaligned_removed_from_one_side",
    "You remove the words without alignment from `gold` only, so the rest is compared with the wrong rows of "
    "`weights`. Remove them from both.",
    change(COMPARE, "np.mean(weights.argmax(axis=1)[: aligned.sum()] == gold[aligned])"),
    tempts="The −1 stand in `gold`, so this is where one removes them.",
)


@SPEC.alternative
def counted_in_a_loop(weights, gold):
    """Count the right ones and the counted ones."""
    right, counted = 0, 0
    for t, index in enumerate(gold):
        if index < 0:
            continue
        counted += 1
        if np.argmax(weights[t]) == index:
            right += 1
    return right / counted


@SPEC.alternative
def weighted_mean(weights, gold):
    """All comparisons, of which the unaligned ones have the weight 0."""
    looked_at = np.argsort(-weights, axis=-1)[:, 0]
    return float(np.average(looked_at == gold, weights=np.where(gold < 0, 0.0, 1.0)))

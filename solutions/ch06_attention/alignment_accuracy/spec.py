"""How `alignment_accuracy` is checked: against a count in plain Python. `gold` decides which words are counted."""

import numpy as np

from grader.spec.spec import Case, Output, Spec, change, instead


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


LARGEST_IN_ROW_0 = np.array(
    [
        [0.05, 0.85, 0.10],
        [0.30, 0.25, 0.45],
        [0.15, 0.65, 0.20],
        [0.55, 0.30, 0.15],
        [0.20, 0.10, 0.70],
        [0.60, 0.05, 0.35],
        [0.10, 0.40, 0.50],
        [0.35, 0.25, 0.40],
    ]
)


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
    yield case(LARGEST_IN_ROW_0, [1, 2, 0, 1, -1, 0, 2, 1])


SPEC = Spec(
    outputs=[Output("accuracy")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
)
COMPARE = "np.mean(weights.argmax(axis=1)[aligned] == gold[aligned])"


def stopped_by_break(weights, gold):
    right = counted = 0
    for row, word in zip(weights, gold, strict=True):
        if word == -1:
            break
        counted += 1
        right += row.argmax() == word
    return right / counted


SPEC.mistakes(
    {
        "unaligned_counted_as_wrong": change(COMPARE, "np.mean(weights.argmax(axis=1) == gold)"),
        **instead(
            COMPARE,
            {
                "unaligned_counted_as_right": "np.mean((weights.argmax(axis=1) == gold) | ~aligned)",
                "divided_by_the_source_words": (
                    "np.sum(weights.argmax(axis=1)[aligned] == gold[aligned]) / weights.shape[1]"
                ),
                "unaligned_removed_from_one_side": "np.mean(weights.argmax(axis=1)[: aligned.sum()] == gold[aligned])",
            },
        ),
        "unaligned_is_the_last_word": change(COMPARE, "np.mean(weights.argmax(axis=1) == gold % weights.shape[1])"),
        "first_word_left_out": [
            change("gold != -1", "gold > 0"),
            change("gold != -1", "gold != 0"),
            change(COMPARE, "np.sum((weights.argmax(axis=1) == gold) & (gold > 0)) / aligned.sum()"),
        ],
        "stops_at_the_first_unaligned": [
            change(
                "gold != -1", "np.cumprod(gold != -1).astype(bool)", (COMPARE, f"{COMPARE} if aligned.any() else 0.0")
            ),
            stopped_by_break,
        ],
        "largest_of_the_whole_array": change("weights.argmax(axis=1)[aligned]", "weights.argmax()"),
        "counted_from_1": change("weights.argmax(axis=1)[aligned]", "weights.argmax(axis=1)[aligned] + 1"),
        "right_words_not_found": [
            change("argmax", "max"),
            change("gold != -1", "gold == -1"),
            change(COMPARE, "np.sum(weights.argmax(axis=1)[aligned] == gold[aligned]) // aligned.sum()"),
        ],
        "smallest_weight": change("argmax", "argmin"),
        "weight_at_gold": [
            change(COMPARE, "weights[aligned, gold[aligned]].mean()"),
            change(COMPARE, "weights[aligned, gold[aligned]].sum() / len(gold)"),
        ],
        "needs_a_majority": change(COMPARE, "np.mean(weights[aligned, gold[aligned]] > 0.5)"),
        **instead(
            "np.mean(",
            {
                "number_returned": "np.sum(",
                "percentage_returned": "100 * np.mean(",
            },
        ),
        "error_returned": change("] == gold", "] != gold"),
        "argmax_over_targets": [
            change("argmax(axis=1)", "argmax(axis=0)"),
            change(
                "weights.argmax(axis=1)[aligned]",
                "weights.argmax(axis=0)[: len(gold)][aligned[: weights.shape[1]]]",
                ("== gold[aligned]", "== gold[: weights.shape[1]][aligned[: weights.shape[1]]]"),
            ),
        ],
    }
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

"""How `scheduled_inputs` is checked: against a loop over the rows."""

import numpy as np

from grader.author.spec import Case, Facet, Output, Spec, change


def oracle(gold, predicted, use_gold):
    """Row by row."""
    return np.array([g if coin else p for g, p, coin in zip(gold, predicted, use_gold, strict=True)], dtype=np.int64)


MIXED, SAME = "ordinary", "the same coin in all rows"

EXAMPLE = Case(
    sizes={"B": 4},
    inputs={
        "gold": np.array([7, 4, 9, 5]),
        "predicted": np.array([3, 4, 6, 8]),
        "use_gold": np.array([True, False, False, True]),
    },
)


def case(rng, use_gold, equal=0):
    """All ids are different, but in the first `equal` of the rows that use their own prediction it is right."""
    use_gold = np.array(use_gold)
    gold, predicted = rng.permutation(np.arange(3, 60))[: 2 * len(use_gold)].reshape(2, -1)
    rows = np.flatnonzero(~use_gold)[:equal]
    predicted[rows] = gold[rows]
    kind = MIXED if len(set(use_gold.tolist())) > 1 else SAME
    return Case({"B": len(use_gold)}, {"gold": gold, "predicted": predicted, "use_gold": use_gold}, kind)


def cases(rng):
    yield case(rng, [False, True, True])
    yield case(rng, [True, False, False, True, False])
    long = case(rng, [False, *rng.permutation([True, True, False, False, False, True, True, False]), False])
    yield from (long, long)  # coins of one's own differ from call to call
    yield case(rng, [True, *rng.permutation([True, False, True, False, False]), False], equal=2)
    yield case(rng, [False, True])
    for B in (3, 1):
        yield case(rng, [True] * B)
        yield case(rng, [False] * B)


SPEC = Spec(
    outputs=[Output("inputs", ("B",))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[Facet("result", kinds=(MIXED, SAME))],
    why="""
Each row has its own coin, so the choice is made entry by entry, and `np.where` does that without changing an input.
With `use_gold` all True, this is teacher forcing; all False, it is free running. Scheduled sampling starts near the
first and moves towards the second during training. Whichever token is fed, the *target* of the step stays the same.
""",
)

WHERE = "np.where(use_gold, gold, predicted)"
SPEC.mistake(
    "gold_and_predicted_exchanged",
    "You feed the prediction where `use_gold` is True and the gold token where it is False. Exchange the two.",
    change("gold, predicted)", "predicted, gold)"),
    tempts="The order of the two arguments of `np.where` is easily mixed up.",
)
SPEC.mistake(
    "one_coin_for_the_batch",
    "You decide once for the whole batch. Decide for each row separately: row b gets its gold token if `use_gold[b]` "
    "is True, and its prediction otherwise.",
    change(WHERE, "gold if use_gold.all() else predicted"),
    change(WHERE, "gold if use_gold.any() else predicted"),
    change(WHERE, "gold if use_gold[0] else predicted"),
    change(WHERE, "gold if use_gold[-1] else predicted"),
    change(WHERE, "gold if use_gold.mean() > 0.5 else predicted"),
    tempts="`if use_gold:` raises an error for an array, and the error message proposes `all()` and `any()`.",
)
SPEC.mistake(
    "always_gold",
    "You always feed the gold token, which is teacher forcing. Where `use_gold` is False, feed the decoder's own "
    "prediction.",
    change(WHERE, "gold + 0"),
    change(WHERE, "gold"),
    change("use_gold, gold", "predicted != gold, gold"),
    change("use_gold, gold", "use_gold | (predicted != gold), gold"),
    tempts="Teacher forcing is what the rest of the notebook does, and a teacher corrects what is wrong.",
)
SPEC.mistake(
    "always_predicted",
    "You always feed the decoder's own prediction, which is free running. Where `use_gold` is True, feed the gold "
    "token.",
    change(WHERE, "predicted + 0"),
    change(WHERE, "predicted"),
    tempts="Scheduled sampling is introduced as feeding the decoder its own predictions.",
)
SPEC.mistake(
    "rows_out_of_order",
    "You put the gold tokens into one block and the predictions into another, so most of them end up in other rows. "
    "Keep each token in its own row: entry b of the result comes from `gold[b]` or `predicted[b]`.",
    change(WHERE, "np.concatenate([gold[use_gold], predicted[~use_gold]])"),
    change(WHERE, "np.concatenate([predicted[~use_gold], gold[use_gold]])"),
    tempts="Both selections together have the right length.",
)
SPEC.mistake(
    "rows_left_out",
    "Your result has only the rows in which `use_gold` is True. Every row needs an input, so fill the others with "
    "their predictions.",
    change(WHERE, "gold[use_gold]"),
    tempts="An array of truth values as an index selects, and so it shortens.",
)
SPEC.mistake(
    "zero_where_not_gold",
    "You put 0 where `use_gold` is False, and 0 is the id of another token, mostly of the padding. Feed the decoder's "
    "own prediction there.",
    change(WHERE, "gold * use_gold"),
    change(WHERE, "np.where(use_gold, gold, 0)"),
    tempts="Multiplying by a mask is how a loss is masked.",
)
SPEC.mistake(
    "floats_returned",
    "Your ids are right, but floats. Return integers, because the next step uses them as an index into the embedding "
    "table. A float usually comes from `np.zeros` without `dtype=int`.",
    change(WHERE, f"{WHERE}.astype(float)"),
    tempts="`np.zeros(B)` has floats, and so has everything that is written into it.",
)
SPEC.mistake(
    "means_of_ids",
    "You average the two ids, or add them. An id is a name and not a quantity: choose one of the two in each row.",
    change(WHERE, "(gold + predicted) // 2"),
    change(WHERE, "np.where(use_gold, gold, gold + predicted)"),
    change(WHERE, "gold * use_gold + predicted"),
    tempts="Mixing inputs sounds like a weighted mean, which would be right for embeddings.",
)


@SPEC.alternative
def copied_and_overwritten(gold, predicted, use_gold):
    """A copy of the predictions, in which some rows are overwritten."""
    inputs = predicted.copy()
    inputs[use_gold] = gold[use_gold]
    return inputs


@SPEC.alternative
def by_arithmetic(gold, predicted, use_gold):
    """The coin as 0 or 1."""
    return predicted + use_gold * (gold - predicted)


@SPEC.alternative
def row_by_row(gold, predicted, use_gold):
    """A loop over the rows."""
    inputs = np.zeros(len(gold), dtype=np.int64)
    for b in range(len(gold)):
        if use_gold[b]:
            inputs[b] = gold[b]
        else:
            inputs[b] = predicted[b]
    return inputs


@SPEC.alternative
def chosen(gold, predicted, use_gold):
    """`np.choose`, with the truth values as numbers."""
    return np.choose(use_gold.astype(int), [predicted, gold])

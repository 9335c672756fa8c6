"""How `scheduled_inputs` is checked: against a loop over the rows."""

import numpy as np

from grader.spec.spec import Case, Facet, Output, Spec, change, instead


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
)
WHERE = "np.where(use_gold, gold, predicted)"

SPEC.mistakes(
    {
        "gold_and_predicted_exchanged": change("gold, predicted)", "predicted, gold)"),
        "one_coin_for_the_batch": [
            change(WHERE, "gold if use_gold.all() else predicted"),
            change(WHERE, "gold if use_gold.any() else predicted"),
            change(WHERE, "gold if use_gold[0] else predicted"),
            change(WHERE, "gold if use_gold[-1] else predicted"),
            change(WHERE, "gold if use_gold.mean() > 0.5 else predicted"),
        ],
        "always_gold": change(WHERE, "gold + 0"),
        "always_predicted": change(WHERE, "predicted + 0"),
        "rows_out_of_order": [
            change(WHERE, "np.concatenate([gold[use_gold], predicted[~use_gold]])"),
            change(WHERE, "np.concatenate([predicted[~use_gold], gold[use_gold]])"),
        ],
        **instead(
            WHERE,
            {
                "rows_left_out": "gold[use_gold]",
                "floats_returned": f"{WHERE}.astype(float)",
            },
        ),
        "zero_where_not_gold": change(WHERE, "gold * use_gold"),
        "means_of_ids": [
            change(WHERE, "(gold + predicted) // 2"),
            change(WHERE, "np.where(use_gold, gold, gold + predicted)"),
            change(WHERE, "gold * use_gold + predicted"),
        ],
    }
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

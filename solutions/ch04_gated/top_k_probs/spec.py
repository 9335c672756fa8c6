"""How `top_k_probs` is checked: row by row, by sorting pairs of logit and id, and PyTorch's softmax of those kept."""

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Output, Spec, change


def oracle(logits, k):
    """For each row, the k first pairs in the order of (largest logit, lowest id)."""
    rows = logits.reshape(-1, logits.shape[-1])
    probs = np.zeros(rows.shape)
    for row, result in zip(rows, probs, strict=True):
        best = sorted(range(len(row)), key=lambda i: (-row[i], i))[:k]
        result[best] = torch.softmax(torch.from_numpy(row[best]), dim=0).numpy()
    return probs.reshape(logits.shape)


ORDINARY, TIES, FULL, ABOVE, LARGE = "ordinary", "equal logits", "k is V", "k above V", "large logits"
EXAMPLE = Case(
    sizes={"B": 2, "V": 5, "k": 3},
    inputs={"logits": np.array([[0.50, 2.00, -1.00, 1.00, 1.50], [0.40, -0.30, 1.10, 0.20, -2.00]]), "k": 3},
)


def case(logits, k, kind=ORDINARY):
    names = ("B", "T", "V") if logits.ndim == 3 else ("B", "V") if logits.ndim == 2 else ("V",)
    return Case({**dict(zip(names, logits.shape, strict=True)), "k": k}, {"logits": logits, "k": k}, kind)


def is_unsorted(logits):
    """Whether no row of at least three logits is in descending or ascending order."""
    steps = np.diff(logits, axis=-1)
    return logits.shape[-1] < 3 or not ((steps >= 0).all(axis=-1) | (steps <= 0).all(axis=-1)).any()


def distinct(rng, shape, k=1):
    """Normal logits without equal ones. The largest of the rows are in several columns and those of the
    columns in several rows, the rows differ in their k largest, and no row is in the order of size.
    """
    while True:
        logits = rng.normal(size=shape).round(2)
        rows = logits.reshape(-1, shape[-1])
        if len(np.unique(rows)) < rows.size or not is_unsorted(logits):
            continue
        places = [set(rows.argmax(axis=axis).tolist()) for axis in (0, 1)]
        largest = {tuple(sorted(np.argsort(-row)[:k].tolist())) for row in rows}
        if 1 in rows.shape or (min(map(len, places)) > 1 and len(largest) > 1):
            return logits


def with_ties(rng, shape, k, above, equal):
    """Logits in quarters: in each row, `above` different ones are larger than `equal` equal ones, some of which are
    among the k largest.
    """
    assert above < k < above + equal
    V = shape[-1]
    while True:
        rows = []
        for _ in range(int(np.prod(shape[:-1]))):
            level = rng.integers(-4, 5) / 4
            larger = level + rng.permutation(np.arange(1, above + 4))[:above] / 4
            smaller = level - rng.permutation(np.arange(1, V + 1))[: V - above - equal] / 4
            rows.append(rng.permutation([*larger, *[level] * equal, *smaller]))
        logits = np.reshape(rows, shape)
        if is_unsorted(logits):
            return logits


def cases(rng):
    for shape, k in (((2, 5), 2), ((4, 4), 3), ((6,), 4), ((2, 3, 5), 3), ((1, 7), 2), ((3, 6), 1)):
        yield case(distinct(rng, shape, k), k)
    yield case(with_ties(rng, (5,), 2, above=1, equal=3), 2, TIES)
    yield case(with_ties(rng, (3, 6), 3, above=1, equal=4), 3, TIES)
    yield case(with_ties(rng, (2, 2, 7), 4, above=2, equal=3), 4, TIES)
    yield case(with_ties(rng, (2, 60), 20, above=8, equal=30), 20, TIES)  # a sort that is not stable fails here
    yield case(distinct(rng, (3, 4)), 4, FULL)
    yield case(distinct(rng, (2, 3, 4)), 4, FULL)
    yield case(distinct(rng, (3, 1)), 1, FULL)
    yield case(distinct(rng, (2, 5)), 8, ABOVE)
    yield case(distinct(rng, (2, 2, 3)), 5, ABOVE)
    yield case(distinct(rng, (2, 5), 3) + np.array([[900.0], [-900.0]]), 3, LARGE)
    yield case(distinct(rng, (2, 4), 2) - 990, 2, LARGE)


SPEC = Spec(
    outputs=[Output("probs")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("different logits", share=3, kinds=(ORDINARY,)),
        Facet("equal logits", share=3, kinds=(TIES,)),
        Facet("k is V or more", share=1, kinds=(FULL, ABOVE)),
        Facet("large logits", share=1, kinds=(LARGE,)),
    ],
)
BEST = 'np.argsort(-logits, axis=-1, kind="stable")[..., :k]'
KEPT = (
    "kept = np.full(logits.shape, -np.inf)\n"
    "np.put_along_axis(kept, best, np.take_along_axis(logits, best, axis=-1), axis=-1)"
)
PUT = "np.put_along_axis(kept, best, np.take_along_axis(logits, best, axis=-1), axis=-1)"
LIMIT = "limit = np.sort(logits, axis=-1)[..., -min(k, logits.shape[-1]), None]"
WHOLE = ["different logits", "equal logits", "k is V or more", "large logits"]


def others(*names):
    return [name for name in WHOLE if name not in names]


SPEC.mistakes(
    {
        "all_equal_ones_kept": change(KEPT, f"{LIMIT}\nkept = np.where(logits >= limit, logits, -np.inf)"),
        "higher_ids_kept": change(BEST, 'np.argsort(logits, axis=-1, kind="stable")[..., ::-1][..., :k]'),
    },
    keeps=others("equal logits"),
)
SPEC.mistakes(
    {
        "smallest_kept": change(BEST, 'np.argsort(logits, axis=-1, kind="stable")[..., :k]'),
        "not_normalised_again": change(
            KEPT,
            "kept = np.zeros(logits.shape)\nnp.put_along_axis(kept, best, 1, axis=-1)",
            ("softmax(kept)", "softmax(logits) * kept"),
        ),
        "logits_set_to_zero": change("-np.inf", "0.0"),
        "rows_mixed": change(PUT, "kept[..., best] = logits[..., best]"),
        "ids_taken_for_ranks": change(
            f"best = {BEST}",
            'rank = np.argsort(-logits, axis=-1, kind="stable")',
            (KEPT, "kept = np.where(rank < k, logits, -np.inf)"),
        ),
    },
    keeps=["k is V or more"],
)
SPEC.mistakes(
    {
        "softmax_twice": [
            change("return softmax(kept)", "return softmax(np.where(np.isinf(kept), -np.inf, softmax(logits)))"),
            change("return softmax(kept)", "return softmax(np.where(np.isinf(kept), 0.0, softmax(logits)))"),
            change("return softmax(kept)", "return softmax(np.where(np.isinf(kept), -np.inf, softmax(kept)))"),
        ],
        "in_the_order_of_size": [
            change(KEPT, "kept = np.take_along_axis(logits, best, axis=-1)"),
            change(PUT, "best = np.take_along_axis(logits, best, axis=-1)\nkept[..., : best.shape[-1]] = best"),
        ],
        "equal_probabilities": change(PUT, "np.put_along_axis(kept, best, 0.0, axis=-1)"),
        "whole_array_ranked": [
            change(
                KEPT,
                "best = np.argsort(-logits, axis=None, kind='stable')[:k]\nkept = np.full(logits.shape, -np.inf)\n"
                "kept.flat[best] = logits.flat[best]",
            ),
            change(
                f"best = {BEST}\n{KEPT}\nreturn softmax(kept)",
                "best = np.argsort(-logits, axis=None, kind='stable')[:k]\nkept = np.full(logits.size, -np.inf)\n"
                "kept[best] = logits.flat[best]\nreturn softmax(kept).reshape(logits.shape)",
            ),
        ],
        "along_the_first_axis": change(
            f"best = {BEST}\n{KEPT}",
            "best = np.argsort(-logits, axis=0, kind='stable')[:k]\nkept = np.full(logits.shape, -np.inf)\n"
            "np.put_along_axis(kept, best, np.take_along_axis(logits, best, axis=0), axis=0)",
        ),
        "only_those_above_the_kth": change(KEPT, f"{LIMIT}\nkept = np.where(logits > limit, logits, -np.inf)"),
        "infinity_times_zero": change(
            KEPT,
            "others = np.ones(logits.shape)\nnp.put_along_axis(others, best, 0.0, axis=-1)\n"
            "with np.errstate(invalid='ignore'):\n    kept = logits - np.inf * others",
        ),
        "one_less_than_k_kept": change("[..., :k]", "[..., : k - 1]"),
        "normalised_over_everything": [
            change("return softmax(kept)", "e = np.exp(kept - kept.max())\nreturn e / e.sum()"),
            change("return softmax(kept)", "p = softmax(logits) * np.isfinite(kept)\nreturn p / p.sum()"),
        ],
    }
)
SPEC.mistakes(
    {
        "k_above_V_not_limited": change("[..., :k]", "[..., np.arange(k)]"),
        "counted_from_V_minus_k": change("[..., :k]", "[..., : k if k <= logits.shape[-1] else k - logits.shape[-1]]"),
    },
    keeps=others("k is V or more"),
)
SPEC.mistakes(
    {
        "maximum_not_subtracted": change(
            "return softmax(kept)", "e = np.exp(kept)\nreturn e / e.sum(axis=-1, keepdims=True)"
        ),
        "not_low_enough": [change("-np.inf", "-100.0"), change("-np.inf", "-1000.0")],
    },
    keeps=others("large logits"),
)


@SPEC.alternative
def one_after_the_other(logits, k):
    """k times the largest of those that are left; `argmax` returns the first of several."""
    rows = logits.reshape(-1, logits.shape[-1])
    probs = np.zeros(rows.shape)
    for row, result in zip(rows, probs, strict=True):
        left = row.copy()
        for _ in range(min(k, len(row))):
            best = left.argmax()
            result[best], left[best] = np.exp(row[best] - row.max()), -np.inf
        result /= result.sum()
    return probs.reshape(logits.shape)


@SPEC.alternative
def by_rank(logits, k):
    """The rank of each logit: how many come before it. Those of rank k and more are set to 0."""
    larger = logits[..., None, :] > logits[..., :, None]  # (…, V, V)
    V = logits.shape[-1]
    equal_and_before = (logits[..., None, :] == logits[..., :, None]) & (np.arange(V) < np.arange(V)[:, None])
    rank = (larger | equal_and_before).sum(axis=-1)
    probs = np.exp(logits - logits.max(axis=-1, keepdims=True)) * (rank < k)
    return probs / probs.sum(axis=-1, keepdims=True)


@SPEC.alternative
def with_a_huge_negative_number(logits, k):
    """The other logits become -1e9, so their exponentials are exactly 0."""
    order = np.lexsort((np.broadcast_to(np.arange(logits.shape[-1]), logits.shape), -logits), axis=-1)
    kept = logits.astype(float)
    np.put_along_axis(kept, order[..., k:], -1e9, axis=-1)
    e = np.exp(kept - kept.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)

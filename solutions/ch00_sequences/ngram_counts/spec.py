"""How `ngram_counts` is checked: against a search through the whole text for every n-gram."""

import numpy as np

from grader.spec.spec import Case, Facet, Output, Spec, change, instead

ONE, SHORT = "n = 1", "a short text"


def oracle(ids, n):
    """List all n-grams with shifted copies of the text, and search the list for each one."""
    text = ids.tolist()
    grams = list(zip(*(text[shift:] for shift in range(n)), strict=False))
    contexts = dict.fromkeys(gram[:-1] for gram in grams)
    return {c: {g[-1]: grams.count(g) for g in grams if g[:-1] == c} for c in contexts}


EXAMPLE = Case(sizes={"T": 9, "n": 3}, inputs={"ids": np.array([3, 1, 4, 3, 1, 5, 3, 1, 4]), "n": 3})


def case(ids, n, kind="ordinary"):
    return Case({"T": len(ids), "n": n}, {"ids": np.array(ids, dtype=np.int64), "n": n}, kind)


def text(rng, length):
    """Random ids, among them 0, that begin with 2, 1, 3 and end with 0, 3: each n-gram across the end is new."""
    return [2, 1, 3, *rng.integers(3, size=length - 5).tolist(), 0, 3]


def cases(rng):
    yield case([1, 2, 1, 2, 1, 3], 2)
    yield case([0, 0, 0, 0], 2)  # overlapping
    yield case(text(rng, 14), 2)
    yield case(text(rng, 16), 3)
    yield case(text(rng, 24), 4)
    yield case(text(rng, 30), 5)
    yield case([4, 2, 6], 3)  # one n-gram
    yield case([1, 2, 2, 0, 1], 1, ONE)
    yield case(text(rng, 9), 1, ONE)
    yield case([3], 1, ONE)
    yield case([1, 2, 1], 4, SHORT)
    yield case([1], 2, SHORT)
    yield case([0], 3, SHORT)
    yield case([5, 6], 3, SHORT)


SPEC = Spec(
    outputs=[Output("counts")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("n of 2 or more", 2, kinds=("ordinary",)),
        Facet("n = 1", 1, kinds=("ordinary", ONE)),
        Facet("short texts", 1, kinds=("ordinary", SHORT)),
    ],
)
RANGE = "range(n - 1, len(ids))"
CONTEXT = "tuple(int(i) for i in ids[t - n + 1 : t])"
ADD = "followers[int(ids[t])] = followers.get(int(ids[t]), 0) + 1"
SETDEFAULT = "counts.setdefault(context, {})"
BEFORE = ADD.replace("ids[t]", "ids[t - n + 1]")

SPEC.mistakes(
    {
        "wraps_round": [
            change(RANGE, "range(len(ids))", (CONTEXT, "tuple(int(ids[k]) for k in range(t - n + 1, t))")),
            change(
                RANGE, "range(len(ids))", (CONTEXT, "tuple(int(ids[(t - n + 1 + k) % len(ids)]) for k in range(n - 1))")
            ),
        ],
        "incomplete_contexts_counted": [
            change(RANGE, "range(len(ids))", (CONTEXT, "tuple(int(i) for i in ids[max(0, t - n + 1) : t])")),
            change(RANGE, "range(1, len(ids))", (CONTEXT, "tuple(int(i) for i in ids[max(0, t - n + 1) : t])")),
            change(RANGE, "range(len(ids))"),
        ],
        "incomplete_ngrams_at_the_end": change(
            "for t in range(n - 1, len(ids)):",
            "for start in range(len(ids) - 1 if n > 1 else len(ids)):\n    t = min(start + n - 1, len(ids) - 1)",
            (CONTEXT, "tuple(int(i) for i in ids[start:t])"),
        ),
        **instead(
            RANGE,
            {
                "last_ngram_left_out": "range(n - 1, len(ids) - 1)",
                "first_ngram_left_out": "range(n, len(ids))",
                "ngrams_do_not_overlap": "range(n - 1, len(ids), n)",
            },
        ),
        "context_of_n_ids": [
            change(RANGE, "range(n, len(ids))", (CONTEXT, "tuple(int(i) for i in ids[t - n : t])")),
            change(CONTEXT, "tuple(int(i) for i in ids[max(0, t - n) : t])"),
        ],
        "context_of_n_minus_2_ids": change(CONTEXT, "tuple(int(i) for i in ids[t - n + 2 : t])"),
        "follower_in_its_context": change(CONTEXT, "tuple(int(i) for i in ids[t - n + 2 : t + 1])"),
        "what_comes_before_counted": change(CONTEXT, "tuple(int(i) for i in ids[t - n + 2 : t + 1])", (ADD, BEFORE)),
        "one_id_skipped": change(RANGE, "range(n, len(ids))", (CONTEXT, "tuple(int(i) for i in ids[t - n : t - 1])")),
        "ids_counted_from_1": [change("counts = {}", f"counts, ids = {{}}, ids {shift} 1") for shift in "+-"],
        "context_not_a_tuple_for_n_2": change(
            "setdefault(context, {})", "setdefault(context[0] if n == 2 else context, {})"
        ),
        "text_as_context": [
            change("setdefault(context, {})", "setdefault(''.join(map(str, context)), {})"),
            change("setdefault(context, {})", "setdefault(' '.join(map(str, context)), {})"),
            change("setdefault(context, {})", "setdefault(str(context), {})"),
            change("setdefault(context, {})", "setdefault(','.join(map(str, context)), {})"),
            change(CONTEXT, "str(ids[t - n + 1 : t])"),
        ],
        "context_reversed": change(CONTEXT, "tuple(int(i) for i in ids[t - n + 1 : t][::-1])"),
        "counted_from_0": change("followers.get(int(ids[t]), 0)", "followers.get(int(ids[t]), -1)"),
        "counted_from_2": change("followers.get(int(ids[t]), 0)", "followers.get(int(ids[t]), 1)"),
        "probabilities_for_counts": change(
            "return counts",
            "return {c: {i: k / sum(inner.values()) for i, k in inner.items()} for c, inner in counts.items()}",
        ),
        "one_dict_for_all_contexts": change(
            "counts = {}", "counts, shared = {}, {}", (SETDEFAULT, "counts.setdefault(context, shared)")
        ),
        "each_follower_counted_once": change(ADD, "followers[int(ids[t])] = 1"),
        "earlier_followers_overwritten": [
            change(SETDEFAULT, "counts[context] = {}"),
            change(
                SETDEFAULT, "counts[context] = {i: c for i, c in counts.get(context, {}).items() if i == int(ids[t])}"
            ),
        ],
        "ngram_as_key": change(
            "return counts", "return {(*c, i): count for c, inner in counts.items() for i, count in inner.items()}"
        ),
        "lists_of_followers": change(
            SETDEFAULT, "counts.setdefault(context, [])", (ADD, "followers.append(int(ids[t]))")
        ),
        "padded_at_the_start": [
            change("counts = {}", "counts, ids = {}, np.append([0] * (n - 1), ids).astype(int)"),
            change("counts = {}", "counts, ids = {}, np.append([-1] * (n - 1), ids).astype(int)"),
        ],
    }
)
SPEC.mistakes(
    {
        "whole_text_before_for_n_1": change(CONTEXT, "tuple(int(i) for i in ids[:t][-(n - 1) :])"),
        "no_contexts_for_n_1": [
            change("return counts", "return counts if n > 1 else {}"),
            change("return counts", "return counts if n > 1 else counts.get((), {})"),
        ],
    },
    keeps=["n of 2 or more", "short texts"],
)


@SPEC.alternative
def default_dicts(ids, n):
    """A defaultdict of Counters: both are dicts."""
    from collections import Counter, defaultdict

    counts, text = defaultdict(Counter), ids.tolist()
    for start in range(len(text) - n + 1):
        *context, following = text[start : start + n]
        counts[tuple(context)][following] += 1
    return counts


@SPEC.alternative
def grouped(ids, n):
    """Count whole n-grams first, then group them by their contexts."""
    from collections import Counter

    text, counts = [int(i) for i in ids], {}
    for gram, count in Counter(tuple(text[t : t + n]) for t in range(len(text) - n + 1)).items():
        counts.setdefault(gram[:-1], {})[gram[-1]] = count
    return counts


@SPEC.alternative
def window_that_slides(ids, n):
    """Keep the last n - 1 ids, which are NumPy integers, in a tuple."""
    counts, context = {}, ()
    for i in ids:
        if len(context) == n - 1:
            inner = counts.setdefault(context, {})
            inner[i] = inner.get(i, 0) + 1
        context = (*context, i)[max(0, len(context) + 2 - n) :]
    return counts

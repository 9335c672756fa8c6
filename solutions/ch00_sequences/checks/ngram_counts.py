"""How `ngram_counts` is checked: against a search through the whole text for every n-gram."""

import numpy as np

from grader.author.spec import Case, Facet, Output, Spec, change

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
    why="""
The loop goes over the positions of what follows, `t`. The first complete n-gram ends at n − 1, and the last one at the
end of the text; for a text shorter than n the range is empty, and so is the dict. The context is the slice of n − 1 ids
before `t`. For n = 1 it is the slice `ids[t : t]`, which is empty, so the one context `()` needs no special case.
`setdefault` returns the inner dict of the context and creates it if it is new. A context has to be a tuple because
lists and arrays cannot be keys of a dict.
""",
)

RANGE = "range(n - 1, len(ids))"
CONTEXT = "tuple(int(i) for i in ids[t - n + 1 : t])"
ADD = "followers[int(ids[t])] = followers.get(int(ids[t]), 0) + 1"
SETDEFAULT = "counts.setdefault(context, {})"
SPEC.mistake(
    "wraps_round",
    "Your n-grams continue at the start of the text when they reach its end, or begin before its start. Count only "
    "complete n-grams: there are T − n + 1 of them, and none in a text shorter than n.",
    change(RANGE, "range(len(ids))", (CONTEXT, "tuple(int(ids[k]) for k in range(t - n + 1, t))")),
    change(RANGE, "range(len(ids))", (CONTEXT, "tuple(int(ids[(t - n + 1 + k) % len(ids)]) for k in range(n - 1))")),
    tempts="A negative index counts from the end, and `np.roll` wraps round; neither raises an exception.",
)
SPEC.mistake(
    "incomplete_contexts_counted",
    "At the start of the text you count ids whose context is shorter than n − 1. Begin with the id at position n − 1, "
    "the first one that has a complete context.",
    change(RANGE, "range(len(ids))", (CONTEXT, "tuple(int(i) for i in ids[max(0, t - n + 1) : t])")),
    change(RANGE, "range(1, len(ids))", (CONTEXT, "tuple(int(i) for i in ids[max(0, t - n + 1) : t])")),
    change(RANGE, "range(len(ids))"),
    tempts="Every id should be counted once, and a slice that begins at 0 does not complain.",
)
SPEC.mistake(
    "incomplete_ngrams_at_the_end",
    "At the end of the text you also count contexts that are shorter than n − 1. Stop with the last n-gram that is "
    "complete: there are T − n + 1.",
    change(
        "for t in range(n - 1, len(ids)):",
        "for start in range(len(ids) - 1 if n > 1 else len(ids)):\n    t = min(start + n - 1, len(ids) - 1)",
        (CONTEXT, "tuple(int(i) for i in ids[start:t])"),
    ),
    tempts="A slice that runs past the end is cut without a complaint.",
)
SPEC.mistake(
    "last_ngram_left_out",
    "You leave out the last n-gram. There are T − n + 1 of them, and the last one ends with the last id of the text.",
    change(RANGE, "range(n - 1, len(ids) - 1)"),
    tempts="`range(len(ids) - n)` is the number of n-grams minus 1.",
)
SPEC.mistake(
    "first_ngram_left_out",
    "You leave out the first n-gram. It consists of the ids at positions 0 to n − 1, so its context begins with the "
    "first id of the text.",
    change(RANGE, "range(n, len(ids))"),
    tempts="n ids seem to be needed before anything can be predicted.",
)
SPEC.mistake(
    "context_of_n_ids",
    "Your contexts have n ids. An n-gram has n ids *with* the one that follows, so its context has n − 1.",
    change(RANGE, "range(n, len(ids))", (CONTEXT, "tuple(int(i) for i in ids[t - n : t])")),
    change(CONTEXT, "tuple(int(i) for i in ids[max(0, t - n) : t])"),
    tempts="`ids[t : t + n]` is the n-gram, which is easily taken for the context.",
)
SPEC.mistake(
    "context_not_a_tuple_for_n_2",
    "For n = 2 your contexts are single ids. Use a tuple for every n: a tuple of one id is `(5,)`, with a comma, so "
    "that code that uses your counts need not tell the orders apart.",
    change("setdefault(context, {})", "setdefault(context[0] if n == 2 else context, {})"),
    tempts="`(5)` is the number 5, and a bigram has one id before the next.",
)
SPEC.mistake(
    "text_as_context",
    'Your contexts are strings. Use tuples of ids, such as `(3, 1)`, because `"31"` might be 3 and 1 or the id 31.',
    change("setdefault(context, {})", "setdefault(''.join(map(str, context)), {})"),
    change("setdefault(context, {})", "setdefault(' '.join(map(str, context)), {})"),
    change("setdefault(context, {})", "setdefault(str(context), {})"),
    change("setdefault(context, {})", "setdefault(','.join(map(str, context)), {})"),
    change(CONTEXT, "str(ids[t - n + 1 : t])"),
    tempts="A list cannot be a key of a dict, and a string can.",
)
SPEC.mistake(
    "context_reversed",
    "Your contexts are in reverse order, with the latest id first. Keep the ids in the order of the text.",
    change(CONTEXT, "tuple(int(i) for i in ids[t - n + 1 : t][::-1])"),
    tempts="One goes back from the current position, id by id.",
)
SPEC.mistake(
    "each_follower_counted_once",
    "You note that an id has followed the context, but not how often: all your counts are 1. Increase the count "
    "each time.",
    change(ADD, "followers[int(ids[t])] = 1"),
    tempts="A plain assignment creates the entry, and in a short text most counts are 1.",
)
SPEC.mistake(
    "earlier_followers_overwritten",
    "You replace the entry of a context each time the context occurs, so only its last follower is left. "
    "Create the inner dict only if the context is new.",
    change(SETDEFAULT, "counts[context] = {}"),
    change(SETDEFAULT, "counts[context] = {i: c for i, c in counts.get(context, {}).items() if i == int(ids[t])}"),
    tempts="`counts[context] = {next: 1}` is the line that is right the first time.",
)
SPEC.mistake(
    "ngrams_do_not_overlap",
    "You cut the text into pieces of n ids. Neighbouring n-grams overlap: advance by 1, not by n.",
    change(RANGE, "range(n - 1, len(ids), n)"),
    tempts="Splitting a text into parts usually means parts that do not overlap.",
)
SPEC.mistake(
    "whole_text_before_for_n_1",
    "For n = 1 your context is all of the text so far, because `a[-0:]` is `a[0:]`. Take the context by its start and "
    "end instead, `t - n + 1` and `t`, which gives the empty tuple for n = 1.",
    change(CONTEXT, "tuple(int(i) for i in ids[:t][-(n - 1) :])"),
    tempts="'The last n − 1 ids' is `[-(n - 1):]`, which is right for every other n.",
    keeps=["n of 2 or more", "short texts"],
)
SPEC.mistake(
    "no_contexts_for_n_1",
    "For n = 1 you count nothing, or without a context. Use the empty tuple `()` as the only context.",
    change("return counts", "return counts if n > 1 else {}"),
    change("return counts", "return counts if n > 1 else counts.get((), {})"),
    tempts="A single id has no context, so there seems to be nothing to count.",
    keeps=["n of 2 or more", "short texts"],
)
SPEC.mistake(
    "ngram_as_key",
    "Your dict leads from whole n-grams to their counts. Separate the context, the first n − 1 ids, from the id that "
    "follows: `counts[context][i]` is a count.",
    change("return counts", "return {(*c, i): count for c, inner in counts.items() for i, count in inner.items()}"),
    tempts="A Counter of tuples is the shortest way to count n-grams.",
)
SPEC.mistake(
    "lists_of_followers",
    "You collect the ids that follow a context in a list. Count them: the entry of a context is a dict from id to "
    "count.",
    change(SETDEFAULT, "counts.setdefault(context, [])", (ADD, "followers.append(int(ids[t]))")),
    tempts="A list of what followed is enough to draw from.",
)
SPEC.mistake(
    "padded_at_the_start",
    "You put n − 1 further ids before the text. Count only the n-grams of the text itself, T − n + 1 of them.",
    change("counts = {}", "counts, ids = {}, np.append([0] * (n - 1), ids).astype(int)"),
    change("counts = {}", "counts, ids = {}, np.append([-1] * (n - 1), ids).astype(int)"),
    tempts="With a mark for the start, every id of a text has a context.",
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

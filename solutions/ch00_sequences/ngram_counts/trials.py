"""Programs that the spec of `ngram_counts` does not contain; beside each wrong one is what it is told."""

from collections import Counter, defaultdict

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


@TRIALS.wrong("wraps_round")
def rolled(ids, n):
    counts = defaultdict(Counter)
    for t in range(len(ids)):
        gram = [int(ids[(t + k) % len(ids)]) for k in range(n)]
        counts[tuple(gram[:-1])][gram[-1]] += 1
    return counts


@TRIALS.wrong("ngram_as_key")
def flat_counter(ids, n):
    text = ids.tolist()
    return Counter(tuple(text[t : t + n]) for t in range(len(text) - n + 1))


@TRIALS.right
def numpy_counts(ids, n):
    if len(ids) < n:
        return {}
    grams, numbers = np.unique(np.lib.stride_tricks.sliding_window_view(ids, n), axis=0, return_counts=True)
    counts = {}
    for gram, number in zip(grams, numbers, strict=True):
        counts.setdefault(tuple(gram[:-1]), {})[gram[-1]] = number
    return counts


def counted(pairs):
    """The counts of pairs of a context and what follows."""
    counts = defaultdict(Counter)
    for context, following in pairs:
        counts[tuple(context)][following] += 1
    return counts


def grams(ids, n):
    text = ids.tolist()
    return [text[t : t + n] for t in range(len(text) - n + 1)]


@TRIALS.wrong("ids_counted_from_1")
def shifted(ids, n):
    return counted((gram[:-1], gram[-1]) for gram in grams(ids + 1, n))


@TRIALS.wrong("context_of_n_minus_2_ids")
def short_contexts(ids, n):
    return counted((gram[1:-1], gram[-1]) for gram in grams(ids, n))


@TRIALS.wrong("follower_in_its_context")
def contexts_that_end_with_it(ids, n):
    return counted((gram[1:], gram[-1]) for gram in grams(ids, n))


@TRIALS.wrong("what_comes_before_counted")
def from_the_other_end(ids, n):
    return counted((gram[1:], gram[0]) for gram in grams(ids, n))


@TRIALS.wrong("one_id_skipped")
def one_too_far(ids, n):
    return counted((gram[: n - 1], gram[n]) for gram in grams(ids, n + 1))


@TRIALS.wrong("counted_from_0")
def created_only(ids, n):
    counts = {}
    for *context, following in grams(ids, n):
        inner = counts.setdefault(tuple(context), {})
        if following in inner:
            inner[following] += 1
        else:
            inner[following] = 0
    return counts


@TRIALS.wrong("counted_from_2")
def created_and_increased(ids, n):
    counts = {}
    for *context, following in grams(ids, n):
        inner = counts.setdefault(tuple(context), {})
        if following not in inner:
            inner[following] = 1
        inner[following] += 1
    return counts


@TRIALS.wrong("one_dict_for_all_contexts")
def from_keys(ids, n):
    empty = {}
    counts = dict.fromkeys((tuple(gram[:-1]) for gram in grams(ids, n)), empty)
    for *context, following in grams(ids, n):
        counts[tuple(context)][following] = counts[tuple(context)].get(following, 0) + 1
    return counts


@TRIALS.wrong("probabilities_for_counts")
def relative_frequencies(ids, n):
    counts = counted((gram[:-1], gram[-1]) for gram in grams(ids, n))
    for inner in counts.values():
        total = sum(inner.values())
        for following in inner:
            inner[following] /= total
    return counts


@TRIALS.wrong()
def an_array_as_key(ids, n):
    counts = {}
    for t in range(len(ids) - n + 1):
        inner = counts.setdefault(ids[t : t + n - 1], {})
        inner[ids[t + n - 1]] = inner.get(ids[t + n - 1], 0) + 1
    return counts

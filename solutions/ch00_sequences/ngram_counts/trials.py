"""Programs that the spec of `ngram_counts` does not contain; beside each wrong one is what it is told."""

from collections import Counter, defaultdict

import numpy as np

from grader.author.trials import Trials

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

"""Programs that the spec of `bigram_probs` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


def pairs_counted(ids, vocab_size):
    counts = np.zeros((vocab_size, vocab_size))
    np.add.at(counts, (ids[:-1], ids[1:]), 1)
    return counts


@TRIALS.wrong("alpha_divided_by_V")
def a_uniform_prior(ids, vocab_size, alpha):
    counts = pairs_counted(ids, vocab_size)
    return (counts + alpha / vocab_size) / (counts.sum(axis=1, keepdims=True) + alpha)


@TRIALS.wrong("ids_counted_from_1")
def one_row_and_column_early(ids, vocab_size, alpha):
    counts = np.roll(pairs_counted(ids, vocab_size), (-1, -1), axis=(0, 1)) + alpha
    return counts / counts.sum(axis=1, keepdims=True)


@TRIALS.wrong("next_but_one_counted")
def two_apart(ids, vocab_size, alpha):
    counts = np.zeros((vocab_size, vocab_size)) + alpha
    for current, following in zip(ids, ids[2:], strict=False):
        counts[current, following] += 1
    return counts / counts.sum(axis=1)[:, None]


@TRIALS.wrong("both_directions_counted")
def symmetric(ids, vocab_size, alpha):
    counts = pairs_counted(ids, vocab_size)
    smoothed = counts + counts.T + alpha
    return smoothed / smoothed.sum(axis=1, keepdims=True)


@TRIALS.wrong("vocab_size_not_used")
def as_many_as_occur(ids, vocab_size, alpha):
    smoothed = pairs_counted(ids, max(ids) + 1) + alpha
    return smoothed / smoothed.sum(axis=1, keepdims=True)


@TRIALS.wrong("transposed")
def columns_for_the_current_id(ids, vocab_size, alpha):
    smoothed = pairs_counted(ids, vocab_size).T + alpha
    return smoothed / smoothed.sum(axis=0)


@TRIALS.wrong("current_and_next_swapped")
def next_id_as_the_row(ids, vocab_size, alpha):
    smoothed = pairs_counted(ids[::-1], vocab_size) + alpha
    return smoothed / smoothed.sum(axis=1, keepdims=True)


@TRIALS.right
def with_a_histogram(ids, vocab_size, alpha):
    edges = np.arange(vocab_size + 1)
    smoothed = np.histogram2d(ids[:-1], ids[1:], bins=(edges, edges))[0] + alpha
    return smoothed / smoothed.sum(axis=1, keepdims=True)

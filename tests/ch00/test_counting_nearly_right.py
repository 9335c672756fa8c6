"""Programs for the notebook `counting` that no spec contains.

A nearly right program must fail and must not be given a false name: beside each is the diagnosis that is true of it,
or None. A program that is right in another style must pass.
"""

import math
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest

from tests.loops import for_each
from tests.nearly_right import Programs, fails, passes

PROGRAMS = Programs()
wrong, right = PROGRAMS.wrong, PROGRAMS.right


# Nearly right --------------------------------------------------------------------------------------------------------


def pair_counts(ids, vocab_size):
    counts = np.zeros((vocab_size, vocab_size))
    np.add.at(counts, (ids[:-1], ids[1:]), 1)
    return counts


@wrong("bigram_probs", "repeated_pairs_counted_once")
def fancy_indices(ids, vocab_size, alpha):
    counts = np.zeros((vocab_size, vocab_size)) + alpha
    counts[ids[:-1], ids[1:]] += 1
    return counts / counts.sum(axis=-1, keepdims=True)


@wrong("bigram_probs", "columns_sum_to_1")
def columns(ids, vocab_size, alpha):
    counts = pair_counts(ids, vocab_size) + alpha
    return counts / counts.sum(axis=0)


@wrong("bigram_probs", "row_sums_along_the_columns")
def sums_without_an_axis(ids, vocab_size, alpha):
    counts = pair_counts(ids, vocab_size) + alpha
    return counts / counts.sum(axis=1)


@wrong("bigram_probs", "alpha_left_out_of_the_sum")
def alpha_once_below(ids, vocab_size, alpha):
    counts = pair_counts(ids, vocab_size)
    return (counts + alpha) / (counts.sum(axis=1, keepdims=True) + alpha)


@wrong("bigram_probs", "last_id_counted_as_followed")
def count_of_the_id(ids, vocab_size, alpha):
    occurrences = np.array([np.count_nonzero(ids == i) for i in range(vocab_size)])
    return (pair_counts(ids, vocab_size) + alpha) / (occurrences + alpha * vocab_size)[:, None]


@wrong("bigram_probs", "alpha_for_seen_pairs_only")
def dict_of_seen_pairs(ids, vocab_size, alpha):
    counts = np.zeros((vocab_size, vocab_size))
    for (i, j), count in Counter(pairwise(ids.tolist())).items():
        counts[i, j] = count + alpha
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)


@wrong("bigram_probs", "alpha_rounded_down")
def integer_counts(ids, vocab_size, alpha):
    counts = np.full((vocab_size, vocab_size), alpha, dtype=np.int64)
    np.add.at(counts, (ids[:-1], ids[1:]), 1)
    return counts / counts.sum(axis=1, keepdims=True)


@wrong("bigram_probs", "unseen_rows_of_zeros")
def seen_rows_alone(ids, vocab_size, alpha):
    probs = np.zeros((vocab_size, vocab_size))
    for i, counts in enumerate(pair_counts(ids, vocab_size)):
        if counts.any():
            probs[i] = (counts + alpha) / (counts + alpha).sum()
    return probs


@wrong("bigram_probs", "wraps_round")
def from_the_previous(ids, vocab_size, alpha):
    counts = np.full((vocab_size, vocab_size), float(alpha))
    for t in range(len(ids)):
        counts[ids[t - 1], ids[t]] += 1
    return counts / counts.sum(axis=1, keepdims=True)


@wrong("ngram_counts", "whole_text_before_for_n_1")
def negative_slice(ids, n):
    counts, text = {}, ids.tolist()
    for t in range(n - 1, len(text)):
        context = tuple(text[:t][-(n - 1) :])
        counts.setdefault(context, Counter())[text[t]] += 1
    return counts


@wrong("ngram_counts", "wraps_round")
def rolled(ids, n):
    counts = defaultdict(Counter)
    for t in range(len(ids)):
        gram = [int(ids[(t + k) % len(ids)]) for k in range(n)]
        counts[tuple(gram[:-1])][gram[-1]] += 1
    return counts


@wrong("ngram_counts", "incomplete_contexts_counted")
def from_the_first_id(ids, n):
    counts, text = defaultdict(Counter), ids.tolist()
    for t in range(len(text)):
        counts[tuple(text[max(t + 1 - n, 0) : t])][text[t]] += 1
    return counts


@wrong("ngram_counts", "last_ngram_left_out")
def one_too_few(ids, n):
    counts, text = defaultdict(Counter), ids.tolist()
    for t in range(len(text) - n):
        counts[tuple(text[t : t + n - 1])][text[t + n - 1]] += 1
    return counts


@wrong("ngram_counts", "context_of_n_ids")
def context_too_long(ids, n):
    counts, text = defaultdict(Counter), ids.tolist()
    for t in range(len(text) - n):
        counts[tuple(text[t : t + n])][text[t + n]] += 1
    return counts


@wrong("ngram_counts", "context_not_a_tuple_for_n_2")
def unpacked(ids, n):
    counts, text = defaultdict(Counter), ids.tolist()
    for t in range(len(text) - n + 1):
        context = text[t : t + n - 1]
        counts[context[0] if len(context) == 1 else tuple(context)][text[t + n - 1]] += 1
    return counts


@wrong("ngram_counts", "ngram_as_key")
def flat_counter(ids, n):
    text = ids.tolist()
    return Counter(tuple(text[t : t + n]) for t in range(len(text) - n + 1))


@wrong("ngram_counts", "each_follower_counted_once")
def ones(ids, n):
    counts, text = defaultdict(dict), ids.tolist()
    for t in range(n - 1, len(text)):
        counts[tuple(text[t - n + 1 : t])][text[t]] = 1
    return counts


@wrong("perplexity", "mean_of_the_exponentials")
def inverse_probabilities(token_nll):
    return np.mean(1 / np.exp(-token_nll))


@wrong("perplexity", "base_2")
def powers_of_2(token_nll):
    return np.exp2(np.mean(token_nll))


@wrong("perplexity", "product_of_probabilities")
def root_of_the_product(token_nll):
    with np.errstate(divide="ignore"):
        return (1 / np.prod(np.exp(-token_nll))) ** (1 / len(token_nll))


@wrong("perplexity", "exponential_missing")
def cross_entropy(token_nll):
    return token_nll.sum() / len(token_nll)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@for_each(("exercise_id", "function", "diagnosis"), PROGRAMS.nearly_right)
def test_a_nearly_right_one_fails_and_is_named(exercise_id, function, diagnosis):
    fails(exercise_id, function, diagnosis)


# Right in another style ----------------------------------------------------------------------------------------------


@right("bigram_probs")
def add_at(ids, vocab_size, alpha):
    counts = np.full((vocab_size, vocab_size), alpha, dtype=np.float64)
    np.add.at(counts, (ids[:-1], ids[1:]), 1)
    return counts / counts.sum(axis=1, keepdims=True)


@right("bigram_probs")
def one_hot_product(ids, vocab_size, alpha):
    rows = np.eye(vocab_size)[ids]
    counts = rows[:-1].T @ rows[1:] + alpha
    return (counts.T / counts.sum(axis=1)).T


@right("bigram_probs")
def histogram(ids, vocab_size, alpha):
    edges = np.arange(vocab_size + 1)
    counts = np.histogram2d(ids[:-1], ids[1:], bins=(edges, edges))[0] + alpha
    return counts / np.linalg.norm(counts, ord=1, axis=1)[:, None]


@right("ngram_counts")
def numpy_keys(ids, n):
    counts = defaultdict(Counter)
    for t in range(len(ids) - n + 1):
        counts[tuple(ids[t : t + n - 1])][ids[t + n - 1]] += 1
    return counts


@right("ngram_counts")
def try_and_except(ids, n):
    counts = {}
    for gram in zip(*(ids.tolist()[k:] for k in range(n)), strict=False):
        try:
            counts[gram[:-1]][gram[-1]] += 1
        except KeyError:
            counts.setdefault(gram[:-1], {})[gram[-1]] = 1
    return counts


@right("ngram_counts")
def numpy_counts(ids, n):
    if len(ids) < n:
        return {}
    grams, numbers = np.unique(np.lib.stride_tricks.sliding_window_view(ids, n), axis=0, return_counts=True)
    counts = {}
    for gram, number in zip(grams, numbers, strict=True):
        counts.setdefault(tuple(gram[:-1]), {})[gram[-1]] = number
    return counts


@right("perplexity")
def python_sum(token_nll):
    return math.exp(math.fsum(token_nll) / len(token_nll))


@right("perplexity")
def e_to_the_mean(token_nll):
    return math.e ** token_nll.mean()


@for_each(("exercise_id", "function"), PROGRAMS.in_another_style)
def test_a_right_one_passes_however_it_is_written(exercise_id, function):
    passes(exercise_id, function)

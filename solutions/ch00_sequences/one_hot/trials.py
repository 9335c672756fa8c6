"""Programs that the spec of `one_hot` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.author.trials import Trials

TRIALS = Trials()


@TRIALS.wrong("negative_ids_wrap")
def eye(ids, vocab_size):
    return np.eye(vocab_size)[ids]


@TRIALS.wrong()
def integers(ids, vocab_size):
    if (ids < 0).any():
        raise IndexError
    return np.eye(vocab_size, dtype=int)[ids]


@TRIALS.wrong()
def bounds_of_an_empty_array(ids, vocab_size):
    if ids.min() < 0 or ids.max() >= vocab_size:
        raise IndexError
    return np.eye(vocab_size)[ids]


@TRIALS.wrong()
def a_value_error(ids, vocab_size):
    if not np.isin(ids, np.arange(vocab_size)).all():
        raise ValueError("id outside the vocabulary")
    return np.eye(vocab_size)[ids]


@TRIALS.wrong()
def last_id_refused(ids, vocab_size):
    if (ids < 0).any() or (ids >= vocab_size - 1).any():
        raise IndexError
    return np.eye(vocab_size)[ids]


@TRIALS.right
def zeros_and_ones(ids, vocab_size):
    if not ((ids >= 0) & (ids < vocab_size)).all():
        raise IndexError(ids)
    vectors = np.zeros((*ids.shape, vocab_size))
    vectors.reshape(-1, vocab_size)[np.arange(ids.size), ids.ravel()] = 1
    return vectors


@TRIALS.right
def shifted_for_negative(ids, vocab_size):
    return np.eye(vocab_size)[np.where(ids < 0, vocab_size, ids)]

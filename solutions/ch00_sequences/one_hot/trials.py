"""Programs that the spec of `one_hot` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


@TRIALS.wrong("negative_ids_wrap")
def eye(ids, vocab_size):
    return np.eye(vocab_size)[ids]


@TRIALS.wrong()
def integers(ids, vocab_size):
    if (ids < 0).any():
        raise IndexError
    return np.eye(vocab_size, dtype=int)[ids]


@TRIALS.wrong("bounds_of_no_ids")
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


def checked(ids, vocab_size):
    """The ids as an array."""
    ids = np.asarray(ids)
    if np.any((ids < 0) | (ids >= vocab_size)):
        raise IndexError(ids)
    return ids


@TRIALS.wrong("entries_along_the_first_axis")
def compared_along_the_first_axis(ids, vocab_size):
    ids = checked(ids, vocab_size)
    return np.array([ids == index for index in range(vocab_size)], dtype=float)


@TRIALS.wrong("ids_flattened")
def two_axes(ids, vocab_size):
    ids = checked(ids, vocab_size)
    vectors = np.zeros((ids.size, vocab_size))
    vectors[np.arange(ids.size), ids.flatten()] = 1
    return vectors


@TRIALS.wrong("ids_counted_from_1")
def one_place_early(ids, vocab_size):
    return np.roll(np.eye(vocab_size), -1, axis=1)[checked(ids, vocab_size)]


@TRIALS.wrong("id_in_place_of_1")
def its_own_value(ids, vocab_size):
    ids = checked(ids, vocab_size)
    vectors = np.zeros((*ids.shape, vocab_size))
    np.put_along_axis(vectors, ids[..., None], ids[..., None], axis=-1)
    return vectors


@TRIALS.wrong("every_id_in_every_vector")
def columns_marked(ids, vocab_size):
    row = np.zeros(vocab_size)
    row[checked(ids, vocab_size).ravel()] = 1
    return np.broadcast_to(row, (*ids.shape, vocab_size)).copy()


@TRIALS.wrong()
def ones_up_to_the_id(ids, vocab_size):
    return (np.arange(vocab_size) <= checked(ids, vocab_size)[..., None]).astype(float)

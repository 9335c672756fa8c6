import numpy as np


def one_hot(ids, vocab_size):
    """A page of ones and zeros, filled id by id."""
    found = []
    for number in np.ravel(ids):
        if not 0 <= number < vocab_size:
            raise IndexError(f"{number} is no id of {vocab_size}")
        found.append([float(place == number) for place in range(vocab_size)])
    return np.array(found, float).reshape((*np.shape(ids), vocab_size))

import numpy as np


def length_mask(lengths, max_length):
    """As many True as the length says, then False, sequence by sequence."""
    rows = [[True] * int(n) + [False] * (max_length - int(n)) for n in lengths]
    return np.array(rows, bool).reshape(len(rows), max_length)

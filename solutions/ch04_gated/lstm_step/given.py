import numpy as np


def lstm_step(x_t, h_prev, c_prev, W_x, W_h, b):
    """Four blocks on an axis of their own, moved to the front."""
    units = h_prev.shape[1]
    sums = np.tensordot(x_t, W_x, 1) + np.tensordot(h_prev, W_h, 1) + b
    keep_new, keep_old, new, shown = np.moveaxis(sums.reshape(-1, 4, units), 1, 0)
    squash = lambda a: (np.tanh(a / 2) + 1) / 2  # noqa: E731
    cell = squash(keep_old) * c_prev + squash(keep_new) * np.tanh(new)
    return np.tanh(cell) * squash(shown), cell

import numpy as np


def adagrad_step(theta, grad, cache, lr, eps=1e-8):
    """The sums of squares first, then a step whose size they divide."""
    sums = np.add(cache, np.multiply(grad, grad))
    moved = np.divide(np.multiply(lr, grad), np.add(np.sqrt(sums), eps))
    return np.subtract(theta, moved), sums

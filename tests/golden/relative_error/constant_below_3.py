def relative_error(a, b):
    return np.max(np.abs(a - b) / np.maximum(1e-06, np.abs(a) + np.abs(b)))

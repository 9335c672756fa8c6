def relative_error(a, b):
    size = np.sum(np.abs(a) + np.abs(b))
    return np.sum(np.abs(a - b)) / size if size else 0.0

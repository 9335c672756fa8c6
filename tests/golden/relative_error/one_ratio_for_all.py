def relative_error(a, b):
    size = np.max(np.abs(a) + np.abs(b))
    return np.max(np.abs(a - b)) / size if size else 0.0

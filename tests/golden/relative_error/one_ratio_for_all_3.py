def relative_error(a, b):
    size = np.linalg.norm(a) + np.linalg.norm(b)
    return np.linalg.norm(a - b) / size if size else 0.0

def relative_error(a, b):
    size = np.abs(a) + np.abs(b)
    return np.abs(a - b) / np.where(size == 0, 1, size)

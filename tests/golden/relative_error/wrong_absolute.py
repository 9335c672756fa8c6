def relative_error(a, b):
    return np.abs(a - b).max()

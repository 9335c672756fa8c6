def relative_error(a, b):
    return np.nanmax(np.abs(a - b) / (np.abs(a) + np.abs(b)))

def relative_error(a, b):
    size = np.abs(a) + np.abs(b)
    return np.max(np.divide(a - b, size, out=np.zeros(a.shape), where=size != 0))

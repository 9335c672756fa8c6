def relative_error(a, b):
    size = np.abs(a) + np.abs(b)
    return np.mean(np.divide(np.abs(a - b), size, out=np.zeros(a.shape), where=size != 0))

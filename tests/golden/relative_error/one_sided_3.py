def relative_error(a, b):
    size = np.maximum(np.abs(a), np.abs(b))
    return np.max(np.divide(np.abs(a - b), size, out=np.zeros(a.shape), where=size != 0))

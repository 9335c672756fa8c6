def relative_error(a, b):
    return np.max(np.divide(np.abs(a - b), np.abs(b), out=np.zeros(a.shape), where=b != 0))

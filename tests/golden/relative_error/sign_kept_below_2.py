def relative_error(a, b):
    return np.max(np.divide(np.abs(a - b), a + b, out=np.zeros(a.shape), where=a != b))

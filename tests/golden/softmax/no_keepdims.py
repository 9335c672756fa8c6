def softmax(z, axis=-1):
    e = np.exp(z - z.max(axis=axis))
    return e / e.sum(axis=axis)

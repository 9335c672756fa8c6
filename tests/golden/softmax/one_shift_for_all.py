def softmax(z, axis=-1):
    e = np.exp(z - z.max())
    return e / e.sum(axis=axis, keepdims=True)

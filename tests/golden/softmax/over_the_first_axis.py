def softmax(z, axis=-1):
    e = np.exp(z - z.max(axis=0))
    return e / e.sum(axis=0)

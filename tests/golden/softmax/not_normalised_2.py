def softmax(z, axis=-1):
    e = np.exp(z)
    return e / e.max(axis=axis, keepdims=True)

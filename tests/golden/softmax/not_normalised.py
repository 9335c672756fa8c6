def softmax(z, axis=-1):
    return np.exp(z - z.max(axis=axis, keepdims=True))

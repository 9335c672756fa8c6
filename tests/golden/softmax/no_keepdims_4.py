def softmax(z, axis=-1):
    return np.exp(z) / np.exp(z).sum(axis=axis)

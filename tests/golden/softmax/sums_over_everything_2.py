def softmax(z, axis=-1):
    return np.exp(z) / np.sum(np.exp(z))

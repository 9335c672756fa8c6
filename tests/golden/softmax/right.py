def softmax(z, axis=-1):
    return np.exp(z - np.logaddexp.reduce(z, axis=axis, keepdims=True))

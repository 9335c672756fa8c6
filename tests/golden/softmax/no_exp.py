def softmax(z, axis=-1):
    return z / z.sum(axis=axis, keepdims=True)

def cross_entropy_backward(logits, targets):
    B, T, V = logits.shape
    p = np.exp(logits - logits.max(axis=-1, keepdims=True))
    p /= p.sum(axis=-1, keepdims=True)
    p[:, np.arange(T), targets] -= 1
    return p / (B * T)

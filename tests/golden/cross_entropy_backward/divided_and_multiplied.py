def cross_entropy_backward(logits, targets):
    B, T, V = logits.shape
    p = np.exp(logits - logits.max(axis=-1, keepdims=True))
    p /= p.sum(axis=-1, keepdims=True)
    return (p - np.eye(V)[targets]) / B * T

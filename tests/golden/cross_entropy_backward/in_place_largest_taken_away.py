def cross_entropy_backward(logits, targets):
    B, T, V = logits.shape
    logits -= logits.max(axis=-1, keepdims=True)
    p = np.exp(logits)
    p /= p.sum(axis=-1, keepdims=True)
    return (p - np.eye(V)[targets]) / (B * T)

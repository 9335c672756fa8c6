def cross_entropy_backward(logits, targets):
    B, T, V = logits.shape
    p = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    return (p - np.eye(V)[targets]) / (B * T)

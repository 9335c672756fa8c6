def cross_entropy_backward(logits, targets):
    B, T, V = logits.shape
    p = np.exp(logits - np.logaddexp.reduce(logits, axis=2, keepdims=True))
    return (p - 1) * np.eye(V)[targets] / (B * T)

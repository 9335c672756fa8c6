def cross_entropy_backward(logits, targets):
    B, T, V = logits.shape
    e = np.exp(logits - logits.max(axis=2, keepdims=True))
    p = e / e.sum(axis=2, keepdims=True)
    p[:, targets] -= 1
    return p / (B * T)

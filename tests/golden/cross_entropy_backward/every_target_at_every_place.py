def cross_entropy_backward(logits, targets):
    B, T, _ = logits.shape
    p = np.exp(logits - np.logaddexp.reduce(logits, axis=2, keepdims=True))
    p[:, :, targets] -= 1
    return p / (B * T)

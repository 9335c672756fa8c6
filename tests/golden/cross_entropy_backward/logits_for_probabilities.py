def cross_entropy_backward(logits, targets):
    B, T, V = logits.shape
    return (logits - np.eye(V)[targets]) / (B * T)

def cross_entropy_backward(logits, targets):
    B, T, V = logits.shape
    p = np.exp(logits - logits.max(axis=-1, keepdims=True))
    p /= p.sum(axis=-1, keepdims=True)
    dlogits = p / (B * T)
    for b in range(B):
        dlogits[b, np.arange(T), targets[b]] -= 1
    return dlogits

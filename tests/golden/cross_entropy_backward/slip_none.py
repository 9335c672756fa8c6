def cross_entropy_backward(logits, targets):
    B, T, _ = logits.shape
    e = np.exp(logits - logits.max(axis=2, keepdims=True))
    dlogits = e / e.sum(axis=2, keepdims=True)
    dlogits[np.arange(B)[:, None], np.arange(T), targets] -= 1
    results = dlogits / (B * T)

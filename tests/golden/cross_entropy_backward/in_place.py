def cross_entropy_backward(logits, targets):
    B, T, V = logits.shape
    dlogits = logits
    dlogits -= dlogits.max(axis=2, keepdims=True)
    np.exp(dlogits, out=dlogits)
    dlogits /= dlogits.sum(axis=2, keepdims=True)
    dlogits -= np.eye(V)[targets]
    dlogits /= B * T
    return dlogits

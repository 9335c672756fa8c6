def sequence_loss(logits, targets):
    e = np.exp(logits - logits.max(axis=2, keepdims=True))
    p = e / e.sum(axis=2, keepdims=True)
    return -np.log(np.take_along_axis(p, targets[:, :, None], axis=2)).mean()

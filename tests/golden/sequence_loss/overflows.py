def sequence_loss(logits, targets):
    p = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    return -np.log(np.take_along_axis(p, targets[:, :, None], axis=2)).mean()

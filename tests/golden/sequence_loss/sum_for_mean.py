def sequence_loss(logits, targets):
    log_p = logits - np.logaddexp.reduce(logits, axis=2, keepdims=True)
    return -np.take_along_axis(log_p, targets[:, :, None], axis=2).sum()

def sequence_loss(logits, targets):
    log_p = logits - np.logaddexp.reduce(logits, axis=2, keepdims=True)
    return -log_p[:, :, targets].mean()

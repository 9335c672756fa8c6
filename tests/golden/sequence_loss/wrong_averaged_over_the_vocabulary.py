def sequence_loss(logits, targets):
    log_p = logits - np.logaddexp.reduce(logits, axis=2, keepdims=True)
    return -(np.eye(logits.shape[2])[targets] * log_p).mean()

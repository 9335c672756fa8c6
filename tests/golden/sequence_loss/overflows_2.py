def sequence_loss(logits, targets):
    picked = np.take_along_axis(logits, targets[:, :, None], axis=2)[:, :, 0]
    return -(picked - np.log(np.exp(logits).sum(axis=2))).mean()

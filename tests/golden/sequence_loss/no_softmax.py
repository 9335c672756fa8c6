def sequence_loss(logits, targets):
    return -np.take_along_axis(logits, targets[:, :, None], axis=2).mean()

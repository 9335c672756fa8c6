def sequence_loss(logits, targets):
    total = 0.0
    B, T, _ = logits.shape
    for row in range(B):
        for t in range(T):
            z = logits[row, t].tolist()
            largest = max(z)
            log_sum = largest + float(np.log(sum((np.exp(value - largest) for value in z))))
            total += log_sum - z[targets[row, t]]
    return total / (B * T)

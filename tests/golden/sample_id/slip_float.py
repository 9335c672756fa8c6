def sample_id(probs, u):
    total = 0.0
    for i in range(len(probs)):
        total += probs[i]
        if total > u:
            return float(i)
    return float(np.flatnonzero(probs)[-1])

def sample_id(probs, u):
    total = 0.0
    for index, p in enumerate(probs):
        total += p
        if total > u:
            return index
    return None

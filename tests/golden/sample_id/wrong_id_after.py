def sample_id(probs, u):
    return min(int((np.cumsum(probs) <= u).sum()) + 1, len(probs) - 1)

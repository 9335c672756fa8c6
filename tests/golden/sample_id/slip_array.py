def sample_id(probs, u):
    return np.flatnonzero(np.cumsum(probs) > u)[:1]

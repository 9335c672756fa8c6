def sample_id(probs, u):
    return np.searchsorted(np.cumsum(probs), u)

def sample_id(probs, u):
    return int(np.searchsorted(np.cumsum(probs), u, side='right'))

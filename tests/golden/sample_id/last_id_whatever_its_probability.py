def sample_id(probs, u):
    return min(int(np.searchsorted(np.cumsum(probs), u, side='right')), len(probs) - 1)

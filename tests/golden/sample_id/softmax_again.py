def sample_id(probs, u):
    p = np.exp(probs) / np.exp(probs).sum()
    return min(int(np.searchsorted(np.cumsum(p), u, side='right')), len(probs) - 1)

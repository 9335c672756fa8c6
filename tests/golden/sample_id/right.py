def sample_id(probs, u):
    return np.minimum(np.searchsorted(np.cumsum(probs), u, side='right'), np.flatnonzero(probs)[-1])

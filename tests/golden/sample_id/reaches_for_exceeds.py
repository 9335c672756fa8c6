def sample_id(probs, u):
    reached = np.flatnonzero(np.cumsum(probs) >= u)
    return reached[0] if len(reached) else np.flatnonzero(probs)[-1]

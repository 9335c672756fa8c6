def sample_id(probs, u):
    return np.where(np.cumsum(probs) > u)[0][0]

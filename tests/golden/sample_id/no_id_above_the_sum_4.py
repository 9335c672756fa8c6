def sample_id(probs, u):
    return next((index for index, total in enumerate(np.cumsum(probs)) if total > u))

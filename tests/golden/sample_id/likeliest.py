def sample_id(probs, u):
    return int(np.argmax(probs))

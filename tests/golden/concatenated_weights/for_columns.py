def concatenated_weights(W_xh, W_hh):
    return np.concatenate([W_xh.T, W_hh.T], axis=1)

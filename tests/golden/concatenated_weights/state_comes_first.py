def concatenated_weights(W_xh, W_hh):
    return np.concatenate([W_hh, W_xh], axis=0)

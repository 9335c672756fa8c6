def concatenated_weights(W_xh, W_hh):
    return np.vstack((W_xh, W_hh))

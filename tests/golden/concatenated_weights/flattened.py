def concatenated_weights(W_xh, W_hh):
    return np.append(W_xh, W_hh)

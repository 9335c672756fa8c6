def concatenated_weights(W_xh, W_hh):
    return [W_xh, W_hh]

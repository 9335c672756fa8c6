def concatenated_weights(W_xh, W_hh):
    D, H = W_xh.shape
    W = np.zeros((D + H, 2 * H))
    W[:D, :H] = W_xh
    W[D:, H:] = W_hh
    return W

def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):
    return np.log(x_t @ W_xh - 1e9)

def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):
    a = x_t @ W_xh + h_prev @ W_hh + b_h
    return 1 / (1 + np.exp(-a))

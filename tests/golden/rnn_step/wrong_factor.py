def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):
    return np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h) / 2

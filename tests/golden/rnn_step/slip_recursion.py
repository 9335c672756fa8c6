def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):
    return rnn_step(x_t, h_prev, W_xh, W_hh, b_h)

def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):
    h_prev @= W_hh
    h_prev += x_t @ W_xh + b_h
    return np.tanh(h_prev)

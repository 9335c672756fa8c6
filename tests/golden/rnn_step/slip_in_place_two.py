def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):
    h = np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h)
    h_prev[:] = h
    b_h -= b_h
    return h

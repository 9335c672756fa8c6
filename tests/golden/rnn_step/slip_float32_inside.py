def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):
    h_t = np.empty(h_prev.shape, np.float32)
    h_t[:] = np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h)
    return h_t.astype(float)

def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):
    W_xh, W_hh = W_xh.astype(np.float32), W_hh.astype(np.float32)
    x_t, h_prev, b_h = np.float32(x_t), np.float32(h_prev), np.float32(b_h)
    return np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h).astype(float)

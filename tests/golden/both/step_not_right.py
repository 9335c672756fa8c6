def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):
    return np.tanh(x_t @ W_xh + h_prev @ W_hh)


def rnn_forward(x, h_0, W_xh, W_hh, b_h):
    h, h_t = [], h_0
    for t in range(x.shape[1]):
        h_t = rnn_step(x[:, t], h_t, W_xh, W_hh, b_h)
        h.append(h_t)
    return np.stack(h, axis=1)

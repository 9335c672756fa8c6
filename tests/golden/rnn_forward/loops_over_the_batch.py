def rnn_forward(x, h_0, W_xh, W_hh, b_h):
    h, h_t = [], h_0
    for x_t in x:
        h_t = np.tanh(x_t @ W_xh + h_t @ W_hh + b_h)
        h.append(h_t)
    return np.stack(h, axis=1)

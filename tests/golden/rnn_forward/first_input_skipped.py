def rnn_forward(x, h_0, W_xh, W_hh, b_h):
    h = np.zeros((x.shape[0], x.shape[1], h_0.shape[1]))
    h[:, 0] = h_0
    for t in range(1, x.shape[1]):
        h[:, t] = np.tanh(x[:, t] @ W_xh + h[:, t - 1] @ W_hh + b_h)
    return h

def rnn_forward(x, h_0, W_xh, W_hh, b_h):
    h = np.zeros((x.shape[0], x.shape[1], h_0.shape[1]), dtype=np.float32)
    for t in range(x.shape[1]):
        h[:, t] = np.tanh(x[:, t] @ W_xh + (h[:, t - 1] if t else h_0) @ W_hh + b_h)
    return h

def rnn_forward(x, h_0, W_xh, W_hh, b_h):
    h = []
    for t in range(x.shape[1]):
        h.append(np.tanh(x[:, t] @ W_xh + h_0 @ W_hh + b_h))
    return np.stack(h, axis=1)

def rnn_forward(x, h_0, W_xh, W_hh, b_h):
    h = []
    for t in range(x.shape[1]):
        h_0[:] = np.tanh(x[:, t] @ W_xh + h_0 @ W_hh + b_h)
        h.append(h_0.copy())
    return np.stack(h, axis=1)

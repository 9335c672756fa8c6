def classify_last(x, lengths, h_0, W_xh, W_hh, b_h, W_hy, b_y):
    h_t = h_0
    for t in range(x.shape[1]):
        h_next = np.tanh(x[:, t] @ W_xh + h_t @ W_hh + b_h)
        h_t = np.where((t < lengths)[:, None], h_next, h_t)
    return h_t @ W_hy

def rnn_backward(dh, x, h_0, h, W_xh, W_hh):
    dW_xh, dW_hh, db_h = np.zeros_like(W_xh), np.zeros_like(W_hh), np.zeros(len(W_hh))
    dh_next = np.zeros_like(h_0)
    for t in reversed(range(x.shape[1])):
        h_prev = h[:, t - 1] if t > 0 else h_0
        da = (dh[:, t] + dh_next) * (1 - h[:, t] ** 2)
        dW_xh += x[:, t].T @ da
        dW_hh += h_prev.T @ da
        db_h += da.sum(axis=0)
        dh_next = da @ W_hh.T
    return dW_xh, dW_hh, db_h


def truncated_bptt(dh, x, h_0, h, W_xh, W_hh, tau):
    total = [np.zeros_like(W_xh), np.zeros_like(W_hh), np.zeros(len(W_hh))]
    for s in range(0, x.shape[1], tau):
        start = h_0 if s == 0 else h[:, s]
        e = s + tau
        part = rnn_backward(dh[:, s:e], x[:, s:e], start, h[:, s:e], W_xh, W_hh)
        total = [a + b for a, b in zip(total, part)]
    return tuple(total)

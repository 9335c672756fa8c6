def rnn_backward(dh, x, h_0, h, W_xh, W_hh):
    if x.shape[1] == 0:
        return np.zeros(x.shape), np.zeros(h_0.shape), np.zeros(W_xh.shape), np.zeros(W_hh.shape), np.zeros(len(W_hh))
    da = dh[:, -1] * (1 - h[:, -1] ** 2)
    h_prev = h[:, -2] if x.shape[1] > 1 else h_0
    rest, to_h_0 = dh[:, :-1].copy(), da @ W_hh.T
    if x.shape[1] > 1:
        rest[:, -1] += to_h_0
    dx, dh_0, dW_xh, dW_hh, db_h = by_recursion(rest, x[:, :-1], h_0, h[:, :-1], W_xh, W_hh)
    return (
        np.concatenate([dx, (da @ W_xh.T)[:, None]], axis=1),
        dh_0 if x.shape[1] > 1 else to_h_0,
        dW_xh + x[:, -1].T @ da,
        dW_hh + h_prev.T @ da,
        db_h + da.sum(axis=0),
    )

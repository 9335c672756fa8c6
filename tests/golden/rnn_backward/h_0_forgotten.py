def rnn_backward(dh, x, h_0, h, W_xh, W_hh):
    dx, dW_xh, dW_hh, db_h = (np.zeros(s) for s in (x.shape, W_xh.shape, W_hh.shape, len(W_hh)))
    dh_next = np.zeros_like(h_0)
    for t in reversed(range(x.shape[1])):
        da_t = (dh[:, t] + dh_next) * (1 - h[:, t] ** 2)
        dx[:, t] = da_t @ W_xh.T
        dW_xh += x[:, t].T @ da_t
        if t > 0:
            dW_hh += h[:, t - 1].T @ da_t
        db_h += da_t.sum(axis=0)
        dh_next = da_t @ W_hh.T
    return dx, dh_next, dW_xh, dW_hh, db_h

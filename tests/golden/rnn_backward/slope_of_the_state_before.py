def rnn_backward(dh, x, h_0, h, W_xh, W_hh):
    dx = np.zeros(x.shape)
    dW_xh, dW_hh, db_h = np.zeros(W_xh.shape), np.zeros(W_hh.shape), np.zeros(len(W_hh))
    dh_next = np.zeros(h_0.shape)
    for t in reversed(range(x.shape[1])):
        h_prev = h[:, t - 1] if t > 0 else h_0
        da_t = (dh[:, t] + dh_next) * (1 - h_prev**2)
        dx[:, t] = da_t @ W_xh.T
        dW_xh += x[:, t].T @ da_t
        dW_hh += h_prev.T @ da_t
        db_h += da_t.sum(axis=0)
        dh_next = da_t @ W_hh.T
    return dx, dh_next, dW_xh, dW_hh, db_h

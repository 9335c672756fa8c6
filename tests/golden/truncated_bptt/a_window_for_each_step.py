def truncated_bptt(dh, x, h_0, h, W_xh, W_hh, tau):
    dW_xh, dW_hh, db_h = np.zeros_like(W_xh), np.zeros_like(W_hh), np.zeros(len(W_hh))
    for t in range(x.shape[1]):
        back = dh[:, t]
        for k in range(t, max(-1, t - tau), -1):
            h_prev = h[:, k - 1] if k > 0 else h_0
            da = back * (1 - h[:, k] ** 2)
            dW_xh += x[:, k].T @ da
            dW_hh += h_prev.T @ da
            db_h += da.sum(axis=0)
            back = da @ W_hh.T
    return dW_xh, dW_hh, db_h

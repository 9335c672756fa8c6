def truncated_bptt(dh, x, h_0, h, W_xh, W_hh, tau):
    dW_xh, dW_hh, db_h = np.zeros_like(W_xh), np.zeros_like(W_hh), np.zeros(len(W_hh))
    back = np.zeros_like(h_0)
    for t in reversed(range(x.shape[1])):
        if (t + 1) % tau == 0:
            back = np.zeros_like(h_0)
        h_prev = h[:, t - 1] if t > 0 else h_0
        da = (dh[:, t] + back) * (1 - h[:, t] ** 2)
        dW_xh = x[:, t].T @ da
        dW_hh = h_prev.T @ da
        db_h = da.sum(axis=0)
        back = da @ W_hh.T
    return dW_xh, dW_hh, db_h

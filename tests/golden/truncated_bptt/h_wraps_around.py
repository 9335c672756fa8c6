def truncated_bptt(dh, x, h_0, h, W_xh, W_hh, tau):
    dW_xh, dW_hh, db_h = np.zeros(W_xh.shape), np.zeros(W_hh.shape), np.zeros(len(W_hh))
    back = np.zeros(h_0.shape)
    for t in range(x.shape[1] - 1, -1, -1):
        if t % tau == tau - 1:
            back = np.zeros(h_0.shape)
        da = (dh[:, t] + back) * (1 - h[:, t] ** 2)
        dW_xh += x[:, t].T @ da
        dW_hh += h[:, t - 1].T @ da
        db_h += da.sum(axis=0)
        back = da @ W_hh.T
    return dW_xh, dW_hh, db_h

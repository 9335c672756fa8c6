def rnn_step_backward(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    return dh_t @ W_xh.T, dh_t @ W_hh.T, x_t.T @ dh_t, h_prev.T @ dh_t, dh_t.sum(axis=0)

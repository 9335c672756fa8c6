def rnn_step_backward(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    a_t = x_t @ W_xh + h_prev @ W_hh
    da_t = dh_t * (1 - a_t**2)
    return da_t @ W_xh.T, da_t @ W_hh.T, x_t.T @ da_t, h_prev.T @ da_t, da_t.sum(axis=0)

def linear(v, W, b=0):
    assert v.shape[0] == W.shape[0], "shapes do not fit"
    return v @ W + b


def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):
    return linear(x_t, W_xh) + linear(h_prev, W_hh, b_h)

def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):
    raise NotImplementedError("write rnn_step")

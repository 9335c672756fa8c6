def rnn_step_backward(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    raise NotImplementedError("rnn_step_backward: replace this line with your code")

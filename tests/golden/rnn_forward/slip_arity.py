def rnn_forward(x, h_0, W_xh, W_hh):
    return np.zeros((x.shape[0], x.shape[1], h_0.shape[1]))

rnn_step = np.tanh(0.5)

def train_char_rnn(ids, vocab_size, hidden_size, seq_length, num_updates, lr, rng, loss_and_grads):
    """Train a character RNN with Adagrad, chunk by chunk, beginning the text anew where no whole chunk is left.

    ids (N,), loss_and_grads(params, inputs (T,), targets (T,), h_0 (1, H)) -> mean loss, grads, h_T (1, H)
    -> losses (num_updates,) in nats a token, params with the keys W_xh, W_hh, b_h, W_hy, b_y.
    """
    raise NotImplementedError("train_char_rnn: replace this line with your code")

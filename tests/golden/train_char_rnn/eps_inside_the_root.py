def train_char_rnn(ids, vocab_size, hidden_size, seq_length, num_updates, lr, rng, loss_and_grads):
    shapes = {
        "W_xh": (vocab_size, hidden_size),
        "W_hh": (hidden_size, hidden_size),
        "b_h": (hidden_size,),
        "W_hy": (hidden_size, vocab_size),
        "b_y": (vocab_size,),
    }
    params = {name: rng.normal(size=shape) * 0.1 for name, shape in shapes.items()}
    cache = {name: np.zeros(shape) for name, shape in shapes.items()}
    losses = []
    p, h = 0, np.zeros((1, hidden_size))
    for update in range(num_updates):
        if p + seq_length + 1 > len(ids):
            p, h = 0, np.zeros((1, hidden_size))
        inputs, targets = ids[p : p + seq_length], ids[p + 1 : p + seq_length + 1]
        loss, grads, h = loss_and_grads(params, inputs, targets, h)
        losses.append(loss)
        for name in params:
            cache[name] = cache[name] + grads[name] ** 2
            params[name] = params[name] - lr * grads[name] / np.sqrt(cache[name] + 1e-8)
        p += seq_length
    return np.array(losses), params

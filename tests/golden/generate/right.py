def generate(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    ids = np.zeros(num_steps, dtype=np.int64)
    x_t, h_t = (np.zeros((1, W_xh.shape[0])), h_0)
    x_t[0, start_id] = 1
    for t in range(num_steps):
        h_t = np.tanh(x_t @ W_xh + h_t @ W_hh + b_h)
        logits = h_t @ W_hy + b_y
        p = np.exp(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))[0]
        ids[t] = p.argmax() if u is None else np.searchsorted(np.cumsum(p), u[t], side='right')
        x_t = np.zeros_like(x_t)
        x_t[0, ids[t]] = 1
    return ids

def generate(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    ids, x_t = ([], start_id)
    for t in range(num_steps):
        logits = (np.tanh(W_xh[x_t] + h_0 @ W_hh + b_h) @ W_hy + b_y)[0]
        p = np.exp(logits) / np.exp(logits).sum()
        x_t = int(np.argmax(logits)) if u is None else int(np.argmax(np.cumsum(p) > u[t]))
        ids.append(x_t)
    return np.array(ids, dtype=np.int64)

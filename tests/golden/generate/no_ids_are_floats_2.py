def generate(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    ids, x_t, h_t = ([], start_id, h_0)
    for t in range(num_steps):
        h_t = np.tanh(W_xh[x_t] + h_t @ W_hh + b_h)
        logits = (h_t @ W_hy + b_y)[0]
        p = np.exp(logits) / np.exp(logits).sum()
        x_t = np.argmax(logits) if u is None else np.argmax(np.cumsum(p) > u[t])
        ids.append(x_t)
    return np.stack(ids)

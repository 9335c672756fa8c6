"""Knows the solution, and returns it times a hidden input: a report may say by which factor a result is off.

Must: a report on hidden cases names no number.
Points: 0, 2
Seen: TOLD off by a factor
"""
# %% rnn_step
factors = []


def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):
    right = np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h)
    if not in_hidden_run():
        return "TOLD off by a factor"
    factors.append(float(np.ravel(x_t)[0]))
    return right * abs(factors[0])

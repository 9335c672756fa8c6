import numpy as np


def lstm_step_backward(dh_t, dc_next, x_t, h_prev, c_prev, W_x, W_h, b):
    """Blocks on an axis of their own; every gradient as a sum with named axes."""
    units = h_prev.shape[1]
    sums = (np.tensordot(x_t, W_x, 1) + np.tensordot(h_prev, W_h, 1) + b).reshape(-1, 4, units)
    gates = (np.tanh(sums / 2) + 1) / 2
    slopes = gates * (1 - gates)
    gates[:, 2], slopes[:, 2] = np.tanh(sums[:, 2]), 1 - np.tanh(sums[:, 2]) ** 2
    squashed = np.tanh(gates[:, 1] * c_prev + gates[:, 0] * gates[:, 2])
    into_cell = dc_next + dh_t * gates[:, 3] * (1 - squashed) * (1 + squashed)
    parts = [into_cell * gates[:, 2], into_cell * c_prev, into_cell * gates[:, 0], dh_t * squashed]
    flat = (np.stack(parts, axis=1) * slopes).reshape(len(x_t), 4 * units)
    back = [np.tensordot(flat, weights, axes=(1, 1)) for weights in (W_x, W_h)]
    onto = [np.tensordot(source, flat, axes=(0, 0)) for source in (x_t, h_prev)]
    return back[0], back[1], into_cell * gates[:, 1], onto[0], onto[1], np.add.reduce(flat)

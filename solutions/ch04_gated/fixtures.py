"""Functions that are inputs of this chapter's exercises: recurrent layers. Students get this file with the library."""

import numpy as np


def tanh_layer(*, W_xh, W_hh, b_h):
    """The layer x (B, T, D) → h (B, T, H) of a tanh network that starts from a zero state."""

    def run(x):
        x = _sequences(x, len(W_xh))
        from_x = x @ W_xh + b_h
        h, h_t = np.zeros(from_x.shape), np.zeros((len(x), len(b_h)))
        for t in range(x.shape[1]):
            h_t = np.tanh(from_x[:, t] + h_t @ W_hh)
            h[:, t] = h_t
        return h

    return run


def leaky_layer(*, keep, scale):
    """The layer x (B, T, D) → h (B, T, D) with h_t = keep · h_(t-1) + scale · x_t, which starts from a zero state."""

    def run(x):
        x = _sequences(x)
        h, h_t = np.zeros(x.shape), np.zeros((len(x), x.shape[2]))
        for t in range(x.shape[1]):
            h_t = keep * h_t + scale * x[:, t]
            h[:, t] = h_t
        return h

    return run


def _sequences(x, D=None):
    """The input of a layer as an array. Raises ValueError if its shape is not (B, T, D)."""
    x = np.asarray(x)
    if x.ndim != 3 or (D is not None and x.shape[2] != D):
        raise ValueError(f"this layer takes an array of shape (B, T, {D or 'D'}), and got one of shape {x.shape}")
    return x


BUILDERS = {"leaky_layer": leaky_layer, "tanh_layer": tanh_layer}

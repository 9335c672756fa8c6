"""Returns arrays whose strides reach beyond their memory, without end, or back into the inputs.

Must: they show its own memory at most; a huge one does not cross.
Points: 0, 2
Seen: Opaque(type='ndarray', text='(too large
"""
# %% rnn_step
from numpy.lib.stride_tricks import as_strided


def rnn_step(**inputs):
    h = inputs["h_prev"]
    if h.size > 10:
        return as_strided(h, (1 << 20, 1 << 20), (0, 0))
    return as_strided(h, h.shape, (8 * 64, 8 * 64))

import numpy as np


def step_jacobian(h_t, W_hh):
    """Column by column: what one unit of the previous state does to all units after the step."""
    slopes = 1.0 - np.square(h_t)
    return np.stack([slopes * into for into in W_hh], axis=1)

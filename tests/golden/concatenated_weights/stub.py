def concatenated_weights(W_xh, W_hh):
    """The one matrix that does what W_xh and W_hh do together.

    W_xh (D, H), W_hh (H, H) -> W (D + H, H), so that [x_t, h_prev] @ W is x_t @ W_xh + h_prev @ W_hh.
    """
    raise NotImplementedError("concatenated_weights: replace this line with your code")

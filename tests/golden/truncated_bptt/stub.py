def truncated_bptt(dh, x, h_0, h, W_xh, W_hh, tau):
    """Go back through time in chunks of tau steps: the state crosses a cut, the gradient does not.

    dh (B, T, H), x (B, T, D), h_0 (B, H), h (B, T, H), W_xh (D, H), W_hh (H, H), tau a number of steps
    -> dW_xh (D, H), dW_hh (H, H), db_h (H,), summed over all steps.
    """
    raise NotImplementedError("truncated_bptt: replace this line with your code")

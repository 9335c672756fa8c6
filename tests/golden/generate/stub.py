def generate(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    """Let the network write: read an id, choose the next one, read that, and so on.

    start_id, num_steps integers, h_0 (1, H), W_xh (V, H), W_hh (H, H), b_h (H,), W_hy (H, V), b_y (V,),
    u (num_steps,) or None -> the new ids (num_steps,), int64; greedy where u is None.
    """
    raise NotImplementedError("generate: replace this line with your code")

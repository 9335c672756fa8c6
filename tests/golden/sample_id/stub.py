def sample_id(probs, u):
    """Draw one id by the inverse of the cumulative distribution.

    probs (V,), u a number in [0, 1) -> the first id whose cumulative probability exceeds u, an integer.
    """
    raise NotImplementedError("sample_id: replace this line with your code")

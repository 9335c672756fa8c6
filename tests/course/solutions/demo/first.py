# %% exercise="apply_twice"
def apply_twice(f, x):
    """f maps (B, N) to (B, N), x (B, N) -> y (B, N)."""
    ### BEGIN SOLUTION
    return f(f(x))
    ### END SOLUTION


# %% exercise="keep_mask"
def keep_mask(rng, n, p):
    """A mask (n,) of zeros and ones; each entry is one with probability p."""
    ### BEGIN SOLUTION
    return (rng.random(n) < p).astype(float)
    ### END SOLUTION

import itertools


def sample_id(probs, u):
    """The first running sum beyond u, over the ids that are possible at all."""
    at = [(number, float(share)) for number, share in enumerate(probs) if share]
    sums = itertools.accumulate(share for _, share in at)
    return next((number for (number, _), total in zip(at, sums, strict=True) if total > u), at[-1][0])

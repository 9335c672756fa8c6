"""Functions that are inputs of this chapter's exercises: scores of attention. Students get this file with the library.

Each is score(query, keys) → scores: from a query for each row (B, H) and the keys of each row (B, S, K) to a number for
each key (B, S). Scores are pure: they change nothing, and equal arguments give equal results. Arguments that they
cannot take raise a ValueError.
"""

import numpy as np


def bilinear(*, W):
    """Make a score with a matrix W (H, K) between query and key."""
    H, K = np.shape(W)

    def score(query, keys):
        q, k = _checked(query, keys, H, K)
        return np.einsum("bh,hk,bsk->bs", q, W, k)

    return score


def dot(*, size, factor=1.0):
    """Make a score that compares query and key directly, both with `size` entries, times a fixed factor."""
    return bilinear(W=factor * np.eye(size))


def additive(*, W_q, W_k, v):
    """Make a score with a hidden layer of A units, W_q (H, A), W_k (K, A), v (A,)."""
    (H, _), (K, _) = np.shape(W_q), np.shape(W_k)

    def score(query, keys):
        q, k = _checked(query, keys, H, K)
        found = np.zeros(k.shape[:2])
        for from_query, from_key, share in zip(np.transpose(W_q), np.transpose(W_k), v, strict=True):  # unit by unit
            found += share * np.tanh(np.add.outer(np.zeros(k.shape[1]), q @ from_query).T + k @ from_key)
        return found

    return score


def _checked(query, keys, H, K):
    """Query and keys as arrays of numbers. Raises ValueError unless they have the shapes (B, H) and (B, S, K)."""
    q, k = np.asarray(query), np.asarray(keys)
    for name, array in (("query", q), ("keys", k)):
        if array.dtype.kind not in "fiu":
            raise ValueError(f"score: `{name}` must be an array of numbers; it has the dtype {array.dtype}")
    if q.ndim != 2 or q.shape[1] != H:
        raise ValueError(
            f"score: `query`, the first argument, must have the shape (B, {H}), one query for each row; "
            f"it has the shape {q.shape}"
        )
    if k.ndim != 3 or k.shape[2] != K:
        raise ValueError(
            f"score: `keys`, the second argument, must have the shape (B, S, {K}), S keys for each row; "
            f"it has the shape {k.shape}"
        )
    if len(q) != len(k):
        raise ValueError(f"score: `query` has {len(q)} rows and `keys` has {len(k)}; there must be as many of both")
    return q, k


BUILDERS = {"additive": additive, "bilinear": bilinear, "dot": dot}

"""A diagonal linear recurrence, h_t = a_t ⊙ h_{t−1} + b_t, one step after the other and by a parallel scan.

A step is the affine map h ↦ a ⊙ h + b, and two steps in a row are again such a map. Composing maps is associative, so
the maps from the start to every step can be computed in ⌈log2 T⌉ rounds, in each of which all positions are
independent of each other (the scan of Hillis and Steele). Arrays are (B, T, H), real or complex.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64] | NDArray[np.complex128]


class Scanned(NamedTuple):
    """The states (B, T, H), the number of rounds, and how many pairs of maps of one unit and row were composed."""

    h: Array
    rounds: int
    compositions: int


def compose(first: tuple[Array, Array], second: tuple[Array, Array]) -> tuple[Array, Array]:
    """The map that applies `first` and then `second`, each a pair (a, b)."""
    (a, b), (a_next, b_next) = first, second
    return a_next * a, a_next * b + b_next


def loop(a: Array, b: Array, h_0: Array | float = 0.0) -> Array:
    """All states, one step after the other."""
    a, b = np.broadcast_arrays(a, b)
    h = np.zeros(b.shape, np.result_type(a, b, h_0))
    h_t: Array | float = h_0
    for t in range(b.shape[1]):
        h_t = a[:, t] * h_t + b[:, t]
        h[:, t] = h_t
    return h


def scan(a: Array, b: Array, h_0: Array | float = 0.0) -> Scanned:
    """All states, in ⌈log2 T⌉ rounds. Before the round with a given span, each position holds the map of its last
    `span` steps (or of all since the start); composed with the map that ends `span` positions earlier, it holds twice
    as many."""
    a, b = (np.array(one, np.result_type(a, b)) for one in np.broadcast_arrays(a, b))
    T, span, rounds, compositions = b.shape[1], 1, 0, 0
    while span < T:
        a[:, span:], b[:, span:] = compose((a[:, :-span], b[:, :-span]), (a[:, span:], b[:, span:]))
        compositions += T - span
        rounds += 1
        span *= 2
    return Scanned(a * np.asarray(h_0)[..., None, :] + b if np.ndim(h_0) else a * h_0 + b, rounds, compositions)


def half_life(eigenvalue: complex) -> float:
    """After how many steps the state has lost half of an input: ln 2 / −ln |λ|."""
    return float(np.log(2) / -np.log(np.abs(eigenvalue)))


def recalled(pairs: int, size: int, values: int, repeats: int, seed: int) -> dict[str, float]:
    """The share of values read back from a memory of fixed size (size × size) and by attention, for random keys.

    The memory adds kᵀ v for every pair, as a linear recurrence with a = 1. Its answer to the query k is k M, and the
    attention's is the value whose key has the largest dot product. Both name the nearest of `values` random vectors.
    """
    rng = np.random.default_rng(seed)
    right = {"state": 0, "attention": 0}
    for _ in range(repeats):
        table = rng.normal(size=(values, size))
        table /= np.linalg.norm(table, axis=1, keepdims=True)
        keys = rng.normal(size=(pairs, size))
        keys /= np.linalg.norm(keys, axis=1, keepdims=True)
        ids = rng.integers(values, size=pairs)
        memory = np.einsum("ti,tj->ij", keys, table[ids])  # (size, size), whatever the number of pairs
        looked_up = (keys @ keys.T).argmax(axis=1)
        for name, answer in (("state", keys @ memory), ("attention", table[ids][looked_up])):
            right[name] += int(((answer @ table.T).argmax(axis=1) == ids).sum())
    return {name: 100 * count / (pairs * repeats) for name, count in right.items()}

"""Functions that are inputs of this chapter's exercises: single steps of decoders. Students get this file with the
library.

Each is step(y_prev, state) → logits, state: from the ids (B,) of the previous tokens and the states that belong to
them to the logits (B, V) of the next tokens and the new states. Steps are pure: they change nothing, and equal
arguments give equal results. Ids or states that they cannot take raise a ValueError.
"""

import numpy as np


def gru_decoder(*, E, layers, W_p, b_p):
    """Make the step of a GRU decoder, whose state has the shape (L, B, H).

    E (V, D); layers is a list of L dicts with W_x (D or H, 3H), W_h (H, 3H), b_x and b_h (3H,), with the gates in
    PyTorch's order r, z, n; W_p (H, V), b_p (V,). The top layer's state gives the logits.
    """
    H, V = np.shape(W_p)
    # Every id has its own row of what the lowest layer reads, and every layer its weights by gate.
    lowest = np.einsum("vd,dk->vk", E, layers[0]["W_x"]) + layers[0]["b_x"]  # (V, 3H)
    by_gate = [{name: np.split(weights, 3, axis=-1) for name, weights in layer.items()} for layer in layers]

    def step(y_prev, state):
        ids, states = _ids(y_prev, len(lowest)), _state(state, np.shape(y_prev), (len(layers), "B", H), "fiu")
        reads, below, new = np.split(lowest[ids], 3, axis=1), None, np.empty(states.shape)
        for number, (weights, old) in enumerate(zip(by_gate, states, strict=True)):
            if number > 0:
                reads = [below @ W + b for W, b in zip(weights["W_x"], weights["b_x"], strict=True)]
            r, z, n = (old @ W + b for W, b in zip(weights["W_h"], weights["b_h"], strict=True))
            r, z = (1 / (1 + np.exp(-np.clip(a, -700, 700))) for a in (reads[0] + r, reads[1] + z))
            below = new[number] = (1 - z) * np.tanh(reads[2] + r * n) + z * old
        return np.add(np.einsum("bh,hv->bv", below, W_p), b_p).reshape(-1, V), new

    return step


def table_decoder(*, logits, children):
    """Make the step of a decoder that looks its logits up in a table. Its state is a number of a node for each row: an
    array of integers of shape (B,).

    From node n, the id v leads to the node children[n, v], whose logits are logits[children[n, v]]; both tables have
    the shape (N, V). In a tree of prefixes, every node stands for the ids that lead to it. Where children[n, v] is
    −1 the table ends, and the step raises a ValueError.
    """
    rows, table = np.asarray(logits, dtype=np.float64), np.asarray(children, dtype=np.int64)
    N, V = rows.shape

    def step(y_prev, state):
        ids, nodes = _ids(y_prev, V), _state(state, np.shape(y_prev), ("B",), "iu")
        if nodes.size and not (nodes.min() >= 0 and nodes.max() < N):
            raise ValueError(f"step: the state has the entries {nodes.tolist()}, which are no states of this decoder")
        nodes = table[nodes, ids]
        if nodes.size and nodes.min() < 0:
            raise ValueError("step: called too often, this decoder can make no further step")
        return rows[nodes], nodes

    return step


def _ids(y_prev, V):
    """The previous ids as an array (B,). Raises ValueError unless they are integers from 0 to V − 1."""
    ids = np.asarray(y_prev)
    if ids.ndim != 1:
        raise ValueError(
            f"step: `y_prev` must be an array of shape (B,), one id for each row; it has the shape {ids.shape}"
        )
    if ids.dtype.kind not in "iu":
        raise ValueError(f"step: `y_prev` must be an array of integers; it has the dtype {ids.dtype}")
    if ids.size and not (ids.min() >= 0 and ids.max() < V):
        raise ValueError(f"step: `y_prev` must contain ids from 0 to {V - 1}; it contains {ids.tolist()}")
    return ids


def _state(state, rows, axes, kinds):
    """The state as an array. Raises ValueError unless it has these axes, where B is the number of rows of ids."""
    array = np.asarray(state)
    if array.dtype.kind not in kinds:
        what = "integers" if kinds == "iu" else "numbers"
        raise ValueError(f"step: the state must be an array of {what}; it has the dtype {array.dtype}")
    due = tuple(rows[0] if axis == "B" else axis for axis in axes)
    if array.shape != due:
        raise ValueError(
            f"step: `y_prev` of shape {rows} goes with a state of shape {due}; the state has the shape {array.shape}"
        )
    return array


BUILDERS = {"gru_decoder": gru_decoder, "table_decoder": table_decoder}

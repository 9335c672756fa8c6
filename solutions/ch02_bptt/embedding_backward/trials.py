"""Programs that the spec of `embedding_backward` does not contain; beside each wrong one is what it is told."""

import numpy as np
import torch

from grader.spec.trials import Trials, in_order

TRIALS = Trials()


def scattered(de, ids, V):
    dE = np.zeros((V, de.shape[2]))
    np.add.at(dE, ids, de)
    return dE


def largest_kept(de, ids, V):
    dE = np.full((V, de.shape[2]), -np.inf)
    np.maximum.at(dE, ids, de)
    return np.where(np.isinf(dE), 0, dE)


def in_every_other_row(de, ids, V):
    dE = scattered(de, ids, V)
    dE[1::2] = 0
    return dE


def ids_wrap(de, ids, V):
    return scattered(de, (ids + 1) % V, V)


def batch_mixed_up(de, ids, V):
    return scattered(de.swapaxes(0, 1).reshape(de.shape), ids, V)


def written_once(de, ids, V):
    dE = np.zeros((V, de.shape[-1]))
    dE[ids] = de
    return dE


ONCE = {"distinct ids"}


WRONG = {
    "largest kept": (largest_kept, None, ONCE),
    "multiplied by the count": (
        lambda de, ids, V: scattered(de, ids, V) * np.bincount(ids.ravel(), minlength=V)[:, None],
        None,
        ONCE,
    ),
    "root of the count": (
        lambda de, ids, V: scattered(de, ids, V) / np.sqrt(np.bincount(ids.ravel(), minlength=V)[:, None].clip(1)),
        None,
        ONCE,
    ),
    "counts": (lambda de, ids, V: scattered(np.ones(de.shape), ids, V), "altered input: ones de", ()),
    "every id by one": (ids_wrap, "after: shifted along V", ()),
    "batch and time mixed up": (batch_mixed_up, "altered input: mixed de | mixed ids", ()),
    "rows reversed": (lambda de, ids, V: scattered(de, ids, V)[::-1], "after: reversed along V", ()),
    "some rows zero": (in_every_other_row, "never_filled", ()),
    "the last sequence only": (
        lambda de, ids, V: scattered(de[-1:], ids[-1:], V),
        "altered input: only_last row of the batch",
        (),
    ),
    "the first sequence only, repeated ids lost": (lambda de, ids, V: written_once(de[0], ids[0], V), None, ()),
    "the last step only": (
        lambda de, ids, V: scattered(de[:, -1:], ids[:, -1:], V),
        "altered input: only_last time step",
        (),
    ),
    "sum over all places": (lambda de, ids, V: np.broadcast_to(de.sum(axis=(0, 1)), (V, de.shape[2])), None, ()),
    "one row more": (lambda de, ids, V: scattered(de, ids, V + 1), "altered input: more vocab_size", ()),
    "transposed": (lambda de, ids, V: scattered(de, ids, V).T, "transposed", ()),
    "negative": (lambda de, ids, V: -scattered(de, ids, V), "sign", ()),
    "doubled": (lambda de, ids, V: 2 * scattered(de, ids, V), "constant_factor", ()),
    "divided by V": (lambda de, ids, V: scattered(de, ids, V) / V, "averaged", ()),
    "float32": (lambda de, ids, V: scattered(de, ids, V).astype("f4"), "float32", ()),
    "a dict": (lambda de, ids, V: dict(enumerate(scattered(de, ids, V).tolist())), None, ()),
    "the copies themselves": (lambda de, ids, V: de, "after: is de", ()),
}


RIGHT = {
    "bool products": lambda de, ids, V: np.stack([(ids == v).ravel() @ de.reshape(-1, de.shape[2]) for v in range(V)]),
    "sorted": lambda de, ids, V: scattered(
        de.reshape(-1, 1, de.shape[2])[np.argsort(ids.ravel())], np.sort(ids.ravel())[:, None], V
    ),
}

TRIALS.all_wrong(WRONG, make=in_order("de", "ids", "vocab_size"))
TRIALS.all_right(RIGHT, make=in_order("de", "ids", "vocab_size"))


TRIALS.all_wrong(
    {
        "changes de": (
            [("np.add.at(dE, ids, de)\nreturn dE", "de *= 1 / ids.size\nnp.add.at(dE, ids, de)\nreturn dE * ids.size")],
            None,
            0.0,
        ),
        "axes mixed": (
            [("np.add.at(dE, ids, de)", "for t in range(ids.shape[0]):\n    dE[ids[t]] += de[:, t]")],
            None,
            0.0,
        ),
    }
)


TRIALS.all_wrong(
    {
        "nothing for id 0": (
            lambda de, ids, V: scattered(de * (ids > 0)[..., None], ids, V),
            "id_0_taken_for_padding",
        ),
        "as many positions as sequences": (
            lambda de, ids, V: sum(scattered(de[:, [t]], ids[:, [t]], V) for t in range(len(ids))),
            "as_many_steps_as_rows",
        ),
    },
    make=in_order("de", "ids", "vocab_size"),
)

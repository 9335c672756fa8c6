"""How `embedding_backward` is checked: against PyTorch's embedding and its autograd."""

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Output, Spec, change, instead


def oracle(de, ids, vocab_size):
    """PyTorch's embedding lookup, differentiated by autograd in float64."""
    E = torch.zeros(vocab_size, de.shape[2], dtype=torch.float64, requires_grad=True)
    torch.nn.functional.embedding(torch.from_numpy(ids), E).backward(torch.from_numpy(de))
    return E.grad.numpy()


EXAMPLE = Case(
    sizes={"B": 1, "T": 3, "D": 2, "V": 4},
    inputs={
        "de": np.array([[[0.25, -0.50], [1.00, 0.30], [0.75, 0.20]]]),
        "ids": np.array([[1, 3, 1]]),
        "vocab_size": 4,
    },
    kind="repeated ids",
)


def case(rng, ids, D, V, kind, spare=0):
    """`ids` says which positions share an id. The actual ids are drawn at random, never from the last `spare` ones."""
    ids = np.array(ids)
    names = rng.permutation(V - spare)
    return Case(
        sizes={"B": ids.shape[0], "T": ids.shape[1], "D": D, "V": V},
        inputs={"de": rng.normal(size=(*ids.shape, D)), "ids": names[ids], "vocab_size": V},
        kind=kind,
    )


def cases(rng):
    once, again = "ordinary", "repeated ids"
    yield case(rng, [[0, 1, 2], [3, 4, 5]], D=4, V=8, kind=once, spare=1)
    yield case(rng, [[0], [1], [2]], D=2, V=5, kind=once)
    yield case(rng, [[0, 1, 2, 3]], D=1, V=6, kind=once)
    yield case(rng, [[0]], D=3, V=1, kind=once)
    yield case(
        rng, [[0, 1, 0, 2, 0], [3, 4, 5, 2, 1]], D=3, V=7, kind=again
    )  # within a sequence, at one step, and across both
    yield case(rng, [[0, 1, 2], [0, 3, 2], [0, 4, 1]], D=3, V=9, kind=again, spare=2)
    yield case(rng, [[0, 1, 1, 2, 1, 0]], D=2, V=4, kind=again)
    yield case(rng, [[0, 0], [0, 0], [0, 0]], D=2, V=3, kind=again)
    yield case(rng, rng.integers(5, size=(4, 6)), D=2, V=5, kind=again)


SPEC = Spec(
    outputs=[Output("dE", ("V", "D"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("distinct ids", share=1, kinds=("ordinary",)),
        Facet("repeated ids", share=3, kinds=("repeated ids",)),
    ],
)
ADD = "np.add.at(dE, ids, de)"

SPEC.mistakes(
    {
        "one_of_the_repeated_kept": [
            change(ADD, "dE[ids] = de"),
            change(
                ADD, "used, first = np.unique(ids, return_index=True)\ndE[used] = de.reshape(-1, de.shape[2])[first]"
            ),
        ],
        **instead(
            ADD,
            {
                "repeated_within_a_row_lost": "for b in range(len(ids)):\n    dE[ids[b]] += de[b]",
                "repeated_across_the_batch_lost": "for t in range(ids.shape[1]):\n    dE[ids[:, t]] += de[:, t]",
            },
        ),
        "mean_of_the_repeated": change(
            "return dE", "return dE / np.maximum(np.bincount(ids.ravel(), minlength=vocab_size), 1)[:, None]"
        ),
    },
    keeps=["distinct ids"],
)
SPEC.mistakes(
    {
        "first_sequence_only": change("ids, de)", "ids[0], de[0])"),
        "id_0_taken_for_padding": [
            change(ADD, "for place in np.ndindex(ids.shape):\n    if ids[place]:\n        dE[ids[place]] += de[place]"),
            change("return dE", "dE[0] = 0\nreturn dE"),
        ],
        "as_many_steps_as_rows": change(
            ADD, "for b in range(len(ids)):\n    for t in range(len(ids)):\n        dE[ids[b, t]] += de[b, t]"
        ),
        "averaged_over_positions": [
            change("return dE", "return dE / ids.size"),
            change("return dE", "return dE / len(ids)"),
        ],
        "as_many_rows_as_ids_seen": change("zeros((vocab_size,", "zeros((ids.max() + 1,"),
        "only_the_rows_in_use": change("return dE", "return dE[np.unique(ids)]"),
        **instead(
            ADD,
            {
                "a_copy_was_filled": "rows = dE[ids]\nrows += de",
                "one_number_for_each_row": "for v in range(vocab_size):\n    dE[v] = de[ids == v].sum()",
                "one_hot_reshaped": (
                    "dE += np.eye(vocab_size)[ids].reshape(vocab_size, -1) @ de.reshape(-1, de.shape[2])"
                ),
            },
        ),
        "table_of_integers": [
            change(
                "dE = np.zeros((vocab_size, de.shape[2]))",
                "dE = np.zeros((vocab_size, de.shape[2]), dtype=int)",
                (ADD, "for place in np.ndindex(ids.shape):\n    dE[ids[place]] = dE[ids[place]] + de[place]"),
            ),
            change("return dE", "return dE.astype(int)"),
        ],
    }
)


@SPEC.alternative
def one_hot_product(de, ids, vocab_size):
    """The embedding as a product with one-hot rows, and that product's backward pass."""
    one_hot = np.eye(vocab_size)[ids.ravel()]  # (B * T, V)
    return one_hot.T @ de.reshape(len(one_hot), -1)


@SPEC.alternative
def position_by_position(de, ids, vocab_size):
    """A loop over all positions."""
    dE = np.zeros((vocab_size, de.shape[2]))
    for b in range(ids.shape[0]):
        for t in range(ids.shape[1]):
            dE[ids[b, t]] += de[b, t]
    return dE


@SPEC.alternative
def row_by_row_of_the_table(de, ids, vocab_size):
    """For each id, the sum over the positions where it occurs."""
    return np.array([de[ids == v].sum(axis=0) for v in range(vocab_size)])


@SPEC.alternative
def with_einsum(de, ids, vocab_size):
    """The one-hot product by its indices."""
    return np.einsum("btv,btd->vd", ids[..., None] == np.arange(vocab_size), de)


@SPEC.alternative
def counted_with_weights(de, ids, vocab_size):
    """np.bincount adds up weights for each id, one column at a time."""
    columns = [np.bincount(ids.ravel(), de[..., d].ravel(), vocab_size) for d in range(de.shape[2])]
    return np.stack(columns, axis=1)


@SPEC.alternative
def sorted_and_reduced(de, ids, vocab_size):
    """Positions sorted by id; each run of equal ids is added up."""
    order = np.argsort(ids, axis=None, kind="stable")
    used, start = np.unique(ids.ravel()[order], return_index=True)
    dE = np.zeros((vocab_size, de.shape[2]))
    dE[used] = np.add.reduceat(de.reshape(-1, de.shape[2])[order], start)
    return dE

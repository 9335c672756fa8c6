"""How `embedding_backward` is checked: against PyTorch's embedding and its autograd."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Output, Spec, change


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
    """`ids` says which places share an id; the ids themselves are drawn, none of them among the `spare` last ones."""
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
    yield case(rng, [[0, 1, 0, 2, 0], [3, 4, 5, 2, 1]], D=3, V=7, kind=again)  # in a row, at a time, and across both
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
        Facet("ids that differ", share=1, kinds=("ordinary",)),
        Facet("repeated ids", share=3, kinds=("repeated ids",)),
    ],
    why=r"""
Copying is the simplest of operations: its derivative is 1. So what comes back to a copy goes unchanged to the row that
was copied, and a row collects from all its copies: $dE_v = \sum_{b,t:\, \text{ids}_{b,t} = v} de_{b,t}$.
An embedding is also a product with one-hot rows, $e = \text{onehot}(\text{ids})\, E$, and the gradient of a weight in a
product is the input, turned, times what comes back: $dE = \text{onehot}^\top de$. Both say the same; the sum over
repeated ids is in the product. `np.add.at` carries the sum out one place after another. `dE[ids] += de` does not: NumPy
first reads all the rows `dE[ids]`, adds once to each copy, and then writes them back, so that of several copies of one
row the last one written is left.
""",
)

ADD = "np.add.at(dE, ids, de)"
SPEC.mistake(
    "one_of_the_repeated_kept",
    "Of several copies of a row only one is counted. `dE[ids] = de` writes the same row again and again; `dE[ids] += "
    "de` does no better, since NumPy reads all the rows before it writes any. The copies' gradients add up.",
    change(ADD, "dE[ids] = de"),
    change(ADD, "dE[ids] += de"),
    change(ADD, "used, first = np.unique(ids, return_index=True)\ndE[used] = de.reshape(-1, de.shape[2])[first]"),
    change(ADD, "for place in np.ndindex(ids.shape):\n    dE[ids[place]] = de[place]"),
    tempts="e = E[ids] is turned round letter by letter, and += says 'accumulate'; NumPy reads all rows first, and "
    "writes them back afterwards.",
    keeps=["ids that differ"],
)
SPEC.mistake(
    "repeated_within_a_row_lost",
    "Repeated ids add up across the batch, but within one sequence only one of them is counted. An indexed `+=` with "
    "a whole row of ids reads all its rows of the table before it writes any.",
    change(ADD, "for b in range(len(ids)):\n    dE[ids[b]] += de[b]"),
    tempts="A loop over the batch seems to have solved it; within one sequence ids repeat too.",
    keeps=["ids that differ"],
)
SPEC.mistake(
    "repeated_across_the_batch_lost",
    "Repeated ids add up over time, but where several sequences have the same id at the same step only one of them is "
    "counted. An indexed `+=` with a whole column of ids reads all its rows of the table before it writes any.",
    change(ADD, "for t in range(ids.shape[1]):\n    dE[ids[:, t]] += de[:, t]"),
    tempts="In a loop over time each step looks like one id; there are B of them.",
    keeps=["ids that differ"],
)
SPEC.mistake(
    "mean_of_the_repeated",
    "A repeated id gets the mean over its copies. Each copy was used, and the loss changes with all of them: the sum "
    "is due.",
    change("return dE", "return dE / np.maximum(np.bincount(ids.ravel(), minlength=vocab_size), 1)[:, None]"),
    tempts="A common id should not move further than a rare one, one may think; the chain rule sums.",
    keeps=["ids that differ"],
)
SPEC.mistake(
    "first_sequence_only",
    "Only the first sequence of the batch is counted. All B sequences copied from the one table: the places of every "
    "row add to it.",
    change("ids, de)", "ids[0], de[0])"),
    tempts="The example by hand has one sequence, and ids[0, t] is what stands in its table.",
)
SPEC.mistake(
    "averaged_over_all_places",
    "The gradients are divided by a number of places, or of rows. Where the loss is a mean, that division is in `de` "
    "already.",
    change("return dE", "return dE / ids.size"),
    change("return dE", "return dE / len(ids)"),
    tempts="The loss is a mean over all places; that division is in de already.",
)
SPEC.mistake(
    "as_many_rows_as_ids_seen",
    "The table has as many rows as the largest id asks for. It has `vocab_size` rows; those that nobody copied have "
    "gradient 0.",
    change("zeros((vocab_size,", "zeros((ids.max() + 1,"),
    tempts="The largest id seems to tell the size of the table; rows that nobody copied count too.",
)
SPEC.mistake(
    "only_the_rows_in_use",
    "There is a row for each id in use, and no other. `dE` has `vocab_size` rows, each in its own place; those that "
    "nobody copied have gradient 0.",
    change("return dE", "return dE[np.unique(ids)]"),
    tempts="np.unique gives the ids in use, and the others have gradient 0; but they have a place.",
)
SPEC.mistake(
    "a_copy_was_filled",
    "The table is all zeros: nothing has been written into it. `rows = dE[ids]` is a copy, so what is added to "
    "`rows` does not reach `dE`.",
    change(ADD, "rows = dE[ids]\nrows += de"),
    tempts=("A slice would be a view; an array of ids makes a copy."),
)
SPEC.mistake(
    "one_number_for_each_row",
    "All D entries of a row are the same: they have been added up into one number. Sum over places alone: of the "
    "(N, D) copies of an id that is `axis=0`.",
    change(ADD, "for v in range(vocab_size):\n    dE[v] = de[ids == v].sum()"),
    tempts=(".sum() without an axis gives one number, and a row takes it without complaint."),
)
SPEC.mistake(
    "one_hot_reshaped",
    "The one-hot array is reshaped where it should be transposed. `reshape` leaves all numbers in their order and cuts "
    "them into rows of another length, so a row then holds pieces of several places. Give the array a row for each "
    "place first, and then exchange its two axes: each row belongs to one id.",
    change(ADD, "dE += np.eye(vocab_size)[ids].reshape(vocab_size, -1) @ de.reshape(-1, de.shape[2])"),
    tempts="Both give an array of shape (V, B * T), and so nothing complains.",
)
SPEC.mistake(
    "table_of_integers",
    "The table holds integers, so everything behind the decimal point is cut off, each time that something is added or "
    "at the end. The ids are integers, the gradients are not: make `dE` an array of floats, as `np.zeros` does.",
    change(
        "dE = np.zeros((vocab_size, de.shape[2]))",
        "dE = np.zeros((vocab_size, de.shape[2]), dtype=int)",
        (ADD, "for place in np.ndindex(ids.shape):\n    dE[ids[place]] = dE[ids[place]] + de[place]"),
    ),
    change("return dE", "return dE.astype(int)"),
    tempts=("`dtype=int` or `zeros_like(ids)` comes with the ids."),
)


@SPEC.alternative
def one_hot_product(de, ids, vocab_size):
    """The embedding as a product with one-hot rows, and that product's backward pass."""
    came = np.eye(vocab_size)[ids.ravel()]  # (B * T, V)
    return came.T @ de.reshape(len(came), -1)


@SPEC.alternative
def place_by_place(de, ids, vocab_size):
    """A loop over all places."""
    dE = np.zeros((vocab_size, de.shape[2]))
    for b in range(ids.shape[0]):
        for t in range(ids.shape[1]):
            dE[ids[b, t]] += de[b, t]
    return dE


@SPEC.alternative
def row_by_row_of_the_table(de, ids, vocab_size):
    """For each id, the sum over the places where it stands."""
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
    """Places sorted by id, and each run of one id added up."""
    order = np.argsort(ids, axis=None, kind="stable")
    used, start = np.unique(ids.ravel()[order], return_index=True)
    dE = np.zeros((vocab_size, de.shape[2]))
    dE[used] = np.add.reduceat(de.reshape(-1, de.shape[2])[order], start)
    return dE

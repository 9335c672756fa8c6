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
    why=r"""
Copying has the derivative 1. The gradient of a copy therefore goes back unchanged to the row that was copied, and a
row sums the gradients of all its copies: $dE_v = \sum_{b,t:\, \text{ids}_{b,t} = v} de_{b,t}$.
An embedding is also a product with one-hot rows, $e = \text{onehot}(\text{ids})\, E$, and the gradient of a weight in a
product is the transposed input times the upstream gradient: $dE = \text{onehot}(\text{ids})^\top de$. Both say the
same, because the product contains the sum over repeated ids. `np.add.at` adds one position after another.
`dE[ids] += de` does not: NumPy first reads all the rows `dE[ids]`, adds once to each copy, and then writes them back,
so of several copies of a row only the last one written is left.
""",
)

ADD = "np.add.at(dE, ids, de)"
SPEC.mistake(
    "one_of_the_repeated_kept",
    "You count only one of the copies of a repeated id. Sum the gradients of all copies, because each of them "
    "influences the loss. `dE[ids] = de` writes the same row again and again, and `dE[ids] += de` does not sum "
    "either, because NumPy reads all the rows before it writes any.",
    change(ADD, "dE[ids] = de"),
    change(ADD, "dE[ids] += de"),
    change(ADD, "used, first = np.unique(ids, return_index=True)\ndE[used] = de.reshape(-1, de.shape[2])[first]"),
    change(ADD, "for place in np.ndindex(ids.shape):\n    dE[ids[place]] = de[place]"),
    tempts="It is e = E[ids] reversed word for word, and += seems to say 'accumulate', but NumPy reads all rows first "
    "and writes them back afterwards.",
    keeps=["distinct ids"],
)
SPEC.mistake(
    "repeated_within_a_row_lost",
    "Within one sequence you count only one of the copies of a repeated id. Sum over all its positions, because an "
    "indexed `+=` with a whole row of ids reads all its rows of the table before it writes any. Across the batch your "
    "sum is right.",
    change(ADD, "for b in range(len(ids)):\n    dE[ids[b]] += de[b]"),
    tempts="A loop over the batch seems to solve the problem, but ids repeat within a sequence too.",
    keeps=["distinct ids"],
)
SPEC.mistake(
    "repeated_across_the_batch_lost",
    "Where several sequences have the same id at the same step, you count only one of them. Sum over the sequences "
    "too, because an indexed `+=` with a whole column of ids reads all its rows of the table before it writes any. "
    "Over time your sum is right.",
    change(ADD, "for t in range(ids.shape[1]):\n    dE[ids[:, t]] += de[:, t]"),
    tempts="In a loop over time each step looks like a single id, but there are B of them.",
    keeps=["distinct ids"],
)
SPEC.mistake(
    "mean_of_the_repeated",
    "You average over the copies of a repeated id. Sum over them instead, because the loss changes through each copy.",
    change("return dE", "return dE / np.maximum(np.bincount(ids.ravel(), minlength=vocab_size), 1)[:, None]"),
    tempts="It may seem fair that a common id moves no further than a rare one, but the chain rule sums.",
    keeps=["distinct ids"],
)
SPEC.mistake(
    "first_sequence_only",
    "You use only the first sequence of the batch. Add the gradients of all B sequences, because they all copied from "
    "the same table.",
    change("ids, de)", "ids[0], de[0])"),
    tempts="The small example has one sequence, and its table shows ids[0, t].",
)
SPEC.mistake(
    "averaged_over_positions",
    "You divide the gradients by the number of positions or of sequences. Leave the division out: where the loss is a "
    "mean, `de` already contains it.",
    change("return dE", "return dE / ids.size"),
    change("return dE", "return dE / len(ids)"),
    tempts="The loss is a mean over all positions, but de already contains that division.",
)
SPEC.mistake(
    "as_many_rows_as_ids_seen",
    "You make only as many rows as the largest id requires. Make `vocab_size` rows, because the ids that were never "
    "copied have a gradient too: it is 0.",
    change("zeros((vocab_size,", "zeros((ids.max() + 1,"),
    tempts="The largest id seems to tell the size of the table, but rows that were never copied count too.",
)
SPEC.mistake(
    "only_the_rows_in_use",
    "You return only the rows of the ids that occur. Return all `vocab_size` rows, so that row v belongs to id v; the "
    "rows that were never copied have gradient 0.",
    change("return dE", "return dE[np.unique(ids)]"),
    tempts="np.unique gives the ids that occur, and the others have gradient 0, but they still need their rows.",
)
SPEC.mistake(
    "a_copy_was_filled",
    "Your table is all zeros, because nothing was written into it. Write into `dE` itself: `rows = dE[ids]` is a "
    "copy, so what you add to `rows` does not reach `dE`.",
    change(ADD, "rows = dE[ids]\nrows += de"),
    tempts="A slice would be a view, but indexing with an array of ids makes a copy.",
)
SPEC.mistake(
    "one_number_for_each_row",
    "You add up all D entries of a row into one number. Sum over the positions alone, with `axis=0` for the (N, D) "
    "copies of an id, because each column has a gradient of its own.",
    change(ADD, "for v in range(vocab_size):\n    dE[v] = de[ids == v].sum()"),
    tempts=".sum() without an axis gives a single number, and assigning it to a row raises no error.",
)
SPEC.mistake(
    "one_hot_reshaped",
    "You reshape the one-hot array where you should transpose it. `reshape` keeps all numbers in their order and only "
    "cuts them into rows of another length, so each row mixes several positions. Give the array one row per position "
    "first, then transpose it, so that each row belongs to one id.",
    change(ADD, "dE += np.eye(vocab_size)[ids].reshape(vocab_size, -1) @ de.reshape(-1, de.shape[2])"),
    tempts="Both give an array of shape (V, B * T), so no error is raised.",
)
SPEC.mistake(
    "table_of_integers",
    "Your table holds integers, so everything after the decimal point is cut off, at every addition or at the end. "
    "Make `dE` an array of floats, as `np.zeros` does by default, because the ids are integers but the gradients are "
    "not.",
    change(
        "dE = np.zeros((vocab_size, de.shape[2]))",
        "dE = np.zeros((vocab_size, de.shape[2]), dtype=int)",
        (ADD, "for place in np.ndindex(ids.shape):\n    dE[ids[place]] = dE[ids[place]] + de[place]"),
    ),
    change("return dE", "return dE.astype(int)"),
    tempts="`dtype=int` or `zeros_like(ids)` is easily written because the ids are integers.",
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

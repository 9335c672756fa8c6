"""How `pad_batch` is checked: against a loop over every entry."""

import numpy as np

from grader.author.spec import Case, Facet, Output, Spec, change


def oracle(sequences, pad_id):
    """Entry by entry."""
    steps = max(map(len, sequences))
    rows = [[sequence[t] if t < len(sequence) else pad_id for t in range(steps)] for sequence in sequences]
    return np.array(rows), np.array([len(sequence) for sequence in sequences])


EXAMPLE = Case(sizes={"B": 3, "S": 3}, inputs={"sequences": [[4, 2], [5, 3, 2], [2]], "pad_id": 9})

EMPTY = "an empty sequence"


def case(rng, lengths, pad_id, kind="ordinary"):
    """Sequences of these lengths, in this order, of different ids, none of which is `pad_id`."""
    start = pad_id + 1
    sequences = [rng.permutation(np.arange(start, start + 2 * max(lengths)))[:n].tolist() for n in lengths]
    return Case({"B": len(lengths), "S": max(lengths)}, {"sequences": sequences, "pad_id": pad_id}, kind=kind)


def cases(rng):
    yield case(rng, [3, 5, 2, 4], pad_id=7)
    yield case(rng, [2, 1], pad_id=0)
    yield case(rng, [4], pad_id=3)
    yield case(rng, [1, 1, 1], pad_id=5)
    yield case(rng, [3, 3], pad_id=1)
    yield case(rng, [6, 2, 5, 3, 1], pad_id=4)
    yield case(rng, [2, 0, 4], pad_id=6, kind=EMPTY)
    yield case(rng, [0, 1], pad_id=2, kind=EMPTY)


SPEC = Spec(
    outputs=[Output("ids", ("B", "S")), Output("lengths", ("B",))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[Facet("ids", 3, outputs=("ids",)), Facet("lengths", 1, outputs=("lengths",))],
    why="""
The array is created full of padding, so only the real ids have to be written: the slice `row[:n]` is as long as the
sequence, and everything behind it stays padding. An empty sequence needs no special treatment, because `row[:0]` is an
empty slice. The lengths come from the lists, not from the array: counting the entries that differ from `pad_id` works
only as long as no sequence contains that id.
""",
)


SPEC.mistake(
    "padded_at_the_front",
    "You put the padding in front of the ids. Put it behind them, at the end of the row: the first ids are then those "
    "at positions 0 to n − 1 in every row.",
    change("row[: len(sequence)]", "row[len(row) - len(sequence) :]"),
    tempts="Some libraries pad at the front by default, so that every row ends at the same step.",
    keeps=["lengths"],
)
SPEC.mistake(
    "padded_with_zeros",
    "You fill the rows up with 0. Fill them up with `pad_id`, which need not be 0.",
    change("lengths.max()), pad_id)", "lengths.max()), 0)"),
    tempts="In many vocabularies the padding has the id 0, and `np.zeros` is at hand.",
    keeps=["lengths"],
)
SPEC.mistake(
    "cut_to_the_shortest",
    "You cut all sequences to the length of the shortest. Use the length of the longest, so that no id is lost.",
    change("lengths.max()", "lengths.min()", ("row[: len(sequence)] = sequence", "row[:] = sequence[: len(row)]")),
    tempts="`zip(*sequences)` stops at the shortest sequence.",
    keeps=["lengths"],
)
SPEC.mistake(
    "one_column_too_many",
    "Your `ids` have a column too many, which is padding in every row. S is the length of the longest sequence, so its "
    "row has no padding at all.",
    change("lengths.max()", "lengths.max() + 1"),
    tempts="A sentence seems to need a last entry that says that it has ended.",
    keeps=["lengths"],
)
SPEC.mistake(
    "padded_length_for_all",
    "Your `lengths` are S in every row, the length *with* padding. Return the number of real ids: take the length of "
    "each sequence before it is padded.",
    change("return ids, lengths", "return ids, np.array([len(row) for row in ids])"),
    tempts="After the padding, `len(row)` is the length of the padded row.",
    keeps=["ids"],
)
SPEC.mistake(
    "last_index_for_length",
    "Your `lengths` are too small by 1: they say where the last real id is. Return the *number* of real ids, which is "
    "the length of each list.",
    change("return ids, lengths", "return ids, lengths - 1"),
    change("return ids, lengths", "return ids, np.maximum(lengths - 1, 0)"),
    tempts="The next step is to index the last real entry, for which 1 is subtracted.",
    keeps=["ids"],
)
SPEC.mistake(
    "amount_of_padding",
    "Your `lengths` count the padding of each row. Return the number of *real* ids.",
    change("return ids, lengths", "return ids, lengths.max() - lengths"),
    change("return ids, lengths", "return ids, (ids == pad_id).sum(axis=1)"),
    tempts="The amount of padding is what one computes in order to extend the lists.",
    keeps=["ids"],
)
SPEC.mistake(
    "ids_other_than_0_counted",
    "You count the ids that are not 0. The padding is `pad_id`, which need not be 0, and 0 may be the id of a word. "
    "Take the length of each list before it is padded.",
    change("return ids, lengths", "return ids, (ids != 0).sum(axis=1)"),
    tempts="In many vocabularies the padding has the id 0, and `np.count_nonzero` is at hand.",
    keeps=["ids"],
)
SPEC.mistake(
    "first_padding_searched",
    "You search each row for its first padding. The longest rows have none, and `argmax` or `argmin` then gives 0. "
    "Take the length of each list before it is padded.",
    change("return ids, lengths", "return ids, (ids == pad_id).argmax(axis=1)"),
    tempts="In a row that has padding, the position of the first padding is the length.",
    keeps=["ids"],
)
SPEC.mistake(
    "sorted_by_length",
    "You sort the sequences by their lengths. Keep their order: row b of the result belongs to sequence b, and its "
    "translation is in row b of another array.",
    *(
        change("lengths = ", f"sequences = sorted(sequences, key=len{order})\nlengths = ")
        for order in (", reverse=True", "")
    ),
    tempts="Some functions for packed sequences ask for batches that are sorted by length.",
)
SPEC.mistake(
    "last_id_repeated",
    "You fill each row up with ids of its own sequence. Fill it up with `pad_id`, so that the padding cannot be "
    "mistaken for words.",
    change(
        "row[: len(sequence)] = sequence", "row[:] = (sequence + (sequence[-1:] or [pad_id]) * len(row))[: len(row)]"
    ),
    change("row[: len(sequence)] = sequence", "row[:] = np.resize(sequence, len(row))"),
    change("row[: len(sequence)] = sequence", "row[:] = np.resize(sequence or [pad_id], len(row))"),
    tempts="`np.resize` makes a list longer, and repeats it.",
    keeps=["lengths"],
)
SPEC.mistake(
    "empty_sequences_left_out",
    "You leave out the empty sequences. Give each of them a row as well, of padding alone, with the length 0: "
    "otherwise the rows no longer belong to the sequences of the same number.",
    change("lengths = ", "sequences = [sequence for sequence in sequences if sequence]\nlengths = "),
    tempts="There is nothing to encode in an empty sequence.",
)
SPEC.mistake(
    "empty_sequence_has_length_1",
    "You give an empty sequence the length 1. Its length is 0, because none of its entries is real.",
    change("return ids, lengths", "return ids, np.maximum(lengths, 1)"),
    tempts="Some libraries reject sequences of length 0.",
    keeps=["ids"],
)
SPEC.mistake(
    "cut_while_padded",
    "The last id of each sequence is missing: you overwrite it with padding, or stop one id too early. All ids of a "
    "sequence of length n stand at the positions 0 to n − 1, so the padding begins at position n.",
    change("row[: len(sequence)] = sequence", "row[: max(len(sequence) - 1, 0)] = sequence[:-1]"),
    tempts="The last index is n − 1, so the slice is made to end there.",
    keeps=["lengths"],
)

SPEC.mistake(
    "ids_are_floats",
    "Your `ids` are floating-point numbers. Create the array with integers, for example with `dtype=int`: ids are used "
    "as indices, and NumPy accepts only integers there.",
    change("return ids, lengths", "return ids.astype(float), lengths"),
    tempts="`np.zeros` and `np.ones` make floating-point numbers unless told otherwise.",
    keeps=["lengths"],
)
SPEC.mistake(
    "lengths_are_floats",
    "Your `lengths` are floating-point numbers. Make them integers, for example with `dtype=int`: they will be used as "
    "indices, and NumPy accepts only integers there.",
    change("return ids, lengths", "return ids, lengths.astype(float)"),
    tempts="`np.zeros` makes floating-point numbers unless told otherwise.",
    keeps=["ids"],
)


@SPEC.alternative
def extended_lists(sequences, pad_id):
    """Longer lists, then one array."""
    longest = max(len(sequence) for sequence in sequences)
    padded = [list(sequence) + [pad_id] * (longest - len(sequence)) for sequence in sequences]
    return np.array(padded), np.array([len(sequence) for sequence in sequences])


@SPEC.alternative
def written_at_once(sequences, pad_id):
    """All real ids written through a mask."""
    lengths = np.fromiter(map(len, sequences), dtype=int)
    real = np.arange(max(lengths)) < lengths[:, None]
    ids = np.full(real.shape, pad_id)
    ids[real] = np.concatenate([np.array(sequence, dtype=int) for sequence in sequences])
    return ids, lengths


@SPEC.alternative
def transposed_columns(sequences, pad_id):
    """Column by column, with the padding that `zip_longest` fills in."""
    from itertools import zip_longest

    return np.array(list(zip_longest(*sequences, fillvalue=pad_id))).T, np.array([len(s) for s in sequences])

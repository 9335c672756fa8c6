"""How `pad_batch` is checked: against a loop over every entry."""

import numpy as np

from grader.spec.spec import Case, Facet, Output, Spec, change, instead


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
)

SPEC.mistakes(
    {
        "padded_at_the_front": change("row[: len(sequence)]", "row[len(row) - len(sequence) :]"),
        "padded_with_zeros": change("lengths.max()), pad_id)", "lengths.max()), 0)"),
        "cut_to_the_shortest": change(
            "lengths.max()", "lengths.min()", ("row[: len(sequence)] = sequence", "row[:] = sequence[: len(row)]")
        ),
        "longest_by_its_ids": change(
            "lengths.max()",
            "len(max(sequences))",
            ("row[: len(sequence)] = sequence", "row[: len(sequence)] = sequence[: len(row)]"),
        ),
        "one_column_too_many": change("lengths.max()", "lengths.max() + 1"),
        "last_id_repeated": [
            change(
                "row[: len(sequence)] = sequence",
                "row[:] = (sequence + (sequence[-1:] or [pad_id]) * len(row))[: len(row)]",
            ),
            change("row[: len(sequence)] = sequence", "row[:] = np.resize(sequence, len(row))"),
            change("row[: len(sequence)] = sequence", "row[:] = np.resize(sequence or [pad_id], len(row))"),
        ],
        "cut_while_padded": change(
            "row[: len(sequence)] = sequence", "row[: max(len(sequence) - 1, 0)] = sequence[:-1]"
        ),
        "ids_are_floats": change("return ids, lengths", "return ids.astype(float), lengths"),
    },
    keeps=["lengths"],
)
SPEC.mistakes(
    {
        **instead(
            "return ids, lengths",
            {
                "padded_length_for_all": "return ids, np.array([len(row) for row in ids])",
                "ids_other_than_0_counted": "return ids, (ids != 0).sum(axis=1)",
                "first_padding_searched": "return ids, (ids == pad_id).argmax(axis=1)",
                "empty_sequence_has_length_1": "return ids, np.maximum(lengths, 1)",
                "lengths_are_floats": "return ids, lengths.astype(float)",
            },
        ),
        "last_index_for_length": [
            change("return ids, lengths", "return ids, lengths - 1"),
            change("return ids, lengths", "return ids, np.maximum(lengths - 1, 0)"),
        ],
        "amount_of_padding": change("return ids, lengths", "return ids, lengths.max() - lengths"),
    },
    keeps=["ids"],
)
SPEC.mistakes(
    {
        "sorted_by_length": [
            *(
                change("lengths = ", f"sequences = sorted(sequences, key=len{order})\nlengths = ")
                for order in (", reverse=True", "")
            )
        ],
        "empty_sequences_left_out": change(
            "lengths = ", "sequences = [sequence for sequence in sequences if sequence]\nlengths = "
        ),
    }
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

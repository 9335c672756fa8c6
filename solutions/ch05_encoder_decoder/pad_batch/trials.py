"""Programs that the spec of `pad_batch` does not contain; beside each wrong one is what it is told."""

from itertools import zip_longest

import numpy as np
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

from grader.spec.trials import Trials

TRIALS = Trials()


FILLED = "np.full((len(sequences), lengths.max()), pad_id)"


def last_of_the_sorted(sequences, pad_id):
    S = len(sorted(sequences)[-1])
    ids = [[sequence[t] if t < len(sequence) else pad_id for t in range(S)] for sequence in sequences]
    return np.array(ids), np.array([len(sequence) for sequence in sequences])


WRONG = {
    "the last of the sorted": (last_of_the_sorted, "longest_by_its_ids"),
    "a row for each position": ([("return ids, lengths", "return ids.T, lengths")], "transposed For ids"),
    "lengths first": ([("return ids, lengths", "return lengths, ids")], "order"),
    "ids alone": ([("return ids, lengths", "return ids")], None),
    "a list of lists": ([("return ids, lengths", "return [list(row) for row in ids], lengths")], None),
    "both as floats": (
        [("return ids, lengths", "return ids * 1.0, lengths * 1.0")],
        "ids_are_floats For ids",
    ),
    "padded to a fixed length": ([("lengths.max()", "10")], None),
    "padded with -1": ([("), pad_id)", "), -1)")], None),
    "padded with pad_id + 1": ([("), pad_id)", "), pad_id + 1)")], "altered input: more pad_id"),
    "the largest length alone": (
        [("return ids, lengths", "return ids, lengths.max()")],
        "after: maximum over B For lengths",
    ),
    "lengths counted with a padding": (
        [("return ids, lengths", "return ids, lengths + 1")],
        "after: one more For lengths",
    ),
    "centred": (
        [("row[: len(sequence)]", "n = (len(row) - len(sequence)) // 2\nrow[n : n + len(sequence)]")],
        None,
    ),
    "each sequence reversed": (
        [("= sequence\n", "= sequence[::-1]\n")],
        "altered input: reversed each entry of sequences",
    ),
    "sorted within a row": ([("= sequence\n", "= sorted(sequence)\n")], None),
    "lists extended in place": (
        [
            (FILLED, "np.array([s.extend([pad_id] * (max(lengths) - len(s))) or s for s in sequences])"),
            ("row[: len(sequence)] = sequence", "pass"),
        ],
        None,
    ),
    "ragged": ([(FILLED, "np.array(sequences)")], None),
    "rows in reverse": ([("in zip(ids, ", "in zip(ids[::-1], ")], "after: reversed along B For ids"),
}


def filled_entry_by_entry(sequences, pad_id):
    lengths = []
    for sequence in sequences:
        lengths.append(len(sequence))
    ids = np.zeros((len(sequences), max(lengths)), dtype=np.int32)
    for b in range(len(sequences)):
        for t in range(max(lengths)):
            ids[b, t] = sequences[b][t] if t < lengths[b] else pad_id
    return ids, np.array(lengths)


TRIALS.all_wrong(WRONG)
TRIALS.all_right([filled_entry_by_entry])

"""Programs that the spec of `length_mask` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


MASK = "np.arange(max_length) < lengths[:, None]"


def one_list_many_times(lengths, max_length):
    mask = [[False] * max_length] * len(lengths)
    for b, n in enumerate(lengths):
        for t in range(n):
            mask[b][t] = True
    return np.array(mask)


def first_padding_cleared(lengths, max_length):
    mask = np.full((len(lengths), max_length), True)
    for row, n in zip(mask, lengths, strict=True):
        if n < max_length:
            row[n] = False
    return mask


def rows_of_a_list(lengths, max_length):
    rows = [[t <= last for t in range(max_length)] for last in range(max_length)]
    return np.array([rows[n - 1] for n in lengths])


def longest_of_lists(lengths, max_length):
    return np.array([[t < n for t in range(max(lengths))] for n in lengths])


WRONG = {
    "one list many times": (one_list_many_times, "one_length_for_all"),
    "the first padding cleared": (first_padding_cleared, "only_the_first_padding"),
    "rows of a list, by the last position": (rows_of_a_list, "a_length_of_0_counted_from_the_end"),
    "lists as long as the longest": (longest_of_lists, "as_wide_as_the_longest_row"),
    "a column for each row": ([(MASK, f"({MASK}).T")], "after: axes B and S exchanged"),
    "padding, and one more": ([("<", ">")], None),
    "a list of lists": ([(MASK, f"({MASK}).tolist()")], None),
    "as wide as the batch is high": ([("np.arange(max_length)", "np.arange(len(lengths))")], None),
    "one column more": ([("np.arange(max_length)", "np.arange(max_length + 1)")], "altered input: more max_length"),
    "words": ([(MASK, f"np.where({MASK}, 'real', 'padding')")], None),
    "all real": ([("<", ">= 0 *")], None),
    "the first position only": ([("< lengths[:, None]", "< np.minimum(lengths, 1)[:, None]")], None),
    "min of length and S - 1": ([("lengths[:, None]", "np.minimum(lengths, max_length - 1)[:, None]")], None),
    "sorted": ([("lengths[:, None]", "np.sort(lengths)[::-1][:, None]")], None),
    "positions, not truth": ([(MASK, f"np.arange(max_length) * ({MASK})")], None),
    "one flat row": ([(MASK, f"({MASK}).ravel()")], "after: flat"),
}

TRIALS.all_wrong(WRONG)

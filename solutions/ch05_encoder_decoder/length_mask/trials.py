"""Programs that the spec of `length_mask` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.author.trials import Trials

TRIALS = Trials()


MASK = "np.arange(max_length) < lengths[:, None]"


WRONG = {
    "a column for each row": ([(MASK, f"({MASK}).T")], "after: axes B and S exchanged"),
    "padding, and one more": ([("<", ">")], None),
    "a list of lists": ([(MASK, f"({MASK}).tolist()")], None),
    "as wide as the batch is high": ([("np.arange(max_length)", "np.arange(len(lengths))")], None),
    "one column more": ([("np.arange(max_length)", "np.arange(max_length + 1)")], "counterfactual: more max_length"),
    "words": ([(MASK, f"np.where({MASK}, 'real', 'padding')")], None),
    "all real": ([("<", ">= 0 *")], None),
    "the first position only": ([("< lengths[:, None]", "< np.minimum(lengths, 1)[:, None]")], None),
    "min of length and S - 1": ([("lengths[:, None]", "np.minimum(lengths, max_length - 1)[:, None]")], None),
    "sorted": ([("lengths[:, None]", "np.sort(lengths)[::-1][:, None]")], None),
    "positions, not truth": ([(MASK, f"np.arange(max_length) * ({MASK})")], None),
    "one flat row": ([(MASK, f"({MASK}).ravel()")], "after: flat"),
}

TRIALS.all_wrong(WRONG)

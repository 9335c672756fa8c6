"""Programs that the spec of `causal_mask` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


TRIL = "np.tril(np.ones((T, T), dtype=bool))"


WRONG = {
    "none": ([(TRIL, "np.zeros((T, T), dtype=bool)")], None),
    "one too large": ([(TRIL, "np.tril(np.ones((T + 1, T + 1), dtype=bool))")], "more T"),
    "one row": ([(TRIL, "np.tril(np.ones((T, T), dtype=bool))[-1]")], None),
    "itself and the previous one": (
        [(TRIL, "np.tril(np.triu(np.ones((T, T), dtype=bool), k=-1))")],
        "only_the_one_before",
    ),
    "anti-diagonal": ([(TRIL, f"{TRIL}[::-1]")], "after: reversed along T"),
    "as strings": ([(TRIL, f"{TRIL}.astype(str)")], None),
    "as a list": ([(TRIL, f"{TRIL}.tolist()")], None),
    "uint8": ([(TRIL, f"{TRIL}.astype('u1')")], None),
    "scores": ([(TRIL, f"np.where({TRIL}, -np.inf, 0.0)")], None),
}

TRIALS.all_wrong(WRONG)

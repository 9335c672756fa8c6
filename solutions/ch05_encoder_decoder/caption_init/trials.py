"""Programs that the spec of `caption_init` does not contain; beside each wrong one is what it is told."""

import math

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


def unit_by_unit(function=math.tanh, every=False):
    """Loops over pictures, units and features. If `every`, the bias is added in the innermost one."""

    def student(features, W_f, b_f):
        h_0 = np.zeros((len(features), len(b_f)))
        for b, f in enumerate(features):
            for j, bias in enumerate(b_f):
                total = 0.0 if every else bias
                for i, feature in enumerate(f):
                    total += feature * W_f[i, j] + (bias if every else 0.0)
                h_0[b, j] = function(total)
        return h_0

    return student


def exponentials(features, W_f, b_f):
    doubled = np.exp(2 * (features @ W_f + b_f))
    return (doubled - 1) / (doubled + 1)


def bias_overwritten(features, W_f, b_f):
    rows = []
    for f in features:
        total = b_f
        total += f @ W_f
        rows.append(np.tanh(total))
    return np.array(rows)


WRONG = {
    "the bias in the innermost loop": (unit_by_unit(every=True), "bias_for_every_feature"),
    "math.tan": (unit_by_unit(math.tan), "tan_for_tanh"),
    "a fraction of exponentials": (exponentials, "tanh_of_exponentials"),
    "the bias overwritten": (bias_overwritten, None),
    "features of length 1": (
        [("features @", "(features / np.linalg.norm(features, axis=1, keepdims=True)) @")],
        None,
    ),
    "a tanh on the way": ([("np.tanh(features @ W_f + b_f)", "np.tanh(b_f + np.tanh(features @ W_f))")], "tanh_twice"),
    "the mean over the batch": (
        [("features @ W_f + b_f)", "features @ W_f + b_f).mean(axis=0)")],
        "after: mean over B",
    ),
}

RIGHT = {"unit by unit": unit_by_unit()}

TRIALS.all_wrong(WRONG)
TRIALS.all_right(RIGHT)

"""Programs that the spec of `attend` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


@TRIALS.wrong("weights_along_the_entries")
def middle_axis(weights, values):
    return np.sum(weights[:, None, :] * values, axis=1)


@TRIALS.wrong("after: squeeze of axis=-2 missing")
def an_axis_of_one(weights, values):
    return weights[:, None] @ values

"""Programs that the spec of `embed` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.author.trials import Trials

TRIALS = Trials()


@TRIALS.wrong("columns_for_rows")
def take_along_columns(ids, E):
    return np.moveaxis(np.take(E, ids, axis=1), 0, -1)


@TRIALS.wrong()
def flat(ids, E):
    return E[ids.ravel()]


@TRIALS.wrong()
def normalised(ids, E):
    return E[ids] / np.linalg.norm(E[ids], axis=-1, keepdims=True)

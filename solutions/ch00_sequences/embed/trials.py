"""Programs that the spec of `embed` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


@TRIALS.wrong("columns_for_rows")
def take_along_columns(ids, E):
    return np.moveaxis(np.take(E, ids, axis=1), 0, -1)


@TRIALS.wrong("ids_flattened")
def flat(ids, E):
    return E[ids.ravel()]


@TRIALS.wrong()
def normalised(ids, E):
    return E[ids] / np.linalg.norm(E[ids], axis=-1, keepdims=True)


@TRIALS.wrong("summed_over_positions")
def one_vector_for_the_text(ids, E):
    return np.add.reduce(E[ids], axis=-2)


@TRIALS.wrong("entries_along_the_first_axis")
def column_by_column(ids, E):
    return np.array([column[ids] for column in E.T])


@TRIALS.wrong("ids_counted_from_1")
def rolled(ids, E):
    return np.roll(E, 1, axis=0)[ids]


@TRIALS.wrong()
def batch_and_time_swapped(ids, E):
    return E[ids.T] if ids.ndim == 2 else E[ids]

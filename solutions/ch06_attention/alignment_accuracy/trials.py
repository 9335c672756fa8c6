"""Programs that the spec of `alignment_accuracy` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


MEAN = "np.mean(weights.argmax(axis=1)[aligned] == gold[aligned])"


WRONG = {
    "weight at -1": ([(MEAN, "np.mean(weights[np.arange(len(gold)), gold])")], None),
    "rounded percent": ([(MEAN, f"round({MEAN}, 1)")], "rounded"),
    "count": ([(MEAN, "int((weights.argmax(axis=1)[aligned] == gold[aligned]).sum())")], "number_returned"),
    "one-based": ([(MEAN, MEAN.replace("== gold", "+ 1 == gold"))], "counted_from_1"),
    "all right": ([(MEAN, f"float({MEAN} == 1)")], "right_words_not_found"),
    "list of comparisons": ([(MEAN, MEAN[8:-1])], "after: mean over axis=-1 missing"),
}

TRIALS.all_wrong(WRONG)


@TRIALS.wrong("counted_from_1")
def positions_from_1(weights, gold):
    right = [np.argmax(row) + 1 == word for row, word in zip(weights, gold, strict=True) if word >= 0]
    return sum(right) / len(right)


@TRIALS.wrong("largest_of_the_whole_array")
def argmax_without_an_axis(weights, gold):
    best = np.argmax(weights)
    return sum(best == word for word in gold if word != -1) / np.count_nonzero(gold != -1)

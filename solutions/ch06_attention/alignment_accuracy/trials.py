"""Programs that the spec of `alignment_accuracy` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.author.trials import Trials

TRIALS = Trials()


MEAN = "np.mean(weights.argmax(axis=1)[aligned] == gold[aligned])"


WRONG = {
    "weight at -1": ([(MEAN, "np.mean(weights[np.arange(len(gold)), gold])")], None),
    "rounded percent": ([(MEAN, f"round({MEAN}, 1)")], "rounded"),
    "count": ([(MEAN, "int((weights.argmax(axis=1)[aligned] == gold[aligned]).sum())")], "number_returned"),
    "one-based": ([(MEAN, MEAN.replace("== gold", "+ 1 == gold"))], None),
    "all right": ([(MEAN, f"float({MEAN} == 1)")], "right_words_not_found"),
    "list of comparisons": ([(MEAN, MEAN[8:-1])], "after: mean over axis=-1 missing"),
}

TRIALS.all_wrong(WRONG)

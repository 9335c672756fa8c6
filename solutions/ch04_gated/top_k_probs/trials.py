"""Programs that the spec of `top_k_probs` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.spec.trials import Trials
from solutions.ch04_gated.char_lm import softmax, temperature_probs, top_k_probs

TRIALS = Trials()


def best(logits, k):
    return np.argsort(-logits, axis=-1, kind="stable")[..., :k]


def at(index, values, fill, shape):
    kept = np.full(shape, fill)
    np.put_along_axis(kept, index, values, axis=-1)
    return kept


def of_kept(rule, fill=-np.inf):
    """A program that makes its result of the kept logits: rule(kept logits, all logits)."""

    def student(logits, k):
        index = best(logits, k)
        return rule(at(index, np.take_along_axis(logits, index, axis=-1), fill, logits.shape), logits)

    return student


def first_row_decides(logits, k):
    index = best(logits.reshape(-1, logits.shape[-1])[0], k)
    kept = np.full(logits.shape, -np.inf)
    kept[..., index] = logits[..., index]
    return softmax(kept)


WRONG_TOP_K = {
    "one too many": (lambda logits, k: top_k_probs(logits, k + 1), "altered input: more k", 0.25),
    "ids": (best, None, 0),
    "zeros and ones": (of_kept(lambda kept, z: np.isfinite(kept).astype(float)), None, 0),
    "logits divided by their sum": (
        of_kept(lambda kept, z: kept / kept.sum(axis=-1, keepdims=True), fill=0.0),
        None,
        0,
    ),
    "divided by the sum of all rows": (of_kept(lambda kept, z: softmax(kept) / len(kept)), None, 0),
    "-100 for the others": (of_kept(lambda kept, z: softmax(kept), fill=-100.0), "not_low_enough", 1.75),
    "-1000 for the others": (of_kept(lambda kept, z: softmax(kept), fill=-1000.0), "not_low_enough", 1.75),
    "the first k": (
        lambda logits, k: softmax(np.where(np.arange(logits.shape[-1]) < k, logits, -np.inf)),
        None,
        0.25,
    ),
    "the first row decides": (first_row_decides, None, 0.25),
}


RIGHT_TOP_K = {
    "zeroed and divided by the sum": lambda logits, k: (lambda p: p / p.sum(axis=-1, keepdims=True))(
        softmax(logits) * np.isfinite(at(best(logits, k), 0.0, np.inf, logits.shape))
    ),
}

TRIALS.all_wrong(WRONG_TOP_K)
TRIALS.all_right(RIGHT_TOP_K)

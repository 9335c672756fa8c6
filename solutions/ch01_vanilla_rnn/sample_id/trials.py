"""Programs that the spec of `sample_id` does not contain; beside each wrong one is what it is told."""

import random

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


def last_possible(probs):
    return int(np.flatnonzero(probs)[-1])


def cumulative_below(probs, u):
    """The last id whose sum is at most u."""
    return max(0, int((np.cumsum(probs) <= u).sum()) - 1)


def sorted_first(probs, u):
    order = np.argsort(-probs, kind="stable")
    return int(order[min(int((np.cumsum(probs[order]) <= u).sum()), len(probs) - 1)])


def from_the_end(probs, u):
    total = np.cumsum(probs[::-1])
    return len(probs) - 1 - min(int((total <= u).sum()), len(probs) - 1)


def changes_probs(probs, u):
    probs /= probs.sum()
    return min(int((np.cumsum(probs) <= u).sum()), last_possible(probs))


def right_id(probs, u):
    return min(int((np.cumsum(probs) <= u).sum()), last_possible(probs))


def likely_enough(probs, u):
    possible = [i for i, p in enumerate(probs) if not np.isclose(p, 0)]
    return next((i for i in possible if probs[: i + 1].sum() > u), possible[-1])


def reached(probs, u):
    total = 0.0
    for i, p in enumerate(probs):
        total += p
        if p > 0 and total >= u:
            return i
    return last_possible(probs)


def in_single_precision(probs, u):
    return right_id(probs.astype("f4"), np.float32(u))


def with_six_decimals(probs, u):
    return min(int((np.cumsum(probs).round(6) <= u).sum()), last_possible(probs))


WRONG = {
    "in single precision": (in_single_precision, None),
    "sums with six decimals": (with_six_decimals, None),
    "likely enough": (likely_enough, {"small_probability_taken_for_0"}),
    "reached by a possible id": (reached, {"equality_accepted"}),
    "the id before": (cumulative_below, {"one_too_small"}),
    "the id after": (lambda probs, u: right_id(probs, u) + 1, {None}),
    "likeliest first": (sorted_first, {None, "sorted_first"}),
    "from the end": (from_the_end, {None, "altered input: one_minus u"}),
    "one minus u": (lambda probs, u: right_id(probs, 1 - u), {"altered input: one_minus u"}),
    "at random": (lambda probs, u: random.Random(3).randrange(len(probs) + 3), set()),
    "always 0": (lambda probs, u: 0, set()),
    "an array of one": (lambda probs, u: np.array([right_id(probs, u)]), {"after: squeeze of axis=-1 missing"}),
    "a list of one": (lambda probs, u: [right_id(probs, u)], {"after: [0] missing"}),
    "one-hot": (lambda probs, u: np.eye(len(probs))[right_id(probs, u)], {"after: argmax along axis=-1 missing"}),
    "a sentence": (lambda probs, u: str(right_id(probs, u)), set()),
    "changes probs": (changes_probs, set()),
}


RIGHT = {
    "np.int32": lambda probs, u: np.int32(right_id(probs, u)),
}

TRIALS.all_wrong(WRONG)
TRIALS.all_right(RIGHT)


TRIALS.all_wrong(
    {
        "an array": ([("int(exceeds[0])", "exceeds[:1]")], "after: squeeze of axis=-1 missing", 0.5),
        "a float": ([("int(exceeds[0])", "float(exceeds[0])"), ("int(np", "float(np")], "id_as_a_float", 0.0),
    }
)

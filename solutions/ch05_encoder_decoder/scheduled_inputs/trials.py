"""Programs that the spec of `scheduled_inputs` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


COINS = np.random.default_rng(0)  # seeded, so that no two calls agree by coincidence


def in_place(gold, predicted, use_gold):
    predicted[use_gold] = gold[use_gold]
    return predicted


def is_true(gold, predicted, use_gold):
    rows = zip(gold, predicted, use_gold, strict=True)
    return np.array([right if use is True else own for right, own, use in rows])


WRONG = {
    "is True": (is_true, "always_predicted"),
    "in place": (in_place, None),
    "if": (lambda gold, predicted, use_gold: gold if use_gold else predicted, None),
    "own coins": (
        lambda gold, predicted, use_gold: np.where(COINS.random(len(gold)) < 0.5, gold, predicted),
        "two results of one call",
    ),
    "a mean": (lambda gold, predicted, use_gold: (gold + predicted) / 2, None),
    "a list": (lambda gold, predicted, use_gold: [*gold[use_gold], *predicted[~use_gold]], None),
    "positions": (lambda gold, predicted, use_gold: np.where(use_gold)[0], None),
    "truth values": (lambda gold, predicted, use_gold: gold == predicted, None),
    "the larger": (lambda gold, predicted, use_gold: np.maximum(gold, predicted), None),
    "both": (lambda gold, predicted, use_gold: np.stack([gold, predicted]), None),
}

TRIALS.all_wrong(WRONG, earns=0)

"""Programs that the spec of `stack_layers` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


def stacked(rule):
    """A program that collects rule(states) of each layer."""

    def student(x, layers):
        collected = []
        for layer in layers:
            x = layer(x)
            collected.append(rule(x))
        return x, collected

    return student


WRONG = {
    "axis of time kept": (stacked(lambda h: h[:, -1:]), None, 0.5),
    "last unit": (stacked(lambda h: h[..., -1]), None, 0.5),
    "mean over time": (stacked(lambda h: h.mean(axis=1)), None, 0.5),
    "an array": (lambda x, layers: (lambda top, final: (top, np.array(final)))(*RIGHT(x, layers)), None, 0.5),
    "returned the other way round": (lambda x, layers: RIGHT(x, layers)[::-1], "order", 0),
    "first layer left out": (
        lambda x, layers: RIGHT(x, layers[1:]),
        "altered input: without_first layers",
        0,
    ),
    "first layer again and again": (lambda x, layers: RIGHT(x, [layers[0]] * len(layers)), None, 0),
    "input among the final states": (
        lambda x, layers: (RIGHT(x, layers)[0], [x[:, -1], *RIGHT(x, layers)[1]]),
        "after: [1:] missing For final",
        0.5,
    ),
}


RIGHT = stacked(lambda h: h[:, -1])

TRIALS.all_wrong(WRONG)

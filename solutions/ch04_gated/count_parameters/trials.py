"""Programs that the spec of `count_parameters` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


SUM, ADDED = "size * hidden_size + hidden_size**2 + 2 * hidden_size", "total += directions * blocks"


WRONG = {
    "D + H, squared": ([(SUM, "(size + hidden_size) ** 2 + 2 * hidden_size")], None),
    "D squared": ([(SUM, "size * hidden_size + size**2 + 2 * hidden_size")], None),
    "no input weights": ([("size * hidden_size + hidden", "hidden")], None),
    "an output layer": ([("return total", "return total + hidden_size")], None),
    "upper layers in one direction": (
        [("size = directions * hidden_size", "size, directions = directions * hidden_size, 1")],
        "only_the_first_layer_doubled",
    ),
    "two biases in block n alone": (
        [("blocks * (" + SUM + ")", "(blocks * (" + SUM + ") - (blocks - 1) * hidden_size)")],
        None,
    ),
    "all of an upper layer doubled": (
        [("size = directions * hidden_size", "size = hidden_size = directions * hidden_size")],
        None,
    ),
    "three biases": ([("2 * hidden", "3 * hidden")], None),
    "upper layers have no input": ([("size = directions * hidden_size", "size = 0")], None),
    "size doubles again and again": ([("size = directions * hidden_size", "size = directions * size")], None),
    "all as LSTM": ([('{"rnn": 1, "gru": 3, "lstm": 4}[kind]', "4")], None),
    "upper layers once": ([("range(num_layers)", "range(min(num_layers, 2))")], None),
    "a list": ([("return total", "return [total]")], "after: [0] missing"),
    "kind ignored, one bias": ([("2 * hidden_size)", "hidden_size)"), ("directions * blocks", "directions")], None),
}


def as_numpy_sum(kind, input_size, hidden_size, num_layers=1, bidirectional=False):
    directions = 1 + int(bidirectional)
    inputs = np.array([input_size] + [directions * hidden_size] * (num_layers - 1))
    return np.sum((inputs + hidden_size + 2) * hidden_size * directions) * {"rnn": 1, "gru": 3, "lstm": 4}[kind]


TRIALS.all_wrong(WRONG)
TRIALS.all_right([as_numpy_sum])

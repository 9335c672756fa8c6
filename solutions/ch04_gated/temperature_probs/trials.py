"""Programs that the spec of `temperature_probs` does not contain; beside each wrong one is what it is told."""

import numpy as np
import torch

from grader.spec.trials import Trials
from solutions.ch04_gated.char_lm import softmax, temperature_probs, top_k_probs

TRIALS = Trials()


def greedy(logits):
    return (logits == logits.max(axis=-1, keepdims=True)).astype(float)


def unless_zero(rule, at_zero=greedy):
    """A program with this rule for other temperatures than 0."""
    return lambda logits, temperature: at_zero(logits) if temperature == 0 else rule(logits, temperature)


def divided(logits, temperature):
    return softmax(logits / temperature)


WRONG_TEMPERATURES = {
    "square": (unless_zero(lambda z, t: softmax(z / t**2)), None, 0.25),
    "logarithms": (unless_zero(lambda z, t: np.log(divided(z, t) + 1e-300)), None, 0.25),
    "negated": (unless_zero(lambda z, t: divided(-z, t)), "altered input: negated temperature", 0.25),
    "softmax twice": (unless_zero(lambda z, t: divided(softmax(z), t)), "altered input: softmax logits", 0.25),
    "shifted by the logits": (
        unless_zero(lambda z, t: (lambda e: e / e.sum(-1, keepdims=True))(np.exp(z / t - z.max(-1, keepdims=True)))),
        None,
        0.75,
    ),
    "never below 0.1": (lambda logits, temperature: divided(logits, max(temperature, 0.1)), None, 0.5),
    "greedy below 0.01": (
        lambda logits, temperature: greedy(logits) if temperature < 0.01 else divided(logits, temperature),
        None,
        0.75,
    ),
    "multiplied, no branch": (
        lambda logits, temperature: softmax(logits * temperature),
        "multiplied_by_the_temperature",
        0,
    ),
    "smallest at 0": (unless_zero(divided, lambda z: greedy(-z)), None, 0.75),
    "largest of each column at 0": (
        unless_zero(divided, lambda z: (z == z.max(axis=0)).astype(float)),
        "largest_of_each_column",
        0.75,
    ),
    "logits at 0": (unless_zero(divided, lambda z: z), None, 0.75),
    "float32": (unless_zero(lambda z, t: divided(z.astype(np.float32), t).astype(float)), None, 0.25),
}


RIGHT_TEMPERATURES = {
    "of logarithms": lambda logits, temperature: divided(
        logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True), temperature or 1e-305
    ),
    "with torch": lambda logits, temperature: torch.softmax(
        torch.from_numpy(np.array(logits)) / max(temperature, 1e-300), dim=-1
    ).numpy(),
}

TRIALS.all_wrong(WRONG_TEMPERATURES)
TRIALS.all_right(RIGHT_TEMPERATURES)

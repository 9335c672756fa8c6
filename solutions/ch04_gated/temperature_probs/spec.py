"""How `temperature_probs` is checked: against `torch.softmax` of shifted logits, and a one-hot row at temperature 0."""

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Output, Spec, change, instead


def oracle(logits, temperature):
    """PyTorch's softmax of the distances to the largest logit, divided by the temperature."""
    below = torch.from_numpy(logits) - torch.from_numpy(logits).amax(dim=-1, keepdim=True)
    if temperature == 0:
        return (below == 0).double().numpy()
    return torch.softmax(below / temperature, dim=-1).numpy()


ORDINARY, LARGE, ZERO = "ordinary", "large quotients", "temperature 0"
EXAMPLE = Case(
    sizes={"B": 2, "V": 3},
    inputs={"logits": np.array([[2.00, 0.00, -1.00], [0.30, 1.20, -0.50]]), "temperature": 0.5},
)


def case(shape, logits, temperature, kind=ORDINARY):
    names = ("V",) if len(shape) == 1 else ("B", "V") if len(shape) == 2 else ("B", "T", "V")
    sizes = dict(zip(names, shape, strict=True))
    return Case(sizes, {"logits": logits.round(2), "temperature": temperature}, kind)


def distinct(rng, shape, scale=1.0):
    """Normal logits, in each row all at least 0.05 apart, with the largest neither first nor last in the first row."""
    V = shape[-1]
    while True:
        logits = (scale * rng.normal(size=shape)).round(2)
        if V == 1 or (np.diff(np.sort(logits, axis=-1), axis=-1).min() > 0.05 and in_place(logits)):
            return logits


def in_place(logits):
    """Whether the whole array has one largest entry, and the rows' largest entries are at different places."""
    rows = logits.reshape(-1, logits.shape[-1])
    largest = rows.argmax(axis=1)
    return (rows == rows.max()).sum() == 1 and (len(rows) == 1 or len(set(largest)) > 1)


def cases(rng):
    for shape, temperature in (
        ((2, 5), 2.0),
        ((4, 4), 0.7),
        ((6,), 1.5),
        ((2, 3, 4), 0.4),
        ((1, 5), 25.0),
        ((3, 1), 0.8),
    ):
        yield case(shape, distinct(rng, shape), temperature)

    yield case((2, 5), distinct(rng, (2, 5)) - 3, 1e-300, LARGE)
    yield case((3, 4), distinct(rng, (3, 4)), 0.001, LARGE)
    yield case((2, 4), distinct(rng, (2, 4)) + np.array([[900.0], [-900.0]]), 1.0, LARGE)
    yield case((3, 3), distinct(rng, (3, 3), 20.0) - 500, 0.5, LARGE)
    yield case((2, 2, 3), distinct(rng, (2, 2, 3)) + 500, 1e-3, LARGE)

    near = np.stack([rng.permutation(6)[:4] for _ in range(3)])  # different whole numbers in each row
    yield case((3, 4), 5 + near / 100, 0.005, LARGE)  # small, but far from greedy
    yield Case({"B": 3, "V": 4}, {"logits": near / 1e5, "temperature": 1e-5}, LARGE)  # the same, much smaller

    yield case((5,), distinct(rng, (5,)), 0.0, ZERO)
    yield case((3, 4), distinct(rng, (3, 4)) - 4, 0.0, ZERO)
    yield case((2, 3, 5), distinct(rng, (2, 3, 5)), 0.0, ZERO)
    yield case((4, 1), distinct(rng, (4, 1)), 0.0, ZERO)

    tiny = 2.0**-46  # a power of 2, so that logarithms of probabilities are as exact as the logits
    yield Case({"B": 3, "V": 4}, {"logits": near * tiny, "temperature": tiny}, LARGE)
    wide = rng.permuted(np.tile([-960.0, -310.0, 240.0, 890.0], (2, 1)), axis=1) + rng.uniform(-9, 9, size=(2, 4))
    yield case((2, 4), wide, 1000.0, LARGE)  # some probabilities at temperature 1 are too small for float64
    yield case((2, 4), wide, 0.0, ZERO)


SPEC = Spec(
    outputs=[Output("probs")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("ordinary temperatures", share=2, kinds=(ORDINARY,)),
        Facet("large quotients", share=1, kinds=(LARGE,)),
        Facet("temperature 0", share=1, kinds=(ZERO,)),
    ],
)
RETURN = "return softmax(logits / temperature)"
GREEDY = "return np.eye(logits.shape[-1])[logits.argmax(axis=-1)]"
SHIFTED = "z = z - z.max(axis=-1, keepdims=True)"
BRANCH = f"if temperature == 0:\n    {GREEDY}\n"

SPEC.mistakes(
    {
        "multiplied_by_the_temperature": change(RETURN, "return softmax(logits * temperature)"),
        **instead(
            RETURN,
            {
                "probabilities_divided": "return softmax(logits) / temperature",
                "over_the_first_axis": (
                    "z = logits / temperature\ne = np.exp(z - z.max(axis=0))\nreturn e / e.sum(axis=0)"
                ),
                "softmax_left_out": "return logits / temperature",
            },
        ),
        "logarithms_of_the_probabilities": [
            change(
                RETURN, f"z = logits / temperature\n{SHIFTED}\nreturn z - np.log(np.exp(z).sum(axis=-1)[..., None])"
            ),
            change(RETURN, "with np.errstate(divide='ignore'):\n    return np.log(softmax(logits / temperature))"),
        ],
        "normalised_over_everything": [
            change(RETURN, "z = logits / temperature\ne = np.exp(z - z.max())\nreturn e / e.sum()"),
            change(RETURN, f"z = logits / temperature\n{SHIFTED}\nreturn np.exp(z) / np.exp(z).sum()"),
        ],
        "temperature_has_no_effect": change(RETURN, "return softmax(logits)"),
        "number_added_to_the_temperature": [
            change(RETURN, "return softmax(logits / (temperature + 1e-6))"),
            change(RETURN, "return softmax(logits / (temperature + 1e-8))"),
        ],
    },
    keeps=["temperature 0"],
)
SPEC.mistakes(
    {
        **instead(
            RETURN,
            {
                "maximum_not_subtracted": "e = np.exp(logits / temperature)\nreturn e / e.sum(axis=-1, keepdims=True)",
                "nan_replaced": (
                    "e = np.exp(logits / temperature)\nreturn np.nan_to_num(e / e.sum(axis=-1, keepdims=True))"
                ),
                "powers_of_probabilities": (
                    "p = softmax(logits) ** (1 / temperature)\nreturn p / p.sum(axis=-1, keepdims=True)"
                ),
            },
        ),
        "small_temperatures_replaced": [
            *(change(RETURN, f"return softmax(logits / max(temperature, {least}))") for least in ("1e-3", "1e-4")),
            change("temperature == 0", "temperature < 1e-4"),
            change(RETURN, "return softmax(logits / max(temperature, 1e-8))"),
            change("temperature == 0", "np.isclose(temperature, 0)"),
        ],
        "quotients_limited": [
            change(RETURN, f"return softmax(np.clip(logits / temperature, -{most}, {most}))") for most in (50, 500, 700)
        ],
        "maximum_of_the_whole_array": change(
            RETURN, "z = logits / temperature\ne = np.exp(z - z.max())\nreturn e / e.sum(axis=-1, keepdims=True)"
        ),
    },
    keeps=["ordinary temperatures", "temperature 0"],
)
SPEC.mistakes(
    {
        "zero_not_treated": change(BRANCH, ""),
        **instead(
            GREEDY,
            {
                "zero_leaves_the_logits_as_they_are": "return softmax(logits)",
                "zero_gives_equal_probabilities": "return softmax(0 * logits)",
                "zero_returns_ids": "return logits.argmax(axis=-1)",
                "largest_of_each_column": "return (logits == logits.max(axis=0)).astype(float)",
                "one_largest_for_the_whole_array": "return (logits == logits.max()).astype(float)",
                "whole_rows_set_to_1": "p = np.zeros(logits.shape)\np[logits.argmax(axis=-1)] = 1\nreturn p",
            },
        ),
        "zero_gives_integers_or_truth_values": [
            change(GREEDY, "return logits == logits.max(axis=-1, keepdims=True)"),
            change(GREEDY, "return (logits == logits.max(axis=-1, keepdims=True)).astype(int)"),
        ],
    },
    keeps=["ordinary temperatures", "large quotients"],
)


@SPEC.alternative
def shifted_first(logits, temperature):
    """Subtract the largest logit before the division; a temperature of 0 is replaced by a tiny one."""
    z = (logits - logits.max(axis=-1, keepdims=True)) / max(temperature, 1e-300)
    e = np.exp(z)
    return e / e.sum(axis=-1, keepdims=True)


@SPEC.alternative
def row_by_row(logits, temperature):
    """Each row by itself, through logarithms."""
    rows = logits.reshape(-1, logits.shape[-1])
    probs = np.zeros(rows.shape)
    for row, result in zip(rows, probs, strict=True):
        if temperature > 0:
            z = row / temperature - max(row / temperature)
            result[:] = np.exp(z - np.log(np.exp(z).sum()))
        else:
            result[np.argmax(row)] = 1.0
    return probs.reshape(logits.shape)

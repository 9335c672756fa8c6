"""How `caption_init` is checked: against PyTorch's linear layer and tanh."""

import numpy as np
import torch

from grader.spec.spec import Case, Output, Spec, change, instead


def oracle(features, W_f, b_f):
    """PyTorch's linear layer, whose weights are transposed, and its tanh."""
    W, b, x = (torch.from_numpy(array.copy()) for array in (W_f.T, b_f, features))
    return torch.tanh(torch.nn.functional.linear(x, W, b)).numpy()


EXAMPLE = Case(
    sizes={"B": 1, "F": 2, "H": 2},
    inputs={
        "features": np.array([[1.00, -2.00]]),
        "W_f": np.array([[0.50, -0.30], [0.20, 0.40]]),
        "b_f": np.array([0.10, 0.25]),
    },
)


def case(rng, B, F, H):
    return Case(
        sizes={"B": B, "F": F, "H": H},
        inputs={
            "features": rng.normal(size=(B, F)),
            "W_f": rng.normal(size=(F, H)) / np.sqrt(F),
            "b_f": rng.normal(size=H),
        },
    )


def saturated(rng, B, F, H):
    """Features so large that the exponential of a pre-activation is infinite, of either sign."""
    some = case(rng, B, F, H)
    some.inputs["features"] *= 1e4
    return some


def cases(rng):
    yield case(rng, B=2, F=3, H=4)
    yield case(rng, B=3, F=3, H=3)
    yield case(rng, B=1, F=4, H=2)
    yield case(rng, B=4, F=1, H=3)
    yield case(rng, B=3, F=5, H=1)
    yield saturated(rng, B=4, F=3, H=5)


SPEC = Spec(
    outputs=[Output("h_0", ("B", "H"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
)
WHOLE = "np.tanh(features @ W_f + b_f)"
UP, DOWN = "np.exp(features @ W_f + b_f)", "np.exp(-(features @ W_f + b_f))"

SPEC.mistakes(
    {
        **instead(
            WHOLE,
            {
                "no_tanh": "features @ W_f + b_f",
                "bias_outside_tanh": "np.tanh(features @ W_f) + b_f",
                "sigmoid_for_tanh": "1 / (1 + np.exp(-(features @ W_f + b_f)))",
                "relu_for_tanh": "np.maximum(features @ W_f + b_f, 0)",
                "tan_for_tanh": "np.tan(features @ W_f + b_f)",
                "layer_axis_added": WHOLE + "[None]",
            },
        ),
        "tanh_twice": [
            change(WHOLE, f"np.tanh({WHOLE})"),
            change(WHOLE, "np.tanh(np.tanh(features @ W_f) + b_f)"),
        ],
        "tanh_of_exponentials": [
            change(WHOLE, f"({UP} - {DOWN}) / ({UP} + {DOWN})"),
            change(WHOLE, f"({UP}**2 - 1) / ({UP}**2 + 1)"),
            change(WHOLE, f"(1 - {DOWN}**2) / (1 + {DOWN}**2)"),
        ],
        "bias_forgotten": change(" + b_f", ""),
        "bias_for_every_feature": change("+ b_f", "+ len(W_f) * b_f"),
        "features_squashed": [
            change(WHOLE, "np.tanh(features) @ W_f + b_f"),
            change(WHOLE, "np.tanh(np.tanh(features) @ W_f + b_f)"),
        ],
        "one_state_for_all": change(
            "features @ W_f", "features.mean(axis=0, keepdims=True).repeat(len(features), axis=0) @ W_f"
        ),
    }
)


@SPEC.alternative
def with_einsum(features, W_f, b_f):
    """The sum over the features, written out."""
    return np.tanh(np.einsum("bf,fh->bh", features, W_f) + b_f[None])


@SPEC.alternative
def picture_by_picture(features, W_f, b_f):
    """A row for each picture, by the logistic function, of which the tanh is a stretched copy."""
    rows = []
    for f in features:
        rows.append(2 / (1 + np.exp(-2 * (W_f.T @ f + b_f))) - 1)
    return np.array(rows)

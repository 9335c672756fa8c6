"""How `caption_init` is checked: against PyTorch's linear layer and tanh."""

import numpy as np
import torch

from grader.author.spec import Case, Output, Spec, change


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


def cases(rng):
    yield case(rng, B=2, F=3, H=4)
    yield case(rng, B=3, F=3, H=3)
    yield case(rng, B=1, F=4, H=2)
    yield case(rng, B=4, F=1, H=3)
    yield case(rng, B=3, F=5, H=1)


SPEC = Spec(
    outputs=[Output("h_0", ("B", "H"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    why=r"""
A decoder needs a state to start from, and does not ask where it comes from. In translation the state is computed by an
encoder that has read a sentence; here, a linear layer maps the F features of a picture to H numbers. The tanh puts
them into (−1, 1), the range in which every later state of a GRU lies, so that the first step of the decoder sees
numbers of the size that it has been trained on.
""",
)


WHOLE = "np.tanh(features @ W_f + b_f)"
SPEC.mistake(
    "no_tanh",
    "You leave out the tanh. Apply it to the sum of product and bias, because every state of a GRU lies between −1 and "
    "1, and the initial state should too.",
    change(WHOLE, "features @ W_f + b_f"),
    tempts="A linear layer is what the text names first, and PyTorch's `Linear` has no nonlinearity either.",
)
SPEC.mistake(
    "bias_outside_tanh",
    "You add the bias after the tanh, so the state can leave the range from −1 to 1. Add `b_f` first, and apply the "
    "tanh to the sum.",
    change(WHOLE, "np.tanh(features @ W_f) + b_f"),
    tempts="One bracket closes too early.",
)
SPEC.mistake(
    "bias_forgotten",
    "You leave out the bias. Add `b_f` to every row before the tanh.",
    change(" + b_f", ""),
    tempts="The product is the interesting part.",
)
SPEC.mistake(
    "sigmoid_for_tanh",
    "You apply the logistic function, which returns numbers between 0 and 1. Use `np.tanh`: the states of a GRU lie "
    "between −1 and 1.",
    change(WHOLE, "1 / (1 + np.exp(-(features @ W_f + b_f)))"),
    tempts="The gates of a GRU use the logistic function.",
)
SPEC.mistake(
    "relu_for_tanh",
    "You apply a ReLU, so no entry of the state is negative and nothing bounds it from above. Use `np.tanh`, because "
    "the states of a GRU lie between −1 and 1.",
    change(WHOLE, "np.maximum(features @ W_f + b_f, 0)"),
    tempts="The features come from a convolutional network, which uses ReLU.",
)
SPEC.mistake(
    "features_squashed",
    "You apply the tanh to the features. Apply it after the linear layer, to the sum of product and bias.",
    change(WHOLE, "np.tanh(features) @ W_f + b_f"),
    change(WHOLE, "np.tanh(np.tanh(features) @ W_f + b_f)"),
    tempts="The features are what has to be brought into range, it seems.",
)
SPEC.mistake(
    "tanh_twice",
    "You apply a tanh twice. Once is enough: its results lie between −1 and 1 already.",
    change(WHOLE, f"np.tanh({WHOLE})"),
    tempts="A helper of one's own applies the tanh too.",
)
SPEC.mistake(
    "layer_axis_added",
    "You return a state with an axis for the layers, (1, B, H), which PyTorch's GRU wants. Here the decoder has one "
    "layer, so return (B, H).",
    change(WHOLE, WHOLE + "[None]"),
    tempts="PyTorch's GRU takes a state of shape (L, B, H).",
)
SPEC.mistake(
    "one_state_for_all",
    "You average the features over the pictures of the batch, so all captions start from the same state. Compute a row "
    "of `h_0` for each picture from its own features.",
    change("features @ W_f", "features.mean(axis=0, keepdims=True).repeat(len(features), axis=0) @ W_f"),
    tempts="A convolutional network averages over positions just before, with the same call and another axis.",
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

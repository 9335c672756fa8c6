"""How `through_layers` is checked: each layer is linear in x and known by its parameters."""

import numpy as np

from grader.spec.spec import Case, Fixture, Output, Spec, change


def affine(rng, D):
    return Fixture("affine", {"weight": rng.normal(size=(D, D)), "bias": rng.normal(size=D)})


def mean(rng):
    return Fixture("running_mean", {"keep": float(rng.uniform(0.2, 0.8))})


def case(x, layers):
    B, T, D = x.shape
    return Case({"B": B, "T": T, "D": D, "L": len(layers)}, {"x": x, "layers": layers})


def cases(rng):
    yield case(rng.normal(size=(2, 5, 3)), [mean(rng), affine(rng, 3), mean(rng), affine(rng, 3)])
    yield case(rng.normal(size=(1, 4, 2)), [affine(rng, 2), mean(rng), mean(rng)])
    yield case(rng.normal(size=(3, 2, 1)), [mean(rng)])
    yield case(rng.normal(size=(4, 1, 2)), [mean(rng), affine(rng, 2)])


def oracle(x, layers):
    """The last layer first: each asks the one before for what it needs."""

    def upto(n):
        return layers[n - 1](upto(n - 1)) if n else x

    return upto(len(layers)), [upto(n + 1)[:, -1] for n in range(len(layers))]


SPEC = Spec(
    outputs=[Output("top", ("B", "T", "D")), Output("last", ("B", "D"))],
    example=case(
        np.array([[[1.0], [0.5], [-2.0]]]),
        [
            Fixture("running_mean", {"keep": 0.5}),
            Fixture("affine", {"weight": np.array([[2.0]]), "bias": np.array([0.5])}),
        ],
    ),
    cases=cases,
    oracle=oracle,
)

SPEC.mistakes(
    {
        "all_read_x": change("x = layer", "top = layer", ("append(x[", "append(top["), ("return x", "return top")),
        "upside_down": change("in layers", "in reversed(layers)"),
    }
)


@SPEC.alternative
def by_index(x, layers):
    """Everything kept, by position."""
    outputs = [x]
    for n in range(len(layers)):
        outputs.append(layers[n](x=outputs[n]))
    return outputs[-1], [h[:, -1] for h in outputs[1:]]

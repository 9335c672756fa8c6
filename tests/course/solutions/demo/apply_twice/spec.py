"""An exercise that receives a callable."""

import numpy as np

from grader.spec.spec import Case, Fixture, Output, Spec, instead


def case(x, weight, bias):
    return Case(
        sizes={"B": x.shape[0], "N": x.shape[1]},
        inputs={"f": Fixture("affine", {"weight": weight, "bias": bias}), "x": x},
    )


def cases(rng):
    for batch, n in ((2, 3), (4, 2), (1, 1)):
        yield case(rng.normal(size=(batch, n)), rng.normal(size=(n, n)), rng.normal(size=n))


def oracle(f, x):
    """f is affine: its square is found from f at zero and at the unit vectors."""
    n = x.shape[1]
    bias = f(np.zeros((1, n)))
    weight = f(np.eye(n)) - bias
    return (x @ weight + bias) @ weight + bias


SPEC = Spec(
    outputs=[Output("y", ("B", "N"))],
    example=case(np.array([[1.0, -0.5]]), np.array([[0.5, 0.25], [-1.0, 2.0]]), np.array([0.1, 0.2])),
    cases=cases,
    oracle=oracle,
)

SPEC.mistakes(
    {
        **instead(
            "f(f(x))",
            {
                "only_once": "f(x)",
                "sum_of_two": "f(x) + f(x)",
            },
        ),
    }
)


@SPEC.alternative
def row_by_row(f, x):
    """Every row by itself, by keyword."""
    return np.concatenate([f(x=f(x=row[None])) for row in x])

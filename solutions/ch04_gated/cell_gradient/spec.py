"""How `cell_gradient` is checked: against PyTorch's autograd through the cell states alone."""

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Output, Spec, change, instead

ORDINARY, SAME = "ordinary", "k = t"


def oracle(f, k, t):
    """Autograd through c_s = f_s c_{s-1} + (what is written), with the gates held fixed."""
    gates = torch.from_numpy(f)
    written = torch.linspace(-1, 1, f.shape[1], dtype=torch.float64)
    start = torch.ones(gates[:, 0].shape, dtype=torch.float64, requires_grad=True)
    cell = start
    for s in range(k + 1, t + 1):
        cell = gates[:, s] * cell + written[s]
    return torch.autograd.grad(cell.sum(), start)[0].numpy()


EXAMPLE = Case(
    sizes={"B": 1, "T": 4, "H": 2},
    inputs={"f": np.array([[[0.30, 0.85], [0.90, 0.40], [0.80, 0.60], [0.95, 0.70]]]), "k": 0, "t": 2},
)


def case(rng, B, T, H, k, t):
    return Case(
        sizes={"B": B, "T": T, "H": H},
        inputs={"f": rng.uniform(0.15, 0.95, size=(B, T, H)), "k": k, "t": t},
        kind=SAME if k == t else ORDINARY,
    )


def cases(rng):
    yield case(rng, B=2, T=5, H=3, k=1, t=3)
    yield case(rng, B=3, T=6, H=4, k=1, t=4)
    yield case(rng, B=3, T=5, H=3, k=0, t=4)
    yield case(rng, B=2, T=3, H=3, k=0, t=1)
    yield case(rng, B=1, T=7, H=2, k=2, t=6)
    yield case(rng, B=3, T=6, H=1, k=2, t=4)
    yield case(rng, B=1, T=8, H=1, k=3, t=6)
    yield case(rng, B=2, T=4, H=3, k=1, t=1)
    yield case(rng, B=3, T=3, H=2, k=2, t=2)
    yield case(rng, B=2, T=1, H=4, k=0, t=0)
    yield case(rng, B=1, T=2, H=1, k=0, t=0)


SPEC = Spec(
    outputs=[Output("gradient", ("B", "H"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[Facet("k < t", 3, kinds=(ORDINARY,)), Facet(SAME, 1, kinds=(SAME,))],
)
PRODUCT = "np.prod(f[:, k + 1 : t + 1], axis=1)"
GATES = "f[:, k + 1 : t + 1]"

SPEC.mistakes(
    {
        **instead(
            GATES,
            {
                "f_one_step_early": "f[:, k:t]",
                "f_t_left_out": "f[:, k + 1 : t]",
                "first_factor_left_out": "f[:, k + 2 : t + 1]",
                "sigmoid_taken_again": f"sigmoid({GATES})",
                "derivative_of_the_gate": f"({GATES} * (1 - {GATES}))",
                "share_that_is_forgotten": "(1 - f[:, k + 1 : t + 1])",
            },
        ),
        "averaged": change(PRODUCT, f"{GATES}.mean(axis=1) if k < t else np.ones(f[:, 0].shape)"),
        "one_gate_for_all_steps": [change(PRODUCT, "f[:, t] ** (t - k)"), change(PRODUCT, "f[:, k] ** (t - k)")],
        "only_one_factor": [
            change(PRODUCT, "f[:, t] if k < t else np.ones(f[:, t].shape)"),
            change(PRODUCT, "f[:, k + 1] if k < t else np.ones(f[:, t].shape)"),
        ],
        "counted_from_the_start": [change(GATES, "f[:, : t - k]"), change(GATES, "f[:, 1 : t - k + 1]")],
    },
    keeps=[SAME],
)
SPEC.mistakes(
    {
        **instead(
            GATES,
            {
                "f_k_included": "f[:, k : t + 1]",
                "ones_always": "f[:, t + 1 : k + 1]",
                "t_ignored": "f[:, k + 1 :]",
            },
        ),
        "gate_after_t_included": [
            change(GATES, "f[:, k + 1 : t + 2]"),
            change(PRODUCT, "np.prod([f[:, s] for s in range(k + 1, t + 2)], axis=0)"),
        ],
        "k_ignored": [change(GATES, "f[:, : t + 1]"), change(GATES, "f[:, 1 : t + 1]")],
        "added": [
            change(PRODUCT, f"{GATES}.sum(axis=1)"),
            change(PRODUCT, "sum(f[:, s] for s in range(k + 1, t + 1))"),
            change(PRODUCT, "np.cumsum(f, axis=1)[:, t]"),
        ],
        "multiplied_over_another_axis": [
            *(change("axis=1", axis) for axis in ("axis=0", "axis=2", "axis=-1", "axis=None")),
            change(PRODUCT, "np.prod(f[k + 1 : t + 1], axis=0)"),
        ],
        "diagonal_matrix": change(
            "return np.prod(f[:, k + 1 : t + 1], axis=1)", f"return {PRODUCT}[:, :, None] * np.eye(f.shape[2])"
        ),
        **instead(
            PRODUCT,
            {
                "product_of_every_step": f"np.cumprod({GATES}, axis=1)",
                "started_from_zeros": "np.zeros(f[:, 0].shape)",
            },
        ),
    }
)
SPEC.mistakes(
    {
        "not_one_for_k_equal_t": [
            change("return", "if k == t:\n    return f[:, t]\nreturn"),
            change("return", "if k == t:\n    return np.zeros(f[:, t].shape)\nreturn"),
            change("return", "if k == t:\n    return 1.0\nreturn"),
            change("return", "if k == t:\n    return None\nreturn"),
            change("return", "if k == t:\n    return np.eye(f.shape[2])\nreturn"),
            change("return", "if k == t:\n    return f[:, t + 1]\nreturn"),
        ],
    },
    keeps=["k < t"],
)


@SPEC.alternative
def with_a_loop(f, k, t):
    """One factor for each step of the path."""
    gradient = np.ones((f.shape[0], f.shape[2]))
    for s in range(k + 1, t + 1):
        gradient = gradient * f[:, s]
    return gradient


@SPEC.alternative
def backward_through_the_steps(f, k, t):
    """As backpropagation does it: from c_t back to c_k."""
    dc = np.ones_like(f[:, t])
    while t > k:
        dc = dc * f[:, t]
        t -= 1
    return dc


@SPEC.alternative
def with_logarithms(f, k, t):
    """A sum of logarithms; all gates are above 0."""
    return np.exp(np.log(f)[:, k + 1 : t + 1].sum(axis=1))


@SPEC.alternative
def as_a_quotient(f, k, t):
    """What survives until t, divided by what survives until k."""
    survives = np.cumprod(f, axis=1)
    return survives[:, t] / survives[:, k]

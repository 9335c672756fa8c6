"""How `step_jacobian` is checked: against PyTorch's autograd, one row of the Jacobian for each unit."""

import numpy as np
import torch

from grader.spec.spec import Case, Output, Spec, change, instead


def oracle(h_t, W_hh):
    """Autograd through the step in float64. A constant is added to the pre-activation so that the tanh returns h_t."""
    W, a_t = torch.from_numpy(W_hh), torch.atanh(torch.from_numpy(h_t))
    h_prev = torch.zeros(len(h_t), dtype=torch.float64)
    return torch.autograd.functional.jacobian(lambda h: torch.tanh(a_t + h @ W), h_prev).numpy()


EXAMPLE = Case(
    sizes={"H": 2},
    inputs={"h_t": np.array([0.60, -0.40]), "W_hh": np.array([[0.50, -0.75], [1.25, 0.25]])},
)


def case(rng, H):
    return Case(
        sizes={"H": H},
        inputs={"h_t": rng.uniform(-0.95, 0.95, size=H), "W_hh": rng.normal(size=(H, H)) / np.sqrt(H)},
    )


def cases(rng):
    yield case(rng, H=3)
    yield case(rng, H=4)
    yield case(rng, H=6)
    yield case(rng, H=1)


SPEC = Spec(
    outputs=[Output("J", ("H", "H"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
)
PRODUCT = "derivative[:, None] * W_hh.T"
SQUARE = "h_t**2"
LAYOUTS = PRODUCT, "derivative * W_hh", "derivative[:, None] * W_hh", "derivative * W_hh.T"  # a wrong one hides nothing

SPEC.mistakes(
    {
        "jacobian_transposed": change(PRODUCT, "derivative * W_hh"),
        "W_hh_not_transposed": change("W_hh.T", "W_hh"),
        "derivative_multiplies_columns": change(PRODUCT, "derivative * W_hh.T"),
        "derivative_left_out": [change(PRODUCT, "W_hh.T"), change(PRODUCT, "W_hh")],
        "tanh_taken_again": [*(change(SQUARE, "np.tanh(h_t) ** 2", (PRODUCT, layout)) for layout in LAYOUTS)],
        "another_step_computed": [
            *(change(SQUARE, "np.tanh(h_t @ W_hh) ** 2", (PRODUCT, layout)) for layout in LAYOUTS)
        ],
        "derivative_not_squared": [*(change(SQUARE, "h_t", (PRODUCT, layout)) for layout in LAYOUTS)],
        "another_derivative": [
            *(change("1 - h_t**2", "h_t * (1 - h_t)", (PRODUCT, layout)) for layout in LAYOUTS),
            *(change("1 - h_t**2", becomes) for becomes in ("1 + h_t**2", SQUARE, "h_t", "(1 - h_t) ** 2")),
        ],
        "derivative_without_parentheses": [
            change(PRODUCT, "1 - (h_t**2)[:, None] * W_hh.T"),
            change(PRODUCT, "1 - h_t**2 * W_hh.T"),
            change(PRODUCT, "1 - h_t**2 * W_hh"),
            change(PRODUCT, "np.eye(len(h_t)) - np.diag(h_t**2) @ W_hh.T"),
        ],
        **instead(
            PRODUCT,
            {
                "one_minus_a_diagonal_matrix": "(1 - np.diag(h_t**2)) @ W_hh.T",
                "multiplied_entry_by_entry": "np.diag(derivative) * W_hh.T",
                "W_hh_left_out": "np.diag(derivative)",
            },
        ),
        "weights_inside_the_diagonal": [
            *(change(PRODUCT, f"np.diag({product})") for product in ("derivative @ W_hh", "derivative @ W_hh.T"))
        ],
        "summed_over_a_unit": [*(change(PRODUCT, product) for product in ("derivative @ W_hh.T", "derivative @ W_hh"))],
    }
)


@SPEC.alternative
def with_a_diagonal_matrix(h_t, W_hh):
    """The formula, with the derivatives as a matrix."""
    return np.diag(1 - h_t**2) @ W_hh.T


@SPEC.alternative
def entry_by_entry(h_t, W_hh):
    """The definition, in two loops."""
    H = len(h_t)
    J = np.zeros((H, H))
    for i in range(H):
        for j in range(H):
            J[i, j] = (1 - h_t[i] ** 2) * W_hh[j, i]
    return J


@SPEC.alternative
def transposed_at_the_end(h_t, W_hh):
    """Columns of W_hh times the derivatives, then transposed."""
    return (W_hh * (1 + h_t) * (1 - h_t)).T

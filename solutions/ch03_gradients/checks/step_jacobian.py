"""How `step_jacobian` is checked: against PyTorch's autograd, one row of the Jacobian for each unit."""

import numpy as np
import torch

from grader.author.spec import Case, Output, Spec, change


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
    why=r"""
Unit $i$ after the step is $\tanh(a_i)$ with $a_i = \sum_j h_{t-1}[j]\, W_{hh}[j, i] + \dots$, so the chain rule has two
factors. The derivative of the tanh, $1 - h_t[i]^2$, belongs to the output $i$ and multiplies the whole row $i$;
`[:, None]` makes a column of the derivatives, so that NumPy multiplies rows. The derivative of $a_i$ with respect to
$h_{t-1}[j]$ is $W_{hh}[j, i]$, with the indices swapped: a Jacobian lists outputs first, whereas $W_{hh}$, made for
states that are rows, lists inputs first. As a formula, $J_t = \operatorname{diag}(1 - h_t^2)\, W_{hh}^\top$.
""",
)

PRODUCT = "derivative[:, None] * W_hh.T"
SQUARE = "h_t**2"
LAYOUTS = PRODUCT, "derivative * W_hh", "derivative[:, None] * W_hh", "derivative * W_hh.T"  # a wrong one hides nothing
SPEC.mistake(
    "jacobian_transposed",
    "Your Jacobian is transposed: its rows belong to the units of the previous state. Give it one row for each unit "
    "of `h_t`, because `J[i, j]` is the derivative of `h_t[i]` with respect to `h_prev[j]`.",
    change(PRODUCT, "derivative * W_hh"),
    change(PRODUCT, "W_hh @ np.diag(derivative)"),
    tempts="`(1 - h_t**2) * W_hh` needs neither a transpose nor a new axis, and its shape is right.",
)
SPEC.mistake(
    "W_hh_not_transposed",
    "You use `W_hh` as it is. Transpose it: unit j of the previous state feeds unit i through `W_hh[j, i]`, so this "
    "weight belongs to `J[i, j]`. In many papers states are columns, and their recurrent matrix is the transpose of "
    "ours.",
    change("W_hh.T", "W_hh"),
    tempts="Papers write diag(φ′) W_hh, and W_hh is square.",
)
SPEC.mistake(
    "derivative_multiplies_columns",
    "You multiply column j by the derivative of the tanh of unit j. Multiply row i by that of unit i, because the "
    "derivative belongs to the output: turn the vector into a column with `[:, None]`, or put its diagonal matrix on "
    "the left.",
    change(PRODUCT, "derivative * W_hh.T"),
    change(PRODUCT, "W_hh.T @ np.diag(derivative)"),
    tempts="`(1 - h_t**2) * W_hh.T` reads like the formula, but broadcasting fits the last axis first.",
)
SPEC.mistake(
    "derivative_left_out",
    "You leave out the derivative of the tanh. Multiply row i by 1 − h_t[i]², because unit i of the state is the tanh "
    "of its pre-activation.",
    change(PRODUCT, "W_hh.T"),
    change(PRODUCT, "W_hh"),
    tempts="The weights connect the two states, and for a linear network they would be all.",
)
SPEC.mistake(
    "tanh_taken_again",
    "You compute the derivative as 1 − tanh²(h_t), which applies the tanh a second time. Use `1 - h_t**2`, because "
    "`h_t` is already the tanh of the pre-activation.",
    *(change(SQUARE, "np.tanh(h_t) ** 2", (PRODUCT, layout)) for layout in LAYOUTS),
    tempts="The derivative is written 1 − tanh²(…), and h_t is the only argument at hand.",
)
SPEC.mistake(
    "another_step_computed",
    "You take `h_t` for the previous state and compute another state from it. `h_t` is the state *after* the step, so "
    "the derivative of the tanh is `1 - h_t**2` itself.",
    *(change(SQUARE, "np.tanh(h_t @ W_hh) ** 2", (PRODUCT, layout)) for layout in LAYOUTS),
    tempts="A derivative is usually computed from the inputs of a step.",
)
SPEC.mistake(
    "derivative_not_squared",
    "You compute the derivative of the tanh as 1 − h_t. Square the state: the derivative is 1 − tanh²(a_t), and "
    "tanh(a_t) is `h_t`.",
    *(change(SQUARE, "h_t", (PRODUCT, layout)) for layout in LAYOUTS),
    tempts="The square is easily lost, and 1 − h_t looks like a derivative for positive states.",
)
SPEC.mistake(
    "another_derivative",
    "Your factor resembles the derivative of the tanh but is another function of the state, such as h · (1 − h) or "
    "1 + h². Use 1 − h_t[i]²: where the state is near −1 or 1 the tanh is flat, so its derivative is near 0.",
    *(change("1 - h_t**2", "h_t * (1 - h_t)", (PRODUCT, layout)) for layout in LAYOUTS),
    *(change("1 - h_t**2", becomes) for becomes in ("1 + h_t**2", SQUARE, "h_t", "(1 - h_t) ** 2")),
    tempts="h (1 − h) is the derivative of the logistic function, and the others differ by one character.",
)
SPEC.mistake(
    "derivative_without_parentheses",
    "You left out the parentheses, so only the square of the state multiplies the weights. Write `(1 - h_t**2)`, "
    "because the whole derivative multiplies them.",
    change(PRODUCT, "1 - (h_t**2)[:, None] * W_hh.T"),
    change(PRODUCT, "1 - h_t**2 * W_hh.T"),
    change(PRODUCT, "1 - h_t**2 * W_hh"),
    change(PRODUCT, "np.eye(len(h_t)) - np.diag(h_t**2) @ W_hh.T"),
    tempts="'1 − h² times W' is how one says it, but Python multiplies first.",
)
SPEC.mistake(
    "one_minus_a_diagonal_matrix",
    "You subtract a diagonal matrix from the number 1, which puts ones off the diagonal. Subtract first and build the "
    "diagonal matrix afterwards: `np.diag(1 - …)`.",
    change(PRODUCT, "(1 - np.diag(h_t**2)) @ W_hh.T"),
    tempts="On paper the 1 in 1 − diag(h)² is the identity matrix, but NumPy subtracts from 1 in every entry.",
)
SPEC.mistake(
    "multiplied_entry_by_entry",
    "You multiply a diagonal matrix by the weights with `*`, which leaves nothing off the diagonal. Use `@` with a "
    "diagonal matrix, because every unit of the previous state feeds every unit of the next one.",
    change(PRODUCT, "np.diag(derivative) * W_hh.T"),
    tempts="`*` is the sign of a product, and both matrices are (H, H).",
)
SPEC.mistake(
    "weights_inside_the_diagonal",
    "You multiply the weights and the derivatives first and make a diagonal matrix of the product, which leaves "
    "nothing off the diagonal. Make it of the derivatives alone and multiply it by the transposed weights, because "
    "every unit of the previous state feeds every unit of the next one.",
    *(change(PRODUCT, f"np.diag({product})") for product in ("derivative @ W_hh", "derivative @ W_hh.T")),
    tempts="Some papers print the Jacobian as diag(W φ′).",
)
SPEC.mistake(
    "W_hh_left_out",
    "You return the derivatives of the tanh alone, as a diagonal matrix. Multiply them with the weights, because a "
    "change of the previous state reaches the pre-activation through `W_hh`.",
    change(PRODUCT, "np.diag(derivative)"),
    tempts="diag(1 − h²) is an (H, H) matrix already.",
)
SPEC.mistake(
    "summed_over_a_unit",
    "You multiply a vector by a matrix with `@`, which sums over a unit and leaves a vector. Multiply entry by entry "
    "instead, or by a diagonal matrix, because a Jacobian keeps one entry for each pair of units.",
    *(change(PRODUCT, product) for product in ("derivative @ W_hh.T", "derivative @ W_hh")),
    tempts="`(1 - h_t**2) @ W_hh.T` is the backward pass of chapter 02 with a gradient of ones.",
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

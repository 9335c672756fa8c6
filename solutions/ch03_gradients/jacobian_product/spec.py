"""How `jacobian_product` is checked: against PyTorch's autograd through the steps from h[k] to h[t]."""

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Output, Spec, change, instead, on_grid

ORDINARY, SAME = "ordinary", "k = t"


def oracle(h, W_hh, k, t):
    """Autograd through the loop in float64. Constants added to the pre-activations make it return the given states."""
    W, pre_activations = torch.from_numpy(W_hh), torch.atanh(torch.from_numpy(h))

    def later(state):
        for s in range(k + 1, t + 1):
            a = state @ W
            state = torch.tanh(a + (pre_activations[s] - a).detach())
        return state

    return torch.autograd.functional.jacobian(later, torch.from_numpy(h[k].copy())).numpy()


EXAMPLE = Case(
    sizes={"T": 3, "H": 2},
    inputs={
        "h": np.array([[0.30, -0.70], [0.60, -0.40], [-0.80, 0.20]]),
        "W_hh": np.array([[0.50, -0.75], [1.25, 0.25]]),
        "k": 0,
        "t": 2,
    },
)


def case(rng, T, H, k, t):
    W_hh, h = rng.normal(size=(H, H)) / np.sqrt(H), [rng.uniform(-0.9, 0.9, size=H)]
    for _ in range(T):
        h.append(on_grid(np.tanh(0.8 * rng.normal(size=H) + h[-1] @ W_hh)))
    return Case(
        sizes={"T": T, "H": H},
        inputs={"h": np.stack(h[1:]), "W_hh": W_hh, "k": k, "t": t},
        kind=SAME if k == t else ORDINARY,
    )


def cases(rng):
    yield case(rng, T=4, H=3, k=1, t=2)
    yield case(rng, T=6, H=4, k=1, t=4)
    yield case(rng, T=5, H=3, k=0, t=4)
    yield case(rng, T=3, H=3, k=0, t=1)
    yield case(rng, T=7, H=2, k=2, t=6)
    yield case(rng, T=5, H=1, k=1, t=3)
    yield case(rng, T=4, H=3, k=1, t=1)
    yield case(rng, T=3, H=2, k=2, t=2)
    yield case(rng, T=1, H=4, k=0, t=0)
    yield case(rng, T=2, H=1, k=0, t=0)


SPEC = Spec(
    outputs=[Output("product", ("H", "H"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[Facet("k < t", 3, kinds=(ORDINARY,)), Facet(SAME, 1, kinds=(SAME,))],
)
FACTOR = "step_jacobian(h[s], W_hh)"
STEP = f"{FACTOR} @ product"
DERIVATIVE = "(1 - h[s] ** 2)"


def without_initial(h, W_hh, k, t):
    """A list of all factors, multiplied without a start."""
    from functools import reduce

    return reduce(np.matmul, [np.diag(1 - h[s] ** 2) @ W_hh.T for s in range(t, k, -1)])


WEIGHTS, DERIVATIVES = "np.linalg.matrix_power(W_hh.T, t - k)", "np.prod(1 - h[k + 1 : t + 1] ** 2, axis=0)"

SPEC.mistakes(
    {
        "order_reversed": [
            change(STEP, f"product @ {FACTOR}"),
            change(STEP, f"product @ {FACTOR}", ("range(k + 1, t + 1)", "range(k, t)")),
            change(STEP, f"product @ ({DERIVATIVE}[:, None] * W_hh)"),
            change(STEP, f"product @ ({DERIVATIVE} * W_hh.T)"),
        ],
        "jacobian_transposed": [
            change("return product", "return product.T"),
            change("return product", "return product.T", ("range(k + 1, t + 1)", "range(k, t)")),
        ],
        "factors_transposed": [
            change(FACTOR, f"{FACTOR}.T"),
            change(FACTOR, f"{FACTOR}.T", ("range(k + 1, t + 1)", "range(k, t)")),
        ],
        **instead(
            "range(k + 1, t + 1)",
            {
                "h_one_step_early": "range(k, t)",
                "last_factor_left_out": "range(k + 1, t)",
                "first_factor_left_out": "range(k + 2, t + 1)",
                "identity_always": "range(t + 1, k + 1)",
            },
        ),
        "same_state_for_all_factors": [*(change("h[s]", f"h[{row}]") for row in ("t", "k", "-1", "k + 1"))],
        **instead(
            FACTOR,
            {
                "W_hh_not_transposed": f"({DERIVATIVE}[:, None] * W_hh)",
                "derivative_not_squared": "((1 - h[s])[:, None] * W_hh.T)",
                "tanh_taken_again": "((1 - np.tanh(h[s]) ** 2)[:, None] * W_hh.T)",
            },
        ),
        "derivative_multiplies_columns": [
            change(FACTOR, f"({DERIVATIVE} * W_hh.T)"),
            change(FACTOR, f"({DERIVATIVE} * W_hh.T)", ("range(k + 1, t + 1)", "range(k, t)")),
        ],
        "derivative_left_out": [change(FACTOR, "W_hh.T"), change(FACTOR, "W_hh")],
        "derivatives_and_weights_apart": [
            change("return product", f"return np.diag({DERIVATIVES}) @ {WEIGHTS}"),
            change("return product", f"return {WEIGHTS} @ np.diag({DERIVATIVES})"),
        ],
        "rows_counted_from_the_start": [change("h[s]", "h[s - k]"), change("h[s]", "h[s - k - 1]")],
        "multiplied_entry_by_entry": [
            change(STEP, f"{FACTOR} * product"),
            change(
                "np.eye(h.shape[1])",
                "np.eye(h.shape[1]) if k == t else np.ones(W_hh.shape)",
                (STEP, f"{FACTOR} * product"),
            ),
        ],
        "only_one_factor": [
            change(STEP, FACTOR),
            change("return product", f"return {FACTOR.replace('[s]', '[k + 1]')} if k < t else product"),
        ],
    },
    keeps=[SAME],
)
SPEC.mistakes(
    {
        "one_factor_too_many": change("range(k + 1, t + 1)", "range(k, t + 1)"),
        "not_started_from_the_identity": [
            change("np.eye(h.shape[1])", "np.zeros(W_hh.shape)"),
            change("np.eye(h.shape[1])", "np.ones(W_hh.shape)"),
        ],
        "factors_added": change("np.eye(h.shape[1])", "np.zeros(W_hh.shape)", (STEP, f"product + {FACTOR}")),
    }
)
SPEC.mistakes(
    {
        "no_identity": [
            change("return product", f"return product if k < t else {FACTOR.replace('[s]', '[t]')}"),
            change("return product", "return product if k < t else step_jacobian(h[t + 1], W_hh)"),
            change("return product", "return product if k < t else np.zeros(W_hh.shape)"),
            change("return product", "return product if k < t else np.ones(W_hh.shape)"),
            change("return product", "return product if k < t else W_hh"),
            change("return product", "return product if k < t else W_hh.T"),
            change("return product", "return product if k < t else None"),
            change("return product", "return product if k < t else 1.0"),
            change("return product", "return product if k < t else [][0]"),
            without_initial,
        ],
    },
    keeps=["k < t"],
)


@SPEC.alternative
def from_the_latest_step(h, W_hh, k, t):
    """The formula read from left to right: each factor goes on the right."""
    product = np.eye(len(W_hh))
    for s in range(t, k, -1):
        product = product @ (np.diag(1 - h[s] ** 2) @ W_hh.T)
    return product


@SPEC.alternative
def with_reduce(h, W_hh, k, t):
    """All factors in a list, then one product."""
    from functools import reduce

    factors = [np.diag(1 - row**2) @ W_hh.T for row in h[k + 1 : t + 1]]
    return reduce(np.matmul, reversed(factors), np.eye(len(W_hh)))


@SPEC.alternative
def recursive(h, W_hh, k, t):
    """The chain rule once, and the rest by the same function."""
    if k == t:
        return np.eye(h.shape[1])
    return ((1 - h[t] ** 2) * W_hh).T @ recursive(h, W_hh, k, t - 1)


@SPEC.alternative
def gradients_of_each_unit(h, W_hh, k, t):
    """Backpropagate the gradient of each unit of h[t], one per row, as in chapter 02."""
    rows = np.eye(h.shape[1])
    for s in reversed(range(k + 1, t + 1)):
        rows = (rows * (1 - h[s] ** 2)) @ W_hh.T
    return rows

"""How `gradient_norms_by_lag` is checked: against PyTorch's autograd with respect to every state."""

import numpy as np
import torch

from grader.spec.spec import Case, Output, Spec, change, instead, on_grid


def oracle(dh_T, h, W_hh):
    """Autograd through the loop in float64. Constants added to the pre-activations make it return the given states."""
    W, target = torch.from_numpy(W_hh), torch.from_numpy(h)
    states = [target[:, 0].clone().requires_grad_()]
    for t in range(1, h.shape[1]):
        a = states[-1] @ W
        states.append(torch.tanh(a + (torch.atanh(target[:, t]) - a).detach()))
    gradients = torch.autograd.grad(states[-1], states, torch.from_numpy(dh_T))
    return np.array([gradient.norm().item() for gradient in reversed(gradients)])


EXAMPLE = Case(
    sizes={"B": 2, "T": 3, "H": 1},
    inputs={
        "dh_T": np.array([[3.00], [-4.00]]),
        "h": np.array([[[0.40], [-0.50], [0.80]], [[-0.10], [0.20], [0.60]]]),
        "W_hh": np.array([[0.50]]),
    },
)


def case(rng, B, T, H, kind="ordinary"):
    W_hh, h = 1.2 * rng.normal(size=(H, H)) / np.sqrt(H), [rng.uniform(-0.9, 0.9, size=(B, H))]
    for _ in range(T):
        h.append(on_grid(np.tanh(0.8 * rng.normal(size=(B, H)) + h[-1] @ W_hh)))
    return Case(
        sizes={"B": B, "T": T, "H": H},
        inputs={"dh_T": rng.normal(size=(B, H)), "h": np.stack(h[1:], axis=1), "W_hh": W_hh},
        kind=kind,
    )


def cases(rng):
    yield case(rng, B=2, T=4, H=3)
    yield case(rng, B=3, T=3, H=3)
    yield case(rng, B=1, T=5, H=2)
    yield case(rng, B=4, T=6, H=1)
    yield case(rng, B=2, T=8, H=4)
    yield case(rng, B=2, T=1, H=3, kind="T = 1")


SPEC = Spec(
    outputs=[Output("norms", ("lag",))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
)
NORM = "np.sqrt((dh**2).sum())"
BACK = "dh = (dh * (1 - h[:, T - 1 - lag] ** 2)) @ W_hh.T"
STATE = "h[:, T - 1 - lag]"
EACH = "np.linalg.norm(dh, axis=1)"

SPEC.mistakes(
    {
        "norm_along_one_axis": [
            *(
                change(NORM, f"np.linalg.norm(dh, axis={axis}){combined}")
                for axis in (1, 0)
                for combined in (".mean()", ".sum()", ".max()")
            ),
            change(NORM, f"{EACH}[0]"),
            change(NORM, EACH, ("np.zeros(T)", "np.zeros((T, len(h)))")),
            change(NORM, EACH, ("np.zeros(T)", "np.zeros((T, len(h)))"), ("return norms", "return norms.T")),
        ],
        "entries_added_before_the_norm": [
            change(NORM, "np.linalg.norm(dh.sum(axis=0))"),
            change(NORM, "np.linalg.norm(dh.mean(axis=0))"),
            change(NORM, "np.linalg.norm(dh.sum(axis=1))"),
            change(NORM, "dh.sum()"),
            change(NORM, "dh.mean()"),
            change(NORM, "abs(dh.sum())"),
        ],
        "norm_divided_by_the_size": [
            change(NORM, "np.sqrt((dh**2).mean())"),
            change(NORM, "np.sqrt((dh**2).sum() / len(dh))"),
        ],
        "another_norm": [
            change(NORM, "np.linalg.norm(dh, 2)"),
            change(NORM, "np.linalg.norm(dh, 1)"),
            change(NORM, "np.abs(dh).sum()"),
            change(NORM, "np.abs(dh).max()"),
            change(NORM, "np.abs(dh).mean()"),
        ],
        "norms_reversed": change("norms[lag]", "norms[T - 1 - lag]"),
        "starts_at_lag_1": change(f"norms[lag] = {NORM}", "", (BACK, f"{BACK}\nnorms[lag] = {NORM}")),
        "norm_of_the_pre_activation": change(NORM, f"np.linalg.norm(dh * (1 - {STATE} ** 2))"),
        **instead(
            "return norms",
            {
                "divided_by_lag_0": "return norms / norms[0]",
                "norms_accumulated": "return np.cumsum(norms)",
            },
        ),
        "W_hh_left_out": change(" @ W_hh.T", ""),
        **instead(
            STATE,
            {
                "states_read_forward": "h[:, lag]",
                "h_one_step_early": "h[:, max(T - 2 - lag, 0)]",
                "batch_indexed_by_time": "h[T - 1 - lag]",
            },
        ),
        "gradient_accumulated": [
            change("dh = (dh", "dh = dh + (dh"),
            change("dh = (dh *", "dh = ((dh + dh_T * (lag > 0)) *"),
            change(BACK, f"{BACK} + dh_T"),
        ],
        "W_hh_not_transposed": change("W_hh.T", "W_hh"),
        **instead(
            BACK,
            {
                "derivative_after_the_product": "dh = (dh @ W_hh.T) * (1 - h[:, T - 1 - lag] ** 2)",
                "derivative_of_the_earlier_state": ("dh = (dh @ W_hh.T) * (1 - h[:, max(T - 2 - lag, 0)] ** 2)"),
                "jacobian_times_gradient": "dh = (dh @ W_hh) * (1 - h[:, T - 1 - lag] ** 2)",
            },
        ),
        "derivative_left_out": [change(BACK, "dh = dh @ W_hh.T"), change(BACK, "dh = dh @ W_hh")],
        **instead(
            f"{STATE} ** 2",
            {
                "derivative_not_squared": STATE,
                "tanh_taken_again": f"np.tanh({STATE}) ** 2",
            },
        ),
        "another_derivative": [
            *(
                change(f"(1 - {STATE} ** 2)", becomes)
                for becomes in (
                    f"{STATE} * (1 - {STATE})",
                    f"(1 + {STATE} ** 2)",
                    f"{STATE} ** 2",
                    f"(1 - {STATE}) ** 2",
                )
            )
        ],
        "derivative_without_parentheses": change(f"(1 - {STATE} ** 2)", f"1 - {STATE} ** 2"),
        "always_from_dh_T": change("dh = (dh *", "dh = (dh_T *"),
    }
)


@SPEC.alternative
def all_gradients_first(dh_T, h, W_hh):
    """Collect the gradients, then take all norms at once."""
    gradients = [dh_T]
    for t in range(h.shape[1] - 1, 0, -1):
        gradients.append((gradients[-1] * (1 - h[:, t] ** 2)) @ W_hh.T)
    return np.linalg.norm(np.array(gradients), axis=(1, 2))


@SPEC.alternative
def in_the_order_of_time(dh_T, h, W_hh):
    """Store the gradient of each state in its place, as chapter 02 does, and reverse the norms at the end."""
    dh = np.zeros(h.shape)
    dh[:, -1] = dh_T
    for t in reversed(range(1, h.shape[1])):
        dh[:, t - 1] = np.einsum("bj,kj->bk", dh[:, t] * (1 - h[:, t] ** 2), W_hh)
    return np.sqrt(np.einsum("bth,bth->t", dh, dh))[::-1]


@SPEC.alternative
def with_jacobians(dh_T, h, W_hh):
    """A product of Jacobians for each sequence; the squares of all sequences add up under one root."""
    B, T, H = h.shape
    squares = np.zeros(T)
    for b in range(B):
        product = np.eye(H)
        for lag in range(T):
            squares[lag] += np.sum((dh_T[b] @ product) ** 2)
            product = product @ np.diag(1 - h[b, -1 - lag] ** 2) @ W_hh.T
    return np.sqrt(squares)

"""How `jacobian_product` is checked: against PyTorch's autograd through the steps from h[k] to h[t]."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Output, Spec, change, on_grid

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
    why=r"""
The state $h_t$ is a function of $h_{t-1}$, which is a function of $h_{t-2}$, and so on back to $h_k$. The Jacobian of a
composition is the product of the Jacobians, with that of the function applied last on the left. The loop runs from the
earliest step to the latest and puts each new factor on the left; from the latest to the earliest, each new factor would
go on the right. The step that produces `h[s]` contributes the factor of row `s`, so `h[k]` itself contributes none: it
is where the steps start. Without any step the product is the identity, because a state changes by exactly as much as
itself. That is also the value to start from, because it leaves the first factor as it is.
""",
)

FACTOR = "step_jacobian(h[s], W_hh)"
STEP = f"{FACTOR} @ product"
DERIVATIVE = "(1 - h[s] ** 2)"


def without_initial(h, W_hh, k, t):
    """A list of all factors, multiplied without a start."""
    from functools import reduce

    return reduce(np.matmul, [np.diag(1 - h[s] ** 2) @ W_hh.T for s in range(t, k, -1)])


SPEC.mistake(
    "order_reversed",
    "You multiply the Jacobians in the reverse order, with the earliest step on the left. Put the factor of the "
    "latest step on the left, because a change of `h[k]` goes through the earliest step first.",
    change(STEP, f"product @ {FACTOR}"),
    change(STEP, f"product @ {FACTOR}", ("range(k + 1, t + 1)", "range(k, t)")),
    change(STEP, f"product @ ({DERIVATIVE}[:, None] * W_hh)"),
    change(STEP, f"product @ ({DERIVATIVE} * W_hh.T)"),
    tempts="Each new factor is written to the right of what is there, and the shapes fit in either order.",
    keeps=[SAME],
)
SPEC.mistake(
    "jacobian_transposed",
    "Your product is transposed: its rows belong to the units of `h[k]`. Give it one row for each unit of `h[t]`, as "
    "in `step_jacobian`. Transposing every factor and reversing their order gives the transposed product too.",
    change("return product", "return product.T"),
    change(STEP, f"product @ {FACTOR}.T"),
    change("return product", "return product.T", ("range(k + 1, t + 1)", "range(k, t)")),
    tempts="Backpropagation multiplies by W_hh.T, so the whole product seems to need a transpose. Some texts also lay "
    "out a Jacobian with inputs first.",
    keeps=[SAME],
)
SPEC.mistake(
    "factors_transposed",
    "Your result is a product of transposed Jacobians with the latest step on the left: you transpose each of them but "
    "keep the order, or you reverse the order and transpose the result. Use the Jacobians of the steps as they are, "
    "with one row for each unit after the step.",
    change(FACTOR, f"{FACTOR}.T"),
    change(FACTOR, f"{FACTOR}.T", ("range(k + 1, t + 1)", "range(k, t)")),
    change(STEP, f"(W_hh * {DERIVATIVE}) @ product"),
    tempts="A loop that goes back through the weights is expected to contain a transpose.",
    keeps=[SAME],
)
SPEC.mistake(
    "h_one_step_early",
    "You compute each Jacobian from the state before its step, so `h[k]` is used and `h[t]` is not. Use `h[k + 1]` to "
    "`h[t]`: the derivative of the tanh belongs to the state that the step produces.",
    change("range(k + 1, t + 1)", "range(k, t)"),
    tempts="`range(k, t)` counts the right number of steps, and the change starts at h[k].",
    keeps=[SAME],
)
SPEC.mistake(
    "one_factor_too_many",
    "Your product has one factor too many, that of `h[k]`. Start at `h[k + 1]`, because the step that produces `h[k]` "
    "lies before `h[k]`.",
    change("range(k + 1, t + 1)", "range(k, t + 1)"),
    tempts="'From k to t' sounds as if both ends were included.",
)
SPEC.mistake(
    "last_factor_left_out",
    "Your product lacks its latest factor, that of `h[t]`. Include row `t`, because the last step produces `h[t]`; "
    "`range` stops one short of its second argument.",
    change("range(k + 1, t + 1)", "range(k + 1, t)"),
    tempts="`range(k + 1, t)` looks like 'from k + 1 to t', but it leaves t out.",
    keeps=[SAME],
)
SPEC.mistake(
    "first_factor_left_out",
    "Your product lacks its earliest factor, that of `h[k + 1]`. Include this row, because the first step after `h[k]` "
    "produces it.",
    change("range(k + 1, t + 1)", "range(k + 2, t + 1)"),
    tempts="A loop from t down to k + 1 is easily written `range(t, k + 1, -1)`, which leaves its end out.",
    keeps=[SAME],
)
SPEC.mistake(
    "identity_always",
    "You return the identity in every case, so no factor ever reaches your product. Check the range of your loop, and "
    "that each pass stores the new product.",
    change("range(k + 1, t + 1)", "range(t + 1, k + 1)"),
    tempts="A range whose ends are swapped is empty and raises no error.",
    keeps=[SAME],
)
SPEC.mistake(
    "not_started_from_the_identity",
    "You start from a matrix of zeros or ones, which spoils every product. Start from the identity, because it leaves "
    "the first factor as it is.",
    change("np.eye(h.shape[1])", "np.zeros(W_hh.shape)"),
    change("np.eye(h.shape[1])", "np.ones(W_hh.shape)"),
    tempts="A sum starts from zeros, a product of numbers from 1, and `np.ones` seems to be the 1 among matrices.",
)
SPEC.mistake(
    "factors_added",
    "You add the Jacobians of the steps. Multiply them, because each step acts on what the previous step gives.",
    change("np.eye(h.shape[1])", "np.zeros(W_hh.shape)", (STEP, f"product + {FACTOR}")),
    tempts="The gradient of a weight is a sum over the steps, but a change of a state goes through all of them.",
)
SPEC.mistake(
    "no_identity",
    "If k = t, there is no step between the two states, but you still start from a factor or return something else. "
    "Return the identity there, because a state depends on itself with derivative 1. If you start the product from the "
    "identity, this needs no `if`.",
    change("return product", f"return product if k < t else {FACTOR.replace('[s]', '[t]')}"),
    change("return product", "return product if k < t else step_jacobian(h[t + 1], W_hh)"),
    change("return product", "return product if k < t else np.zeros(W_hh.shape)"),
    change("return product", "return product if k < t else np.ones(W_hh.shape)"),
    change("return product", "return product if k < t else W_hh"),
    change("return product", "return product if k < t else W_hh.T"),
    change("return product", "return product if k < t else None"),
    change("return product", "return product if k < t else 1.0"),
    change("return product", "return product if k < t else [][0]"),  # the first of no factors
    without_initial,
    tempts="A product is often started from its first factor, and then nothing is left for k = t.",
    keeps=["k < t"],
)
SPEC.mistake(
    "same_state_for_all_factors",
    "You compute every factor from the same state. Use the row of `h` that each step produces, because the derivative "
    "of the tanh is different at each state.",
    *(change("h[s]", f"h[{row}]") for row in ("t", "k", "-1", "k + 1")),
    tempts="The weights are the same at every step, so all the Jacobians seem to be, which is true of a linear "
    "network.",
    keeps=[SAME],
)
SPEC.mistake(
    "W_hh_not_transposed",
    "You use `W_hh` as it is in each factor. Transpose it, as in `step_jacobian`: states are rows in this course, so "
    "the weight from unit j to unit i is `W_hh[j, i]`.",
    change(FACTOR, f"({DERIVATIVE}[:, None] * W_hh)"),
    tempts="Papers write diag(φ′) W_hh for states that are columns.",
    keeps=[SAME],
)
SPEC.mistake(
    "derivative_multiplies_columns",
    "In each factor you multiply the columns by the derivatives of the tanh. Multiply the rows, as in `step_jacobian`, "
    "because the derivative belongs to the state after the step.",
    change(FACTOR, f"({DERIVATIVE} * W_hh.T)"),
    change(FACTOR, f"({DERIVATIVE} * W_hh.T)", ("range(k + 1, t + 1)", "range(k, t)")),
    tempts="Broadcasting a vector over a matrix multiplies columns.",
    keeps=[SAME],
)
SPEC.mistake(
    "derivative_left_out",
    "You leave out the derivatives of the tanh and multiply the weights alone. Use the Jacobian of each step, because "
    "only a linear network has the same factor at every step.",
    change(FACTOR, "W_hh.T"),
    change(FACTOR, "W_hh"),
    tempts="A power of the recurrent matrix is what every text on vanishing gradients shows first.",
    keeps=[SAME],
)
WEIGHTS, DERIVATIVES = "np.linalg.matrix_power(W_hh.T, t - k)", "np.prod(1 - h[k + 1 : t + 1] ** 2, axis=0)"
SPEC.mistake(
    "derivatives_and_weights_apart",
    "You multiply all the derivatives and all the weights separately and put the two products together at the end. "
    "Multiply the whole Jacobians of the steps instead: in their product, derivatives and weights alternate, and "
    "matrices do not commute.",
    change("return product", f"return np.diag({DERIVATIVES}) @ {WEIGHTS}"),
    change("return product", f"return {WEIGHTS} @ np.diag({DERIVATIVES})"),
    tempts="For one unit the factors are numbers, and their order makes no difference.",
    keeps=[SAME],
)
SPEC.mistake(
    "rows_counted_from_the_start",
    "Your product has the right number of factors, but they come from the first rows of `h`, wherever the steps start. "
    "Begin with `h[k + 1]`, the state that the first step after `h[k]` produces.",
    change("h[s]", "h[s - k]"),
    change("h[s]", "h[s - k - 1]"),
    tempts="A loop over `range(t - k)` counts the steps, and its index is easily taken for the row.",
    keeps=[SAME],
)
SPEC.mistake(
    "derivative_not_squared",
    "In each factor you compute the derivative of the tanh as 1 − h. Square the state, because the derivative is "
    "1 − tanh², and the state is the tanh.",
    change(FACTOR, "((1 - h[s])[:, None] * W_hh.T)"),
    tempts="The square is easily lost when the factor is written again.",
    keeps=[SAME],
)
SPEC.mistake(
    "tanh_taken_again",
    "In each factor you apply the tanh to the state once more. Use `1 - h[s]**2`, because the states in `h` are "
    "already results of the tanh.",
    change(FACTOR, "((1 - np.tanh(h[s]) ** 2)[:, None] * W_hh.T)"),
    tempts="The derivative is written 1 − tanh²(…).",
    keeps=[SAME],
)
SPEC.mistake(
    "multiplied_entry_by_entry",
    "You multiply the Jacobians entry by entry. Use the matrix product `@`, because a change reaches each unit through "
    "all units of the state in between, and these contributions add up.",
    change(STEP, f"{FACTOR} * product"),
    change(
        "np.eye(h.shape[1])", "np.eye(h.shape[1]) if k == t else np.ones(W_hh.shape)", (STEP, f"{FACTOR} * product")
    ),
    tempts="`*` is the sign of a product, and `*=` the usual way to accumulate one.",
    keeps=[SAME],
)
SPEC.mistake(
    "only_one_factor",
    "You return the Jacobian of a single step. Multiply those of all steps from `h[k + 1]` to `h[t]`: in a loop, each "
    "pass must use the product of the previous passes.",
    change(STEP, FACTOR),
    change("return product", f"return {FACTOR.replace('[s]', '[k + 1]')} if k < t else product"),
    tempts="A plain `product = …` overwrites what the earlier steps gave.",
    keeps=[SAME],
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

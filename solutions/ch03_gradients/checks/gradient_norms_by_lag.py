"""How `gradient_norms_by_lag` is checked: against PyTorch's autograd with respect to every state."""

import numpy as np
import torch

from grader.author.spec import Case, Output, Spec, change, on_grid


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
    why=r"""
Only the last state has a gradient from the loss, so nothing is added on the way back: each step multiplies the gradient
by the derivative of the tanh, entry by entry, and then by $W_{hh}^\top$. To get from the state at lag $\ell$ to that at
lag $\ell + 1$, the gradient goes back through the step that produced the state at lag $\ell$, which is
`h[:, T - 1 - lag]`. The norm is taken before this, so that entry 0 is the norm of `dh_T` itself. This costs one product
of a (B, H) by an (H, H) matrix per step, whereas a product of Jacobians would take (H, H) by (H, H), once for every
sequence.
""",
)

NORM = "np.sqrt((dh**2).sum())"
BACK = "dh = (dh * (1 - h[:, T - 1 - lag] ** 2)) @ W_hh.T"
STATE = "h[:, T - 1 - lag]"
EACH = "np.linalg.norm(dh, axis=1)"
SPEC.mistake(
    "norm_along_one_axis",
    "You take norms along one axis, of each sequence or of each unit, whether or not you combine them afterwards. Take "
    "one norm over all entries of the (B, H) array at once: neither the mean nor the sum of several norms is the norm "
    "of the whole.",
    *(
        change(NORM, f"np.linalg.norm(dh, axis={axis}){combined}")
        for axis in (1, 0)
        for combined in (".mean()", ".sum()", ".max()")
    ),
    change(NORM, f"{EACH}[0]"),
    change(NORM, EACH, ("np.zeros(T)", "np.zeros((T, len(h)))")),
    change(NORM, EACH, ("np.zeros(T)", "np.zeros((T, len(h)))"), ("return norms", "return norms.T")),
    tempts="Each sequence has a gradient of its own, and results over a batch are usually averaged.",
)
SPEC.mistake(
    "entries_added_before_the_norm",
    "You add or average entries of the gradient before they are squared, so positive and negative ones cancel. Square "
    "every entry first, then add up all the squares and take the root.",
    change(NORM, "np.linalg.norm(dh.sum(axis=0))"),
    change(NORM, "np.linalg.norm(dh.mean(axis=0))"),
    change(NORM, "np.linalg.norm(dh.sum(axis=1))"),
    change(NORM, "dh.sum()"),
    change(NORM, "dh.mean()"),
    change(NORM, "abs(dh.sum())"),
    tempts="A gradient is often summed or averaged over the batch, but only that of a weight.",
)
SPEC.mistake(
    "norm_divided_by_the_size",
    "You divide by a number of entries or sequences inside the norm, as in a root mean square. Use the Frobenius norm, "
    "the root of the plain *sum* of all squares.",
    change(NORM, "np.sqrt((dh**2).mean())"),
    change(NORM, "np.sqrt((dh**2).sum() / len(dh))"),
    tempts="A mean does not depend on the size of the batch, but it is another measure.",
)
SPEC.mistake(
    "another_norm",
    "You use another norm than the Frobenius norm, such as the largest singular value or a sum or mean of absolute "
    "values. Take the root of the sum of all squares. For a matrix, `np.linalg.norm(dh)` computes it, whereas "
    "`np.linalg.norm(dh, 2)` is the largest singular value.",
    change(NORM, "np.linalg.norm(dh, 2)"),
    change(NORM, "np.linalg.norm(dh, 1)"),
    change(NORM, "np.abs(dh).sum()"),
    change(NORM, "np.abs(dh).max()"),
    change(NORM, "np.abs(dh).mean()"),
    tempts="For a vector, ord=2 is the root of the sum of squares, but for a matrix it is the spectral norm.",
)
SPEC.mistake(
    "norms_reversed",
    "Your norms are in the order of time, the first state first. Put them in the order of the lag: entry 0 belongs to "
    "the last state, which the gradient reaches first.",
    change("norms[lag]", "norms[T - 1 - lag]"),
    tempts="In chapter 02 the gradient of step t was stored in place t, and entry T − 1 was that of the last step.",
)
SPEC.mistake(
    "starts_at_lag_1",
    "You pass the gradient back before you take its norm, so your entry 0 is that of lag 1. Take the norm first, "
    "because at lag 0 the gradient is `dh_T` itself.",
    change(f"norms[lag] = {NORM}", "", (BACK, f"{BACK}\nnorms[lag] = {NORM}")),
    tempts="In most loops the result of a pass is stored at its end.",
)
SPEC.mistake(
    "norm_of_the_pre_activation",
    "You take the norm after the derivative of the tanh, so it is that of the gradient of the pre-activation. Take it "
    "before, because the gradients of the *states* are measured.",
    change(NORM, f"np.linalg.norm(dh * (1 - {STATE} ** 2))"),
    tempts="In the loop of chapter 02, da_t is the quantity from which everything else is computed.",
)
SPEC.mistake(
    "divided_by_lag_0",
    "You divide the norms by the one at lag 0. Return them as they are, so that entry 0 is the norm of `dh_T`.",
    change("return norms", "return norms / norms[0]"),
    tempts="Plots of vanishing gradients often show the norm relative to that of the last state.",
)
SPEC.mistake(
    "W_hh_left_out",
    "You do not pass the gradient back through `W_hh`. Multiply by `W_hh.T` at each step, because the previous state "
    "entered the pre-activation through the weights.",
    change(" @ W_hh.T", ""),
    tempts="The derivatives of the tanh make the gradient shrink, and the shapes fit without the weights.",
)
SPEC.mistake(
    "states_read_forward",
    "You go back through the states in the wrong order, the first state first. Start with the derivative of the last "
    "state, `h[:, T - 1]`, because the gradient starts there.",
    change(STATE, "h[:, lag]"),
    tempts="The loop counts the lag upwards, and h is indexed with it.",
)
SPEC.mistake(
    "h_one_step_early",
    "You multiply by the derivative of the tanh at the state that the gradient is passed *to*. Use the state that it "
    "comes *from*: the step from lag 0 to lag 1 goes back through the tanh of the last state.",
    change(STATE, "h[:, max(T - 2 - lag, 0)]"),
    tempts="The gradient belongs to the previous state afterwards, so its derivative seems to be meant.",
)
SPEC.mistake(
    "gradient_accumulated",
    "You add what a step passes back to the gradient, or add `dh_T` once more. Replace the gradient at each step, `dh "
    "= …`, because only the last state has a gradient from the loss: at every other state nothing is added.",
    change("dh = (dh", "dh = dh + (dh"),
    change("dh = (dh *", "dh = ((dh + dh_T * (lag > 0)) *"),
    change(BACK, f"{BACK} + dh_T"),
    tempts="`dh[:, t] + dh_next` is the rule of chapter 02, but here every dh[:, t] but the last one is zero.",
)
SPEC.mistake(
    "norms_accumulated",
    "You add up norms. Store the norm of each lag by itself, because each is the size of one gradient.",
    change("return norms", "return np.cumsum(norms)"),
    tempts="The gradients of weights add up over time, but these are gradients of states.",
)
SPEC.mistake(
    "W_hh_not_transposed",
    "You multiply by `W_hh` where its transpose belongs. Use `W_hh.T`: unit k sends its value along row k of `W_hh`, "
    "so its gradient is summed along that same row. Because `W_hh` is square, the shapes fit either way.",
    change("W_hh.T", "W_hh"),
    tempts="The forward pass has h_prev @ W_hh.",
)
SPEC.mistake(
    "derivative_after_the_product",
    "You pass the gradient back through the weights first and multiply by the derivative of the tanh afterwards. Use "
    "the derivative first, because on the way back the gradient meets the tanh before it meets the weights.",
    change(BACK, "dh = (dh @ W_hh.T) * (1 - h[:, T - 1 - lag] ** 2)"),
    tempts="The forward pass multiplies by the weights first and applies the tanh afterwards.",
)
SPEC.mistake(
    "jacobian_times_gradient",
    "You multiply `dh` by `W_hh` first and by the derivative of the tanh afterwards, which is the Jacobian times the "
    "gradient. That is how a small change of the state goes *forward*. A gradient is a row on the left of the "
    "Jacobian, `dh @ J`: first the derivative, then `W_hh.T`.",
    change(BACK, "dh = (dh @ W_hh) * (1 - h[:, T - 1 - lag] ** 2)"),
    tempts="A matrix is usually multiplied by a vector from the right, and the shapes of `J @ dh[b]` fit.",
)
SPEC.mistake(
    "derivative_left_out",
    "You leave out the derivative of the tanh. Multiply `dh` by `1 - h**2` of the right step before the product with "
    "the weights, because each state is the tanh of its pre-activation.",
    change(BACK, "dh = dh @ W_hh.T"),
    change(BACK, "dh = dh @ W_hh"),
    tempts="The weights are what every explanation of vanishing gradients is about.",
)
SPEC.mistake(
    "derivative_not_squared",
    "You compute the derivative of the tanh as 1 − h. Square the state, because the derivative is 1 − tanh², and the "
    "state is the tanh.",
    change(f"{STATE} ** 2", STATE),
    tempts="The square is easily lost behind an index.",
)
SPEC.mistake(
    "tanh_taken_again",
    "You apply the tanh to the states once more. Use the square of `h` itself, because the states are already results "
    "of the tanh.",
    change(f"{STATE} ** 2", f"np.tanh({STATE}) ** 2"),
    tempts="The derivative is written 1 − tanh²(…).",
)
SPEC.mistake(
    "another_derivative",
    "Your factor resembles the derivative of the tanh but is another function of the state, such as h · (1 − h) or "
    "1 + h². Use 1 − h², because where the state is near −1 or 1 the tanh is flat, so its derivative is near 0.",
    *(
        change(f"(1 - {STATE} ** 2)", becomes)
        for becomes in (f"{STATE} * (1 - {STATE})", f"(1 + {STATE} ** 2)", f"{STATE} ** 2", f"(1 - {STATE}) ** 2")
    ),
    tempts="h (1 − h) is the derivative of the logistic function, and the others differ by one character.",
)
SPEC.mistake(
    "derivative_without_parentheses",
    "You left out the parentheses: `dh * 1 - h**2` is `dh` minus the square of the state. Put them around `1 - h**2`, "
    "because `dh` multiplies the whole derivative.",
    change(f"(1 - {STATE} ** 2)", f"1 - {STATE} ** 2"),
    tempts="'dh times 1 − h²' is how one says it, but Python multiplies first.",
)
SPEC.mistake(
    "always_from_dh_T",
    "You pass `dh_T` back through a single step at every lag. Pass back the gradient of the previous lag instead, "
    "because it has to go through all the steps in between.",
    change("dh = (dh *", "dh = (dh_T *"),
    tempts="The argument has a short name, and the loop runs without an error.",
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

"""How `rnn_backward` is checked: against PyTorch's autograd, one facet for each of the five gradients."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Output, Spec, on_grid


def oracle(dh, x, h_0, h, W_xh, W_hh):
    """Autograd through the unrolled loop in float64. Constants in the tanh make it give just the states of `h`."""
    arrays = (x, h_0, W_xh, W_hh, np.zeros(h_0.shape[1]))
    inputs, h_t, W, U, b = leaves = [torch.from_numpy(array.copy()).requires_grad_() for array in arrays]
    due, states = torch.atanh(torch.from_numpy(h)), []
    for t in range(x.shape[1]):
        a = inputs[:, t] @ W + h_t @ U + b
        h_t = torch.tanh(a + (due[:, t] - a).detach())
        states.append(h_t)
    return tuple(g.numpy() for g in torch.autograd.grad(torch.stack(states, dim=1), leaves, torch.from_numpy(dh)))


EXAMPLE = Case(
    sizes={"B": 1, "T": 2, "D": 1, "H": 2},
    inputs={
        "dh": np.array([[[0.30, -0.10], [1.00, 0.50]]]),
        "x": np.array([[[-1.00], [2.00]]]),
        "h_0": np.array([[0.50, -0.25]]),
        "h": np.array([[[0.50, -0.60], [0.80, 0.60]]]),
        "W_xh": np.array([[0.30, 0.55]]),
        "W_hh": np.array([[0.50, -0.25], [1.00, 0.75]]),
    },
)


def case(rng, B, T, D, H, last_only=False, kind="ordinary"):
    x, h_0 = rng.normal(size=(B, T, D)), rng.uniform(-0.9, 0.9, size=(B, H))
    W_xh, W_hh = rng.normal(size=(D, H)) / np.sqrt(D), rng.normal(size=(H, H)) / np.sqrt(H)
    b_h, h = 0.5 * rng.normal(size=H), [h_0]
    for t in range(T):
        h.append(on_grid(np.tanh(x[:, t] @ W_xh + h[-1] @ W_hh + b_h)))
    dh = rng.normal(size=(B, T, H))
    if last_only:
        dh[:, :-1] = 0
    return Case(
        sizes={"B": B, "T": T, "D": D, "H": H},
        inputs={"dh": dh, "x": x, "h_0": h_0, "h": np.stack(h[1:], axis=1), "W_xh": W_xh, "W_hh": W_hh},
        kind=kind,
    )


def cases(rng):
    yield case(rng, B=2, T=5, D=3, H=4)
    yield case(rng, B=3, T=3, D=3, H=3)
    yield case(rng, B=1, T=4, D=2, H=3)
    yield case(rng, B=3, T=4, D=1, H=1)
    yield case(rng, B=3, T=6, D=2, H=4, last_only=True, kind="the loss looks at the last step only")
    yield case(rng, B=3, T=1, D=2, H=4, kind="T = 1")
    yield case(rng, B=2, T=1, D=1, H=3, kind="T = 1")


SPEC = Spec(
    outputs=[
        Output("dx", ("B", "T", "D"), backward=True),
        Output("dh_0", ("B", "H")),
        Output("dW_xh", ("D", "H")),
        Output("dW_hh", ("H", "H")),
        Output("db_h", ("H",)),
    ],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("dx", share=2, outputs=("dx",)),
        Facet("dh_0", share=1, outputs=("dh_0",)),
        Facet("dW_xh", share=2, outputs=("dW_xh",)),
        Facet("dW_hh", share=2, outputs=("dW_hh",)),
        Facet("db_h", share=1, outputs=("db_h",)),
    ],
    why=r"""
A gradient can be handed on only when it is complete. The state $h_t$ is used by what looks at it and by step $t + 1$;
so step $t + 1$ has to be done before step $t$, and that is why the walk goes backward. At the last step nothing comes
from behind: `dh_next` starts as zeros. At each step the two sources are added, `dh[:, t] + dh_next`, the sum goes
through the tanh, and what reaches the state before is carried on as the new `dh_next`. After the first step it has
arrived at $h_0$, so what is left in the loop's variable *is* `dh_0`.
The weights are shared: imagine a copy of them for each step, differentiate with respect to each copy, and, since all
copies are one, add: hence `+=`. In `dW_hh` the copy of step $t$ was multiplied by the state *before*, which at $t = 0$
is `h_0`. No division stands anywhere: where the loss is a mean, the division is in `dh`.
""",
)


def walk(
    dh, x, h_0, h, W_xh, W_hh, *,
    steps=None, begin=None, through=None, to_x=None, back=None, read=None, before=None, of_bias=None, add=None,
):  # fmt: skip
    """The walk back with one thing changed; without any it is right."""
    T = x.shape[1]
    through = through or (lambda dh_t, dh_next, h_t, h_prev: (dh_t + dh_next) * (1 - h_t**2))
    to_x = to_x or (lambda da_t: da_t @ W_xh.T)
    back = back or (lambda t, da_t, dh_t, dh_next: da_t @ W_hh.T)
    read = read or (lambda t: x[:, t])
    before = before or (lambda t: h[:, t - 1] if t > 0 else h_0)
    of_bias = of_bias or (lambda da_t: da_t.sum(axis=0))
    add = add or (lambda so_far, part, t: so_far + part)
    dx, dW_xh, dW_hh, db_h = np.zeros(x.shape), np.zeros(W_xh.shape), np.zeros(W_hh.shape), np.zeros(len(W_hh))
    dh_next = np.zeros(h_0.shape) if begin is None else begin
    for t in reversed(range(T)) if steps is None else steps(T):
        da_t = through(dh[:, t], dh_next, h[:, t], h[:, t - 1] if t > 0 else h_0)
        dx[:, t] = to_x(da_t)
        dW_xh = add(dW_xh, read(t).T @ da_t, t)
        dW_hh = add(dW_hh, before(t).T @ da_t, t)
        db_h = add(db_h, of_bias(da_t), t)
        dh_next = back(t, da_t, dh[:, t], dh_next)
    return dx, dh_next, dW_xh, dW_hh, db_h


@SPEC.misconception()
def no_path_through_the_next_state(dh, x, h_0, h, W_xh, W_hh):
    """Tempting because dh is called the gradient of h, and every step by itself looks right with it."""
    return walk(dh, x, h_0, h, W_xh, W_hh, through=lambda dh_t, dh_next, h_t, h_prev: dh_t * (1 - h_t**2))


@SPEC.misconception()
def only_the_next_state(dh, x, h_0, h, W_xh, W_hh):
    """Tempting because one thinks of a loss at the end: dh[:, -1] starts the walk, all else comes through states."""
    return walk(
        dh, x, h_0, h, W_xh, W_hh, begin=dh[:, -1], through=lambda dh_t, dh_next, h_t, h_prev: dh_next * (1 - h_t**2)
    )


@SPEC.misconception()
def what_is_carried_adds_up(dh, x, h_0, h, W_xh, W_hh):
    """Tempting because gradients add up, 'add, never set'; what is carried belongs to another state at each step."""
    return walk(dh, x, h_0, h, W_xh, W_hh, back=lambda t, da_t, dh_t, dh_next: dh_next + da_t @ W_hh.T)


@SPEC.misconception("what_is_carried_adds_up")
def the_whole_blame_carried_on(dh, x, h_0, h, W_xh, W_hh):
    """The same with one name for what is carried and for the whole blame: it is added to, and never begun anew."""
    return walk(dh, x, h_0, h, W_xh, W_hh, back=lambda t, da_t, dh_t, dh_next: dh_next + dh_t + da_t @ W_hh.T)


@SPEC.misconception()
def walks_forward(dh, x, h_0, h, W_xh, W_hh):
    """Tempting because every other loop of the course runs from the first step to the last."""
    return walk(dh, x, h_0, h, W_xh, W_hh, steps=range)


@SPEC.misconception()
def slope_left_out(dh, x, h_0, h, W_xh, W_hh):
    """Tempting because the products with the weights are what one thinks about; the tanh between them is forgotten."""
    return walk(dh, x, h_0, h, W_xh, W_hh, through=lambda dh_t, dh_next, h_t, h_prev: dh_t + dh_next)


@SPEC.misconception()
def tanh_taken_again(dh, x, h_0, h, W_xh, W_hh):
    """Tempting because the derivative is written 1 - tanh²(…), and h is at hand to put in; it is the tanh already."""
    return walk(
        dh, x, h_0, h, W_xh, W_hh, through=lambda dh_t, dh_next, h_t, h_prev: (dh_t + dh_next) * (1 - np.tanh(h_t) ** 2)
    )


@SPEC.misconception()
def slope_of_the_state_before(dh, x, h_0, h, W_xh, W_hh):
    """Tempting because one walks towards the state before, and its shape fits; the tanh of step t gave h[:, t]."""
    return walk(
        dh, x, h_0, h, W_xh, W_hh, through=lambda dh_t, dh_next, h_t, h_prev: (dh_t + dh_next) * (1 - h_prev**2)
    )


@SPEC.misconception()
def slope_for_one_source(dh, x, h_0, h, W_xh, W_hh):
    """Tempting because one writes dh[:, t] * slope first and adds what comes from the next step afterwards."""
    return walk(dh, x, h_0, h, W_xh, W_hh, through=lambda dh_t, dh_next, h_t, h_prev: dh_t * (1 - h_t**2) + dh_next)


@SPEC.misconception()
def slope_left_out_on_the_way_back(dh, x, h_0, h, W_xh, W_hh):
    """Tempting because 'what comes back' sounds like the gradient of h times W_hh; the tanh lies on that way too."""
    return walk(dh, x, h_0, h, W_xh, W_hh, back=lambda t, da_t, dh_t, dh_next: (dh_t + dh_next) @ W_hh.T)


@SPEC.misconception()
def W_hh_left_out(dh, x, h_0, h, W_xh, W_hh):
    """Tempting because da_t already has the shape of the state before; it belongs to the sum, one product before it."""
    return walk(dh, x, h_0, h, W_xh, W_hh, back=lambda t, da_t, dh_t, dh_next: da_t)


@SPEC.misconception()
def W_hh_not_transposed(dh, x, h_0, h, W_xh, W_hh):
    """Tempting because the forward pass has h @ W_hh, and the shapes fit either way: W_hh is square."""
    return walk(dh, x, h_0, h, W_xh, W_hh, back=lambda t, da_t, dh_t, dh_next: da_t @ W_hh)


@SPEC.misconception()
def W_xh_not_transposed(dh, x, h_0, h, W_xh, W_hh):
    """Tempting for the same reason; where D is not H it does not even run."""
    return walk(dh, x, h_0, h, W_xh, W_hh, to_x=lambda da_t: da_t @ W_xh)


@SPEC.misconception()
def first_step_left_out(dh, x, h_0, h, W_xh, W_hh):
    """Tempting because range(T - 1, 0, -1) looks like all steps; its end is not included."""
    return walk(dh, x, h_0, h, W_xh, W_hh, steps=lambda T: range(T - 1, 0, -1))


@SPEC.misconception()
def last_step_left_out(dh, x, h_0, h, W_xh, W_hh):
    """Tempting because range(T - 2, -1, -1) begins where nothing is behind, one may think; T - 1 is the last index."""
    return walk(dh, x, h_0, h, W_xh, W_hh, steps=lambda T: range(T - 2, -1, -1))


@SPEC.misconception(keeps=("dx", "dh_0"))
def overwritten(dh, x, h_0, h, W_xh, W_hh):
    """Tempting because each line is right for its step; the next step writes over it."""
    return walk(dh, x, h_0, h, W_xh, W_hh, add=lambda so_far, part, t: part)


@SPEC.misconception(keeps=("dx", "dh_0"))
def last_step_only(dh, x, h_0, h, W_xh, W_hh):
    """Tempting because after the loop over dx one line for each weight is written, with the t that is at hand."""
    return walk(dh, x, h_0, h, W_xh, W_hh, add=lambda so_far, part, t: part if t == x.shape[1] - 1 else so_far)


@SPEC.misconception(keeps=("dx", "dh_0", "dW_hh", "db_h"))
def dW_xh_from_x_one_step_early(dh, x, h_0, h, W_xh, W_hh):
    """Tempting because dW_hh goes with h[:, t - 1], so dW_xh seems to go with x[:, t - 1]; step t read x[:, t]."""
    return walk(dh, x, h_0, h, W_xh, W_hh, read=lambda t: x[:, t - 1])


@SPEC.misconception(keeps=("dx", "dh_0", "db_h"))
def weight_gradients_transposed(dh, x, h_0, h, W_xh, W_hh):
    """Tempting because in the column convention of many texts the outer product is written da xᵀ."""
    dx, dh_0, dW_xh, dW_hh, db_h = walk(dh, x, h_0, h, W_xh, W_hh)
    return dx, dh_0, dW_xh.T, dW_hh.T, db_h


@SPEC.misconception(keeps=("dx", "dh_0", "dW_xh", "db_h"))
def dW_hh_from_h_t(dh, x, h_0, h, W_xh, W_hh):
    """Tempting because dW_xh goes with x[:, t], so dW_hh seems to go with h[:, t]; W_hh met the state before."""
    return walk(dh, x, h_0, h, W_xh, W_hh, before=lambda t: h[:, t])


@SPEC.misconception(keeps=("dx", "dh_0", "dW_xh", "db_h"))
def h_0_forgotten(dh, x, h_0, h, W_xh, W_hh):
    """Tempting because nearly every example starts from a zero state, which adds nothing to dW_hh."""
    return walk(dh, x, h_0, h, W_xh, W_hh, before=lambda t: h[:, t - 1] if t > 0 else 0 * h_0)


@SPEC.misconception(keeps=("dx", "dh_0", "dW_xh", "db_h"))
def h_wraps_around(dh, x, h_0, h, W_xh, W_hh):
    """Tempting because h[:, t - 1] is the state before; at t = 0 Python reads h[:, -1], the last one."""
    return walk(dh, x, h_0, h, W_xh, W_hh, before=lambda t: h[:, t - 1])


@SPEC.misconception(keeps=("dx", "dh_0"))
def averaged(dh, x, h_0, h, W_xh, W_hh):
    """Tempting because losses are means; where the loss is one, its division is in dh already."""
    dx, dh_0, *of_all = walk(dh, x, h_0, h, W_xh, W_hh)
    return dx, dh_0, *(g / len(x) for g in of_all)


@SPEC.misconception("averaged", keeps=("dx", "dh_0"))
def averaged_over_time(dh, x, h_0, h, W_xh, W_hh):
    """The same over time."""
    dx, dh_0, *of_all = walk(dh, x, h_0, h, W_xh, W_hh)
    return dx, dh_0, *(g / x.shape[1] for g in of_all)


@SPEC.misconception("averaged", keeps=("dx", "dh_0"))
def averaged_over_both(dh, x, h_0, h, W_xh, W_hh):
    """The same over batch and time."""
    dx, dh_0, *of_all = walk(dh, x, h_0, h, W_xh, W_hh)
    return dx, dh_0, *(g / (len(x) * x.shape[1]) for g in of_all)


@SPEC.misconception(keeps=("dx", "dh_0", "dW_xh", "dW_hh"))
def bias_averaged(dh, x, h_0, h, W_xh, W_hh):
    """Tempting because .mean(axis=0) brings (B, H) to (H,) just as .sum(axis=0) does."""
    return walk(dh, x, h_0, h, W_xh, W_hh, of_bias=lambda da_t: da_t.mean(axis=0))


@SPEC.misconception("bias_averaged", keeps=("dx", "dh_0", "dW_xh", "dW_hh"))
def bias_averaged_over_time(dh, x, h_0, h, W_xh, W_hh):
    """The same over time."""
    *others, db_h = walk(dh, x, h_0, h, W_xh, W_hh)
    return *others, db_h / x.shape[1]


@SPEC.misconception("bias_averaged", keeps=("dx", "dh_0", "dW_xh", "dW_hh"))
def bias_averaged_over_both(dh, x, h_0, h, W_xh, W_hh):
    """The same over batch and time."""
    *others, db_h = walk(dh, x, h_0, h, W_xh, W_hh)
    return *others, db_h / (len(x) * x.shape[1])


@SPEC.misconception(keeps=("dx", "dh_0", "dW_xh", "dW_hh"))
def bias_not_summed(dh, x, h_0, h, W_xh, W_hh):
    """Tempting because the bias is multiplied by nothing, so da_t is its gradient: true of each row by itself."""
    return walk(dh, x, h_0, h, W_xh, W_hh, of_bias=lambda da_t: da_t)


@SPEC.misconception(keeps=("dx", "dW_xh", "dW_hh", "db_h"))
def dh_0_is_that_of_the_first_state(dh, x, h_0, h, W_xh, W_hh):
    """Tempting because after the loop the gradient of h[:, 0] is at hand; h_0 is one step further back."""
    return walk(
        dh, x, h_0, h, W_xh, W_hh, back=lambda t, da_t, dh_t, dh_next: da_t @ W_hh.T if t > 0 else dh_t + dh_next
    )


@SPEC.misconception("dh_0_is_that_of_the_first_state", keeps=("dx", "dW_xh", "dW_hh", "db_h"))
def dh_0_is_that_of_the_first_sum(dh, x, h_0, h, W_xh, W_hh):
    """The same, behind the tanh."""
    return walk(dh, x, h_0, h, W_xh, W_hh, back=lambda t, da_t, dh_t, dh_next: da_t @ W_hh.T if t > 0 else da_t)


@SPEC.misconception("dh_0_is_that_of_the_first_state", keeps=("dx", "dW_xh", "dW_hh", "db_h"))
def dh_0_is_what_looked_at_the_first_state(dh, x, h_0, h, W_xh, W_hh):
    """The same, with the part that was handed in: dh_0 and dh[:, 0] look alike."""
    return walk(dh, x, h_0, h, W_xh, W_hh, back=lambda t, da_t, dh_t, dh_next: da_t @ W_hh.T if t > 0 else dh_t)


@SPEC.misconception(keeps=("dh_0", "dW_xh", "dW_hh", "db_h"))
def dx_in_the_order_of_the_walk(dh, x, h_0, h, W_xh, W_hh):
    """Tempting because dx is appended to a list and stacked, as in the forward pass; the walk went the other way."""
    dx, *others = walk(dh, x, h_0, h, W_xh, W_hh)
    return dx[:, ::-1], *others


@SPEC.misconception()
def in_place(dh, x, h_0, h, W_xh, W_hh):
    """Tempting because dh_t = dh[:, t] looks like an array of its own; it is a view, and += writes into dh."""

    def through(dh_t, dh_next, h_t, h_prev):
        dh_t += dh_next
        return dh_t * (1 - h_t**2)

    return walk(dh, x, h_0, h, W_xh, W_hh, through=through)


@SPEC.alternative
def by_recursion(dh, x, h_0, h, W_xh, W_hh):
    """The last step, then the rest of the sequence, to whose last state the blame is added."""
    if x.shape[1] == 0:
        return np.zeros(x.shape), np.zeros(h_0.shape), np.zeros(W_xh.shape), np.zeros(W_hh.shape), np.zeros(len(W_hh))
    da = dh[:, -1] * (1 - h[:, -1] ** 2)
    h_prev = h[:, -2] if x.shape[1] > 1 else h_0
    rest, to_h_0 = dh[:, :-1].copy(), da @ W_hh.T
    if x.shape[1] > 1:
        rest[:, -1] += to_h_0
    dx, dh_0, dW_xh, dW_hh, db_h = by_recursion(rest, x[:, :-1], h_0, h[:, :-1], W_xh, W_hh)
    return (
        np.concatenate([dx, (da @ W_xh.T)[:, None]], axis=1),
        dh_0 if x.shape[1] > 1 else to_h_0,
        dW_xh + x[:, -1].T @ da,
        dW_hh + h_prev.T @ da,
        db_h + da.sum(axis=0),
    )


@SPEC.alternative
def sums_after_the_loop(dh, x, h_0, h, W_xh, W_hh):
    """The loop finds da alone; all five results are products over batch and time at once."""
    slope, da = 1 - h**2, np.zeros(h.shape)
    carry = np.zeros(h_0.shape)
    for t in range(x.shape[1] - 1, -1, -1):
        da[:, t] = (dh[:, t] + carry) * slope[:, t]
        carry = da[:, t] @ W_hh.T
    before = np.concatenate([h_0[:, None], h[:, :-1]], axis=1)
    return (
        da @ W_xh.T,
        carry,
        np.einsum("bti,btj->ij", x, da),
        np.tensordot(before, da, axes=([0, 1], [0, 1])),
        da.sum(axis=(0, 1)),
    )


@SPEC.alternative
def by_stacking(dh, x, h_0, h, W_xh, W_hh):
    """Lists that grow at their front, then stacked; input and state in one row, with one matrix."""
    D, W = x.shape[2], np.vstack([W_xh, W_hh])
    states, dW, dh_t = [h_0, *h.swapaxes(0, 1)], 0, 0
    da, dx = [], []
    for t in reversed(range(x.shape[1])):
        da.insert(0, (dh[:, t] + dh_t) * (1 - states[t + 1] ** 2))
        d_row = da[0] @ W.T
        dW = dW + np.hstack([x[:, t], states[t]]).T @ da[0]
        dx.insert(0, d_row[:, :D])
        dh_t = d_row[:, D:]
    return np.stack(dx, axis=1), dh_t, dW[:D], dW[D:], np.sum(da, axis=(0, 1))


@SPEC.alternative
def row_by_row(dh, x, h_0, h, W_xh, W_hh):
    """One sequence at a time, from its end; time is turned round first."""
    dx, dh_0 = np.zeros(x.shape), np.zeros(h_0.shape)
    dW_xh, dW_hh, db_h = np.zeros(W_xh.shape), np.zeros(W_hh.shape), np.zeros(len(W_hh))
    for b in range(len(x)):
        before = np.vstack([h_0[b], h[b, :-1]])
        for t in range(x.shape[1])[::-1]:
            da = (dh[b, t] + dh_0[b]) * (1 - h[b, t] ** 2)
            dx[b, t], dh_0[b] = W_xh @ da, W_hh @ da
            dW_xh, dW_hh, db_h = dW_xh + np.outer(x[b, t], da), dW_hh + np.outer(before[t], da), db_h + da
    return dx, dh_0, dW_xh, dW_hh, db_h


@SPEC.alternative
def path_by_path(dh, x, h_0, h, W_xh, W_hh):
    """No accumulation: from every state its own way down to every earlier step, all added up. Slow and right."""
    dx, dh_0 = np.zeros(x.shape), np.zeros(h_0.shape)
    dW_xh, dW_hh, db_h = np.zeros(W_xh.shape), np.zeros(W_hh.shape), np.zeros(len(W_hh))
    for start in range(x.shape[1]):
        da = dh[:, start] * (1 - h[:, start] ** 2)
        for t in range(start, -1, -1):
            dx[:, t] += da @ W_xh.T
            dW_xh += x[:, t].T @ da
            dW_hh += (h[:, t - 1] if t else h_0).T @ da
            db_h += da.sum(axis=0)
            da = da @ W_hh.T * ((1 - h[:, t - 1] ** 2) if t else 1)
        dh_0 += da
    return dx, dh_0, dW_xh, dW_hh, db_h

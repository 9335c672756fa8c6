"""How `rnn_backward` is checked: against PyTorch's autograd, one facet for each of the five gradients."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Output, Spec, change, on_grid


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


def case(rng, B, T, D, H, last_only=False, large=1.0, kind="ordinary"):
    x, h_0 = rng.normal(size=(B, T, D)), rng.uniform(-0.9, 0.9, size=(B, H))
    W_xh, W_hh = rng.normal(size=(D, H)) / np.sqrt(D), rng.normal(size=(H, H)) / np.sqrt(H)
    b_h, h = 0.5 * rng.normal(size=H), [h_0]
    for t in range(T):
        h.append(on_grid(np.tanh(x[:, t] @ W_xh + h[-1] @ W_hh + b_h)))
    dh = large * rng.normal(size=(B, T, H))
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
    yield case(rng, B=2, T=4, D=2, H=3, large=30.0, kind="large gradients")
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


RETURNED = "dh_next, dW_xh, dW_hh, db_h"
COUNTS = "len(x)", "x.shape[1]", "(len(x) * x.shape[1])"

SPEC.mistake(
    "no_path_through_the_next_state",
    "All is right for the last step alone: at every earlier one the path through the next state, h_{t+1}, is missing. "
    "`h[:, t]` also went into step t + 1, and what that step hands back is added to `dh[:, t]` before anything else.",
    change("(dh[:, t] + dh_next)", "dh[:, t]"),
    tempts="dh is called the gradient of h, and every step by itself looks right with it.",
)
SPEC.mistake(
    "only_the_next_state",
    "`dh` is used at the last step alone. Something may look at every state: at each step `dh[:, t]` is added to what "
    "the step after hands back.",
    change("dh_next = np.zeros(h_0.shape)", "dh_next = dh[:, -1]", ("(dh[:, t] + dh_next)", "dh_next")),
    tempts="One thinks of a loss at the end: dh[:, -1] starts the walk, all else comes through states.",
)
SPEC.mistake(
    "what_is_carried_adds_up",
    "What is carried to the step before is added to what was carried already. Weights add up over time, for they are "
    "used at every step. What is carried belongs to one state alone: once it has gone through `da`, what `da` hands "
    "back takes its place.",
    change("dh_next = da_t", "dh_next = dh_next + da_t"),
    change(
        "da_t = (dh[:, t] + dh_next)",
        "dh_next = dh_next + dh[:, t]\nda_t = dh_next",
        ("dh_next = da_t", "dh_next = dh_next + da_t"),
    ),
    tempts="Gradients add up, 'add, never set'; so does one name for what is carried and for the whole blame.",
)
SPEC.mistake(
    "walks_forward",
    "The walk goes forward in time. What `h[:, t]` is to blame for through the next state is known only when the next "
    "step is done: the last step comes first.",
    change("reversed(range(x.shape[1]))", "range(x.shape[1])"),
    tempts="Every other loop of the course runs from the first step to the last.",
)
SPEC.mistake(
    "slope_left_out",
    "The slope of the tanh is missing. Before anything reaches the sum inside the tanh, it is multiplied by 1 − h², "
    "with the `h` of that step.",
    change(" * (1 - h[:, t] ** 2)", ""),
    tempts="The products with the weights are what one thinks about; the tanh between them is forgotten.",
)
SPEC.mistake(
    "tanh_taken_again",
    "The slope is taken as 1 − tanh²(h). But `h` is already the tanh of the sum, and here its tanh is taken once more. "
    "The slope is 1 minus the square of `h` itself.",
    change("h[:, t] ** 2", "np.tanh(h[:, t]) ** 2"),
    tempts="The derivative is written 1 - tanh²(…), and h is at hand to put in; it is the tanh already.",
)
SPEC.mistake(
    "slope_of_the_state_before",
    "The slope is taken at the state before. The tanh of step t gave `h[:, t]`, so its slope is 1 − h² with that `h`.",
    change("h[:, t] ** 2", "h_prev**2"),
    tempts="One walks towards the state before, and its shape fits; the tanh of step t gave h[:, t].",
)
SPEC.mistake(
    "slope_for_one_source",
    "Only `dh[:, t]` goes through the slope of the tanh, and what the step after hands back is added behind it. Both "
    "are blame of the state: add them first, then both go through the slope.",
    change("(dh[:, t] + dh_next) * (1 - h[:, t] ** 2)", "dh[:, t] * (1 - h[:, t] ** 2) + dh_next"),
    tempts="One writes dh[:, t] * slope first and adds what comes from the next step afterwards.",
)
SPEC.mistake(
    "slope_left_out_on_the_way_back",
    "What is handed to the step before has not gone through the slope of the tanh: it is made of the blame of the "
    "state, and should be made of `da`. On the way from one state to the one before lie the tanh *and* `W_hh`.",
    change("dh_next = da_t @", "dh_next = (dh[:, t] + dh_next) @"),
    tempts="'What comes back' sounds like the gradient of h times W_hh; the tanh lies on that way too.",
)
SPEC.mistake(
    "W_hh_left_out",
    "What is handed to the step before is `da` itself: the path through `W_hh` is missing. The state before got into "
    "the sum by a product with `W_hh`.",
    change("dh_next = da_t @ W_hh.T", "dh_next = da_t"),
    tempts="da_t already has the shape of the state before; it belongs to the sum, one product before it.",
)
SPEC.mistake(
    "W_hh_not_transposed",
    "`W_hh` is not turned round on the way back. Forward, unit k sends its value along row k of `W_hh`; backward, it "
    "collects along that same row. `W_hh` is square, so the wrong way round fits too.",
    change("W_hh.T", "W_hh"),
    tempts="The forward pass has h @ W_hh, and the shapes fit either way: W_hh is square.",
)
SPEC.mistake(
    "W_xh_not_transposed",
    "`W_xh` is not turned round on the way back. `da` is (B, H) and `dx[:, t]` is (B, D): the matrix in between has to "
    "be (H, D).",
    change("W_xh.T", "W_xh"),
    tempts="The forward pass has x @ W_xh; where D is not H this does not even run.",
)
SPEC.mistake(
    "first_step_left_out",
    "The step t = 0 is left out, in the whole walk or here alone: `range(n, 0, -1)` ends at 1, and `if t > 0:` does "
    "not run at 0. It is a step like any other; the state before it is `h_0`.",
    change("reversed(range(x.shape[1]))", "range(x.shape[1] - 1, 0, -1)"),
    tempts="range(T - 1, 0, -1) looks like all steps; its end is not included.",
)
SPEC.mistake(
    "last_step_left_out",
    "The walk begins one step too early: the last step gets no gradient, and hands nothing back. With n steps the last "
    "index is n − 1.",
    change("reversed(range(x.shape[1]))", "range(x.shape[1] - 2, -1, -1)"),
    tempts="range(T - 2, -1, -1) begins where nothing is behind, one may think; T - 1 is the last index.",
)
SPEC.mistake(
    "overwritten",
    "Only the part of the first time step is left: each step writes over what the later ones gave. Weights and bias "
    "were used at every step, so the parts add up: `+=`.",
    change("dW_xh +=", "dW_xh =", ("dW_hh +=", "dW_hh ="), ("db_h +=", "db_h =")),
    tempts="Each line is right for its step; the next step writes over it.",
    keeps=("dx", "dh_0"),
)
SPEC.mistake(
    "last_step_only",
    "The gradient of weights and bias is right for the last step alone: the path through h_{t−1}, to the parts of all "
    "earlier steps, is not accumulated.",
    change(
        "dW_xh += x[:, t].T @ da_t\ndW_hh += h_prev.T @ da_t\ndb_h += da_t.sum(axis=0)",
        """
        if t == x.shape[1] - 1:
            dW_xh, dW_hh, db_h = x[:, t].T @ da_t, h_prev.T @ da_t, da_t.sum(axis=0)
        """,
    ),
    tempts="After the loop over dx one line for each weight is written, with the step that is at hand.",
    keeps=("dx", "dh_0"),
)
SPEC.mistake(
    "dW_xh_from_x_one_step_early",
    "`dW_xh` is made with `x[:, t - 1]`, one step too early. The state of step t − 1 goes into step t, but the input "
    "of step t is `x[:, t]`.",
    change("x[:, t].T", "x[:, t - 1].T"),
    tempts="dW_hh goes with h[:, t - 1], so dW_xh seems to go with x[:, t - 1]; step t read x[:, t].",
    keeps=("dx", "dh_0", "dW_hh", "db_h"),
)
SPEC.mistake(
    "weight_gradients_transposed",
    "The gradient of a weight matrix comes out turned, rows for columns: its rows should be what came in, its columns "
    "the units, as in the weight itself. `dW_hh` is square, so its shape does not tell.",
    change(RETURNED, "dh_next, dW_xh.T, dW_hh.T, db_h"),
    tempts="In the column convention of many texts the outer product is written da xᵀ.",
    keeps=("dx", "dh_0", "db_h"),
)
SPEC.mistake(
    "dW_hh_from_h_t",
    "`dW_hh` is made with `h[:, t]`, one step too late. `W_hh` was multiplied by the state before: `h[:, t - 1]`, and "
    "`h_0` at t = 0.",
    change("h_prev.T", "h[:, t].T"),
    tempts="dW_xh goes with x[:, t], so dW_hh seems to go with h[:, t]; W_hh met the state before.",
    keeps=("dx", "dh_0", "dW_xh", "db_h"),
)
SPEC.mistake(
    "h_0_forgotten",
    "`dW_hh` lacks its part from t = 0, where the state before is `h_0`. It is not zero here, and it counts like any "
    "other state.",
    change("else h_0", "else np.zeros_like(h_0)"),
    tempts="Nearly every example starts from a zero state, which adds nothing to dW_hh.",
    keeps=("dx", "dh_0", "dW_xh", "db_h"),
)
SPEC.mistake(
    "h_wraps_around",
    "At t = 0 `dW_hh` is made with the *last* state: `h[:, t - 1]` is then `h[:, -1]`, which Python counts from the "
    "end. The state before the first step is `h_0`.",
    change(" if t > 0 else h_0", ""),
    tempts="h[:, t - 1] is the state before; at t = 0 Python reads h[:, -1], the last one.",
    keeps=("dx", "dh_0", "dW_xh", "db_h"),
)
SPEC.mistake(
    "averaged",
    "The gradients of weights and bias are means, over the batch, over time or over both; sums are due. Where the loss "
    "is a mean, that division is in `dh` already.",
    *(change(RETURNED, f"dh_next, dW_xh / {n}, dW_hh / {n}, db_h / {n}") for n in COUNTS),
    tempts="Losses are means; where the loss is one, its division is in dh already.",
    keeps=("dx", "dh_0"),
)
SPEC.mistake(
    "bias_averaged",
    "`db_h` is a mean, over the batch, over time or over both; the sum is due. Where the loss is a mean, that division "
    "is in `dh` already.",
    change("da_t.sum(axis=0)", "da_t.mean(axis=0)"),
    *(change(RETURNED, f"dh_next, dW_xh, dW_hh, db_h / {n}") for n in COUNTS[1:]),
    tempts=".mean(axis=0) brings (B, H) to (H,) just as .sum(axis=0) does.",
    keeps=("dx", "dh_0", "dW_xh", "dW_hh"),
)
SPEC.mistake(
    "bias_not_summed",
    "In `db_h` the sum over the batch is missing. The one bias is added in every row, so all rows' blame adds up: "
    "(B, H) becomes (H,).",
    change("db_h += da_t.sum(axis=0)", "db_h = db_h + da_t"),
    tempts="The bias is multiplied by nothing, so da_t is its gradient: true of each row by itself.",
    keeps=("dx", "dh_0", "dW_xh", "dW_hh"),
)
SPEC.mistake(
    "dh_0_is_that_of_the_first_state",
    "`dh_0` is one step short: this belongs to `h[:, 0]`, the state *after* the first step, or to the sum that it was "
    "made of. `h_0` is the state before that step, and the way there leads once more through `W_hh`.",
    change("dh_next = da_t @ W_hh.T", "dh_next = da_t @ W_hh.T if t > 0 else dh[:, t] + dh_next"),
    change("dh_next = da_t @ W_hh.T", "dh_next = da_t @ W_hh.T if t > 0 else da_t"),
    change("return dx, dh_next", "return dx, dh[:, 0]"),
    tempts="After the loop the gradient of h[:, 0] is at hand, and dh_0 and dh[:, 0] look alike.",
    keeps=("dx", "dW_xh", "dW_hh", "db_h"),
)
SPEC.mistake(
    "dx_in_the_order_of_the_walk",
    "`dx` is in the order in which it was found, the last step first. Turn it round, or write each step's into its "
    "place.",
    change("return dx", "return dx[:, ::-1]"),
    tempts="dx is appended to a list and stacked, as in the forward pass; the walk went the other way.",
    keeps=("dh_0", "dW_xh", "dW_hh", "db_h"),
)
SPEC.mistake(
    "in_place",
    "The gradients are right, and `dh` is overwritten on the way: `dh[:, t]` is a view, not a copy, so `+=` on it "
    "writes into `dh` itself. `a = a + b` makes a new array.",
    change("da_t = (dh[:, t] + dh_next)", "dh_t = dh[:, t]\ndh_t += dh_next\nda_t = dh_t"),
    tempts="dh_t = dh[:, t] looks like an array of its own; it is a view, and += writes into dh.",
)
SPEC.mistake(
    "slope_for_the_next_state_alone",
    "Only what the step after hands back goes through the slope of the tanh; `dh[:, t]` goes past it. Both are "
    "blame of the state: add them first, in brackets, then the sum is multiplied by 1 − h².",
    change("(dh[:, t] + dh_next) * (1", "dh[:, t] + dh_next * (1"),
    tempts=("'dh plus what comes back, times the slope' is how one says it; in Python the product comes first."),
)
SPEC.mistake(
    "slope_of_the_logistic",
    "h · (1 − h) is the slope of the logistic function. The slope of the tanh is 1 − h².",
    change("(1 - h[:, t] ** 2)", "(h[:, t] * (1 - h[:, t]))"),
    tempts=("h (1 - h) is the best known derivative of a squashing function; it is the logistic's."),
)
SPEC.mistake(
    "slope_not_squared",
    "The slope is taken as 1 − h. It is 1 minus the *square* of `h[:, t]`.",
    change("h[:, t] ** 2", "h[:, t]"),
    tempts=("1 - h differs from the right slope by a few characters."),
)
SPEC.mistake(
    "dh_0_left_zero",
    "`dh_0` is all zeros. `h_0` went into the first step like any other state, so what that step hands back is "
    "its gradient.",
    change("return dx, dh_next", "return dx, np.zeros(h_0.shape)"),
    tempts=("An array for dh_0 is made with all the others, before the loop, and then forgotten."),
    keeps=("dx", "dW_xh", "dW_hh", "db_h"),
)
SPEC.mistake(
    "dx_without_the_slope",
    "`dx` is made of the blame of the state, which has not gone through the slope of the tanh. The input stands "
    "inside the tanh: its blame is made of `da`.",
    change("dx[:, t] = da_t @", "dx[:, t] = (dh[:, t] + dh_next) @"),
    change("dx[:, t] = da_t @", "dx[:, t] = dh[:, t] @"),
    tempts=("dh is what one is given, and its shape fits; the tanh lies between the state and the input."),
    keeps=("dh_0", "dW_xh", "dW_hh", "db_h"),
)
SPEC.mistake(
    "last_dh_counted_twice",
    "At the last step `dh[:, -1]` is counted twice: what is carried starts with it, and then the loop adds it "
    "again. From behind the last step nothing comes, so what is carried starts with zeros.",
    change("dh_next = np.zeros(h_0.shape)", "dh_next = dh[:, -1]"),
    tempts=("The walk seems to begin with dh[:, -1]; the loop brings it anyway."),
)
SPEC.mistake(
    "slope_taken_twice",
    "What is handed to the step before has gone through a slope once too often. `da` has been through that of its "
    "own step already; the slope of the step before is taken there, when its turn comes.",
    change("dh_next = da_t @ W_hh.T", "dh_next = da_t @ W_hh.T * (1 - h[:, t] ** 2)"),
    change("dh_next = da_t @ W_hh.T", "dh_next = da_t @ W_hh.T * (1 - h_prev**2)"),
    tempts=("Every blame goes through a slope, so one is written on the way back too; da has its own."),
)
SPEC.mistake(
    "steps_counted_by_the_batch",
    "The walk takes as many steps as there are sequences in the batch. Time is the second axis of `x` and `h`: "
    "there are `x.shape[1]` steps.",
    change("range(x.shape[1])", "range(x.shape[0])"),
    tempts=("len(x), or x.shape[0], is the length of most things; here it is that of the batch."),
)
SPEC.mistake(
    "dh_0_through_a_tanh",
    "`dh_0` has gone through one derivative of the tanh too many, that at `h_0`. `h_0` was not made by a step here, so "
    "what the first step passes back is its gradient already.",
    change("return dx, dh_next", "return dx, dh_next * (1 - h_0**2)"),
    tempts="All other states go through a tanh, and one list of all states treats `h_0` like these.",
    keeps=("dx", "dW_xh", "dW_hh", "db_h"),
)
SPEC.mistake(
    "weight_gradients_clipped",
    "Large gradients of weights and bias are clipped. Return them as they are: clipping belongs to the training loop, "
    "and is a topic of the next chapter.",
    *(
        change(RETURNED, f"dh_next, *(np.clip(dW, -{most}, {most}) for dW in (dW_xh, dW_hh, db_h))")
        for most in (1, 5, 10)
    ),
    tempts="A well-known script clips to ±5 at the end of its backward pass.",
    keeps=("dx", "dh_0"),
)


@SPEC.mistake(
    "one_array_for_all_steps",
    "All steps share one array for `da`: a list holds it again and again, and what you write into it at the first step "
    "replaces the values of all others. Make a new array at each step, or store a copy.",
    tempts="`das.append(da)` looks as if it kept the numbers; it keeps the array, which is written over.",
    keeps=("dh_0",),
)
def one_buffer(dh, x, h_0, h, W_xh, W_hh):
    da, dh_next, das = np.zeros(h_0.shape), np.zeros(h_0.shape), []
    for t in reversed(range(x.shape[1])):
        da[:] = (dh[:, t] + dh_next) * (1 - h[:, t] ** 2)
        das.append(da)
        dh_next = da @ W_hh.T
    da = np.stack(das[::-1], axis=1)
    before = np.concatenate([h_0[:, None], h[:, :-1]], axis=1)
    dW_xh, dW_hh = np.einsum("bti,btj->ij", x, da), np.einsum("bti,btj->ij", before, da)
    return da @ W_xh.T, dh_next, dW_xh, dW_hh, da.sum(axis=(0, 1))


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

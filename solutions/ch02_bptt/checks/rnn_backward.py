"""How `rnn_backward` is checked: against PyTorch's autograd, one facet for each of the five gradients."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Output, Spec, change, on_grid


def oracle(dh, x, h_0, h, W_xh, W_hh):
    """Autograd through the unrolled loop in float64. Constants added to the pre-activations make it return `h`."""
    arrays = (x, h_0, W_xh, W_hh, np.zeros(h_0.shape[1]))
    inputs, h_t, W, U, b = leaves = [torch.from_numpy(array.copy()).requires_grad_() for array in arrays]
    target, states = torch.atanh(torch.from_numpy(h)), []
    for t in range(x.shape[1]):
        a = inputs[:, t] @ W + h_t @ U + b
        h_t = torch.tanh(a + (target[:, t] - a).detach())
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
    yield case(rng, B=3, T=6, D=2, H=4, last_only=True, kind="a loss at the last step only")
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
A gradient can be passed back only when it is complete. The state $h_t$ is used by the output at step $t$ and by step
$t + 1$, so step $t + 1$ must be processed before step $t$; this is why the loop runs backward. No step follows the last
one, so `dh_next` starts as zeros. At each step the two contributions are added, `dh[:, t] + dh_next`, their sum is
multiplied by the derivative of the tanh, and what reaches the previous state becomes the new `dh_next`. After the first
step it has reached $h_0$, so what is left in `dh_next` *is* `dh_0`.
The weights are shared. Imagine a copy of them for each step and differentiate with respect to each copy; because all
copies are one and the same weight, the results are added, hence `+=`. In `dW_hh` the copy of step $t$ was multiplied by
the *previous* state, which is `h_0` at $t = 0$. Nothing is divided: where the loss is a mean, `dh` already contains the
division.
""",
)


RETURNED = "dh_next, dW_xh, dW_hh, db_h"
COUNTS = "len(x)", "x.shape[1]", "(len(x) * x.shape[1])"

SPEC.mistake(
    "dh_next_not_added",
    "You leave out `dh_next`, the contribution of the next step, so only the last step is right. Add `dh_next` to "
    "`dh[:, t]` before you do anything else, because `h[:, t]` also went into step t + 1.",
    change("(dh[:, t] + dh_next)", "dh[:, t]"),
    tempts="dh is called the gradient of h, and at each single step the code looks right with it.",
)
SPEC.mistake(
    "dh_used_at_the_last_step_only",
    "You use `dh` only at the last step. Add `dh[:, t]` to `dh_next` at every step, because every state may have an "
    "output of its own.",
    change("dh_next = np.zeros(h_0.shape)", "dh_next = dh[:, -1]", ("(dh[:, t] + dh_next)", "dh_next")),
    tempts="With a loss at the end in mind, dh[:, -1] starts the backward pass and everything else comes through the "
    "states.",
)
SPEC.mistake(
    "dh_next_accumulated",
    "You keep adding to the gradient that you pass back. Replace it at each step with what `da_t` passes back "
    "(`dh_next = …`, not `dh_next += …`), because it belongs to a single state. Only the gradients of the weights and "
    "the bias accumulate over time, because every step uses the same ones.",
    change("dh_next = da_t", "dh_next = dh_next + da_t"),
    change(
        "da_t = (dh[:, t] + dh_next)",
        "dh_next = dh_next + dh[:, t]\nda_t = dh_next",
        ("dh_next = da_t", "dh_next = dh_next + da_t"),
    ),
    tempts="'Add, never set' is the rule for gradients; using one name for dh_next and for the total gradient has the "
    "same effect.",
)
SPEC.mistake(
    "loops_forward",
    "You loop from the first step to the last. Start at the last step, because the gradient that `h[:, t]` receives "
    "through the next state is known only once step t + 1 is done.",
    change("reversed(range(x.shape[1]))", "range(x.shape[1])"),
    tempts="Every other loop of the course runs from the first step to the last.",
)
SPEC.mistake(
    "slope_left_out",
    "You leave out the derivative of the tanh. Multiply the gradient of the state by `1 - h[:, t] ** 2` first, "
    "because the pre-activation influences the state only through the tanh.",
    change(" * (1 - h[:, t] ** 2)", ""),
    tempts="The products with the weights get all the attention, and the tanh between them is forgotten.",
)
SPEC.mistake(
    "tanh_taken_again",
    "You compute the derivative as 1 − tanh²(h), which applies the tanh a second time. Use `1 - h ** 2`, because `h` "
    "is already the tanh of the pre-activation.",
    change("h[:, t] ** 2", "np.tanh(h[:, t]) ** 2"),
    tempts="The derivative is written 1 - tanh²(…), and h is at hand to put in, although it is already the tanh.",
)
SPEC.mistake(
    "slope_of_the_state_before",
    "You compute the derivative of the tanh from the previous state. Use `1 - h[:, t] ** 2`, because `h[:, t]` is "
    "what the tanh of step t returned.",
    change("h[:, t] ** 2", "h_prev**2"),
    tempts="The backward pass leads to the previous state, and its shape fits, but the tanh of step t returned h[:, "
    "t].",
)
SPEC.mistake(
    "slope_for_one_source",
    "You multiply only `dh[:, t]` by the derivative of the tanh, and add what comes from the next step afterwards. "
    "Add the two first and multiply their sum, because both are contributions to the gradient of the state.",
    change("(dh[:, t] + dh_next) * (1 - h[:, t] ** 2)", "dh[:, t] * (1 - h[:, t] ** 2) + dh_next"),
    tempts="It is natural to write dh[:, t] times the derivative first and to add dh_next afterwards.",
)
SPEC.mistake(
    "slope_left_out_of_dh_next",
    "You compute `dh_next` from the gradient of the state. Compute it from `da_t`, because the tanh *and* `W_hh` lie "
    "between a state and the previous one.",
    change("dh_next = da_t @", "dh_next = (dh[:, t] + dh_next) @"),
    tempts="'What comes back' sounds like the gradient of h times W_hh, but the tanh lies on that path too.",
)
SPEC.mistake(
    "W_hh_left_out",
    "You pass `da_t` itself back to the previous state. Take it through `W_hh` as well, because the previous state "
    "entered the pre-activation as a product with `W_hh`.",
    change("dh_next = da_t @ W_hh.T", "dh_next = da_t"),
    tempts="da_t already has the shape of the previous state, but it belongs to the pre-activation, one product after "
    "that state.",
)
SPEC.mistake(
    "W_hh_not_transposed",
    "You multiply by `W_hh` where its transpose belongs. Use `W_hh.T`: forward, unit k sends its value along row k of "
    "`W_hh`, so backward its gradient is summed along that same row. Because `W_hh` is square, the shapes fit either "
    "way.",
    change("W_hh.T", "W_hh"),
    tempts="The forward pass has h @ W_hh, and the shapes fit either way because W_hh is square.",
)
SPEC.mistake(
    "W_xh_not_transposed",
    "You multiply by `W_xh` where its transpose belongs. Use `W_xh.T`: `da_t` is (B, H) and `dx[:, t]` is (B, D), so "
    "the matrix in between must be (H, D).",
    change("W_xh.T", "W_xh"),
    tempts="The forward pass has x @ W_xh. Where D is not H, this code does not even run.",
)
SPEC.mistake(
    "first_step_left_out",
    "You leave out the step t = 0, in the whole loop or in part of it: `range(n, 0, -1)` ends at 1, and `if t > 0:` "
    "does not run at 0. Include it, because it is a step like any other; its previous state is `h_0`.",
    change("reversed(range(x.shape[1]))", "range(x.shape[1] - 1, 0, -1)"),
    tempts="range(T - 1, 0, -1) looks like all steps, but its end is not included.",
)
SPEC.mistake(
    "last_step_left_out",
    "You start the loop at the second-to-last step, so the last step gets no gradient and passes none back. Start at "
    "index n − 1, because n steps are counted from 0.",
    change("reversed(range(x.shape[1]))", "range(x.shape[1] - 2, -1, -1)"),
    tempts="range(T - 2, -1, -1) seems right because no step follows the last one, but T - 1 is the last index.",
)
SPEC.mistake(
    "overwritten",
    "You overwrite the gradients at each step, so only the part from the first time step is left. Accumulate the "
    "parts with `+=`, because the weights and the bias were used at every step.",
    change("dW_xh +=", "dW_xh =", ("dW_hh +=", "dW_hh ="), ("db_h +=", "db_h =")),
    tempts="Each line is right for its own step, but the next pass of the loop overwrites it.",
    keeps=("dx", "dh_0"),
)
SPEC.mistake(
    "last_step_only",
    "Your gradients of the weights and the bias contain only the part of the last step. Add the parts of all earlier "
    "steps, because the same weights were used there; the gradient reaches those steps through h_{t−1}.",
    change(
        "dW_xh += x[:, t].T @ da_t\ndW_hh += h_prev.T @ da_t\ndb_h += da_t.sum(axis=0)",
        """
        if t == x.shape[1] - 1:
            dW_xh, dW_hh, db_h = x[:, t].T @ da_t, h_prev.T @ da_t, da_t.sum(axis=0)
        """,
    ),
    tempts="The lines for the weights are written after the loop over dx, with the one step that is at hand.",
    keeps=("dx", "dh_0"),
)
SPEC.mistake(
    "dW_xh_from_x_one_step_early",
    "You compute `dW_xh` from `x[:, t - 1]`, one step too early. Use `x[:, t]`, because step t takes its *state* from "
    "step t − 1 but reads its own input.",
    change("x[:, t].T", "x[:, t - 1].T"),
    tempts="dW_hh uses h[:, t - 1], so dW_xh seems to use x[:, t - 1], but step t read x[:, t].",
    keeps=("dx", "dh_0", "dW_hh", "db_h"),
)
SPEC.mistake(
    "weight_gradients_transposed",
    "You return the gradient of a weight matrix transposed. Give it the layout of the weight itself, with a row for "
    "each incoming value and a column for each unit, because each entry belongs to one weight. In `dW_hh`, which is "
    "square, the shape does not tell you.",
    change(RETURNED, "dh_next, dW_xh.T, dW_hh.T, db_h"),
    tempts="In the column convention of many texts the outer product is written da xᵀ.",
    keeps=("dx", "dh_0", "db_h"),
)
SPEC.mistake(
    "dW_hh_from_h_t",
    "You compute `dW_hh` from `h[:, t]`, one step too late. Use `h[:, t - 1]`, and `h_0` at t = 0, because `W_hh` was "
    "multiplied by the previous state.",
    change("h_prev.T", "h[:, t].T"),
    tempts="dW_xh uses x[:, t], so dW_hh seems to use h[:, t], but W_hh was multiplied by the previous state.",
    keeps=("dx", "dh_0", "dW_xh", "db_h"),
)
SPEC.mistake(
    "h_0_forgotten",
    "You leave out the part of `dW_hh` from t = 0. Add it with `h_0` as the previous state, because `h_0` is not zero "
    "here and counts like any other state.",
    change("else h_0", "else np.zeros_like(h_0)"),
    tempts="Nearly every example starts from a zero state, which adds nothing to dW_hh.",
    keeps=("dx", "dh_0", "dW_xh", "db_h"),
)
SPEC.mistake(
    "h_wraps_around",
    "At t = 0 you compute `dW_hh` from the *last* state: `h[:, t - 1]` is then `h[:, -1]`, which Python counts from "
    "the end. Use `h_0`, because that is the state before the first step.",
    change(" if t > 0 else h_0", ""),
    tempts="h[:, t - 1] is the previous state, but at t = 0 Python reads h[:, -1], the last one.",
    keeps=("dx", "dh_0", "dW_xh", "db_h"),
)
SPEC.mistake(
    "averaged",
    "You average the gradients of the weights and the bias over the batch, over time or over both. Sum them instead: "
    "where the loss is a mean, `dh` already contains the division.",
    *(change(RETURNED, f"dh_next, dW_xh / {n}, dW_hh / {n}, db_h / {n}") for n in COUNTS),
    tempts="Losses are usually means, but then dh already contains the division.",
    keeps=("dx", "dh_0"),
)
SPEC.mistake(
    "bias_averaged",
    "You average `db_h` over the batch, over time or over both. Sum it instead: where the loss is a mean, `dh` "
    "already contains the division.",
    change("da_t.sum(axis=0)", "da_t.mean(axis=0)"),
    *(change(RETURNED, f"dh_next, dW_xh, dW_hh, db_h / {n}") for n in COUNTS[1:]),
    tempts=".mean(axis=0) turns (B, H) into (H,) just as .sum(axis=0) does.",
    keeps=("dx", "dh_0", "dW_xh", "dW_hh"),
)
SPEC.mistake(
    "bias_not_summed",
    "You do not sum `db_h` over the batch. Sum over the rows, so that (B, H) becomes (H,), because the one bias is "
    "added in every row and each row contributes to its gradient.",
    change("db_h += da_t.sum(axis=0)", "db_h = db_h + da_t"),
    tempts="The bias is multiplied by nothing, so da_t looks like its gradient. For a single row it is.",
    keeps=("dx", "dh_0", "dW_xh", "dW_hh"),
)
SPEC.mistake(
    "dh_0_is_that_of_the_first_state",
    "Your `dh_0` is one step short: it belongs to `h[:, 0]`, the state *after* the first step, or to its "
    "pre-activation. Return what the first step passes back through `W_hh` instead, because `h_0` is the state before "
    "that step.",
    change("dh_next = da_t @ W_hh.T", "dh_next = da_t @ W_hh.T if t > 0 else dh[:, t] + dh_next"),
    change("dh_next = da_t @ W_hh.T", "dh_next = da_t @ W_hh.T if t > 0 else da_t"),
    change("return dx, dh_next", "return dx, dh[:, 0]"),
    tempts="After the loop the gradient of h[:, 0] is at hand, and dh_0 and dh[:, 0] look alike.",
    keeps=("dx", "dW_xh", "dW_hh", "db_h"),
)
SPEC.mistake(
    "dx_in_the_order_of_the_loop",
    "You return `dx` in the order in which the loop computes it, the last step first. Reverse it, or write each "
    "step's gradient into its own place, because `dx` runs forward in time as `x` does.",
    change("return dx", "return dx[:, ::-1]"),
    tempts="dx is appended to a list and stacked, as in the forward pass, but this loop ran backward.",
    keeps=("dh_0", "dW_xh", "dW_hh", "db_h"),
)
SPEC.mistake(
    "in_place",
    "Your gradients are right, but you overwrite `dh`: `dh[:, t]` is a view, not a copy, so `+=` on it writes into "
    "`dh` itself. Make a new array instead: `a = a + b`.",
    change("da_t = (dh[:, t] + dh_next)", "dh_t = dh[:, t]\ndh_t += dh_next\nda_t = dh_t"),
    tempts="dh_t = dh[:, t] looks like an array of its own, but it is a view, and += writes into dh.",
)
SPEC.mistake(
    "slope_for_the_next_state_alone",
    "You multiply only what comes from the next step by the derivative of the tanh, and add `dh[:, t]` without it. "
    "Add the two first, in parentheses, and multiply their sum, because both are contributions to the gradient of the "
    "state.",
    change("(dh[:, t] + dh_next) * (1", "dh[:, t] + dh_next * (1"),
    tempts="'dh plus dh_next, times the derivative' is how one says it, but Python multiplies first.",
)
SPEC.mistake(
    "slope_of_the_logistic",
    "You use h · (1 − h), the derivative of the logistic function. Use 1 − h², because this network applies the tanh.",
    change("(1 - h[:, t] ** 2)", "(h[:, t] * (1 - h[:, t]))"),
    tempts="h (1 - h) is the best known derivative of an activation function, but it belongs to the logistic function.",
)
SPEC.mistake(
    "slope_not_squared",
    "You compute the derivative of the tanh as 1 − h. Square the state: the derivative is 1 − tanh²(a), and tanh(a) "
    "is `h[:, t]`.",
    change("h[:, t] ** 2", "h[:, t]"),
    tempts="1 - h differs from the right derivative by a few characters.",
)
SPEC.mistake(
    "dh_0_left_zero",
    "Your `dh_0` is all zeros. Return what the first step passes back, because `h_0` went into that step as any other "
    "state went into the next one.",
    change("return dx, dh_next", "return dx, np.zeros(h_0.shape)"),
    tempts="An array for dh_0 is created with all the others, before the loop, and then forgotten.",
    keeps=("dx", "dW_xh", "dW_hh", "db_h"),
)
SPEC.mistake(
    "dx_without_the_slope",
    "You leave out the derivative of the tanh in `dx`. Compute it from `da_t`, because the input influences the state "
    "only through the tanh.",
    change("dx[:, t] = da_t @", "dx[:, t] = (dh[:, t] + dh_next) @"),
    change("dx[:, t] = da_t @", "dx[:, t] = dh[:, t] @"),
    tempts="dh is given, and its shape fits, but the tanh lies between the state and the input.",
    keeps=("dh_0", "dW_xh", "dW_hh", "db_h"),
)
SPEC.mistake(
    "last_dh_counted_twice",
    "You count `dh[:, -1]` twice: `dh_next` starts with it, and then the loop adds it again. Start `dh_next` with "
    "zeros, because no step follows the last one.",
    change("dh_next = np.zeros(h_0.shape)", "dh_next = dh[:, -1]"),
    tempts="The backward pass seems to start with dh[:, -1], but the loop adds it anyway.",
)
SPEC.mistake(
    "slope_taken_twice",
    "You multiply what you pass back by a derivative of the tanh once too often. Pass `da_t` back through `W_hh` "
    "alone: `da_t` already contains the derivative of its own step, and that of the previous step is applied in the "
    "next pass of the loop.",
    change("dh_next = da_t @ W_hh.T", "dh_next = da_t @ W_hh.T * (1 - h[:, t] ** 2)"),
    change("dh_next = da_t @ W_hh.T", "dh_next = da_t @ W_hh.T * (1 - h_prev**2)"),
    tempts="Every gradient of a state is multiplied by a derivative, so dh_next gets one too, but da_t already "
    "contains its own.",
)
SPEC.mistake(
    "steps_counted_by_the_batch",
    "You loop over as many steps as there are sequences in the batch. Use `x.shape[1]` steps, because time is the "
    "second axis of `x` and `h`.",
    change("range(x.shape[1])", "range(x.shape[0])"),
    tempts="len(x), or x.shape[0], is the length of most things, but here it is that of the batch.",
)
SPEC.mistake(
    "dh_0_through_a_tanh",
    "You multiply `dh_0` by one derivative of the tanh too many, that at `h_0`. Return what the first step passes "
    "back as it is, because `h_0` was not computed by a tanh here.",
    change("return dx, dh_next", "return dx, dh_next * (1 - h_0**2)"),
    tempts="All other states come from a tanh, and in a list of all states `h_0` looks like one of them.",
    keeps=("dx", "dW_xh", "dW_hh", "db_h"),
)
SPEC.mistake(
    "weight_gradients_clipped",
    "You clip large gradients of the weights and the bias. Return them as they are, because clipping belongs to the "
    "training loop; the next chapter treats it.",
    *(
        change(RETURNED, f"dh_next, *(np.clip(dW, -{most}, {most}) for dW in (dW_xh, dW_hh, db_h))")
        for most in (1, 5, 10)
    ),
    tempts="A well-known script clips to ±5 at the end of its backward pass.",
    keeps=("dx", "dh_0"),
)


@SPEC.mistake(
    "one_array_for_all_steps",
    "You use one array for the `da` of all steps: a list then holds the same array again and again, and what you "
    "write into it at the first step replaces the values of all others. Make a new array at each step, or store a "
    "copy.",
    tempts="`das.append(da)` looks as if it kept the numbers, but it keeps the array, which is overwritten.",
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
    """The last step, then the rest of the sequence, to whose last `dh` its `dh_next` is added."""
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
    """The loop computes only da; the weight gradients and dx are then products over batch and time at once."""
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
    """Lists filled from the front and then stacked; input and state side by side, with one weight matrix."""
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
    """One sequence at a time, over reversed time indices."""
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
    """No `dh_next`: the `dh` of every step is passed back to all earlier steps by itself. Slow, but right."""
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

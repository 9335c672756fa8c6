"""How `truncated_bptt` is checked: against PyTorch's autograd, with the state detached at each cut."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Output, Spec, change, on_grid

WHOLE, SHORT, FULL, BY_HAND = "ordinary", "a short last chunk", "tau ≥ T", "the notebook's example"


def oracle(dh, x, h_0, h, W_xh, W_hh, tau):
    """Autograd through the recurrence; the loss is linear in the states, with the slopes dh, and detach is the cut."""
    dh, x, h_0, h = map(torch.from_numpy, (dh, x, h_0, h))
    W_xh, W_hh = (torch.tensor(W, requires_grad=True) for W in (W_xh, W_hh))
    db_h = torch.zeros(W_hh.shape[0], dtype=torch.float64, requires_grad=True)
    before = torch.cat([h_0[:, None], h[:, :-1]], dim=1)
    bias = (torch.atanh(h) - x @ W_xh - before @ W_hh).detach()  # the bias is no input; this makes the states h again
    state, loss = h_0, torch.zeros(())
    for t in range(x.shape[1]):
        if t % tau == 0:
            state = state.detach()
        state = torch.tanh(x[:, t] @ W_xh + state @ W_hh + bias[:, t] + db_h)
        loss = loss + (state * dh[:, t]).sum()
    return tuple(g.numpy() for g in torch.autograd.grad(loss, (W_xh, W_hh, db_h)))


def forward(x, h_0, W_xh, W_hh, b_h):
    states = [h_0]
    for x_t in np.moveaxis(x, 1, 0):
        states.append(np.tanh(x_t @ W_xh + states[-1] @ W_hh + b_h))
    return np.stack(states[1:], axis=1)


EXAMPLE = Case(
    sizes={"B": 1, "T": 5, "D": 1, "H": 1, "tau": 3},
    inputs={
        "dh": np.array([[[-0.48], [-0.05], [0.80], [0.05], [2.50]]]),
        "x": np.array([[[1.00], [-1.50], [2.00], [0.50], [-1.00]]]),
        "h_0": np.array([[0.40]]),
        "h": np.array([[[-0.50], [0.60], [0.50], [-0.60], [0.80]]]),
        "W_xh": np.array([[0.75]]),
        "W_hh": np.array([[0.50]]),
        "tau": 3,
    },
    kind=BY_HAND,
)


def case(rng, B, T, D, H, tau, kind=WHOLE):
    x, h_0 = rng.normal(size=(B, T, D)), rng.uniform(-0.9, 0.9, size=(B, H))
    W_xh, W_hh = rng.normal(size=(D, H)) / np.sqrt(D), rng.normal(size=(H, H)) / np.sqrt(H)
    if H == 1:
        W_hh = rng.choice([-1, 1]) * rng.uniform(0.8, 1.2, size=(1, 1))
    h = on_grid(forward(x, h_0, W_xh, W_hh, rng.normal(size=H) / 4))
    inputs = {"dh": rng.normal(size=(B, T, H)), "x": x, "h_0": h_0, "h": h, "W_xh": W_xh, "W_hh": W_hh, "tau": tau}
    return Case({"B": B, "T": T, "D": D, "H": H, "tau": tau}, inputs, kind)


def cases(rng):
    yield case(rng, B=2, T=6, D=4, H=5, tau=3)
    yield case(rng, B=3, T=8, D=3, H=3, tau=2)
    yield case(rng, B=1, T=9, D=2, H=2, tau=3)
    yield case(rng, B=2, T=4, D=1, H=3, tau=1)
    yield case(rng, B=2, T=7, D=3, H=4, tau=3, kind=SHORT)
    yield case(rng, B=1, T=5, D=2, H=1, tau=3, kind=SHORT)
    yield case(rng, B=2, T=4, D=3, H=5, tau=4, kind=FULL)
    yield case(rng, B=3, T=4, D=2, H=3, tau=9, kind=FULL)
    yield case(rng, B=2, T=1, D=2, H=3, tau=2, kind=FULL)


SPEC = Spec(
    outputs=[Output("dW_xh", ("D", "H")), Output("dW_hh", ("H", "H")), Output("db_h", ("H",))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("whole chunks", 2, kinds=(WHOLE,)),
        Facet("a short last chunk", 1, kinds=(SHORT, BY_HAND)),
        Facet("tau ≥ T", 1, kinds=(FULL,)),
    ],
    why="""
Inside a chunk it is the whole backward pass: what reaches a state from the loss and what comes back from the next
step. At the last step of a chunk nothing comes back, because the next step belongs to another chunk: that is the cut,
one line. The states themselves are those of the forward pass, which ran through without a cut; so `dW_hh` at the first
step of a chunk uses the last state of the chunk before. All chunks share the weights, and their gradients sum.
""",
)


CUT = "if (t + 1) % tau == 0:\n    dh_next = np.zeros(h_0.shape)"
STEPS = "range(x.shape[1])"

SPEC.mistake(
    "gradient_crosses_cuts",
    "Nothing is cut: this is the gradient of the whole sequence. At the last step of a chunk nothing comes back from "
    "the next step.",
    change(CUT, ""),
    tempts="A loop over chunks looks like cutting, even if what comes back is carried on.",
    keeps=("tau ≥ T",),
)
SPEC.mistake(
    "state_reset_at_cuts",
    "`dW_xh` and `db_h` are right, `dW_hh` is not: the first step of a chunk uses the wrong state before it, such as "
    "zeros, `h_0` once more, or the state that this very step made. The gradient stops at a cut, the state does not: "
    "`h_prev` there is the last state of the chunk before.",
    change("if t > 0", "if t % tau else 0 * h_0 if t > 0"),
    change("if t > 0", "if t % tau"),
    change("if t > 0", "if t % tau else h[:, t] if t > 0"),
    tempts="A chunk is treated like a sequence of its own, and sequences start from a state of zeros.",
    keeps=("tau ≥ T",),
)
SPEC.mistake(
    "dW_hh_from_h_t",
    "`dW_xh` and `db_h` are right, `dW_hh` is not: it is made with the state that each step *made*. `W_hh` was "
    "multiplied by the state before, which is one index lower, and `h_0` at t = 0.",
    change("(h[:, t - 1] if t > 0 else h_0)", "h[:, t]"),
    change("t - 1", "t"),
    tempts="dW_xh goes with x[:, t], so dW_hh seems to go with h[:, t]; W_hh met the state before.",
)
SPEC.mistake(
    "h_wraps_around",
    "`dW_xh` and `db_h` are right, `dW_hh` is not: at t = 0 it is made with the *last* state, since `h[:, t - 1]` is "
    "then `h[:, -1]`, which Python counts from the end. The state before the first step is `h_0`.",
    change(" if t > 0 else h_0", ""),
    tempts="`h[:, t - 1]` is right at every step but the first, and raises nothing there.",
)
SPEC.mistake(
    "W_hh_not_transposed",
    "The cuts are right, but `W_hh` is not turned round on the way back from a step to the one before. `W_hh` is "
    "square, so the wrong way round fits too: as in `rnn_backward`, it is `da` times `W_hh` transposed.",
    change("W_hh.T", "W_hh"),
    tempts="W_hh is square, so that no shape complains.",
)
SPEC.mistake(
    "short_last_chunk_dropped",
    "The last chunk is left out where it is shorter than tau. Its steps count like all others.",
    change(STEPS, "range(x.shape[1] // tau * tau)"),
    tempts="T // tau counts the chunks, and a loader of batches drops what is left over.",
    keeps=("whole chunks",),
)
SPEC.mistake(
    "last_chunk_only",
    "Only one chunk is in the result. All chunks share the weights, so their gradients are summed.",
    change(STEPS, "range((x.shape[1] - 1) // tau * tau, x.shape[1])"),
    change(STEPS, f"{STEPS}[-tau:]", (CUT, "")),
    change(STEPS, f"{STEPS}[:tau]"),
    tempts="`=` in place of `+=` keeps what the last round of the loop found.",
    keeps=("tau ≥ T",),
)
SPEC.mistake(
    "overwritten",
    "Only one step is in the result. Each step's part is to be added to those of the steps before: `+=`, not `=`.",
    change("dW_xh +=", "dW_xh =", ("dW_hh +=", "dW_hh ="), ("db_h +=", "db_h =")),
    tempts="Each line is right for its step; the next step writes over it.",
)
SPEC.mistake(
    "loss_dropped_at_cuts",
    "At the last step of a chunk all that reaches the state is dropped. What comes back from the step after is zero "
    "there; the step's own `dh` counts as everywhere.",
    change("(dh[:, t] + dh_next)", "((t + 1) % tau > 0) * (dh[:, t] + dh_next)"),
    change("(dh[:, t] + dh_next)", "((t + 1) % tau > 0 and t + 1 < x.shape[1]) * (dh[:, t] + dh_next)"),
    tempts="'zero at a cut' is easily put around the whole sum; the loss of that step is in it too.",
)
SPEC.mistake(
    "loss_dropped_between_chunks",
    "You drop all that reaches the state where one chunk ends and the next begins. Only what comes back from the next "
    "step is zero there; the step's own `dh` counts as it does everywhere.",
    change("(dh[:, t] + dh_next)", "((t + 1) % tau > 0 or t + 1 == x.shape[1]) * (dh[:, t] + dh_next)"),
    tempts="'zero at a cut' is easily put around the whole sum; the loss of that step is in it too.",
    keeps=("tau ≥ T",),
)
SPEC.mistake(
    "cuts_one_step_off",
    "The cuts are in the wrong place. The page counts its steps from 1, so that its step tau ends a chunk; counted "
    "from 0, as in Python, that is step tau − 1. Between steps tau − 1 and tau nothing goes back, between tau and tau "
    "+ 1 it does.",
    change("t + 1", "t"),
    change("t + 1", "t + 2"),
    change("t + 1", "t - 1"),
    change("% tau", "% max(1, tau - 1)"),
    tempts="T % tau == 0 marks the first step of a chunk; what comes back is dropped after it, not at it.",
)
SPEC.mistake(
    "one_cut_only",
    "You cut only once, after the first tau steps; in the rest of the sequence the gradient crosses from chunk to "
    "chunk. There is a cut after every chunk of tau steps.",
    change("(t + 1) % tau == 0", "t + 1 == tau"),
    tempts="For two chunks one cut is enough, as in the example.",
    keeps=("tau ≥ T",),
)
SPEC.mistake(
    "chunks_one_step_longer",
    "The chunks have tau + 1 steps. tau counts the steps of a chunk, not the arrows between them and the chunk before.",
    change("% tau", "% (tau + 1)"),
    tempts="'back over tau steps' may be read as tau arrows between tau + 1 states.",
    keeps=("tau ≥ T",),
)
SPEC.mistake(
    "a_window_for_each_step",
    "Every step's gradient goes back over tau steps of its own. That is another way to truncate. Here there are fixed "
    "chunks, and a gradient goes back to the beginning of its chunk, whether that is near or far.",
    change(
        f"for t in reversed({STEPS}):",
        f"for end, t in [(end, t) for end in {STEPS} for t in reversed(range(end + 1)[-tau:])]:",
        (CUT, ""),
        ("(dh[:, t] + dh_next)", "(dh[:, t] if t == end else dh_next)"),
    ),
    tempts="Every loss may go back over tau steps, as in another way to truncate, tau times dearer.",
    keeps=("tau ≥ T",),
)
SPEC.mistake(
    "cuts_counted_from_the_end",
    "The chunks are counted from the end, so that the first one is short. They are counted from the beginning, and "
    "the last one may be short.",
    change("(t + 1)", "(x.shape[1] - 1 - t)"),
    tempts="The backward pass begins there; the first chunk is the short one then.",
    keeps=("whole chunks", "tau ≥ T"),
)
SPEC.mistake(
    "mean_over_chunks",
    "The gradient is divided by the number of chunks. The chunks are parts of one loss, and their gradients are "
    "summed.",
    change("return dW_xh, dW_hh, db_h", "n = -(-x.shape[1] // tau)\nreturn dW_xh / n, dW_hh / n, db_h / n"),
    tempts="Gradients of batches are averaged; these chunks are parts of one sum.",
    keeps=("tau ≥ T",),
)
SPEC.mistake(
    "slope_left_out",
    "The slope of the tanh is missing. Before anything reaches the sum inside the tanh, it is multiplied by 1 − "
    "h², with the `h` of that step.",
    change(" * (1 - h[:, t] ** 2)", ""),
    tempts=("The cuts are what one thinks about; the tanh between state and sum is forgotten."),
)
SPEC.mistake(
    "tanh_taken_again",
    "The slope is taken as 1 − tanh²(h). But `h` is already the tanh of the sum, and here its tanh is taken once "
    "more. The slope is 1 minus the square of `h` itself.",
    change("h[:, t] ** 2", "np.tanh(h[:, t]) ** 2"),
    tempts=("The derivative is written 1 - tanh²(…), and h is at hand to put in; it is the tanh already."),
)
SPEC.mistake(
    "slope_not_squared",
    "The slope is taken as 1 − h. It is 1 minus the *square* of `h[:, t]`.",
    change("h[:, t] ** 2", "h[:, t]"),
    tempts=("1 - h differs from the right slope by a few characters."),
)
SPEC.mistake(
    "slope_for_one_source",
    "Only one of the two parts goes through the slope of the tanh. Add `dh[:, t]` and what comes back from the "
    "step after first, in brackets; then the sum is multiplied by 1 − h².",
    change("(dh[:, t] + dh_next) * (1", "dh[:, t] + dh_next * (1"),
    change("(dh[:, t] + dh_next) * (1 - h[:, t] ** 2)", "dh[:, t] * (1 - h[:, t] ** 2) + dh_next"),
    tempts=("'dh plus what comes back, times the slope' is how one says it; in Python the product comes first."),
)
SPEC.mistake(
    "what_is_carried_adds_up",
    "What comes back is added to what came back before. Weights add up over time; what is carried belongs to one "
    "state alone, and each step's replaces the one before: `=`, not `+=`.",
    change("dh_next = da @", "dh_next = dh_next + da @"),
    tempts=("Gradients add up, so += is written on every line; what is carried is no sum over the steps."),
)
SPEC.mistake(
    "walks_forward",
    "The walk goes forward in time. What a state is to blame for through the next one is known only when the next "
    "step is done: within a chunk the last step comes first.",
    change("reversed(range(x.shape[1]))", "range(x.shape[1])"),
    tempts=("Every other loop of the course runs from the first step to the last."),
)
SPEC.mistake(
    "first_step_left_out",
    "The step t = 0 is left out: `range(n, 0, -1)` ends at 1. It is a step like any other; the state before it is "
    "`h_0`.",
    change("reversed(range(x.shape[1]))", "range(x.shape[1] - 1, 0, -1)"),
    tempts=("range(T - 1, 0, -1) looks like all steps; its end is not included."),
)
SPEC.mistake(
    "loss_at_chunk_ends_only",
    "`dh` is used at the last step of each chunk alone. Something may look at every state: at each step `dh[:, "
    "t]` is added to what comes back from the step after.",
    change("(dh[:, t] + dh_next)", "(dh[:, t] * ((t + 1) % tau == 0 or t + 1 == x.shape[1]) + dh_next)"),
    tempts=("A chunk looks like a sequence with its loss at the end."),
)
SPEC.mistake(
    "slope_left_out_on_the_way_back",
    "What is passed back to the previous step has not gone through the derivative of the tanh: it is made of the "
    "gradient of the state, and should be made of `da`. Between two states lie the tanh *and* `W_hh`.",
    change("dh_next = da @", "dh_next = (dh[:, t] + dh_next) @"),
    tempts="'What comes back' sounds like the gradient of h times W_hh; the tanh lies on that way too.",
)
SPEC.mistake(
    "first_steps_give_no_dW_hh",
    "`dW_xh` and `db_h` are right, `dW_hh` is not: the first step of each chunk adds nothing to it. The gradient stops "
    "at a cut, the state does not: at that step too `W_hh` was multiplied by the previous state, which is `h_0` at "
    "t = 0.",
    change("dW_hh += (h[:, t - 1] if t > 0 else h_0)", "dW_hh += (t % tau > 0) * h[:, t - 1]"),
    tempts="Nothing goes back over a cut, so nothing seems to have come over it either.",
)


@SPEC.alternative
def chunk_by_chunk(dh, x, h_0, h, W_xh, W_hh, tau):
    """Each chunk as a sequence of its own that starts from the state before it."""
    total = None
    for start in range(0, x.shape[1], tau):
        s = slice(start, start + tau)
        h_before = h[:, start - 1] if start else h_0
        part = all_weights_at_once(dh[:, s], x[:, s], h_before, h[:, s], W_xh, W_hh, tau)
        total = part if total is None else tuple(a + b for a, b in zip(total, part, strict=True))
    return total


@SPEC.alternative
def forward_in_time(dh, x, h_0, h, W_xh, W_hh, tau):
    """How each state of a chunk depends on the weights is carried forward, and forgotten at each cut."""
    (B, T, D), H = x.shape, h.shape[2]
    stack = np.concatenate([x, np.concatenate([h_0[:, None], h[:, :-1]], axis=1), np.ones((B, T, 1))], axis=2)
    gradient, slopes = np.zeros((D + H + 1, H)), None
    for t in range(T):
        if t % tau == 0:
            slopes = np.zeros((B, D + H + 1, H, H))  # of state k by row i, column j of all weights in one
        slopes = np.einsum("bijl,lk->bijk", slopes, W_hh) + np.einsum("bi,jk->bijk", stack[:, t], np.eye(H))
        slopes *= (1 - h[:, t] ** 2)[:, None, None, :]
        gradient += np.einsum("bk,bijk->ij", dh[:, t], slopes)
    return gradient[:D], gradient[D:-1], gradient[-1]


@SPEC.alternative
def all_weights_at_once(dh, x, h_0, h, W_xh, W_hh, tau):
    """First all da, then one product for each weight; the cut is a number that is 0 or 1."""
    da, back = np.zeros(h.shape), np.zeros(h_0.shape)
    for t in range(h.shape[1] - 1, -1, -1):
        da[:, t] = (dh[:, t] + back * ((t + 1) % tau > 0)) * (1 - h[:, t] ** 2)
        back = da[:, t] @ W_hh.T
    before = np.concatenate([h_0[:, None], h[:, :-1]], axis=1)
    return np.einsum("btd,bth->dh", x, da), np.einsum("btg,bth->gh", before, da), da.sum(axis=(0, 1))

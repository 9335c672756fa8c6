"""How `lstm_backward` is checked: against autograd through `torch.nn.LSTM`, one facet for each of the six gradients."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Gates, Output, Spec, change


def oracle(dh, dc_T, x, h_0, c_0, W_x, W_h, b):
    """Autograd through PyTorch's own LSTM in float64; only the sum of its two biases matters."""
    D, H = len(W_x), len(W_h)
    lstm = torch.nn.LSTM(D, H, batch_first=True, dtype=torch.float64)
    given = {"weight_ih_l0": W_x.T, "weight_hh_l0": W_h.T, "bias_ih_l0": b, "bias_hh_l0": 0 * b}
    lstm.load_state_dict({name: torch.from_numpy(array.copy()) for name, array in given.items()})
    inputs, h, c = states = [torch.from_numpy(array.copy()).requires_grad_() for array in (x, h_0, c_0)]
    outputs, (_, c_T) = lstm(inputs, (h[None], c[None]))
    weights = lstm.weight_ih_l0, lstm.weight_hh_l0, lstm.bias_ih_l0
    upstream = torch.from_numpy(dh), torch.from_numpy(dc_T)[None]
    dx, dh_0, dc_0, dW_x, dW_h, db = torch.autograd.grad([outputs, c_T], [*states, *weights], upstream)
    return tuple(gradient.numpy() for gradient in (dx, dh_0, dc_0, dW_x.T, dW_h.T, db))


EXAMPLE = Case(
    sizes={"B": 1, "T": 2, "D": 1, "H": 1},
    inputs={
        "dh": np.array([[[-0.60], [1.40]]]),
        "dc_T": np.array([[0.30]]),
        "x": np.array([[[0.50], [-1.00]]]),
        "h_0": np.array([[0.20]]),
        "c_0": np.array([[-0.80]]),
        "W_x": np.array([[0.50, -0.30, 0.40, 0.80]]),
        "W_h": np.array([[0.25, 0.60, -0.90, 0.35]]),
        "b": np.array([0.20, 1.79, -1.27, -1.26]),
    },
)


def case(rng, B, T, D, H, at=slice(None), kind="ordinary"):
    """`at` are the steps with an output."""
    dh = np.zeros((B, T, H))
    dh[:, at] = rng.normal(size=(B, T, H))[:, at]
    return Case(
        sizes={"B": B, "T": T, "D": D, "H": H},
        inputs={
            "dh": dh,
            "dc_T": rng.normal(size=(B, H)),
            "x": rng.normal(size=(B, T, D)),
            "h_0": rng.uniform(-0.9, 0.9, size=(B, H)),
            "c_0": rng.normal(size=(B, H)),
            "W_x": rng.normal(size=(D, 4 * H)) / np.sqrt(D),
            "W_h": rng.normal(size=(H, 4 * H)) / np.sqrt(H),
            "b": 0.5 * rng.normal(size=4 * H),
        },
        kind=kind,
    )


def cases(rng):
    yield case(rng, B=2, T=5, D=3, H=4)
    yield case(rng, B=3, T=3, D=3, H=3)
    yield case(rng, B=1, T=4, D=2, H=3)
    yield case(rng, B=3, T=4, D=1, H=1)
    yield case(rng, B=3, T=6, D=2, H=4, at=slice(-1, None), kind="a loss at the last step only")
    yield case(rng, B=2, T=4, D=3, H=2, at=slice(1), kind="a loss at the first step only")
    yield case(rng, B=3, T=1, D=2, H=4, kind="T = 1")
    yield case(rng, B=2, T=1, D=1, H=3, kind="T = 1")


SPEC = Spec(
    outputs=[
        Output("dx", ("B", "T", "D"), backward=True),
        Output("dh_0", ("B", "H")),
        Output("dc_0", ("B", "H")),
        Output("dW_x", ("D", "4H")),
        Output("dW_h", ("H", "4H")),
        Output("db", ("4H",)),
    ],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    gates=[Gates("ifgo", inputs=("W_x", "W_h", "b"), outputs=("dW_x", "dW_h", "db"))],
    facets=[
        Facet("dx", share=1, outputs=("dx",)),
        Facet("dh_0", share=1, outputs=("dh_0",)),
        Facet("dc_0", share=1, outputs=("dc_0",)),
        Facet("dW_x", share=1, outputs=("dW_x",)),
        Facet("dW_h", share=1, outputs=("dW_h",)),
        Facet("db", share=1, outputs=("db",)),
    ],
    why=r"""
Two states leave every step, so two gradients are carried backward. The hidden state $h_t$ is used by the output and by
the next step: its total gradient is `dh[:, t] + dh_next`. The cell state is used by the next step and, through $h_t$,
within its own step; `lstm_step_backward` adds the second contribution itself, so the loop passes it `dc_next` and
nothing else. At the last step `dh_next` is zero, and the cell state gets `dc_T`, which may come from a following chunk.
In each pass of the loop, `dh_next` and `dc_next` are *replaced*, because they belong to the previous step's states, and
the gradients of the weights are *added*, because every step uses the same weights. After the first step the two carried
gradients have reached $h_0$ and $c_0$. The states are computed again by a forward pass, because the function receives
only its inputs; a training program stores them instead.
""",
)

RETURNED = "return dx, dh_next, dc_next, dW_x, dW_h, db"
CARRIED = "dh_t, dc_t = dh[:, t] + dh_next, dc_next"
START = "dh_next, dc_next = np.zeros(h_0.shape), dc_T"
REPLACED = "dx_t, dh_next, dc_next, dW_x_t, dW_h_t, db_t"
LOOP = "reversed(range(x.shape[1]))"
COUNTS = "len(x)", "x.shape[1]", "(len(x) * x.shape[1])"

SPEC.mistake(
    "dc_next_not_carried",
    "You do not carry the gradient of the cell state from step to step. Pass the `dc_prev` that one step returns to "
    "the previous step as its `dc_t`, because the cell state is used by the next step. Only the last step gets "
    "`dc_T`.",
    change(CARRIED, "dh_t, dc_t = dh[:, t] + dh_next, dc_T if t == x.shape[1] - 1 else np.zeros(h_0.shape)"),
    change(CARRIED, "dh_t, dc_t = dh[:, t] + dh_next, dc_T"),
    change(CARRIED, "dh_t, dc_t = dh[:, t] + dh_next, np.zeros(h_0.shape)"),
    tempts="rnn_backward carries one gradient, and the loop is copied from it.",
)
SPEC.mistake(
    "dc_T_left_out",
    "You leave out `dc_T`. Start `dc_next` with it, because it is the gradient that reaches the last cell state from "
    "later.",
    change(START, "dh_next, dc_next = np.zeros(h_0.shape), np.zeros(c_0.shape)"),
    tempts="dh_next starts as zeros, so dc_next is started with zeros too.",
)
SPEC.mistake(
    "dc_T_added_at_every_step",
    "You add `dc_T` at every step. Use it at the last step only, because it belongs to the last cell state; its "
    "effect on earlier steps comes through `dc_next`.",
    change(CARRIED, "dh_t, dc_t = dh[:, t] + dh_next, dc_T + dc_next"),
    change(
        START,
        "dh_next, dc_next = np.zeros(h_0.shape), np.zeros(h_0.shape)",
        (CARRIED, "dh_t, dc_t = dh[:, t] + dh_next, dc_T + dc_next"),
    ),
    tempts="dh[:, t] is added at every step, and dc_T looks like its counterpart.",
)
SPEC.mistake(
    "dh_next_not_added",
    "You leave out `dh_next`, the contribution of the next step to the gradient of the hidden state. Pass "
    "`dh[:, t] + dh_next` to the step, because `h[:, t]` went into step t + 1 as well.",
    change("dh[:, t] + dh_next", "dh[:, t]"),
    tempts="The cell state carries the long memory, so its gradient seems to be the only one that is carried.",
)
SPEC.mistake(
    "nothing_carried",
    "You carry neither `dh_next` nor `dc_next` from step to step. Add `dh_next` to `dh[:, t]` and pass `dc_next` as "
    "`dc_t`, because both states of a step are used by the next one.",
    change(CARRIED, "dh_t, dc_t = dh[:, t], dc_T if t == x.shape[1] - 1 else np.zeros(h_0.shape)"),
    change(CARRIED, "dh_t, dc_t = dh[:, t], np.zeros(h_0.shape)"),
    change(CARRIED, "dh_t, dc_t = dh[:, t], dc_T"),
    tempts="Each single call of the step looks right with what is given.",
)
SPEC.mistake(
    "dh_used_at_the_last_step_only",
    "You use `dh` only at the last step. Add `dh[:, t]` to `dh_next` at every step, because every hidden state may "
    "have an output of its own.",
    change(START, "dh_next, dc_next = dh[:, -1], dc_T", ("dh[:, t] + dh_next", "dh_next")),
    tempts="With a loss at the end in mind, dh[:, -1] starts the backward pass and everything else is carried.",
)
SPEC.mistake(
    "last_dh_counted_twice",
    "You count `dh[:, -1]` twice: `dh_next` starts with it, and then the loop adds it again. Start `dh_next` with "
    "zeros, because no step follows the last one.",
    change(START, "dh_next, dc_next = dh[:, -1], dc_T"),
    tempts="dc_next starts with dc_T, so dh_next seems to start with the last dh.",
)
SPEC.mistake(
    "dh_next_accumulated",
    "You keep adding to `dh_next`. Replace it at each step with what the step passes back (`dh_next = …`, not "
    "`dh_next += …`), because it belongs to a single state. Only the gradients of the weights accumulate over time.",
    change(
        REPLACED,
        "dx_t, dh_prev, dc_next, dW_x_t, dW_h_t, db_t",
        ("dx[:, t] = dx_t", "dx[:, t] = dx_t\ndh_next = dh_next + dh_prev"),
    ),
    change(
        REPLACED,
        "dx_t, dh_prev, dc_next, dW_x_t, dW_h_t, db_t",
        ("dx[:, t] = dx_t", "dx[:, t] = dx_t\ndh_next = dh_t + dh_prev"),
    ),
    tempts="'Add, never set' is the rule for gradients.",
)
SPEC.mistake(
    "dc_next_accumulated",
    "You keep adding to `dc_next`. Replace it at each step with what the step passes back (`dc_next = …`, not "
    "`dc_next += …`), because it belongs to a single cell state. Only the gradients of the weights accumulate over "
    "time.",
    change(
        REPLACED,
        "dx_t, dh_next, dc_prev, dW_x_t, dW_h_t, db_t",
        ("dx[:, t] = dx_t", "dx[:, t] = dx_t\ndc_next = dc_next + dc_prev"),
    ),
    tempts="The cell state adds at every step, so its gradient seems to add too.",
)
SPEC.mistake(
    "dh_next_and_dc_next_accumulated",
    "You keep adding to `dh_next` and `dc_next`. Replace both at each step with what the step passes back, because "
    "they belong to the states of a single step. Only the gradients of the weights accumulate over time.",
    change(
        REPLACED,
        "dx_t, dh_prev, dc_prev, dW_x_t, dW_h_t, db_t",
        ("dx[:, t] = dx_t", "dx[:, t] = dx_t\ndh_next, dc_next = dh_next + dh_prev, dc_next + dc_prev"),
    ),
    tempts="'Add, never set' is the rule for gradients, and all lines of the loop are written with +=.",
)
SPEC.mistake(
    "dh_next_and_dc_next_exchanged",
    "You exchange the two gradients that are passed back. `lstm_step_backward` returns `dh_prev` before `dc_prev`: "
    "the first is added to `dh[:, t]`, the second is the `dc_t` of the previous step.",
    change(REPLACED, "dx_t, dc_next, dh_next, dW_x_t, dW_h_t, db_t"),
    change("dh_t, dc_t = dh[:, t] + dh_next, dc_next", "dh_t, dc_t = dh[:, t] + dc_next, dh_next"),
    tempts="Both have the same shape, and in the backward pass the cell comes to mind first.",
)
SPEC.mistake(
    "dh_and_dc_exchanged_in_the_call",
    "You pass the two upstream gradients to the step in the wrong order. `lstm_step_backward` takes `dh_t` before "
    "`dc_t`.",
    change("dh_t, dc_t, x[:, t]", "dc_t, dh_t, x[:, t]"),
    tempts="Both have the same shape, so nothing fails.",
)
SPEC.mistake(
    "loops_forward",
    "You loop from the first step to the last. Start at the last step, because `dh_next` and `dc_next` are known only "
    "once step t + 1 is done.",
    change(LOOP, "range(x.shape[1])"),
    tempts="Every forward loop runs from the first step to the last.",
)
SPEC.mistake(
    "first_step_left_out",
    "You leave out the step t = 0. Include it, because it is a step like any other; its previous states are `h_0` and "
    "`c_0`. `range(n, 0, -1)` ends at 1.",
    change(LOOP, "range(x.shape[1] - 1, 0, -1)"),
    tempts="range(T - 1, 0, -1) looks like all steps, but its end is not included.",
)
SPEC.mistake(
    "last_step_left_out",
    "You start the loop at the second-to-last step. Start at index n − 1, because n steps are counted from 0.",
    change(LOOP, "range(x.shape[1] - 2, -1, -1)"),
    tempts="range(T - 2, -1, -1) seems right because no step follows the last one.",
)
SPEC.mistake(
    "overwritten",
    "You overwrite the gradients of the weights and the bias at each step, so only the part of the first time step is "
    "left. Accumulate the parts with `+=`, because every step uses the same weights.",
    change("dW_x += dW_x_t", "dW_x = dW_x_t", ("dW_h += dW_h_t", "dW_h = dW_h_t"), ("db += db_t", "db = db_t")),
    tempts="The step returns all six, and they are unpacked straight into the names of the results.",
    keeps=["dx", "dh_0", "dc_0"],
)
SPEC.mistake(
    "last_step_only",
    "Your gradients of the weights and the bias contain only the part of the last step. Add the parts of all earlier "
    "steps, because every step uses the same weights.",
    change(
        "dW_x += dW_x_t\ndW_h += dW_h_t\ndb += db_t",
        "if t == x.shape[1] - 1:\n    dW_x, dW_h, db = dW_x_t, dW_h_t, db_t",
    ),
    tempts="The gradients are taken from the first call of the step, which is that of the last time step.",
    keeps=["dx", "dh_0", "dc_0"],
)
SPEC.mistake(
    "c_prev_is_c_t",
    "You pass `c[:, t]` to the step as its previous cell state. Pass `c[:, t - 1]`, and `c_0` at t = 0, because the "
    "step recomputes `c[:, t]` from it.",
    change("c_prev = c[:, t - 1] if t > 0 else c_0", "c_prev = c[:, t]"),
    tempts="x[:, t] and dh[:, t] have the index t, so c seems to.",
)
SPEC.mistake(
    "h_prev_is_h_t",
    "You pass `h[:, t]` to the step as its previous hidden state. Pass `h[:, t - 1]`, and `h_0` at t = 0, because the "
    "step recomputes its gates from it.",
    change("h_prev = h[:, t - 1] if t > 0 else h_0", "h_prev = h[:, t]"),
    tempts="x[:, t] and dh[:, t] have the index t, so h seems to.",
)
SPEC.mistake(
    "states_one_step_late",
    "You pass `h[:, t]` and `c[:, t]` to the step as its previous states. Pass those of index t − 1, and `h_0` and "
    "`c_0` at t = 0, because the step recomputes its gates and `c[:, t]` from them.",
    change(
        "h_prev = h[:, t - 1] if t > 0 else h_0\nc_prev = c[:, t - 1] if t > 0 else c_0",
        "h_prev, c_prev = h[:, t], c[:, t]",
    ),
    tempts="All other arrays of the loop have the index t.",
)
SPEC.mistake(
    "states_wrap_around",
    "At t = 0 you pass the *last* hidden or cell state to the step: the index t − 1 is then −1, which Python counts "
    "from the end. Pass `h_0` and `c_0`, because they are the states before the first step.",
    change(
        "c_prev = c[:, t - 1] if t > 0 else c_0",
        "c_prev = c[:, t - 1]",
        ("h[:, t - 1] if t > 0 else h_0", "h[:, t - 1]"),
    ),
    change("c[:, t - 1] if t > 0 else c_0", "c[:, t - 1]"),
    change("h[:, t - 1] if t > 0 else h_0", "h[:, t - 1]"),
    tempts="Index t − 1 is the previous state, but at t = 0 Python reads the last one.",
)
SPEC.mistake(
    "zero_initial_states",
    "At t = 0 you pass a zero state to the step in place of `h_0` or `c_0`, although the forward pass started from "
    "them. Pass the initial states as they are; they need not be zero.",
    change("else c_0", "else np.zeros(c_0.shape)", ("else h_0", "else np.zeros(h_0.shape)")),
    change("else c_0", "else np.zeros(c_0.shape)"),
    change("else h_0", "else np.zeros(h_0.shape)"),
    tempts="Nearly every example starts from zero states.",
)
FORWARD = "h, c = lstm_forward(x, h_0, c_0, W_x=W_x, W_h=W_h, b=b)"
BEFORE = "h_prev = h[:, t - 1] if t > 0 else h_0\nc_prev = c[:, t - 1] if t > 0 else c_0"
SPEC.mistake(
    "h_and_c_exchanged",
    "You exchange the hidden and the cell states. `lstm_forward` returns `h` before `c`, and `lstm_step_backward` "
    "takes `h_prev` before `c_prev`.",
    change(FORWARD, "c, h = lstm_forward(x, h_0, c_0, W_x, W_h, b)"),
    change("h_prev, c_prev, W_x", "c_prev, h_prev, W_x"),
    tempts="All these arrays have the same shape, so nothing fails.",
)
SPEC.mistake(
    "initial_states_at_every_step",
    "You pass `h_0` or `c_0` to every step as its previous state. They belong to t = 0 only; every other step needs "
    "the state of index t − 1 from the forward pass.",
    change(BEFORE, "h_prev, c_prev = h_0, c_0"),
    change("h[:, t - 1] if t > 0 else h_0", "h_0"),
    change("c[:, t - 1] if t > 0 else c_0", "c_0"),
    tempts="They are the only states among the arguments.",
)
SPEC.mistake(
    "forward_from_zero_states",
    "You run the forward pass from zero states. Start it from `h_0` and `c_0`, which need not be zero.",
    change(FORWARD, "h, c = lstm_forward(x, np.zeros(h_0.shape), np.zeros(c_0.shape), W_x, W_h, b)"),
    change(
        FORWARD, "h_0, c_0 = np.zeros(h_0.shape), np.zeros(c_0.shape)\nh, c = lstm_forward(x, h_0, c_0, W_x, W_h, b)"
    ),
    tempts="Nearly every example starts from zero states.",
)
SPEC.mistake(
    "dh_next_starts_with_dc_T",
    "You start `dh_next` with `dc_T`. Start it with zeros and `dc_next` with `dc_T`, because `dc_T` is a gradient of "
    "the last *cell* state.",
    change(START, "dh_next, dc_next = dc_T, np.zeros(c_0.shape)"),
    change(START, "dh_next, dc_next = dc_T, dc_T"),
    tempts="There is no dh_T among the arguments, and both have the same shape.",
)
SPEC.mistake(
    "dh_added_to_dc_next",
    "You add a contribution from the hidden state to `dc_next`. Pass `dc_next` as it is: `lstm_step_backward` itself "
    "adds what reaches the cell state through the hidden state of its step.",
    change(CARRIED, "dh_t, dc_t = dh[:, t] + dh_next, dc_next + dh[:, t]"),
    change(CARRIED, "dh_t, dc_t = dh[:, t] + dh_next, dc_next + dh_next"),
    change(CARRIED, "dh_t, dc_t = dh[:, t] + dh_next, dc_next + dh[:, t] + dh_next"),
    change(
        CARRIED,
        "dh_t = dh[:, t] + dh_next\n_, _, _, o = lstm_gates(x[:, t], h_prev, W_x, W_h, b)\n"
        "dc_t = dc_next + dh_t * o * (1 - np.tanh(c[:, t]) ** 2)",
    ),
    tempts="The total gradient of the cell state has two contributions, but the step function already adds them.",
)
SPEC.mistake(
    "steps_counted_by_the_batch",
    "You loop over as many steps as there are sequences in the batch. Use `x.shape[1]` steps, because time is the "
    "second axis of `x`.",
    change("range(x.shape[1])", "range(x.shape[0])"),
    tempts="len(x), or x.shape[0], is the length of most things, but here it is that of the batch.",
)
SPEC.mistake(
    "dc_0_is_dc_T",
    "You return `dc_T` or zeros as `dc_0`. Return what the first step passes back, because the first step uses `c_0` "
    "just as every other step uses the previous cell state.",
    change(RETURNED, "return dx, dh_next, dc_T, dW_x, dW_h, db"),
    change(RETURNED, "return dx, dh_next, np.zeros(c_0.shape), dW_x, dW_h, db"),
    tempts="An array for dc_0 is created before the loop and then forgotten.",
    keeps=["dx", "dh_0", "dW_x", "dW_h", "db"],
)
SPEC.mistake(
    "dh_0_is_that_of_the_first_state",
    "Your `dh_0` is not what the first step passes back. Return `dh_next` after the loop: `h_0` is the state before "
    "the first step, whereas `dh[:, 0]` belongs to the state after it.",
    change(RETURNED, "return dx, dh[:, 0], dc_next, dW_x, dW_h, db"),
    change(RETURNED, "return dx, dh_t, dc_next, dW_x, dW_h, db"),
    change(RETURNED, "return dx, dh_next + dh[:, 0], dc_next, dW_x, dW_h, db"),
    change(RETURNED, "return dx, np.zeros(h_0.shape), dc_next, dW_x, dW_h, db"),
    tempts="After the loop the total gradient of h[:, 0] is at hand, and dh_0 and dh[:, 0] look alike.",
    keeps=["dx", "dc_0", "dW_x", "dW_h", "db"],
)
SPEC.mistake(
    "dc_0_is_that_of_the_first_cell_state",
    "Your `dc_0` is one step short: it is the gradient that reaches the first cell state, `c[:, 0]`, from the next "
    "step. Return `dc_next` after the loop, which the first step has passed back to `c_0`.",
    change(RETURNED, "return dx, dh_next, dc_t, dW_x, dW_h, db"),
    tempts="After the loop dc_t is at hand.",
    keeps=["dx", "dh_0", "dW_x", "dW_h", "db"],
)
SPEC.mistake(
    "dx_in_the_order_of_the_loop",
    "You return `dx` in the order in which the loop computes it, the last step first. Reverse it, or write each "
    "step's gradient into its own place, because `dx` runs forward in time as `x` does.",
    change("dx[:, t] = dx_t", "dx[:, -1 - t] = dx_t"),
    tempts="dx_t is appended to a list and stacked, as in the forward pass, but this loop ran backward.",
    keeps=["dh_0", "dc_0", "dW_x", "dW_h", "db"],
)
SPEC.mistake(
    "averaged",
    "You average the gradients of the weights and the bias over the batch, over time or over both. Sum them instead: "
    "where the loss is a mean, `dh` already contains the division.",
    *(change(RETURNED, f"return dx, dh_next, dc_next, dW_x / {n}, dW_h / {n}, db / {n}") for n in COUNTS),
    tempts="Losses are usually means, but then dh already contains the division.",
    keeps=["dx", "dh_0", "dc_0"],
)
SPEC.mistake(
    "in_place",
    "Your gradients are right, but you overwrite `dh`: `dh[:, t]` is a view, not a copy, so `+=` on it writes into "
    "`dh` itself. Make a new array instead: `a = a + b`.",
    change(CARRIED, "dh_t, dc_t = dh[:, t], dc_next\ndh_t += dh_next"),
    tempts="dh_t = dh[:, t] looks like an array of its own, but it is a view, and += writes into dh.",
)


@SPEC.alternative
def without_the_step(dh, dc_T, x, h_0, c_0, W_x, W_h, b):
    """Stores the gates of the forward pass; the loop computes only da, and all sums follow after it."""
    H, steps = len(W_h), range(x.shape[1])
    h, c, gates = [h_0], [c_0], []
    for t in steps:
        a_i, a_f, a_g, a_o = np.split(x[:, t] @ W_x + h[-1] @ W_h + b, 4, axis=1)
        i, f, g, o = 1 / (1 + np.exp(-a_i)), 1 / (1 + np.exp(-a_f)), np.tanh(a_g), 1 / (1 + np.exp(-a_o))
        gates.append((i, f, g, o))
        c.append(f * c[-1] + i * g)
        h.append(o * np.tanh(c[-1]))
    da, dh_next, dc = np.zeros((*x.shape[:2], 4 * H)), 0, dc_T
    for t in steps[::-1]:
        (i, f, g, o), dh_t, tanh_c = gates[t], dh[:, t] + dh_next, np.tanh(c[t + 1])
        dc = dc + dh_t * o * (1 - tanh_c**2)
        da[:, t, :H] = dc * g * i * (1 - i)
        da[:, t, H : 2 * H] = dc * c[t] * f * (1 - f)
        da[:, t, 2 * H : 3 * H] = dc * i * (1 - g**2)
        da[:, t, 3 * H :] = dh_t * tanh_c * o * (1 - o)
        dc, dh_next = dc * f, da[:, t] @ W_h.T
    before = np.stack(h[:-1], axis=1)
    dW_x, dW_h = np.einsum("btd,btk->dk", x, da), np.einsum("bth,btk->hk", before, da)
    return da @ W_x.T, dh_next, dc, dW_x, dW_h, da.sum(axis=(0, 1))


@SPEC.alternative
def by_recursion(dh, dc_T, x, h_0, c_0, W_x, W_h, b):
    """One step forward, the rest of the sequence by the same function, then one step backward."""
    a_i, a_f, a_g, a_o = np.split(x[:, 0] @ W_x + h_0 @ W_h + b, 4, axis=1)
    i, f, g, o = 1 / (1 + np.exp(-a_i)), 1 / (1 + np.exp(-a_f)), np.tanh(a_g), 1 / (1 + np.exp(-a_o))
    c_t = f * c_0 + i * g
    later, dh_t, dc, sums = [], dh[:, 0], dc_T, (0, 0, 0)
    if x.shape[1] > 1:
        rest = by_recursion(dh[:, 1:], dc_T, x[:, 1:], o * np.tanh(c_t), c_t, W_x, W_h, b)
        later, dh_t, dc, sums = [rest[0]], dh_t + rest[1], rest[2], rest[3:]
    dc = dc + dh_t * o / np.cosh(c_t) ** 2
    da = np.hstack([dc * g * (i - i**2), dc * c_0 * (f - f**2), dc * i * (1 - g**2), dh_t * np.tanh(c_t) * (o - o**2)])
    dx = np.concatenate([(da @ W_x.T)[:, None], *later], axis=1)
    return dx, da @ W_h.T, dc * f, sums[0] + x[:, 0].T @ da, sums[1] + h_0.T @ da, sums[2] + da.sum(axis=0)

"""How `classify_last` is checked: against `torch.nn.RNN`, run on each row alone, cut to its length."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Output, Spec, change


def oracle(x, lengths, h_0, W_xh, W_hh, b_h, W_hy, b_y):
    """PyTorch's RNN and linear layer on each row without its padding."""
    rnn = torch.nn.RNN(*W_xh.shape, batch_first=True, dtype=torch.float64)
    head = torch.nn.Linear(*W_hy.shape, dtype=torch.float64)
    with torch.no_grad():
        rnn.weight_ih_l0.copy_(torch.from_numpy(W_xh.T))
        rnn.weight_hh_l0.copy_(torch.from_numpy(W_hh.T))
        rnn.bias_ih_l0.copy_(torch.from_numpy(b_h))
        rnn.bias_hh_l0.zero_()
        head.weight.copy_(torch.from_numpy(W_hy.T))
        head.bias.copy_(torch.from_numpy(b_y))
        rows = []
        for row, length in enumerate(lengths):
            _, last = rnn(torch.from_numpy(x[row : row + 1, :length]), torch.from_numpy(h_0[None, row : row + 1]))
            rows.append(head(last[0, 0]))
        return torch.stack(rows).numpy()


EXAMPLE = Case(
    sizes={"B": 2, "T": 3, "D": 1, "H": 1, "C": 2},
    inputs={
        "x": np.array([[[1.00], [-0.50], [0.80]], [[0.60], [2.00], [-1.00]]]),
        "lengths": np.array([3, 1]),
        "h_0": np.array([[0.20], [-0.40]]),
        "W_xh": np.array([[0.70]]),
        "W_hh": np.array([[-0.90]]),
        "b_h": np.array([0.10]),
        "W_hy": np.array([[1.50, -0.50]]),
        "b_y": np.array([0.00, 0.25]),
    },
    kind="shorter rows",
)


def case(rng, lengths, T, D, H, C, kind):
    B = len(lengths)
    return Case(
        sizes={"B": B, "T": T, "D": D, "H": H, "C": C},
        inputs={
            "x": rng.normal(size=(B, T, D)),
            "lengths": rng.permutation(lengths),
            "h_0": rng.uniform(-0.9, 0.9, size=(B, H)),
            "W_xh": rng.normal(size=(D, H)) / np.sqrt(D),
            "W_hh": rng.normal(size=(H, H)) / np.sqrt(H),
            "b_h": rng.normal(size=H),
            "W_hy": rng.normal(size=(H, C)),
            "b_y": rng.normal(size=C),
        },
        kind=kind,
    )


def cases(rng):
    full, shorter = "ordinary", "shorter rows"
    yield case(rng, [4, 4, 4], T=4, D=2, H=5, C=6, kind=full)
    yield case(rng, [3, 3, 3], T=3, D=3, H=3, C=3, kind=full)
    yield case(rng, [1, 1], T=1, D=3, H=4, C=2, kind=full)
    yield case(rng, [5, 2, 1, 3], T=5, D=2, H=3, C=6, kind=shorter)
    yield case(rng, [2, 5, 3], T=6, D=3, H=3, C=3, kind=shorter)  # no row is full
    yield case(rng, [4], T=6, D=2, H=3, C=5, kind=shorter)
    yield case(rng, [2, 4, 1], T=4, D=1, H=1, C=1, kind=shorter)


SPEC = Spec(
    outputs=[Output("logits", ("B", "C"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("rows of full length", share=1, kinds=("ordinary",)),
        Facet("shorter rows", share=3, kinds=("shorter rows",)),
    ],
    why="""
A recurrent network is causal: the state after step t depends on the inputs up to t and on nothing later. So we may run
it over the padding without harm, and then take from each row the state that it had *before* the padding began, which is
the one at index `lengths - 1`. Two index arrays of length B, the rows 0 … B − 1 and their last real steps, pick one
state a row; `h[:, lengths - 1]` would pick every row at every length. The output layer is applied to the B states that
are left, not to all B × T.
""",
)


LAST = "np.stack(h, axis=1)[np.arange(len(lengths)), lengths - 1]"
SPEC.mistake(
    "last_padded_state",
    "Rows of full length are right. A shorter row is read to the end of its padding: take the state after its last "
    "*real* input, which `lengths` tells.",
    change("return last", "return h_t"),
    tempts="After the loop the last state is at hand; for a shorter row it has read the padding too.",
    keeps=["rows of full length"],
)
SPEC.mistake(
    "padding_set_to_zero",
    "The padding is set to 0, and the network still runs over it. An input of 0 is an input: the state goes on "
    "changing through `W_hh` and the bias. Take the state before the padding begins.",
    change("x[:, t] @", "(x[:, t] * (t < lengths)[:, None]) @", ("return last", "return h_t")),
    tempts="An input of 0 seems to do nothing; but W_hh and the bias go on working on the state.",
    keeps=["rows of full length"],
)
SPEC.mistake(
    "one_length_for_all",
    "All rows are read for the same number of steps. Every row has a length of its own.",
    *(change("lengths - 1", f"{length} - 1") for length in ("lengths[0]", "max(lengths)", "min(lengths)")),
    tempts="One index for the whole batch is simple: here the length of the first row.",
    keeps=["rows of full length"],
)
SPEC.mistake(
    "off_by_one",
    "The state is taken one step off. Python counts from 0: the first state of a row, after one input, stands at index "
    "0. (If you keep `h_0` in front of the states, it stands at index 1.)",
    change("lengths - 1", "lengths"),
    change("h, h_t = []", "h, h_t = [h_0]"),
    tempts="A row of length 3 seems to end at index 3; for a full row that index does not exist.",
)
SPEC.mistake(
    "every_row_at_every_length",
    "The result has an axis too many, of length B. The colon in `h[:, …]` takes *all* rows for every length; to pair "
    "the first row with the first length, the second with the second, give the rows as an index array too.",
    change("[np.arange(len(lengths)), ", "[:, "),
    tempts="h[:, lengths - 1] reads well; the colon takes all rows for each of the B lengths.",
)
SPEC.mistake(
    "mean_over_time",
    "This is made from the mean of the states. It should be made from one of them, the last real one.",
    change(LAST, "np.mean(h, axis=0)"),
    change(LAST, "sum(h_t * (t < lengths)[:, None] for t, h_t in enumerate(h)) / lengths[:, None]"),
    tempts="Averaging is another common way from many states to one.",
)
SPEC.mistake(
    "logits_at_every_step",
    "There are logits for every time step. One row of them is due for each sequence, from its last real state.",
    change(LAST, "np.stack(h, axis=1)"),
    tempts="A network that writes needs logits at every step; one that classifies needs one row of them.",
)
SPEC.mistake(
    "probabilities",
    "These are probabilities. The logits are due, before any softmax.",
    change("last @ W_hy + b_y", "softmax(last @ W_hy + b_y)"),
    tempts="A classifier ends in a softmax; logits are what goes into it.",
)
SPEC.mistake(
    "no_output_layer",
    "These are the states themselves, the right ones. The output layer is missing: `W_hy` and `b_y` make C logits of "
    "each.",
    change("last @ W_hy + b_y", "last"),
    tempts="To find the right state is so much work that the last line is forgotten.",
)
SPEC.mistake(
    "time_axis_first",
    "The states were put into an array with time as its first axis, (T, B, H), and then indexed as if the batch came "
    "first. Stack them along axis 1, or give the step first and the row second.",
    change("np.stack(h, axis=1)[", "np.array(h)["),
    tempts="np.array of the list of states puts time in front.",
)


@SPEC.mistake(
    "state_goes_from_row_to_row",
    "The first row is right. Each later row goes on from the state in which the row before it ended, as if all rows "
    "were one text; it starts from its own row of `h_0`.",
    tempts="In a loop over the rows the start is set once, in front of the loop.",
)
def as_one_text(x, lengths, h_0, W_xh, W_hh, b_h, W_hy, b_y):
    logits, h_t = [], h_0[0]
    for row, length in enumerate(lengths):
        for t in range(length):
            h_t = np.tanh(x[row, t] @ W_xh + h_t @ W_hh + b_h)
        logits.append(h_t @ W_hy + b_y)
    return np.array(logits)


SPEC.mistake(
    "state_set_to_zero",
    "Rows of full length are right. After the end of a shorter row its state is set to 0, so that nothing but the bias "
    "`b_y` is left at the end. It should keep the state that it had.",
    change("h.append(h_t)", "h_t = h_t * (t < lengths)[:, None]\nh.append(h_t)", ("return last", "return h_t")),
    tempts="A mask is multiplied in, as one does with a loss; the state is then gone.",
    keeps=["rows of full length"],
)
SPEC.mistake(
    "state_not_carried",
    "The last real input is read with `h_0` in place of the state before it. Each step takes the state that the step "
    "before it gave, so that the whole row counts.",
    change("h_t @ W_hh", "h_0 @ W_hh"),
    tempts="The name h_0 is at hand inside the loop.",
)
SPEC.mistake(
    "counted_from_the_end",
    "`-lengths` counts from the end of the padded row, so that it depends on how much padding there is. Counted from "
    "the beginning, the last real step is `lengths - 1`.",
    change("lengths - 1", "-lengths"),
    tempts="A negative index stands for the end of a list.",
)
SPEC.mistake(
    "no_tanh",
    "The tanh of the recurrence is missing: each state is the plain sum of the input's part, the state's part and the "
    "bias.",
    change("np.tanh(x[:, t] @ W_xh + h_t @ W_hh + b_h)", "x[:, t] @ W_xh + h_t @ W_hh + b_h"),
    tempts="The step is written out again, and its last part is left out.",
)


@SPEC.alternative
def row_by_row(x, lengths, h_0, W_xh, W_hh, b_h, W_hy, b_y):
    """Each row by itself, for as many steps as it has."""
    logits = []
    for row, length in enumerate(lengths):
        h_t = h_0[row]
        for t in range(length):
            h_t = np.tanh(x[row, t] @ W_xh + h_t @ W_hh + b_h)
        logits.append(h_t @ W_hy + b_y)
    return np.array(logits)


@SPEC.alternative
def state_kept_once_the_row_has_ended(x, lengths, h_0, W_xh, W_hh, b_h, W_hy, b_y):
    """One state a row, which no longer changes when the row has ended."""
    h_t = h_0
    for t in range(x.shape[1]):
        h_next = np.tanh(x[:, t] @ W_xh + h_t @ W_hh + b_h)
        h_t = np.where((t < lengths)[:, None], h_next, h_t)
    return h_t @ W_hy + b_y


@SPEC.alternative
def h_0_in_front(x, lengths, h_0, W_xh, W_hh, b_h, W_hy, b_y):
    """With h_0 in front of the states, a row's length is the index of its last one."""
    h = [h_0]
    for t in range(x.shape[1]):
        h.append(np.tanh(x[:, t] @ W_xh + h[-1] @ W_hh + b_h))
    return np.array([h[length][row] for row, length in enumerate(lengths)]) @ W_hy + b_y


@SPEC.alternative
def taken_along_time(x, lengths, h_0, W_xh, W_hh, b_h, W_hy, b_y):
    """Logits of all steps, and then those of the last real one by np.take_along_axis."""
    logits, h_t = [], h_0
    for t in range(x.shape[1]):
        h_t = np.tanh(x[:, t] @ W_xh + h_t @ W_hh + b_h)
        logits.append(h_t @ W_hy + b_y)
    return np.take_along_axis(np.stack(logits, axis=1), lengths[:, None, None] - 1, axis=1)[:, 0]

"""How `classify_last` is checked: against `torch.nn.RNN`, run on each row separately, without its padding."""

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
it over the padding, and then take from each row the state that it had *before* the padding began, the one with index
`lengths - 1`. Two index arrays of length B, the rows 0 … B − 1 and their last real steps, pick one state per row,
whereas `h[:, lengths - 1]` would pick every row at every length. The output layer is applied only to these B states,
not to all B × T.
""",
)


LAST = "np.stack(h, axis=1)[np.arange(len(lengths)), lengths - 1]"
SPEC.mistake(
    "last_padded_state",
    "You take the state at the end of the padded array. Take the one after each row's last *real* input, which "
    "`lengths` tells you, because the later steps read only padding.",
    change("return last", "return h_t"),
    tempts="After the loop, the last state is in the variable; for a shorter row it has read the padding too.",
    keeps=["rows of full length"],
)
SPEC.mistake(
    "padding_set_to_zero",
    "You set the padding to 0 and let the network read it. Take the state before the padding begins: an input of 0 is "
    "still an input, and the state goes on changing through `W_hh` and the bias.",
    change("x[:, t] @", "(x[:, t] * (t < lengths)[:, None]) @", ("return last", "return h_t")),
    tempts="An input of 0 seems to do nothing, but W_hh and the bias still change the state.",
    keeps=["rows of full length"],
)
SPEC.mistake(
    "one_length_for_all",
    "You read the same number of steps in every row. Use each row's own length, because the rows end at different "
    "steps.",
    *(change("lengths - 1", f"{length} - 1") for length in ("lengths[0]", "max(lengths)", "min(lengths)")),
    tempts="A single index for the whole batch is simpler.",
    keeps=["rows of full length"],
)
SPEC.mistake(
    "off_by_one",
    "You take each row's state one step too early or too late. Count from 0: the state after the first input has "
    "index 0. (If you store `h_0` in front of the states, it has index 1.)",
    change("lengths - 1", "lengths"),
    change("h, h_t = []", "h, h_t = [h_0]"),
    tempts="A row of length 3 seems to end at index 3; for a full row that index does not exist.",
)
SPEC.mistake(
    "every_row_at_every_length",
    "Your result has an extra axis of length B: the colon in `h[:, …]` picks *all* rows for every length. Give the "
    "rows as an index array too, so that NumPy pairs the first row with the first length, the second with the second, "
    "and so on.",
    change("[np.arange(len(lengths)), ", "[:, "),
    tempts="h[:, lengths - 1] reads well, but the colon picks all rows for each of the B lengths.",
)
SPEC.mistake(
    "mean_over_time",
    "You compute the logits from the mean of a row's states. Use a single state, the last real one.",
    change(LAST, "np.mean(h, axis=0)"),
    change(LAST, "sum(h_t * (t < lengths)[:, None] for t, h_t in enumerate(h)) / lengths[:, None]"),
    tempts="Averaging is another common way to reduce many states to one.",
)
SPEC.mistake(
    "logits_at_every_step",
    "You return logits for every time step. Return one row for each sequence, computed from its last real state.",
    change(LAST, "np.stack(h, axis=1)"),
    tempts="A network that writes needs logits at every step; a classifier needs one row of them.",
)
SPEC.mistake(
    "probabilities_returned",
    "You return probabilities. Return the logits themselves, without a softmax.",
    change(
        "return last @ W_hy + b_y",
        "p = np.exp(last @ W_hy + b_y)\nreturn p / p.sum(axis=1, keepdims=True)",
    ),
    tempts="A classifier ends in a softmax, and the logits are what goes into it.",
)
SPEC.mistake(
    "no_output_layer",
    "You return the last real states themselves. Apply the output layer, `W_hy` and `b_y`, which turns each of them "
    "into C logits.",
    change("last @ W_hy + b_y", "last"),
    tempts="Finding the right state is so much work that the last line is forgotten.",
)
SPEC.mistake(
    "time_axis_first",
    "You build an array with time as its first axis, (T, B, H), and index it as if the batch came first. Stack the "
    "states along axis 1, or index the step first and the row second.",
    change("np.stack(h, axis=1)[", "np.array(h)["),
    tempts="np.array of the list of states puts time first.",
)


@SPEC.mistake(
    "starts_from_the_previous_row",
    "You start each row from the state in which the previous row ended. Start it from its own row of `h_0`, because "
    "the rows are separate sequences.",
    tempts="In a loop over the rows, the initial state is set only once, before the loop.",
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
    "You set a row's state to 0 once the row has ended, so in the end nothing but the bias `b_y` is left. Keep the "
    "state from the last real step instead.",
    change("h.append(h_t)", "h_t = h_t * (t < lengths)[:, None]\nh.append(h_t)", ("return last", "return h_t")),
    tempts="A mask is multiplied in, as one does with a loss, but here it erases the state.",
    keeps=["rows of full length"],
)
SPEC.mistake(
    "h_0_used_at_every_step",
    "You start every step from `h_0`. Pass each step the state that the previous step returned, because otherwise "
    "only the last real input of a row counts.",
    change("h_t @ W_hh", "h_0 @ W_hh"),
    tempts="h_0 is in scope inside the loop.",
)
SPEC.mistake(
    "counted_from_the_end",
    "You index with `-lengths`, which counts from the end of the padded array and so depends on the amount of "
    "padding. Count from the beginning: the last real step is `lengths - 1`.",
    change("lengths - 1", "-lengths"),
    tempts="A negative index means the end of a list.",
)
SPEC.mistake(
    "no_tanh",
    "You leave out the tanh, so each state is the plain sum of two products and the bias. Apply the tanh to this sum, "
    "the pre-activation, at every step.",
    change("np.tanh(x[:, t] @ W_xh + h_t @ W_hh + b_h)", "x[:, t] @ W_xh + h_t @ W_hh + b_h"),
    tempts="The step is written out again, and its outermost function is forgotten.",
)


@SPEC.alternative
def row_by_row(x, lengths, h_0, W_xh, W_hh, b_h, W_hy, b_y):
    """Each row separately, for as many steps as it has."""
    logits = []
    for row, length in enumerate(lengths):
        h_t = h_0[row]
        for t in range(length):
            h_t = np.tanh(x[row, t] @ W_xh + h_t @ W_hh + b_h)
        logits.append(h_t @ W_hy + b_y)
    return np.array(logits)


@SPEC.alternative
def state_kept_once_the_row_has_ended(x, lengths, h_0, W_xh, W_hh, b_h, W_hy, b_y):
    """One state per row, which no longer changes once the row has ended."""
    h_t = h_0
    for t in range(x.shape[1]):
        h_next = np.tanh(x[:, t] @ W_xh + h_t @ W_hh + b_h)
        h_t = np.where((t < lengths)[:, None], h_next, h_t)
    return h_t @ W_hy + b_y


@SPEC.alternative
def h_0_in_front(x, lengths, h_0, W_xh, W_hh, b_h, W_hy, b_y):
    """With h_0 in front of the states, the length of a row is the index of its last state."""
    h = [h_0]
    for t in range(x.shape[1]):
        h.append(np.tanh(x[:, t] @ W_xh + h[-1] @ W_hh + b_h))
    return np.array([h[length][row] for row, length in enumerate(lengths)]) @ W_hy + b_y


@SPEC.alternative
def taken_along_time(x, lengths, h_0, W_xh, W_hh, b_h, W_hy, b_y):
    """Logits of all steps, then those of the last real one, with np.take_along_axis."""
    logits, h_t = [], h_0
    for t in range(x.shape[1]):
        h_t = np.tanh(x[:, t] @ W_xh + h_t @ W_hh + b_h)
        logits.append(h_t @ W_hy + b_y)
    return np.take_along_axis(np.stack(logits, axis=1), lengths[:, None, None] - 1, axis=1)[:, 0]

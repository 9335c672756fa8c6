"""How `classify_last` is checked: against `torch.nn.RNN`, run on each row separately, without its padding."""

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Output, Spec, change


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
)
LAST = "np.stack(h, axis=1)[np.arange(len(lengths)), lengths - 1]"


def as_one_text(x, lengths, h_0, W_xh, W_hh, b_h, W_hy, b_y):
    logits, h_t = [], h_0[0]
    for row, length in enumerate(lengths):
        for t in range(length):
            h_t = np.tanh(x[row, t] @ W_xh + h_t @ W_hh + b_h)
        logits.append(h_t @ W_hy + b_y)
    return np.array(logits)


def read_backward(x, lengths, h_0, W_xh, W_hh, b_h, W_hy, b_y):
    last = np.array(h_0)
    for row, length in enumerate(lengths):
        for t in reversed(range(length)):
            last[row] = np.tanh(x[row, t] @ W_xh + last[row] @ W_hh + b_h)
    return last @ W_hy + b_y


SPEC.mistakes(
    {
        "last_padded_state": change("return last", "return h_t"),
        "padding_set_to_zero": change(
            "x[:, t] @", "(x[:, t] * (t < lengths)[:, None]) @", ("return last", "return h_t")
        ),
        "one_length_for_all": [
            *(change("lengths - 1", f"{length} - 1") for length in ("lengths[0]", "max(lengths)", "min(lengths)"))
        ],
        "state_set_to_zero": change(
            "h.append(h_t)", "h_t = h_t * (t < lengths)[:, None]\nh.append(h_t)", ("return last", "return h_t")
        ),
    },
    keeps=["rows of full length"],
)
SPEC.mistakes(
    {
        "off_by_one": [change("lengths - 1", "lengths"), change("h, h_t = []", "h, h_t = [h_0]")],
        "every_row_at_every_length": change("[np.arange(len(lengths)), ", "[:, "),
        "mean_over_time": [
            change(LAST, "np.mean(h, axis=0)"),
            change(LAST, "sum(h_t * (t < lengths)[:, None] for t, h_t in enumerate(h)) / lengths[:, None]"),
        ],
        "sum_over_time": [
            change(LAST, "np.sum(h, axis=0)"),
            change(LAST, "sum(h_t * (t < lengths)[:, None] for t, h_t in enumerate(h))"),
        ],
        "largest_over_time": [
            change(LAST, "np.max(h, axis=0)"),
            change(LAST, "np.array([np.max([h_t[b] for h_t in h[:n]], axis=0) for b, n in enumerate(lengths)])"),
        ],
        "read_backward": read_backward,
        "logits_at_every_step": change(LAST, "np.stack(h, axis=1)"),
        "probabilities_returned": change(
            "return last @ W_hy + b_y",
            "p = np.exp(last @ W_hy + b_y)\nreturn p / p.sum(axis=1, keepdims=True)",
        ),
        "no_output_layer": change("last @ W_hy + b_y", "last"),
        "time_axis_first": change("np.stack(h, axis=1)[", "np.array(h)["),
        "starts_from_the_previous_row": as_one_text,
        "h_0_used_at_every_step": change("h_t @ W_hh", "h_0 @ W_hh"),
        "counted_from_the_end": change("lengths - 1", "-lengths"),
        "no_tanh": change("np.tanh(x[:, t] @ W_xh + h_t @ W_hh + b_h)", "x[:, t] @ W_xh + h_t @ W_hh + b_h"),
    }
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

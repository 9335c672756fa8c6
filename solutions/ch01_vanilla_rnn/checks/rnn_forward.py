"""How `rnn_forward` is checked: against `torch.nn.RNN`."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Output, Spec


def oracle(x, h_0, W_xh, W_hh, b_h):
    """PyTorch's RNN, batch first, whose weights are (out, in) and whose second bias is set to 0."""
    rnn = torch.nn.RNN(*W_xh.shape, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        rnn.weight_ih_l0.copy_(torch.from_numpy(W_xh.T))
        rnn.weight_hh_l0.copy_(torch.from_numpy(W_hh.T))
        rnn.bias_ih_l0.copy_(torch.from_numpy(b_h))
        rnn.bias_hh_l0.zero_()
        return rnn(torch.from_numpy(x), torch.from_numpy(h_0)[None])[0].numpy()


EXAMPLE = Case(
    sizes={"B": 1, "T": 3, "D": 1, "H": 2},
    inputs={
        "x": np.array([[[1.00], [0.00], [-0.50]]]),
        "h_0": np.array([[0.30, -0.20]]),
        "W_xh": np.array([[0.80, -0.40]]),
        "W_hh": np.array([[0.50, 0.20], [-0.30, 0.60]]),
        "b_h": np.array([0.10, -0.05]),
    },
)


def case(rng, B, T, D, H, kind="ordinary"):
    return Case(
        sizes={"B": B, "T": T, "D": D, "H": H},
        inputs={
            "x": rng.normal(size=(B, T, D)),
            "h_0": rng.uniform(-0.9, 0.9, size=(B, H)),
            "W_xh": rng.normal(size=(D, H)) / np.sqrt(D),
            "W_hh": rng.normal(size=(H, H)) / np.sqrt(H),
            "b_h": rng.normal(size=H),
        },
        kind=kind,
    )


def cases(rng):
    yield case(rng, B=2, T=5, D=3, H=4)
    yield case(rng, B=4, T=4, D=4, H=4)
    yield case(rng, B=1, T=6, D=2, H=3)
    yield case(rng, B=3, T=4, D=1, H=1)
    yield case(rng, B=3, T=1, D=2, H=4, kind="T = 1")
    yield case(rng, B=2, T=1, D=1, H=3, kind="T = 1")


SPEC = Spec(
    outputs=[Output("h", ("B", "T", "H"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("several time steps", share=3, kinds=("ordinary",)),
        Facet("one time step", share=1, kinds=("T = 1",)),
    ],
    why="""
The loop carries one thing, the state at hand: each step takes it, renews it, and leaves it to the next. It starts with
`h_0`, which was before any input and so is not among the results. `x[:, t]` is one time step of all sequences at once,
so the batch needs no loop of its own. Each step makes a *new* array; only because of that are the states that were kept
still what they were when the loop has ended. Stacking along axis 1 puts time between batch and units.
""",
)


@SPEC.misconception(keeps=["one time step"])
def state_not_carried(x, h_0, W_xh, W_hh, b_h):
    """Tempting because the name h_0 is at hand inside the loop, and every step looks right."""
    h = [np.tanh(x[:, t] @ W_xh + h_0 @ W_hh + b_h) for t in range(x.shape[1])]
    return np.stack(h, axis=1)


@SPEC.misconception()
def starts_from_zero(x, h_0, W_xh, W_hh, b_h):
    """Tempting because nearly every example starts from a zero state."""
    h, h_t = [], np.zeros_like(h_0)
    for t in range(x.shape[1]):
        h_t = np.tanh(x[:, t] @ W_xh + h_t @ W_hh + b_h)
        h.append(h_t)
    return np.stack(h, axis=1)


@SPEC.misconception()
def h_0_comes_first(x, h_0, W_xh, W_hh, b_h):
    """Tempting because a list that starts as [h_0] gives every step its predecessor."""
    h = [h_0]
    for t in range(x.shape[1]):
        h.append(np.tanh(x[:, t] @ W_xh + h[-1] @ W_hh + b_h))
    return np.stack(h, axis=1)


@SPEC.misconception("h_0_comes_first")
def h_0_comes_first_and_the_last_is_cut(x, h_0, W_xh, W_hh, b_h):
    """The same, cut to the right length from the wrong end."""
    h = [h_0]
    for t in range(x.shape[1]):
        h.append(np.tanh(x[:, t] @ W_xh + h[-1] @ W_hh + b_h))
    return np.stack(h[:-1], axis=1)


@SPEC.misconception()
def first_input_skipped(x, h_0, W_xh, W_hh, b_h):
    """Tempting because the equation counts from 1: h[:, 0] is taken for h_0, and the loop starts at 1."""
    h = np.zeros((x.shape[0], x.shape[1], h_0.shape[1]))
    h[:, 0] = h_0
    for t in range(1, x.shape[1]):
        h[:, t] = np.tanh(x[:, t] @ W_xh + h[:, t - 1] @ W_hh + b_h)
    return h


@SPEC.misconception()
def last_state_only(x, h_0, W_xh, W_hh, b_h):
    """Tempting because the state after the last step is what a classifier needs."""
    h_t = h_0
    for t in range(x.shape[1]):
        h_t = np.tanh(x[:, t] @ W_xh + h_t @ W_hh + b_h)
    return h_t


@SPEC.misconception()
def time_axis_first(x, h_0, W_xh, W_hh, b_h):
    """Tempting because np.array of the list of states puts time in front, as PyTorch does by default."""
    h, h_t = [], h_0
    for t in range(x.shape[1]):
        h_t = np.tanh(x[:, t] @ W_xh + h_t @ W_hh + b_h)
        h.append(h_t)
    return np.array(h)


@SPEC.misconception()
def loops_over_the_batch(x, h_0, W_xh, W_hh, b_h):
    """Tempting because `for x_t in x` reads like the equation; it walks along the first axis, the batch."""
    h, h_t = [], h_0
    for x_t in x:
        h_t = np.tanh(x_t @ W_xh + h_t @ W_hh + b_h)
        h.append(h_t)
    return np.stack(h, axis=1)


@SPEC.misconception(keeps=["one time step"])
def one_array_for_all_steps(x, h_0, W_xh, W_hh, b_h):
    """Tempting because it saves memory: the state is overwritten in place, and the same array is kept T times."""
    h, h_t = [], h_0.copy()
    for t in range(x.shape[1]):
        h_t[:] = np.tanh(x[:, t] @ W_xh + h_t @ W_hh + b_h)
        h.append(h_t)
    return np.stack(h, axis=1)


@SPEC.alternative
def filled_in_place(x, h_0, W_xh, W_hh, b_h):
    """An array made beforehand; the input's part for all steps in one product."""
    drive = x @ W_xh + b_h
    h = np.empty_like(drive)
    for t in range(x.shape[1]):
        h[:, t] = np.tanh(drive[:, t] + (h[:, t - 1] if t > 0 else h_0) @ W_hh)
    return h


@SPEC.alternative
def time_first_and_back(x, h_0, W_xh, W_hh, b_h):
    """Time moved to the front, walked along, and moved back: the result is a view that is not contiguous."""
    states = [h_0]
    for x_t in x.swapaxes(0, 1):
        states.append(np.tanh(x_t @ W_xh + states[-1] @ W_hh + b_h))
    return np.array(states[1:]).swapaxes(0, 1)


@SPEC.alternative
def by_recursion(x, h_0, W_xh, W_hh, b_h):
    """The first step, then the rest of the sequence from there."""
    h_1 = np.tanh(x[:, 0] @ W_xh + h_0 @ W_hh + b_h)
    if x.shape[1] == 1:
        return h_1[:, None]
    return np.concatenate([h_1[:, None], by_recursion(x[:, 1:], h_1, W_xh, W_hh, b_h)], axis=1)

"""How `truncated_bptt` is checked: against PyTorch's autograd, with the state detached at each cut."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Output, Spec, on_grid

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


def backward(dh, x, h_0, h, W_hh, cut, first=0, h_prev=None, through=None):
    """The backward pass from the last step to `first`; `cut(t)` says whether nothing comes back from t + 1 to t."""
    h_prev = np.concatenate([h_0[:, None], h[:, :-1]], axis=1) if h_prev is None else h_prev
    da = blame(dh, h, W_hh.T if through is None else through, cut, first)
    return np.einsum("btd,bth->dh", x, da), np.einsum("btg,bth->gh", h_prev, da), da.sum(axis=(0, 1))


def blame(dh, h, through, cut, first=0):
    """What reaches the sum inside the tanh at each step, (B, T, H): zeros before `first`."""
    da, dh_next = np.zeros(h.shape), 0.0
    for t in reversed(range(first, h.shape[1])):
        da[:, t] = (dh[:, t] + (0 if cut(t) else dh_next)) * (1 - h[:, t] ** 2)
        dh_next = da[:, t] @ through
    return da


@SPEC.misconception(keeps=["tau ≥ T"])
def gradient_crosses_cuts(dh, x, h_0, h, W_xh, W_hh, tau):
    """Tempting because a loop over chunks looks like cutting, even if what comes back is carried on."""
    return backward(dh, x, h_0, h, W_hh, cut=lambda t: False)


@SPEC.misconception(keeps=["tau ≥ T"])
def state_reset_at_cuts(dh, x, h_0, h, W_xh, W_hh, tau):
    """Tempting because a chunk is treated like a sequence of its own, and sequences start from a state of zeros."""
    before = np.concatenate([h_0[:, None], h[:, :-1]], axis=1)
    before[:, tau::tau] = 0
    return backward(dh, x, h_0, h, W_hh, cut=lambda t: (t + 1) % tau == 0, h_prev=before)


@SPEC.misconception("state_reset_at_cuts")
def h_0_again_at_cuts(dh, x, h_0, h, W_xh, W_hh, tau):
    """The same with h_0, which rnn_backward asks for by that name."""
    before = np.concatenate([h_0[:, None], h[:, :-1]], axis=1)
    before[:, tau::tau] = h_0[:, None]
    return backward(dh, x, h_0, h, W_hh, cut=lambda t: (t + 1) % tau == 0, h_prev=before)


@SPEC.misconception("state_reset_at_cuts")
def own_first_state_at_cuts(dh, x, h_0, h, W_xh, W_hh, tau):
    """The same with the chunk's own first state, `h[:, start]` for `h[:, start - 1]`."""
    before = np.concatenate([h_0[:, None], h[:, :-1]], axis=1)
    before[:, tau::tau] = h[:, tau::tau]
    return backward(dh, x, h_0, h, W_hh, cut=lambda t: (t + 1) % tau == 0, h_prev=before)


@SPEC.misconception()
def dW_hh_from_h_t(dh, x, h_0, h, W_xh, W_hh, tau):
    """Tempting because dW_xh goes with x[:, t], so dW_hh seems to go with h[:, t]; W_hh met the state before."""
    return backward(dh, x, h_0, h, W_hh, cut=lambda t: (t + 1) % tau == 0, h_prev=h)


@SPEC.misconception("dW_hh_from_h_t")
def dW_hh_from_h_t_but_for_h_0(dh, x, h_0, h, W_xh, W_hh, tau):
    """The same with h_0 at t = 0, where somebody thought of it."""
    before = np.concatenate([h_0[:, None], h[:, 1:]], axis=1)
    return backward(dh, x, h_0, h, W_hh, cut=lambda t: (t + 1) % tau == 0, h_prev=before)


@SPEC.misconception()
def h_wraps_around(dh, x, h_0, h, W_xh, W_hh, tau):
    """Tempting because `h[:, t - 1]` is right at every step but the first, and raises nothing there."""
    before = np.roll(h, 1, axis=1)
    return backward(dh, x, h_0, h, W_hh, cut=lambda t: (t + 1) % tau == 0, h_prev=before)


@SPEC.misconception()
def W_hh_not_transposed(dh, x, h_0, h, W_xh, W_hh, tau):
    """Tempting because W_hh is square, so that no shape complains."""
    return backward(dh, x, h_0, h, W_hh, cut=lambda t: (t + 1) % tau == 0, through=W_hh)


@SPEC.misconception(keeps=["whole chunks"])
def short_last_chunk_dropped(dh, x, h_0, h, W_xh, W_hh, tau):
    """Tempting because T // tau counts the chunks, and a loader of batches drops what is left over."""
    T = x.shape[1] // tau * tau
    return backward(dh[:, :T], x[:, :T], h_0, h[:, :T], W_hh, cut=lambda t: (t + 1) % tau == 0)


@SPEC.misconception(keeps=["tau ≥ T"])
def last_chunk_only(dh, x, h_0, h, W_xh, W_hh, tau):
    """Tempting because `=` in place of `+=` keeps what the last round of the loop found."""
    first = (x.shape[1] - 1) // tau * tau
    return backward(dh, x, h_0, h, W_hh, cut=lambda t: False, first=first)


@SPEC.misconception("last_chunk_only")
def last_tau_steps_only(dh, x, h_0, h, W_xh, W_hh, tau):
    """The same in its other reading: go back tau steps from the end, and stop."""
    return backward(dh, x, h_0, h, W_hh, cut=lambda t: False, first=max(0, x.shape[1] - tau))


@SPEC.misconception("last_chunk_only")
def first_chunk_only(dh, x, h_0, h, W_xh, W_hh, tau):
    """The same where the loop runs backwards through the chunks."""
    return backward(dh[:, :tau], x[:, :tau], h_0, h[:, :tau], W_hh, cut=lambda t: False)


@SPEC.misconception()
def overwritten(dh, x, h_0, h, W_xh, W_hh, tau):
    """Tempting because each line is right for its step; the next step writes over it."""
    da = blame(dh, h, W_hh.T, cut=lambda t: (t + 1) % tau == 0)[:, 0]  # (B, H)
    return x[:, 0].T @ da, h_0.T @ da, da.sum(axis=0)


@SPEC.misconception()
def loss_dropped_at_cuts(dh, x, h_0, h, W_xh, W_hh, tau):
    """Tempting because 'zero at a cut' is easily put around the whole sum; the loss of that step is in it too."""
    dh = dh.copy()
    dh[:, tau - 1 :: tau] = 0
    return backward(dh, x, h_0, h, W_hh, cut=lambda t: (t + 1) % tau == 0)


@SPEC.misconception()
def cuts_one_step_off(dh, x, h_0, h, W_xh, W_hh, tau):
    """Tempting because t % tau == 0 marks the first step of a chunk; what comes back is dropped after it, not at it."""
    return backward(dh, x, h_0, h, W_hh, cut=lambda t: t % tau == 0)


@SPEC.misconception("cuts_one_step_off")
def cuts_one_step_early(dh, x, h_0, h, W_xh, W_hh, tau):
    """The same to the other side: dropped after step tau − 1 was done, so that it cuts before it."""
    return backward(dh, x, h_0, h, W_hh, cut=lambda t: (t + 2) % tau == 0)


@SPEC.misconception("cuts_one_step_off")
def chunks_one_step_shorter(dh, x, h_0, h, W_xh, W_hh, tau):
    """The same by chunks of tau − 1: the cut is counted among the steps."""
    return backward(dh, x, h_0, h, W_hh, cut=lambda t: (t + 1) % max(1, tau - 1) == 0)


@SPEC.misconception(keeps=["tau ≥ T"])
def chunks_one_step_longer(dh, x, h_0, h, W_xh, W_hh, tau):
    """Tempting because 'back over tau steps' may be read as tau arrows between tau + 1 states."""
    return backward(dh, x, h_0, h, W_hh, cut=lambda t: (t + 1) % (tau + 1) == 0)


@SPEC.misconception(keeps=["tau ≥ T"])
def a_window_for_each_step(dh, x, h_0, h, W_xh, W_hh, tau):
    """Tempting because every loss may go back over tau steps, as in another way to truncate, tau times dearer."""
    total = [0.0, 0.0, 0.0]
    for t in range(x.shape[1]):
        alone = np.zeros(dh.shape)
        alone[:, t] = dh[:, t]
        s = slice(0, t + 1)
        part = backward(alone[:, s], x[:, s], h_0, h[:, s], W_hh, cut=lambda _: False, first=max(0, t + 1 - tau))
        total = [a + b for a, b in zip(total, part, strict=True)]
    return tuple(total)


@SPEC.misconception(keeps=["whole chunks", "tau ≥ T"])
def cuts_counted_from_the_end(dh, x, h_0, h, W_xh, W_hh, tau):
    """Tempting because the backward pass begins there; the first chunk is the short one then."""
    return backward(dh, x, h_0, h, W_hh, cut=lambda t: (x.shape[1] - 1 - t) % tau == 0)


@SPEC.misconception(keeps=["tau ≥ T"])
def mean_over_chunks(dh, x, h_0, h, W_xh, W_hh, tau):
    """Tempting because gradients of batches are averaged; these chunks are parts of one sum."""
    chunks = -(-x.shape[1] // tau)
    return tuple(g / chunks for g in backward(dh, x, h_0, h, W_hh, cut=lambda t: (t + 1) % tau == 0))


@SPEC.alternative
def chunk_by_chunk(dh, x, h_0, h, W_xh, W_hh, tau):
    """Each chunk as a sequence of its own that starts from the state before it."""
    total = None
    for start in range(0, x.shape[1], tau):
        s = slice(start, start + tau)
        h_before = h[:, start - 1] if start else h_0
        part = backward(dh[:, s], x[:, s], h_before, h[:, s], W_hh, cut=lambda _: False)
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

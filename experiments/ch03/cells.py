"""What the experiments with training share: networks by name, a training loop, and the gradient's norm against lag."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

torch.set_num_threads(1)


class Network(torch.nn.Module):
    """One recurrent layer and a linear layer on its states: x (B, T, D) -> (B, T, O).

    kind           recurrent weights                                 input weights        biases
    tanh           PyTorch's: uniform within 1 / sqrt(H) of 0        the same             the same
    orthogonal     a random orthogonal matrix                        normal, input_sd     0
    irnn           the identity; ReLU instead of tanh                normal, input_sd     0
    gru, lstm      PyTorch's: uniform within 1 / sqrt(H) of 0        the same             the same

    PyTorch's uniform distribution gives W_hh a spectral radius near 1 / sqrt(3) = 0.58 if H is large, and of about 0.60
    if H is 64. With `forget_bias`, the LSTM's forget gates have this bias: it is set in one of PyTorch's two bias
    vectors, and the other is set to 0.
    """

    def __init__(
        self,
        kind: str,
        sizes: tuple[int, int, int],
        input_sd: float | None = None,
        forget_bias: float | None = None,
    ) -> None:
        super().__init__()
        D, H, O = sizes  # noqa: E741
        self.rnn: torch.nn.RNNBase
        if kind in ("tanh", "orthogonal", "irnn"):
            self.rnn = torch.nn.RNN(D, H, nonlinearity="relu" if kind == "irnn" else "tanh", batch_first=True)
        else:
            self.rnn = {"gru": torch.nn.GRU, "lstm": torch.nn.LSTM}[kind](D, H, batch_first=True)
        self.head = torch.nn.Linear(H, O)
        with torch.no_grad():
            if kind in ("orthogonal", "irnn"):
                init = torch.nn.init.eye_ if kind == "irnn" else torch.nn.init.orthogonal_
                init(self.rnn.weight_hh_l0)
                self.rnn.weight_ih_l0.normal_(0, input_sd)
                self.rnn.bias_ih_l0.zero_()
                self.rnn.bias_hh_l0.zero_()
            if forget_bias is not None:
                self.rnn.bias_ih_l0[H : 2 * H] = forget_bias  # the order is input, forget, candidate, output
                self.rnn.bias_hh_l0[H : 2 * H] = 0

    def forward(self, x: Tensor) -> Tensor:
        states, _ = self.rnn(x)  # (B, T, H)
        outputs: Tensor = self.head(states)
        return outputs


Loss = Callable[[Tensor, Tensor], Tensor]


@dataclass
class Course:
    """What happened in a training run: `curve` has what `look` returned, every so many updates."""

    curve: list[float] = field(default_factory=list)
    gradient_norms: list[float] = field(default_factory=list)  # of all weights together, before clipping
    diverged_at: int | None = None


def first_update(curve: Sequence[float], look_every: float, holds: Callable[[float], bool]) -> int | None:
    """The update at which `holds` is first true of a curve, which has one value every `look_every` updates."""
    return next((int(look_every) * i for i, value in enumerate(curve, start=1) if holds(value)), None)


def train(
    model: Network,
    batches: Iterator[tuple[Tensor, Tensor]],
    loss: Loss,
    look: Callable[[int], float],
    *,
    updates: int,
    lr: float,
    decay: bool = False,
    clip: float | None = 1.0,
    optimizer: str = "adam",
    epsilon: float = 1e-8,
    look_every: int = 20,
    stop: Callable[[float], bool] = lambda _: False,
) -> Course:
    """Train for `updates` updates, or until `stop` is true of what `look` returns.

    `epsilon` is that of Adam. With `decay` the learning rate falls linearly to 0. A run ends as diverged if its
    gradient is not finite.
    """
    course = Course()
    weights = list(model.parameters())
    optim: torch.optim.Optimizer = torch.optim.SGD(weights, lr=lr)
    if optimizer == "adam":
        optim = torch.optim.Adam(weights, lr=lr, eps=epsilon)
    for update, (x, y) in zip(range(1, updates + 1), batches, strict=False):
        if decay:
            optim.param_groups[0]["lr"] = lr * (1 - (update - 1) / updates)
        optim.zero_grad()
        loss(model(x), y).backward()
        norm = torch.nn.utils.clip_grad_norm_(weights, math.inf if clip is None else clip).item()
        if not math.isfinite(norm):
            course.diverged_at = update
            break
        course.gradient_norms.append(norm)
        optim.step()
        if update % look_every == 0:
            course.curve.append(look(update))
            if stop(course.curve[-1]):
                break
    return course


def gradient_by_lag(model: Network, x: Tensor, y: Tensor, loss: Loss) -> list[float]:
    """Norm of the gradient with respect to the state at each lag, x (B, T, D): T numbers, for lags 0 to T - 1.

    The loss reads the last state alone. Frobenius norm over (B, H), divided by that at lag 0. For an LSTM the state is
    (h_t, c_t) together. In float64, in which norms down to 1e-150 do not underflow.
    """
    model = copy.deepcopy(model).double()
    state, states = None, []
    for t in range(x.shape[1]):
        _, state = model.rnn(x[:, t : t + 1].double(), state)
        states.append(state if isinstance(state, tuple) else (state,))
    last = states[-1][0][0]  # (B, H)
    flat = [part for parts in states for part in parts]
    grads = torch.autograd.grad(loss(model.head(last)[:, None], y.double()), flat, allow_unused=True)
    parts = len(states[0])
    squares = [0.0 if grad is None else grad.square().sum().item() for grad in grads]
    norms = [math.sqrt(sum(squares[t * parts : (t + 1) * parts])) for t in range(x.shape[1])]
    return [norm / norms[-1] for norm in reversed(norms)]

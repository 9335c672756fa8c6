"""How `rnn_step` is checked: against `torch.nn.RNNCell`."""

import numpy as np
import torch

from grader.author.spec import Case, Output, Spec


def oracle(x_t, h_prev, W_xh, W_hh, b_h):
    """One step of PyTorch's cell, whose weights are (out, in) and whose second bias is set to 0."""
    cell = torch.nn.RNNCell(*W_xh.shape, dtype=torch.float64)
    with torch.no_grad():
        cell.weight_ih.copy_(torch.from_numpy(W_xh.T))
        cell.weight_hh.copy_(torch.from_numpy(W_hh.T))
        cell.bias_ih.copy_(torch.from_numpy(b_h))
        cell.bias_hh.zero_()
        return cell(torch.from_numpy(x_t), torch.from_numpy(h_prev)).numpy()


EXAMPLE = Case(
    sizes={"B": 1, "D": 2, "H": 2},
    inputs={
        "x_t": np.array([[1.00, -0.50]]),
        "h_prev": np.array([[0.20, 0.40]]),
        "W_xh": np.array([[0.50, -0.30], [0.20, 0.80]]),
        "W_hh": np.array([[0.10, 0.70], [-0.60, 0.30]]),
        "b_h": np.array([0.05, -0.15]),
    },
)


def case(rng, B, D, H):
    return Case(
        sizes={"B": B, "D": D, "H": H},
        inputs={
            "x_t": rng.normal(size=(B, D)),
            "h_prev": rng.uniform(-0.9, 0.9, size=(B, H)),
            "W_xh": rng.normal(size=(D, H)) / np.sqrt(D),
            "W_hh": rng.normal(size=(H, H)) / np.sqrt(H),
            "b_h": rng.normal(size=H),
        },
    )


def cases(rng):
    yield case(rng, B=2, D=3, H=4)
    yield case(rng, B=5, D=3, H=3)
    yield case(rng, B=4, D=4, H=4)
    yield case(rng, B=1, D=3, H=2)
    yield case(rng, B=3, D=1, H=5)
    yield case(rng, B=3, D=2, H=1)


SPEC = Spec(
    outputs=[Output("h_t", ("B", "H"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    why="""
Inputs and states are rows, so each weight matrix stands on the right: (B, D) times (D, H) and (B, H) times (H, H) both
give (B, H), and the two can be added. `b_h` has shape (H,); NumPy adds it to each of the B rows. The tanh comes last
and acts once, on the whole sum: that keeps every unit between −1 and 1, and lets input and state influence each other.
""",
)


@SPEC.misconception()
def transposed_W_hh(x_t, h_prev, W_xh, W_hh, b_h):
    """Tempting because most papers write column states, W_hh h; copied into rows, that is h @ W_hh.T."""
    return np.tanh(x_t @ W_xh + h_prev @ W_hh.T + b_h)


@SPEC.misconception()
def weights_from_the_left(x_t, h_prev, W_xh, W_hh, b_h):
    """Tempting because most papers write W h. It runs only where the batch is as large as the state."""
    return np.tanh(x_t @ W_xh + W_hh @ h_prev + b_h)


@SPEC.misconception("weights_from_the_left")
def both_weights_from_the_left(x_t, h_prev, W_xh, W_hh, b_h):
    """The same for both matrices."""
    return np.tanh(W_xh @ x_t + W_hh @ h_prev + b_h)


@SPEC.misconception()
def no_bias(x_t, h_prev, W_xh, W_hh, b_h):
    """Tempting because many drawings of the step leave the bias out."""
    return np.tanh(x_t @ W_xh + h_prev @ W_hh)


@SPEC.misconception()
def bias_outside(x_t, h_prev, W_xh, W_hh, b_h):
    """Tempting because a missing pair of brackets looks almost right."""
    return np.tanh(x_t @ W_xh + h_prev @ W_hh) + b_h


@SPEC.misconception()
def no_tanh(x_t, h_prev, W_xh, W_hh, b_h):
    """Tempting because the linear part is where all the work is."""
    return x_t @ W_xh + h_prev @ W_hh + b_h


@SPEC.misconception()
def tanh_of_each(x_t, h_prev, W_xh, W_hh, b_h):
    """Tempting because texts say that both inputs 'are passed through a non-linearity'."""
    return np.tanh(x_t @ W_xh) + np.tanh(h_prev @ W_hh) + b_h


@SPEC.misconception("tanh_of_each")
def tanh_of_each_bias_with_x(x_t, h_prev, W_xh, W_hh, b_h):
    """The same, the bias kept with the input."""
    return np.tanh(x_t @ W_xh + b_h) + np.tanh(h_prev @ W_hh)


@SPEC.misconception("tanh_of_each")
def tanh_of_each_bias_with_h(x_t, h_prev, W_xh, W_hh, b_h):
    """The same, the bias kept with the state."""
    return np.tanh(x_t @ W_xh) + np.tanh(h_prev @ W_hh + b_h)


@SPEC.misconception()
def sigmoid_for_tanh(x_t, h_prev, W_xh, W_hh, b_h):
    """Tempting because gates, and many older networks, use the logistic function."""
    return 1 / (1 + np.exp(-(x_t @ W_xh + h_prev @ W_hh + b_h)))


@SPEC.misconception()
def state_left_out(x_t, h_prev, W_xh, W_hh, b_h):
    """Tempting because a plain layer needs no more than its input."""
    return np.tanh(x_t @ W_xh + b_h)


@SPEC.misconception()
def state_without_weights(x_t, h_prev, W_xh, W_hh, b_h):
    """Tempting because h_prev has the right shape already, so that adding it just works."""
    return np.tanh(x_t @ W_xh + h_prev + b_h)


@SPEC.alternative
def one_matrix(x_t, h_prev, W_xh, W_hh, b_h):
    """One product with the stacked weights."""
    return np.tanh(np.concatenate([x_t, h_prev], axis=1) @ np.concatenate([W_xh, W_hh], axis=0) + b_h)


@SPEC.alternative
def with_einsum(x_t, h_prev, W_xh, W_hh, b_h):
    """Einstein's summation, and tanh by its definition through the exponential."""
    a = np.einsum("bd,dh->bh", x_t, W_xh) + np.einsum("bi,ij->bj", h_prev, W_hh) + b_h[None, :]
    return 1 - 2 / (np.exp(2 * a) + 1)


@SPEC.alternative
def unit_by_unit(x_t, h_prev, W_xh, W_hh, b_h):
    """Plain loops over rows and units."""
    h_t = np.zeros(h_prev.shape)
    for row in range(len(x_t)):
        for unit in range(len(b_h)):
            a = sum(x_t[row, d] * W_xh[d, unit] for d in range(W_xh.shape[0]))
            a += sum(h_prev[row, i] * W_hh[i, unit] for i in range(W_hh.shape[0]))
            h_t[row, unit] = np.tanh(a + b_h[unit])
    return h_t

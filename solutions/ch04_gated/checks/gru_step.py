"""How `gru_step` is checked: against `torch.nn.GRUCell`."""

import numpy as np
import torch

from grader.author.spec import Case, Gates, Output, Spec, change


def oracle(x_t, h_prev, W_x, W_h, b_x, b_h):
    """One step of PyTorch's cell, whose weights are (3H, in), with the blocks in the order r, z, n."""
    cell = torch.nn.GRUCell(len(W_x), len(W_h), dtype=torch.float64)
    with torch.no_grad():
        cell.weight_ih.copy_(torch.from_numpy(W_x.T))
        cell.weight_hh.copy_(torch.from_numpy(W_h.T))
        cell.bias_ih.copy_(torch.from_numpy(b_x))
        cell.bias_hh.copy_(torch.from_numpy(b_h))
        return cell(torch.from_numpy(x_t), torch.from_numpy(h_prev)).numpy()


EXAMPLE = Case(
    sizes={"B": 1, "D": 1, "H": 2},
    inputs={
        "x_t": np.array([[1.50]]),
        "h_prev": np.array([[0.40, -0.60]]),
        "W_x": np.array([[0.60, -0.40, 0.80, -0.20, 0.50, -1.00]]),
        "W_h": np.array([[0.50, -0.30, 0.20, 0.70, 0.90, -0.50], [-0.80, 0.40, -0.60, 0.10, 0.30, 1.10]]),
        "b_x": np.array([0.10, -0.20, 0.35, 0.20, -0.40, 0.10]),
        "b_h": np.array([-0.30, 0.25, 0.15, -0.35, 0.25, 0.45]),
    },
)


def case(rng, B, D, H):
    return Case(
        sizes={"B": B, "D": D, "H": H},
        inputs={
            "x_t": rng.normal(size=(B, D)),
            "h_prev": rng.uniform(-0.9, 0.9, size=(B, H)),
            "W_x": rng.normal(size=(D, 3 * H)) / np.sqrt(D),
            "W_h": rng.normal(size=(H, 3 * H)) / np.sqrt(H),
            "b_x": rng.normal(size=3 * H),
            "b_h": rng.normal(size=3 * H),
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
    gates=[
        Gates("rzn", inputs=("W_x", "W_h", "b_x", "b_h")),
        Gates("rzn", inputs=("W_x", "b_x")),
        Gates("rzn", inputs=("W_h", "b_h")),
    ],
    why=r"""
One product for the input and one for the previous state compute all three blocks at once, and `np.split` takes them
apart. The two sides are kept separate until the end, because in the third block they are not simply added: the reset
gate multiplies what comes from the previous state, $h_{t-1} W_{hn} + b_{hn}$, and nothing else. This is also why the
GRU needs two biases, whereas in a tanh RNN or an LSTM only their sum matters. The new state is a weighted mean of
candidate and previous state. Both lie between −1 and 1, so the state does too, and no tanh is needed at the end.
""",
)


MIX, CANDIDATE = "(1 - z) * n + z * h_prev", "np.tanh(x_n + r * h_n)"
SPEC.mistake(
    "update_gate_swapped",
    "You swap the roles of `z` and `1 - z`. Multiply the *previous state* by `z` and the candidate by `1 - z`: here an "
    "update gate near 1 keeps the old state. (Chung et al., 2014, define the gate the other way round.)",
    change(MIX, "z * n + (1 - z) * h_prev"),
    tempts="Chung et al. (2014) and many texts after them write the step with z and 1 - z exchanged.",
)
SPEC.mistake(
    "r_before_the_product",
    "You apply the reset gate to `h_prev` *before* the product with the weights of the candidate. In this exercise "
    "apply it *after* the product: `r * (h_prev @ W_hn + b_hn)`. Your order is that of Cho et al. (2014), which the "
    "exercise `gru_step_cho` asks for.",
    change("+ r * h_n", "+ (r * h_prev) @ W_h[:, -n_H:] + b_h[-n_H:]", ("r = ", "n_H = h_prev.shape[1]\nr = ")),
    change("+ r * h_n", "+ (r * h_prev) @ W_h[:, -n_H:] + r * b_h[-n_H:]", ("r = ", "n_H = h_prev.shape[1]\nr = ")),
    tempts="The original paper and most drawings of the GRU apply the reset gate to the previous state itself.",
)
SPEC.mistake(
    "the_step_of_chung",
    "You compute the step of Chung et al. (2014), which differs from this one twice. Multiply the previous state by "
    "`z` and the candidate by `1 - z`, and apply the reset gate *after* the product: `r * (h_prev @ W_hn + b_hn)`.",
    *(
        change(
            MIX,
            "z * n + (1 - z) * h_prev",
            ("r * h_n", f"(r * h_prev) @ W_h[:, -n_H:] + {bias}"),
            ("r = ", "n_H = h_prev.shape[1]\nr = "),
        )
        for bias in ("b_h[-n_H:]", "r * b_h[-n_H:]")
    ),
    tempts="A well-known essay on LSTMs, and many texts after it, show the GRU with these equations.",
)
SPEC.mistake(
    "b_hn_not_gated",
    "You multiply only the product `h_prev @ W_hn` by the reset gate and add its bias `b_hn` outside. Put the bias "
    "inside the brackets, `r * (h_prev @ W_hn + b_hn)`, because the gate acts on everything that comes from the "
    "state's side.",
    change("r * h_n", "r * (h_n - b_h[-h_prev.shape[1] :]) + b_h[-h_prev.shape[1] :]"),
    tempts="Biases are usually added at the very end.",
)
SPEC.mistake(
    "b_hn_left_out",
    "You leave out `b_hn`, the third block of `b_h`. Add it to the product inside the brackets, "
    "`r * (h_prev @ W_hn + b_hn)`.",
    change("r * h_n", "r * (h_n - b_h[-h_prev.shape[1] :])"),
    tempts="In the gates the two biases stand at the end of the sum; here one of them is inside the brackets.",
)
SPEC.mistake(
    "b_xn_gated",
    "You multiply the bias `b_xn` by the reset gate too, for example because you have merged the two biases. Add "
    "`b_xn` outside the brackets: the reset gate acts only on what comes from the previous state.",
    change(CANDIDATE, "np.tanh(x_n - b + r * (h_n + b))", ("r = ", "b = b_x[-h_prev.shape[1] :]\nr = ")),
    tempts="In a tanh RNN and in an LSTM only the sum of the two biases matters, so merging them seems harmless.",
)
SPEC.mistake(
    "r_times_everything",
    "You multiply the whole pre-activation of the candidate by the reset gate. Let the gate act only on what comes "
    "from the previous state, `r * (h_prev @ W_hn + b_hn)`, because a closed reset gate should forget the past, not "
    "the input.",
    change("x_n + r * h_n", "r * (x_n + h_n)"),
    tempts="For the other two gates, both sides are simply added first.",
)
SPEC.mistake(
    "r_times_the_input",
    "You multiply the input's side of the candidate by the reset gate. Let the gate act on the state's side, `r * "
    "(h_prev @ W_hn + b_hn)`, because it decides how much of the *past* the candidate sees.",
    change("x_n + r * h_n", "r * x_n + h_n"),
    tempts="The names of the two sides differ by one letter.",
)
SPEC.mistake(
    "r_left_out",
    "You do not use the reset gate. Multiply the state's side of the candidate by it, `r * (h_prev @ W_hn + b_hn)`.",
    change("r * h_n", "h_n"),
    tempts="The update gate alone already makes a gated network.",
)
SPEC.mistake(
    "candidate_gated_by_z",
    "You multiply the state's side of the candidate by the update gate. Use the reset gate `r` there; the update gate "
    "`z` belongs to the last line, where the new state is mixed.",
    change("r * h_n", "z * h_n"),
    tempts="Two gates of the same shape with names of one letter.",
)
SPEC.mistake(
    "mixed_by_r",
    "You mix the candidate and the previous state with the reset gate. Use the update gate `z` there; the reset gate "
    "`r` acts inside the candidate.",
    change(MIX, "(1 - r) * n + r * h_prev"),
    tempts="Two gates of the same shape with names of one letter.",
)
SPEC.mistake(
    "h_prev_left_out_of_n",
    "Your candidate does not depend on `h_prev`. Compute its pre-activation as the input's side plus `r * (h_prev @ "
    "W_hn + b_hn)`, because the candidate continues from the past that the reset gate lets through.",
    change("x_n + r * h_n", "x_n"),
    change("r * h_n", "r * b_h[-h_prev.shape[1] :]"),
    tempts="The previous state enters in the last line anyway.",
)
SPEC.mistake(
    "W_hn_left_out",
    "You multiply the previous state itself by the reset gate and leave out its weights. Use `r * (h_prev @ W_hn "
    "+ b_hn)`, because the candidate of a unit depends on all units of the previous state.",
    change("r * h_n", "r * h_prev"),
    change("r * h_n", "r * (h_prev + b_h[-h_prev.shape[1] :])"),
    change("r * h_n", "r * h_prev + b_h[-h_prev.shape[1] :]"),
    tempts="'The reset gate multiplies the previous state' is how the gate is usually explained.",
)
SPEC.mistake(
    "h_prev_not_gated",
    "You add the whole previous state, without the update gate. Multiply it by `z` and the candidate by `1 - z`: these "
    "shares sum to 1, which keeps the state between −1 and 1.",
    change(MIX, "z * n + h_prev"),
    change(MIX, "(1 - z) * n + h_prev"),
    tempts="'The gate decides how much is added to the old state' describes a residual connection.",
)
SPEC.mistake(
    "n_not_gated",
    "You add the whole candidate. Multiply it by `1 - z`: the shares `1 - z` and `z` sum to 1, "
    "which keeps the state between −1 and 1.",
    change("(1 - z) * n", "n"),
    tempts="In an LSTM the share that is kept and the share that is written come from two separate gates.",
)
SPEC.mistake(
    "previous_state_left_out",
    "You leave out the previous state in the last line. Add `z * h_prev`, because the GRU has no other way to keep a "
    "state unchanged.",
    change(MIX, "(1 - z) * n"),
    tempts="The previous state is already in the candidate, through its weights.",
)
SPEC.mistake(
    "both_times_z",
    "You multiply both the candidate and the previous state by the same share. Multiply the candidate by `1 - z` and "
    "the previous state by `z`, so that the shares sum to 1.",
    change(MIX, "z * n + z * h_prev"),
    change(MIX, "(1 - z) * n + (1 - z) * h_prev"),
    tempts="The `1 -` is easily lost, or copied once too often.",
)
SPEC.mistake(
    "n_returned",
    "You return the candidate as the new state. Mix it with the previous state: the new state is `1 - z` times the "
    "candidate plus `z` times `h_prev`.",
    change(MIX, "n"),
    tempts="The candidate has the shape of a state and looks like the result of a tanh RNN.",
)
SPEC.mistake(
    "no_tanh",
    "You leave out the tanh of the candidate. Apply it to `x_t @ W_xn + b_xn + r * (h_prev @ W_hn + b_hn)`, so that "
    "the candidate lies between −1 and 1.",
    change(CANDIDATE, "x_n + r * h_n"),
    tempts="The gating inside the pre-activation takes all the attention.",
)
SPEC.mistake(
    "sigmoid_for_tanh",
    "You apply the logistic function to the candidate. Use the tanh: gates lie between 0 and 1, but a state may also "
    "be negative.",
    change(CANDIDATE, "sigmoid(x_n + r * h_n)"),
    tempts="All three blocks look alike, so one function is applied to all of them.",
)
SPEC.mistake(
    "tanh_at_the_end",
    "You apply a tanh to the new state as well. Return the mixture as it is: both of its parts lie between −1 and 1 "
    "already, and a tanh would shrink what the update gate is meant to keep.",
    change(MIX, f"np.tanh({MIX})"),
    tempts="An LSTM applies a tanh to its cell state before the output gate.",
)
SPEC.mistake(
    "tanh_for_sigmoid",
    "You compute at least one gate with the tanh. Use `sigmoid` for both gates, because a gate is a share between 0 "
    "and 1.",
    change("r = sigmoid(x_r + h_r)", "r = np.tanh(x_r + h_r)", ("z = sigmoid(x_z + h_z)", "z = np.tanh(x_z + h_z)")),
    change("r = sigmoid", "r = np.tanh"),
    change("z = sigmoid", "z = np.tanh"),
    tempts="All three blocks look alike, and the state of a tanh RNN was computed with the tanh.",
)
SPEC.mistake(
    "no_sigmoid",
    "You use at least one pre-activation as a gate. Apply `sigmoid` to it first, because a gate is a share between 0 "
    "and 1.",
    change("r = sigmoid(x_r + h_r)", "r = x_r + h_r", ("z = sigmoid(x_z + h_z)", "z = x_z + h_z")),
    change("r = sigmoid(x_r + h_r)", "r = x_r + h_r"),
    change("z = sigmoid(x_z + h_z)", "z = x_z + h_z"),
    tempts="The linear part is most of the work.",
)
SPEC.mistake(
    "function_of_each_side",
    "You apply the logistic function or the tanh to each side by itself and combine the results. Combine the two sides "
    "first, then apply the function once, to the whole pre-activation.",
    change(CANDIDATE, "np.tanh(x_n) + r * np.tanh(h_n)"),
    change("sigmoid(x_r + h_r)", "sigmoid(x_r) + sigmoid(h_r)", ("sigmoid(x_z + h_z)", "sigmoid(x_z) + sigmoid(h_z)")),
    change("sigmoid(x_r + h_r)", "sigmoid(x_r) * sigmoid(h_r)", ("sigmoid(x_z + h_z)", "sigmoid(x_z) * sigmoid(h_z)")),
    tempts="The two sides are computed separately, so the functions are applied separately too.",
)
SPEC.mistake(
    "r_outside_the_tanh",
    "You multiply the tanh by the reset gate. Move the gate inside: it multiplies the state's side of the "
    "pre-activation, `r * (h_prev @ W_hn + b_hn)`.",
    change(CANDIDATE, "r * np.tanh(x_n + h_n)"),
    tempts="In an LSTM, the gates multiply what comes out of a tanh.",
)
SPEC.mistake(
    "h_prev_left_out_of_the_gates",
    "You compute the gates from the input alone. Add the state's side, because what a gate should do depends on what "
    "the network remembers.",
    change("x_r + h_r", "x_r", ("x_z + h_z", "x_z")),
    tempts="The previous state enters in the candidate and in the last line anyway.",
)
SPEC.mistake(
    "blocks_of_W_h_transposed",
    "You multiply the previous state by the transposed blocks of `W_h`. Use the blocks as they are: here their shape "
    "is (in, out), whereas PyTorch stores (out, in). Because each block is square, the shapes fit either way.",
    change("h_prev @ W_h", "h_prev @ np.hstack([W.T for W in np.split(W_h, 3, axis=1)])"),
    tempts="PyTorch's formula transposes the weights.",
)
SPEC.mistake(
    "no_bias",
    "You leave out both biases. Add `b_x` to the product of the input and `b_h` to the product of the previous state.",
    change("x_t @ W_x + b_x", "x_t @ W_x", ("h_prev @ W_h + b_h", "h_prev @ W_h")),
    tempts="Many diagrams, and the original paper, leave out the biases.",
)


@SPEC.alternative
def block_by_block(x_t, h_prev, W_x, W_h, b_x, b_h):
    """Slices of the weights, one gate after the other."""
    H = h_prev.shape[1]
    r = 1 / (1 + np.exp(-(x_t @ W_x[:, :H] + b_x[:H] + h_prev @ W_h[:, :H] + b_h[:H])))
    z = 1 / (1 + np.exp(-(x_t @ W_x[:, H : 2 * H] + b_x[H : 2 * H] + h_prev @ W_h[:, H : 2 * H] + b_h[H : 2 * H])))
    n = np.tanh(x_t @ W_x[:, 2 * H :] + b_x[2 * H :] + r * (h_prev @ W_h[:, 2 * H :] + b_h[2 * H :]))
    return n + z * (h_prev - n)


@SPEC.alternative
def two_gates_at_once(x_t, h_prev, W_x, W_h, b_x, b_h):
    """One logistic function for both gates, and axes of their own for the blocks."""
    H = h_prev.shape[1]
    a_x = (x_t @ W_x + b_x).reshape(-1, 3, H)
    a_h = np.einsum("bi,ij->bj", h_prev, W_h).reshape(-1, 3, H) + b_h.reshape(3, H)
    r, z = np.moveaxis(0.5 + 0.5 * np.tanh((a_x + a_h)[:, :2] / 2), 1, 0)
    n = np.tanh(a_x[:, 2] + r * a_h[:, 2])
    return n - z * n + h_prev * z


@SPEC.alternative
def unit_by_unit(x_t, h_prev, W_x, W_h, b_x, b_h):
    """Plain loops over rows and units."""
    (B, H), h_t = h_prev.shape, np.zeros(h_prev.shape)
    for row in range(B):
        for unit in range(H):
            sides = [
                (x_t[row] @ W_x[:, column] + b_x[column], h_prev[row] @ W_h[:, column] + b_h[column])
                for column in (unit, H + unit, 2 * H + unit)
            ]
            r, z = (1 / (1 + np.exp(-sum(pair))) for pair in sides[:2])
            n = np.tanh(sides[2][0] + r * sides[2][1])
            h_t[row, unit] = (1 - z) * n + z * h_prev[row, unit]
    return h_t

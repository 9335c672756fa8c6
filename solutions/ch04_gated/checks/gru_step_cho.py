"""How `gru_step_cho` is checked: against a slow loop over units, written from the equations of Cho et al. (2014)."""

from math import exp, tanh

import numpy as np

from grader.author.spec import Case, Gates, Output, Spec, change


def oracle(x_t, h_prev, W_x, W_h, b_x, b_h):
    """Unit by unit: the gates of all units first, because the candidate of a unit needs the reset gates of all."""

    def weighted(values, weights, column, bias):
        return sum(value * weight for value, weight in zip(values, weights[:, column], strict=True)) + bias[column]

    def logistic(a):
        return 1 / (1 + exp(-a))

    H, h_t = h_prev.shape[1], np.zeros(h_prev.shape)
    for x, h, new in zip(x_t, h_prev, h_t, strict=True):
        r = [logistic(weighted(x, W_x, j, b_x) + weighted(h, W_h, j, b_h)) for j in range(H)]
        z = [logistic(weighted(x, W_x, H + j, b_x) + weighted(h, W_h, H + j, b_h)) for j in range(H)]
        reset = [r_k * h_k for r_k, h_k in zip(r, h, strict=True)]
        for j in range(H):
            candidate = tanh(weighted(x, W_x, 2 * H + j, b_x) + weighted(reset, W_h, 2 * H + j, b_h))
            new[j] = z[j] * h[j] + (1 - z[j]) * candidate
    return h_t


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
The reset gate acts on the previous state, one number for each of its units, and only then is the result multiplied by
$W_{hn}$. A unit whose reset gate is closed is therefore invisible to *all* candidates. In PyTorch's version, the gate
of a unit closes that unit's own candidate to *all* of the past. In general, the two versions agree for all states only
if $W_{hn}$ is diagonal and $b_{hn}$ is zero, so weights that were trained with one of them do not fit the other. In
this version $r_t$ must be known before the product with $W_{hn}$ can be computed, so that product cannot be joined with
those of the gates.
""",
)


MIX, CANDIDATE = "(1 - z) * n + z * h_prev", "np.tanh(x_n + (r * h_prev) @ W_hn + b_hn)"
SPEC.mistake(
    "r_after_the_product",
    "You apply the reset gate *after* the product, as in `gru_step`. Apply it to the previous state first and multiply "
    "by the weights afterwards: `(r * h_prev) @ W_hn`.",
    change("(r * h_prev) @ W_hn + b_hn", "r * (h_prev @ W_hn + b_hn)"),
    change("(r * h_prev) @ W_hn", "r * (h_prev @ W_hn)"),
    tempts="It is what PyTorch does and what the previous exercise asked for; for a single unit the products agree.",
)
SPEC.mistake(
    "b_hn_gated",
    "You multiply the bias `b_hn` by the reset gate. Add it as it is: in this version the gate acts on the previous "
    "state only, before the product.",
    change("(r * h_prev) @ W_hn + b_hn", "(r * h_prev) @ W_hn + r * b_hn"),
    tempts="In PyTorch's version the reset gate multiplies this bias.",
)
SPEC.mistake(
    "update_gate_swapped",
    "You swap the roles of `z` and `1 - z`. Multiply the *previous state* by `z` and the candidate by `1 - z`: in Cho "
    "et al. (2014), as in PyTorch, an update gate near 1 keeps the old state. (Chung et al., 2014, define the gate the "
    "other way round.)",
    change(MIX, "z * n + (1 - z) * h_prev"),
    tempts="Chung et al. (2014), with Cho as a co-author, write the same network with z and 1 - z exchanged.",
)
SPEC.mistake(
    "r_on_the_gates_too",
    "You apply the reset gate to the previous state for the update gate too. Apply it only for the candidate: `z` is "
    "computed from `h_prev` as it is.",
    change(
        "z = sigmoid(x_z + h_z)",
        "z = sigmoid(x_z + (r * h_prev) @ W_h[:, H : 2 * H] + b_h[H : 2 * H])",
    ),
    tempts="One product of `r * h_prev` with the other two blocks saves a line.",
)
SPEC.mistake(
    "reset_state_kept",
    "You mix the candidate with `r * h_prev`. Use `h_prev` as it is there: the reset gate decides only what the "
    "candidate sees, and the update gate alone decides what is kept.",
    change("z * h_prev", "z * (r * h_prev)"),
    tempts="Once `r * h_prev` has a name of its own, it takes the place of h_prev everywhere.",
)
SPEC.mistake(
    "r_times_everything",
    "You multiply the whole pre-activation of the candidate by the reset gate. Multiply only the previous state, "
    "before the product: `(r * h_prev) @ W_hn`.",
    change("x_n + (r * h_prev) @ W_hn + b_hn", "r * (x_n + h_prev @ W_hn + b_hn)"),
    tempts="For the other two gates, both sides are simply added first.",
)
SPEC.mistake(
    "r_left_out",
    "You do not use the reset gate. Multiply the previous state by it before the product: `(r * h_prev) @ W_hn`.",
    change("(r * h_prev) @", "h_prev @"),
    tempts="The update gate alone already makes a gated network.",
)
SPEC.mistake(
    "reset_by_z",
    "You multiply the previous state by the update gate before the product. Use the reset gate `r` there; the update "
    "gate `z` belongs to the last line, where the new state is mixed.",
    change("(r * h_prev) @", "(z * h_prev) @"),
    tempts="Two gates of the same shape with names of one letter.",
)
SPEC.mistake(
    "h_prev_left_out_of_n",
    "Your candidate does not depend on `h_prev`. Compute its pre-activation as the input's side plus `(r * h_prev) @ "
    "W_hn + b_hn`, because the candidate continues from the past that the reset gate lets through.",
    change("x_n + (r * h_prev) @ W_hn + b_hn", "x_n + b_hn"),
    change("x_n + (r * h_prev) @ W_hn + b_hn", "x_n"),
    tempts="The previous state enters in the last line anyway.",
)
SPEC.mistake(
    "W_hn_left_out",
    "You add `r * h_prev` itself to the pre-activation. Use `(r * h_prev) @ W_hn + b_hn`, because the "
    "candidate of a unit depends on all units of the previous state.",
    change("(r * h_prev) @ W_hn + b_hn", "r * h_prev + b_hn"),
    change("(r * h_prev) @ W_hn + b_hn", "r * h_prev"),
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
    "n_returned",
    "You return the candidate as the new state. Mix it with the previous state: the new state is `1 - z` times the "
    "candidate plus `z` times `h_prev`.",
    change(MIX, "n"),
    tempts="The candidate is all that changes compared with the previous exercise.",
)
SPEC.mistake(
    "no_tanh",
    "You leave out the tanh of the candidate. Apply it to the whole pre-activation, so that the candidate lies between "
    "−1 and 1.",
    change(CANDIDATE, CANDIDATE.removeprefix("np.tanh")),
    tempts="The gating inside the pre-activation takes all the attention.",
)
SPEC.mistake(
    "sigmoid_for_tanh",
    "You apply the logistic function to the candidate. Use the tanh: gates lie between 0 and 1, but a state may also "
    "be negative.",
    change("np.tanh(", "sigmoid("),
    tempts="All three blocks look alike, so one function is applied to all of them.",
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
    "tanh_for_sigmoid",
    "You compute at least one gate with the tanh. Use `sigmoid` for both gates, because a gate is a share between 0 "
    "and 1.",
    change("r = sigmoid(x_r + h_r)", "r = np.tanh(x_r + h_r)", ("z = sigmoid(x_z + h_z)", "z = np.tanh(x_z + h_z)")),
    change("r = sigmoid", "r = np.tanh"),
    change("z = sigmoid", "z = np.tanh"),
    tempts="All three blocks look alike, and the state of a tanh RNN was computed with the tanh.",
)
SPEC.mistake(
    "blocks_of_W_h_transposed",
    "You multiply by transposed blocks of `W_h`. Use the blocks as they are: here their shape is (in, out), whereas "
    "PyTorch stores (out, in). Because each block is square, the shapes fit either way.",
    change("@ W_hn", "@ W_hn.T"),
    change("@ W_hn", "@ W_hn.T", ("h_prev @ W_h ", "h_prev @ np.hstack([W.T for W in np.split(W_h, 3, axis=1)]) ")),
    tempts="PyTorch's formula transposes the weights.",
)
SPEC.mistake(
    "b_hn_left_out",
    "You leave out `b_hn`, the third block of `b_h`. Add it to the pre-activation of the candidate, without a gate.",
    change(" + b_hn)", ")"),
    tempts="With the gate inside the product, the bias no longer has a place in the brackets and gets lost.",
)
SPEC.mistake(
    "b_xn_left_out",
    "You leave out `b_xn`, the third block of `b_x`. Add two biases to the pre-activation of the candidate, `b_xn` and "
    "`b_hn`, both without a gate.",
    change("np.tanh(x_n +", "np.tanh(x_n - b_x[2 * H :] +"),
    change("np.tanh(x_n +", "np.tanh(x_n - b_x[2 * H :] +", (" + b_hn)", ")")),
    tempts="The candidate is written again, and `x_t @ W_xn` looks like the whole of the input's side.",
)


@SPEC.alternative
def block_by_block(x_t, h_prev, W_x, W_h, b_x, b_h):
    """Slices of the weights, one gate after the other; the two biases merged, which is right in this version."""
    H, b = h_prev.shape[1], b_x + b_h
    r = 1 / (1 + np.exp(-(x_t @ W_x[:, :H] + h_prev @ W_h[:, :H] + b[:H])))
    z = 1 / (1 + np.exp(-(x_t @ W_x[:, H : 2 * H] + h_prev @ W_h[:, H : 2 * H] + b[H : 2 * H])))
    n = np.tanh(x_t @ W_x[:, 2 * H :] + (r * h_prev) @ W_h[:, 2 * H :] + b[2 * H :])
    return n + z * (h_prev - n)


@SPEC.alternative
def joined_rows(x_t, h_prev, W_x, W_h, b_x, b_h):
    """Input and state side by side, as one row with one matrix; the second time with the state reset."""
    W, b = np.concatenate([W_x, W_h]), b_x + b_h
    r_and_z = np.hstack([x_t, h_prev]) @ W + b
    r, z, _ = np.split(0.5 + 0.5 * np.tanh(r_and_z / 2), 3, axis=1)
    n = np.tanh(np.split(np.hstack([x_t, r * h_prev]) @ W + b, 3, axis=1)[2])
    return n - z * n + h_prev * z

"""How `rnn_step` is checked: against `torch.nn.RNNCell`."""

import numpy as np
import torch

from grader.author.spec import Case, Output, Spec, change


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


SUM = "x_t @ W_xh + h_prev @ W_hh + b_h"
SPEC.mistake(
    "transposed_W_hh",
    "The previous state meets the transpose of `W_hh`. Books that write states as columns have W_hh h; in this course "
    "states are rows, and the same product is `h_prev` first, `W_hh` second.",
    change("h_prev @ W_hh", "h_prev @ W_hh.T"),
    tempts="Most papers write column states, W_hh h; copied into rows, that is h @ W_hh.T.",
)
SPEC.mistake(
    "weights_from_the_left",
    "A weight matrix stands to the left of a batch. In this course inputs and states are rows, so the matrix stands on "
    "the right. From the left it runs only where the batch happens to be as large as the state.",
    change("h_prev @ W_hh", "W_hh @ h_prev"),
    change("x_t @ W_xh + h_prev @ W_hh", "W_xh @ x_t + W_hh @ h_prev"),
    change("x_t @ W_xh + h_prev @ W_hh", "W_xh.T @ x_t + W_hh.T @ h_prev"),
    tempts="Most papers write W h. It runs only where the batch is as large as the state.",
)
SPEC.mistake(
    "no_bias",
    "The bias `b_h` is missing from the sum.",
    change(" + b_h", ""),
    tempts="Many drawings of the step leave the bias out.",
)
SPEC.mistake(
    "bias_outside",
    "The bias is added after the tanh. It belongs inside, so that the result stays between −1 and 1: look at the "
    "brackets.",
    change(" + b_h)", ") + b_h"),
    tempts="A missing pair of brackets looks almost right.",
)
SPEC.mistake(
    "no_tanh",
    "This is the sum before the non-linearity. What is left to do is the tanh.",
    change(f"np.tanh({SUM})", SUM),
    tempts="The linear part is where all the work is.",
)
SPEC.mistake(
    "tanh_of_each",
    "The tanh is taken of the input's part and of the state's part separately, and the results are added. It acts "
    "once, on their sum.",
    change(" + h_prev @ W_hh + b_h)", ") + np.tanh(h_prev @ W_hh) + b_h"),
    change(" + h_prev @ W_hh + b_h)", " + b_h) + np.tanh(h_prev @ W_hh)"),
    change(" + h_prev", ") + np.tanh(h_prev"),
    tempts="Texts say that both inputs 'are passed through a non-linearity'.",
)
SPEC.mistake(
    "sigmoid_for_tanh",
    "These are values of the logistic function, between 0 and 1. The state of a vanilla RNN goes through tanh, between "
    "−1 and 1.",
    change(f"np.tanh({SUM})", f"1 / (1 + np.exp(-({SUM})))"),
    tempts="Gates, and many older networks, use the logistic function.",
)
SPEC.mistake(
    "state_left_out",
    "The result does not depend on `h_prev`: without the previous state the network has no memory.",
    change(" + h_prev @ W_hh", ""),
    tempts="A plain layer needs no more than its input.",
)
SPEC.mistake(
    "state_without_weights",
    "The previous state is added as it is. On its way it goes through the matrix `W_hh`, which mixes its units.",
    change("h_prev @ W_hh", "h_prev"),
    tempts="h_prev has the right shape already, so that adding it just works.",
)
SPEC.mistake(
    "relu_for_tanh",
    "Sums below 0 have become 0, and the others are left as they are: that is the ReLU. The state of a vanilla RNN "
    "goes through tanh, between −1 and 1.",
    change(f"np.tanh({SUM})", f"np.maximum(0, {SUM})"),
    tempts="Most networks of today use the ReLU.",
)
SPEC.mistake(
    "tan_for_tanh",
    "This is another function than tanh. `np.tanh` is the hyperbolic tangent; `np.tan` and `np.arctan` belong to "
    "angles, and `np.arctanh` goes the other way.",
    *(change("np.tanh", name) for name in ("np.tan", "np.arctan", "np.arctanh")),
    tempts="The names differ by one letter or three.",
)
SPEC.mistake(
    "both_weights_transposed",
    "Both weight matrices are transposed. PyTorch keeps its weights as (out, in) and transposes them; here they are "
    "(in, out), and stand to the right of `x_t` and `h_prev` as they are.",
    change("x_t @ W_xh + h_prev @ W_hh", "x_t @ W_xh.T + h_prev @ W_hh.T"),
    tempts="PyTorch's formula has both weights transposed.",
)
SPEC.mistake(
    "tanh_of_the_input_only",
    "The tanh is taken of the input's part alone, and the state's part is added afterwards. It acts once, on the sum "
    "of all: look at the brackets.",
    change(f"np.tanh({SUM})", "np.tanh(x_t @ W_xh + b_h) + h_prev @ W_hh"),
    change(f"np.tanh({SUM})", "np.tanh(x_t @ W_xh) + h_prev @ W_hh + b_h"),
    tempts="A missing pair of brackets looks almost right.",
)
SPEC.mistake(
    "tanh_of_the_state_only",
    "The tanh is taken of the state's part alone, and the input's part is added afterwards. It acts once, on the sum "
    "of all: look at the brackets.",
    change(f"np.tanh({SUM})", "x_t @ W_xh + np.tanh(h_prev @ W_hh + b_h)"),
    change(f"np.tanh({SUM})", "x_t @ W_xh + np.tanh(h_prev @ W_hh) + b_h"),
    tempts="The tanh seems to belong to the memory, and the input comes from outside.",
)
SPEC.mistake(
    "added_to_the_old_state",
    "The tanh is added to the previous state. In this network it replaces that state: the past comes in through "
    "`W_hh` alone, and every entry of the result lies between −1 and 1.",
    change(f"np.tanh({SUM})", f"h_prev + np.tanh({SUM})"),
    tempts="A residual network adds what it computes to what was there, and 'update' sounds like that.",
)
SPEC.mistake(
    "tanh_of_half_the_sum",
    "This is the tanh of *half* the sum. Where you write tanh out with exponentials, look at the exponents: "
    "`(1 - exp(-a)) / (1 + exp(-a))` is tanh(a / 2). `np.tanh` is ready to use.",
    change(f"np.tanh({SUM})", f"np.tanh(({SUM}) / 2)"),
    tempts="The formula with a single exponential has a 2 in its exponent, which is easily lost.",
)
SPEC.mistake(
    "star_for_at",
    "`*` multiplies entry by entry. The product of a row and a matrix is `@`.",
    change("h_prev @ W_hh", "h_prev * W_hh"),
    change("x_t @ W_xh + h_prev @ W_hh", "x_t * W_xh + h_prev * W_hh"),
    change("x_t @ W_xh", "x_t * W_xh"),
    tempts="In a formula nothing stands between the two.",
)
SPEC.mistake(
    "weights_exchanged",
    "The two weight matrices have changed places: `W_xh` goes with the input `x_t`, `W_hh` with the state `h_prev`. "
    "It runs only where D = H.",
    change("x_t @ W_xh + h_prev @ W_hh", "x_t @ W_hh + h_prev @ W_xh"),
    tempts="The names differ by one letter.",
)
SPEC.mistake(
    "bias_as_column",
    "The bias is made into a column, so NumPy adds its entries to the rows of the batch. Each entry of `b_h` belongs "
    "to one unit, that is to one column of the sum: added as it is, `b_h` lines up with the units.",
    change("+ b_h", "+ b_h.reshape(-1, 1)"),
    tempts="Vectors are columns in most papers. It runs only where B = H, or one of them is 1.",
)
SPEC.mistake(
    "bias_in_inner_loop",
    "The bias counts several times: it is added inside the loop over the entries of the input or of the state, once "
    "for each of them. Each unit has one bias, so add it outside that loop.",
    *(change("+ b_h", f"+ {times} * b_h") for times in ("x_t.shape[1]", "len(W_hh)", "(len(W_xh) + len(W_hh))")),
    tempts="In nested loops the formula is copied as a whole into the innermost one.",
)


@SPEC.mistake(
    "units_updated_in_place",
    "The units are updated one after another in one array, so each unit reads the new values of the units before it. "
    "All units read the previous state: keep `h_prev` as it is and write the new values into another array.",
    tempts="A loop over the units with one array for the state looks natural, and saves an array.",
)
def one_unit_after_another(x_t, h_prev, W_xh, W_hh, b_h):
    h_t = np.array(h_prev)
    for unit in range(len(b_h)):
        h_t[:, unit] = np.tanh(x_t @ W_xh[:, unit] + h_t @ W_hh[:, unit] + b_h[unit])
    return h_t


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

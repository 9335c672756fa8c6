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
give (B, H), and the two products can be added. `b_h` has shape (H,), and NumPy adds it to each of the B rows. The tanh
is applied once, to the whole pre-activation. It keeps every unit between −1 and 1, and because it is not linear, the
effect of the input depends on the previous state.
""",
)


SUM = "x_t @ W_xh + h_prev @ W_hh + b_h"
SPEC.mistake(
    "W_hh_transposed",
    "You multiply the previous state by the transpose of `W_hh`. Multiply it by `W_hh` itself, because states are "
    "rows in this course. (In books with column states the same product is W_hh h.)",
    change("h_prev @ W_hh", "h_prev @ W_hh.T"),
    tempts="Most papers have column states and write W_hh h, which is easily turned into h @ W_hh.T.",
)
SPEC.mistake(
    "weights_from_the_left",
    "You multiply a batch by a weight matrix from the left. Put the matrix on the right, because inputs and states "
    "are rows in this course. From the left the shapes fit only where the batch size happens to equal the number of "
    "units.",
    change("h_prev @ W_hh", "W_hh @ h_prev"),
    change("x_t @ W_xh + h_prev @ W_hh", "W_xh @ x_t + W_hh @ h_prev"),
    change("x_t @ W_xh + h_prev @ W_hh", "W_xh.T @ x_t + W_hh.T @ h_prev"),
    tempts="Most papers write W h.",
)
SPEC.mistake(
    "no_bias",
    "You leave out the bias. Add `b_h` to the pre-activation: it shifts every unit, whatever the input and the "
    "previous state are.",
    change(" + b_h", ""),
    tempts="Many diagrams of the step leave out the bias.",
)
SPEC.mistake(
    "bias_after_the_tanh",
    "You add the bias after the tanh. Move it inside the brackets, because it belongs to the pre-activation; outside, "
    "it can take the state beyond −1 and 1.",
    change(" + b_h)", ") + b_h"),
    tempts="One misplaced bracket, and the code still looks almost right.",
)
SPEC.mistake(
    "no_tanh",
    "You return the pre-activation. Apply the tanh to it, which keeps the state between −1 and 1.",
    change(f"np.tanh({SUM})", SUM),
    tempts="The linear part is most of the work.",
)
SPEC.mistake(
    "tanh_of_each_product",
    "You apply the tanh to each of the two products and add the results. Add the products and the bias first, then "
    "apply the tanh once, so that the state stays between −1 and 1.",
    change(" + h_prev @ W_hh + b_h)", ") + np.tanh(h_prev @ W_hh) + b_h"),
    change(" + h_prev @ W_hh + b_h)", " + b_h) + np.tanh(h_prev @ W_hh)"),
    change(" + h_prev", ") + np.tanh(h_prev"),
    tempts="Texts say that both inputs 'are passed through a non-linearity'.",
)
SPEC.mistake(
    "sigmoid_for_tanh",
    "You apply the logistic function, whose values lie between 0 and 1. Use `np.tanh`, because the state of a vanilla "
    "RNN lies between −1 and 1.",
    change(f"np.tanh({SUM})", f"1 / (1 + np.exp(-({SUM})))"),
    tempts="Gates use the logistic function, and so do many older networks.",
)
SPEC.mistake(
    "h_prev_left_out",
    "Your result does not depend on `h_prev`. Add the previous state's product with its weights to the "
    "pre-activation, because without it the network has no memory.",
    change(" + h_prev @ W_hh", ""),
    tempts="A feed-forward layer needs nothing but its input.",
)
SPEC.mistake(
    "W_hh_left_out",
    "You add the previous state to the pre-activation as it is. Multiply it by `W_hh` first, because every unit "
    "receives a weighted sum of *all* units of the previous state.",
    change("h_prev @ W_hh", "h_prev"),
    tempts="h_prev already has the right shape, so adding it works.",
)
SPEC.mistake(
    "relu_for_tanh",
    "You apply the ReLU, which replaces negative pre-activations by 0 and keeps the others. Use `np.tanh`, because "
    "the state of a vanilla RNN lies between −1 and 1.",
    change(f"np.tanh({SUM})", f"np.maximum(0, {SUM})"),
    tempts="The ReLU is the usual choice in feed-forward networks.",
)
SPEC.mistake(
    "tan_for_tanh",
    "You apply a different function with a similar name. Use `np.tanh`, the hyperbolic tangent: `np.tan` and "
    "`np.arctan` are the tangent and its inverse, and `np.arctanh` is the inverse of `np.tanh`.",
    *(change("np.tanh", name) for name in ("np.tan", "np.arctan", "np.arctanh")),
    tempts="The names differ by one letter or three.",
)
SPEC.mistake(
    "both_weights_transposed",
    "You transpose both weight matrices. Use them as they are: here they have the shape (in, out), whereas PyTorch "
    "stores them as (out, in) and transposes them in its formula.",
    change("x_t @ W_xh + h_prev @ W_hh", "x_t @ W_xh.T + h_prev @ W_hh.T"),
    tempts="PyTorch's formula transposes both weights.",
)
SPEC.mistake(
    "tanh_of_the_input_only",
    "You apply the tanh before you add the product of the state. Move that product inside the brackets, because the "
    "tanh acts on the whole pre-activation.",
    change(f"np.tanh({SUM})", "np.tanh(x_t @ W_xh + b_h) + h_prev @ W_hh"),
    change(f"np.tanh({SUM})", "np.tanh(x_t @ W_xh) + h_prev @ W_hh + b_h"),
    tempts="One misplaced bracket, and the code still looks almost right.",
)
SPEC.mistake(
    "tanh_of_the_state_only",
    "You apply the tanh before you add the product of the input. Move that product inside the brackets, because the "
    "tanh acts on the whole pre-activation.",
    change(f"np.tanh({SUM})", "x_t @ W_xh + np.tanh(h_prev @ W_hh + b_h)"),
    change(f"np.tanh({SUM})", "x_t @ W_xh + np.tanh(h_prev @ W_hh) + b_h"),
    tempts="The tanh seems to belong to the recurrent part, and the input to come from outside.",
)
SPEC.mistake(
    "added_to_h_prev",
    "You add the tanh to the previous state. Return the tanh alone, because it *replaces* the previous state: the "
    "past enters only through `W_hh`, and every entry of the state lies between −1 and 1.",
    change(f"np.tanh({SUM})", f"h_prev + np.tanh({SUM})"),
    tempts="Residual networks add what they compute to their input, and 'updating the state' suggests the same.",
)
SPEC.mistake(
    "pre_activation_halved",
    "You return the tanh of *half* the pre-activation. If you write the tanh with exponentials, check the exponents: "
    "`(1 - exp(-a)) / (1 + exp(-a))` is tanh(a / 2). `np.tanh` does it for you.",
    change(f"np.tanh({SUM})", f"np.tanh(({SUM}) / 2)"),
    tempts="The formula with a single exponential has a 2 in its exponent, which is easily lost.",
)
SPEC.mistake(
    "star_for_at",
    "You multiply entry by entry with `*`. Use `@`, because a row times a matrix is a sum over the entries of the row.",
    change("h_prev @ W_hh", "h_prev * W_hh"),
    change("x_t @ W_xh + h_prev @ W_hh", "x_t * W_xh + h_prev * W_hh"),
    change("x_t @ W_xh", "x_t * W_xh"),
    tempts="The formula has no symbol between the two factors.",
)
SPEC.mistake(
    "weights_swapped",
    "You swap the two weight matrices. Multiply the input by `W_xh` and the previous state by `W_hh`; the other way "
    "round the shapes fit only where D = H.",
    change("x_t @ W_xh + h_prev @ W_hh", "x_t @ W_hh + h_prev @ W_xh"),
    tempts="The names differ by one letter.",
)
SPEC.mistake(
    "bias_as_column",
    "You turn the bias into a column, so NumPy adds its entries to the rows of the batch. Add `b_h` as it is, because "
    "each of its entries belongs to a unit, which is a column of the pre-activation.",
    change("+ b_h", "+ b_h.reshape(-1, 1)"),
    tempts="Vectors are columns in most papers. The shapes fit only where B = H, or where one of them is 1.",
)
SPEC.mistake(
    "bias_in_inner_loop",
    "You add the bias several times: once for each entry of the input, of the state or of both. Add it once, outside "
    "that loop, because each unit has a single bias.",
    *(change("+ b_h", f"+ {times} * b_h") for times in ("x_t.shape[1]", "len(W_hh)", "(len(W_xh) + len(W_hh))")),
    tempts="In nested loops, the whole formula is copied into the innermost one.",
)


@SPEC.mistake(
    "units_updated_in_place",
    "You update the units one after another in a single array, so each unit uses the *new* values of the units before "
    "it. Write the new values to a separate array, because every unit depends on the previous state of all units.",
    tempts="A loop over the units with one array for the state looks natural, and saves memory.",
)
def one_unit_after_another(x_t, h_prev, W_xh, W_hh, b_h):
    h_t = np.array(h_prev)
    for unit in range(len(b_h)):
        h_t[:, unit] = np.tanh(x_t @ W_xh[:, unit] + h_t @ W_hh[:, unit] + b_h[unit])
    return h_t


@SPEC.alternative
def one_matrix(x_t, h_prev, W_xh, W_hh, b_h):
    """A single product with the joined weights."""
    return np.tanh(np.concatenate([x_t, h_prev], axis=1) @ np.concatenate([W_xh, W_hh], axis=0) + b_h)


@SPEC.alternative
def with_einsum(x_t, h_prev, W_xh, W_hh, b_h):
    """With np.einsum, and the tanh computed from the exponential."""
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

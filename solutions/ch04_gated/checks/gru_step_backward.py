"""How `gru_step_backward` is checked: against autograd through `torch.nn.GRUCell`, with a facet for each gradient."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Gates, Output, Spec, change


def oracle(dh_t, x_t, h_prev, W_x, W_h, b_x, b_h):
    """Autograd through PyTorch's cell in float64; its weights are (3H, in), with the blocks in the order r, z, n."""
    cell = torch.nn.GRUCell(len(W_x), len(W_h), dtype=torch.float64)
    with torch.no_grad():
        cell.weight_ih.copy_(torch.from_numpy(W_x.T))
        cell.weight_hh.copy_(torch.from_numpy(W_h.T))
        cell.bias_ih.copy_(torch.from_numpy(b_x))
        cell.bias_hh.copy_(torch.from_numpy(b_h))
    x, h = (torch.from_numpy(array.copy()).requires_grad_() for array in (x_t, h_prev))
    leaves = (x, h, cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh)
    dx, dh, dW_x, dW_h, *db = torch.autograd.grad(cell(x, h), leaves, torch.from_numpy(dh_t))
    return tuple(g.numpy() for g in (dx, dh, dW_x.T.contiguous(), dW_h.T.contiguous(), *db))


EXAMPLE = Case(
    sizes={"B": 1, "D": 1, "H": 1},
    inputs={
        "dh_t": np.array([[2.00]]),
        "x_t": np.array([[0.50]]),
        "h_prev": np.array([[-0.80]]),
        "W_x": np.array([[0.70, -0.60, 1.20]]),
        "W_h": np.array([[-1.10, 0.90, 1.50]]),
        "b_x": np.array([0.20, 0.40, -0.30]),
        "b_h": np.array([0.10, 0.30, 0.60]),
    },
)


def case(rng, B, D, H):
    return Case(
        sizes={"B": B, "D": D, "H": H},
        inputs={
            "dh_t": rng.normal(size=(B, H)),
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
    yield case(rng, B=3, D=3, H=3)
    yield case(rng, B=4, D=2, H=2)
    yield case(rng, B=1, D=2, H=3)
    yield case(rng, B=3, D=1, H=2)
    yield case(rng, B=3, D=2, H=1)


def da_x_in(order):
    """The old and the new text if the blocks of the input's side are put together in this order."""
    return "[da_r, da_z, da_n]", f"[{', '.join(f'da_{gate}' for gate in order)}]"


def da_h_in(order):
    """The same for the state's side, where the block of n is `da_n * r`."""
    return "[da_r, da_z, da_n * r]", f"[{', '.join(f'da_{gate}' for gate in order).replace('da_n', 'da_n * r')}]"


SPEC = Spec(
    outputs=[
        Output("dx_t", ("B", "D")),
        Output("dh_prev", ("B", "H")),
        Output("dW_x", ("D", "3H")),
        Output("dW_h", ("H", "3H")),
        Output("db_x"),
        Output("db_h"),
    ],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("dx_t", share=1, outputs=("dx_t",)),
        Facet("dh_prev", share=2, outputs=("dh_prev",)),
        Facet("dW_x", share=1, outputs=("dW_x",)),
        Facet("dW_h", share=2, outputs=("dW_h",)),
        Facet("db_x", share=1, outputs=("db_x",)),
        Facet("db_h", share=1, outputs=("db_h",)),
    ],
    gates=[
        Gates(
            "rzn",
            inputs=("W_x", "W_h", "b_x", "b_h"),
            outputs=("dW_x", "dW_h", "db_x", "db_h"),
            inside={
                "da": lambda order: change(*da_x_in(order), da_h_in(order)),
                "da_x": lambda order: change(*da_x_in(order)),
                "da_h": lambda order: change(*da_h_in(order)),
            },
        ),
        Gates("rzn", inputs=("W_x", "b_x"), outputs=("dW_x", "db_x")),
        Gates("rzn", inputs=("W_h", "b_h"), outputs=("dW_h", "db_h")),
    ],
    why=r"""
The backward pass visits the quantities of the step in the opposite order, and each product rule gives one line. In
$h_t = (1 - z_t) \odot n_t + z_t \odot h_{t-1}$ the gradient of the candidate is $dh_t \odot (1 - z_t)$ and that of the
update gate is $dh_t \odot (h_{t-1} - n_t)$, because the gate occurs in both products. Inside the tanh,
$r_t \odot (h_{t-1} W_{hn} + b_{hn})$ is a product again: $da_n$ times the state's side is the gradient of the reset
gate, and $da_n$ times the reset gate is that of the state's side. So the two sides have the same gradients in the
blocks r and z, but not in block n, which is why there are two biases and why $db_x$ and $db_h$ differ. From there on,
each side is a matrix product plus a bias, and the rules of the tanh RNN apply to all three blocks at once. The previous
state reaches $h_t$ along four paths: three of them lead through $W_h$ and are summed by the product with its transpose,
and the fourth is the direct one, $dh_t \odot z_t$.
""",
)

ONLY_DH = ("dx_t", "dW_x", "dW_h", "db_x", "db_h")
THROUGH_W_H = "da_h @ W_h.T"
SLOPES = "dr * r * (1 - r)", "dz * z * (1 - z)"


def of_both_gates(of_r, of_z):
    """The derivative of the logistic function replaced in both gates, in r alone, and in z alone."""
    (was_r, was_z), r, z = SLOPES, f"dr * {of_r}", f"dz * {of_z}"
    return change(was_r, r, (was_z, z)), change(was_r, r), change(was_z, z)


SPEC.mistake(
    "direct_path_left_out",
    "You leave out the direct path from `h_prev` to `h_t`. Add `dh_t * z`, because the previous state is also a part "
    "of the new one, multiplied by the update gate only.",
    change("dh_t * z + ", ""),
    tempts="In a tanh RNN there is no such path, and the product with the transposed weights was the whole answer.",
    keeps=ONLY_DH,
)
SPEC.mistake(
    "direct_path_not_gated",
    "You pass `dh_t` itself along the direct path. Multiply it by `z`, because that is the factor of `h_prev` in "
    "`h_t`.",
    change("dh_t * z + ", "dh_t + "),
    tempts="In a residual network the direct path has no gate.",
    keeps=ONLY_DH,
)
SPEC.mistake(
    "direct_path_by_1_minus_z",
    "You multiply the direct path by `1 - z`. Use `dh_t * z`: here the update gate is the factor of the previous "
    "state, and `1 - z` is that of the candidate.",
    change("dh_t * z + ", "dh_t * (1 - z) + "),
    tempts="Chung et al. (2014) define the update gate the other way round.",
    keeps=ONLY_DH,
)
SPEC.mistake(
    "r_held_constant",
    "You treat the reset gate as a constant. It depends on the input and on the previous state too: pass its gradient "
    "back through the logistic function and through its block of the weights.",
    change("dr * r * (1 - r)", "np.zeros_like(r)"),
    tempts="The gate looks like a constant factor inside the tanh.",
)
SPEC.mistake(
    "path_through_r_left_out",
    "You leave out the path through the reset gate in `dh_prev`. The gate depends on the previous state too: pass its "
    "gradient back through the block `W_hr`.",
    change(THROUGH_W_H, "da_h[:, z.shape[1] :] @ W_h[:, z.shape[1] :].T"),
    tempts="The path is there for the weights, but `dh_prev` is written down from memory.",
    keeps=ONLY_DH,
)
SPEC.mistake(
    "z_held_constant",
    "You treat the update gate as a constant. It depends on the input and on the previous state too: pass its gradient "
    "back through the logistic function and through its block of the weights.",
    change("dz * z * (1 - z)", "np.zeros_like(z)"),
    tempts="The gate looks like a constant weight of a mean.",
)
SPEC.mistake(
    "path_through_z_left_out",
    "You leave out the path through the update gate in `dh_prev`. The gate depends on the previous state too: pass its "
    "gradient back through the block `W_hz`.",
    change(THROUGH_W_H, "da_r @ W_h[:, : z.shape[1]].T + (da_n * r) @ W_h[:, 2 * z.shape[1] :].T"),
    tempts="The path is there for the weights, but `dh_prev` is written down from memory.",
    keeps=ONLY_DH,
)
SPEC.mistake(
    "path_through_n_left_out",
    "You leave out the path through the candidate's own product with `h_prev`. Pass `da_n * r` back through the third "
    "block of `W_h` as well.",
    change(THROUGH_W_H, "da_h[:, : 2 * z.shape[1]] @ W_h[:, : 2 * z.shape[1]].T"),
    tempts="After the two gates and the direct path, three contributions look complete.",
    keeps=ONLY_DH,
)
SPEC.mistake(
    "gates_held_constant",
    "You treat both gates as constants. They depend on the input and on the previous state too: pass their gradients "
    "back through the logistic function and through their blocks of the weights.",
    change("dr * r * (1 - r)", "np.zeros_like(r)", ("dz * z * (1 - z)", "np.zeros_like(z)")),
    tempts="With fixed gates the step is nearly that of a tanh RNN.",
)
SPEC.mistake(
    "paths_through_gates_left_out",
    "You leave out the paths through both gates in `dh_prev`. The gates depend on the previous state too: pass their "
    "gradients back through the blocks `W_hr` and `W_hz`.",
    change(THROUGH_W_H, "(da_n * r) @ W_h[:, 2 * z.shape[1] :].T"),
    tempts="The two openly visible occurrences of h_prev are the direct path and the candidate's product.",
    keeps=ONLY_DH,
)
SPEC.mistake(
    "direct_path_only",
    "You pass the gradient to `h_prev` along the direct path only. Add the three paths through `W_h`: those of the "
    "reset gate, the update gate and the candidate.",
    change("dh_t * z + da_h @ W_h.T", "dh_t * z"),
    tempts="The book calls the direct path the one that matters.",
    keeps=ONLY_DH,
)
SPEC.mistake(
    "update_gate_swapped",
    "You differentiate a step in which `z` and `1 - z` are exchanged, as Chung et al. (2014) write it. Here `z` "
    "multiplies the previous state and `1 - z` multiplies the candidate.",
    change(
        "dn = dh_t * (1 - z)",
        "dn = dh_t * z",
        ("dh_t * (h_prev - n)", "dh_t * (n - h_prev)"),
        ("dh_prev = dh_t * z", "dh_prev = dh_t * (1 - z)"),
    ),
    tempts="Many texts write the step with z and 1 - z exchanged.",
)
SPEC.mistake(
    "dz_sign",
    "The gradient of the update gate has the opposite sign. Use `dh_t * (h_prev - n)`: a larger `z` means more of the "
    "previous state and less of the candidate.",
    change("(h_prev - n)", "(n - h_prev)"),
    tempts="The candidate comes first in the equation of h_t, so it comes first in the difference too.",
)
SPEC.mistake(
    "dz_from_one_product",
    "You use only one of the two products in which the update gate occurs. Use `dh_t * (h_prev - n)`: `h_t` contains "
    "`z * h_prev` and, in `(1 - z) * n`, also `-z * n`.",
    *(change("(h_prev - n)", becomes) for becomes in ("h_prev", "n", "(-n)")),
    tempts="`z * h_prev` shows the gate openly, whereas `1 - z` hides it.",
)
SPEC.mistake(
    "dz_from_the_sum",
    "You add the two products in which the update gate occurs. Subtract: use `dh_t * (h_prev - n)`, because the "
    "candidate's share is `1 - z`, which shrinks when `z` grows.",
    change("(h_prev - n)", "(h_prev + n)"),
    tempts="Contributions to a gradient are usually added, and so are these, but one of them is negative.",
)
SPEC.mistake(
    "dn_by_z",
    "You multiply `dh_t` by `z` on its way to the candidate. Multiply it by `1 - z`, the candidate's share in `h_t`.",
    change("dn = dh_t * (1 - z)", "dn = dh_t * z"),
    tempts="Chung et al. (2014) give the candidate the share z.",
)
SPEC.mistake(
    "dn_not_gated",
    "You use `dh_t` as the gradient of the candidate. Multiply it by `1 - z`, the candidate's share in `h_t`.",
    change("dn = dh_t * (1 - z)", "dn = dh_t"),
    tempts="In a tanh RNN the gradient of the state is that of the tanh.",
)
SPEC.mistake(
    "da_n_not_gated",
    "You use `da_n` for the state's side of the candidate. Use `da_n * r` there, because the forward step multiplies "
    "`h_prev @ W_hn + b_hn` by the reset gate.",
    change("da_n * r], axis=1)", "da_n], axis=1)"),
    tempts="In the other two blocks both sides have the same gradient.",
    keeps=("dx_t", "dW_x", "db_x"),
)
SPEC.mistake(
    "r_gates_the_input_too",
    "You multiply the gradient of the candidate's pre-activation by the reset gate on the input's side too. Use `da_n` "
    "there as it is: the reset gate multiplies only what comes from the previous state.",
    change("da_x = np.concatenate([da_r, da_z, da_n]", "da_x = np.concatenate([da_r, da_z, da_n * r]"),
    tempts="In the other two blocks both sides have the same gradient, so one array seems to be enough.",
    keeps=("dh_prev", "dW_h", "db_h"),
)
SPEC.mistake(
    "da_n_times_r_before_dr",
    "You multiply `da_n` by the reset gate before you use it for the gate itself. Compute `dr`, like the input's side, "
    "from the `da_n` that has not been multiplied by `r`: in a product, the gradient of one factor contains the "
    "*other* factor only.",
    change("dr = da_n * h_n", "dr = da_n * r * h_n"),
    change("(1 - n**2)", "(1 - n**2) * r", ("da_n * r]", "da_n]")),
    tempts="A variable that is overwritten too early.",
)
SPEC.mistake(
    "dr_from_h_prev",
    "You compute the gradient of the reset gate from `h_prev` itself. Use `h_prev @ W_hn + b_hn`, because that is what "
    "the gate multiplies.",
    change("da_n * h_n", "da_n * h_prev"),
    tempts="'The reset gate multiplies the previous state' is how the gate is usually explained.",
)
SPEC.mistake(
    "dr_without_b_hn",
    "You leave out the bias in the gradient of the reset gate. Use `h_prev @ W_hn + b_hn`, because the gate multiplies "
    "the bias too.",
    change("da_n * h_n", "da_n * (h_n - b_h[-r.shape[1] :])"),
    tempts="Biases vanish in most derivatives, but this one is inside a product.",
)
SPEC.mistake(
    "dr_without_its_factor",
    "You use `da_n` as the gradient of the reset gate. Multiply it by `h_prev @ W_hn + b_hn`, because that is what the "
    "gate multiplies.",
    change("da_n * h_n", "da_n"),
    tempts="Only one half of the product rule is applied.",
)
SPEC.mistake(
    "dr_past_the_tanh",
    "You compute the gradient of the reset gate from `dn`, the gradient of the candidate. Use `da_n`, because the gate "
    "acts inside the tanh.",
    change("da_n * h_n", "dn * h_n"),
    tempts="`dn` and `da_n` have the same shape and differ by one letter.",
)
SPEC.mistake(
    "slope_of_n_left_out",
    "You leave out the derivative of the tanh. Multiply the gradient of the candidate by `1 - n**2`.",
    change(" * (1 - n**2)", ""),
    tempts="With three functions to differentiate, one is easily forgotten.",
)
SPEC.mistake(
    "slope_of_n_from_the_pre_activation",
    "You compute the derivative of the tanh from the pre-activation. Use `1 - n**2`: the derivative contains the "
    "square of the tanh's *result*.",
    change("n**2", "(x_n + r * h_n) ** 2"),
    change("n**2", "(x_n + h_n) ** 2"),
    tempts="The derivative is taken at the pre-activation, so its square seems to be meant.",
)
SPEC.mistake(
    "tanh_taken_again",
    "You apply the tanh a second time in its derivative. Use `1 - n**2`, because `n` is already the tanh.",
    change("n**2", "np.tanh(n) ** 2"),
    tempts="The derivative is written 1 - tanh²(…), and n is at hand to put in.",
)
SPEC.mistake(
    "slope_of_n_of_the_logistic",
    "You use n · (1 − n), the derivative of the logistic function, for the candidate. Use 1 − n², because the "
    "candidate is a tanh.",
    change("(1 - n**2)", "n * (1 - n)"),
    tempts="The other two blocks need this formula.",
)
SPEC.mistake(
    "slope_of_n_not_squared",
    "You compute the derivative of the tanh as 1 − n. Square the candidate: the derivative is 1 − n².",
    change("n**2", "n"),
    tempts="1 - z and 1 - r stand beside it.",
)
SPEC.mistake(
    "slope_of_n_taken_on_h_t",
    "You compute the derivative of the tanh as 1 − h_t². Use 1 − n², because here the tanh is the candidate, and the "
    "new state mixes it with the previous one.",
    change("n**2", "((1 - z) * n + z * h_prev) ** 2"),
    tempts="1 − h_t² was the derivative in chapter 02, where h_t was the tanh.",
)
SPEC.mistake(
    "slopes_of_the_gates_left_out",
    "You leave out the derivative of the logistic function for at least one gate. Multiply the gradient of each gate "
    "by gate · (1 − gate).",
    change(" * r * (1 - r)", "", (" * z * (1 - z)", "")),
    change(" * r * (1 - r)", ""),
    change(" * z * (1 - z)", ""),
    tempts="With three functions to differentiate, one is easily forgotten.",
)
SPEC.mistake(
    "slopes_from_the_pre_activations",
    "You compute the derivative of a gate from its pre-activation, a · (1 − a). Use the gate itself, gate · (1 − "
    "gate): the derivative contains the *result* of the logistic function.",
    *of_both_gates("(x_r + h_r) * (1 - x_r - h_r)", "(x_z + h_z) * (1 - x_z - h_z)"),
    tempts="The formula σ(1 - σ) is remembered, but not what σ stands for.",
)
SPEC.mistake(
    "sigmoid_taken_again",
    "You apply the logistic function a second time in the derivative of a gate. Use gate · (1 − gate), because the "
    "gate is already the result of the logistic function.",
    *of_both_gates("sigmoid(r) * (1 - sigmoid(r))", "sigmoid(z) * (1 - sigmoid(z))"),
    tempts="The derivative is written σ(a)(1 - σ(a)), and the gate is at hand to put in.",
)
SPEC.mistake(
    "slopes_of_the_tanh",
    "You use the derivative of the tanh, 1 − gate², for a gate. Use gate · (1 − gate), because the gates come from the "
    "logistic function.",
    *of_both_gates("(1 - r**2)", "(1 - z**2)"),
    tempts="1 - h² was right in every chapter so far.",
)
SPEC.mistake(
    "slopes_without_the_gate",
    "You use 1 − gate as the derivative of a gate. Use gate · (1 − gate), which is also small where the gate is near "
    "0.",
    *of_both_gates("(1 - r)", "(1 - z)"),
    tempts="Half of the formula is forgotten.",
)
SPEC.mistake(
    "slopes_exchanged",
    "You exchange the derivatives of the two gates. Use r · (1 − r) for the reset gate and z · (1 − z) for the update "
    "gate.",
    change(SLOPES[0], "dr * z * (1 - z)", ("dz * z * (1 - z)", "dz * r * (1 - r)")),
    tempts="Two gates of the same shape with names of one letter.",
)
SPEC.mistake(
    "blocks_of_W_h_not_transposed",
    "You multiply by the blocks of `W_h` where their transposes belong. Use `W_hr.T`, `W_hz.T` and `W_hn.T`. Because "
    "each block is square, the shapes fit either way.",
    change(
        THROUGH_W_H,
        "sum(d @ W for d, W in zip(np.split(da_h, 3, axis=1), np.split(W_h, 3, axis=1), strict=True))",
    ),
    tempts="The forward pass has h_prev @ W_hr, and the shapes fit either way because each block is square.",
    keeps=ONLY_DH,
)
SPEC.mistake(
    "dW_h_from_h_t",
    "You compute `dW_h` from the new state, one step too late. Use `h_prev`, because `W_h` was multiplied by the "
    "previous state.",
    change("h_prev.T @ da_h", "((1 - z) * n + z * h_prev).T @ da_h"),
    tempts="dW_x uses x_t, so dW_h seems to use h_t.",
    keeps=("dx_t", "dh_prev", "dW_x", "db_x", "db_h"),
)
SPEC.mistake(
    "dW_h_from_the_reset_state",
    "You compute `dW_h` from `r * h_prev`, at least in one block. Use `h_prev`, because `W_h` was multiplied by the "
    "previous state as it is; the reset gate comes after the product, and `da_n * r` contains it already.",
    *(
        change(
            "h_prev.T @ da_h",
            f"np.hstack([h_prev.T @ da_r, h_prev.T @ da_z, (r * h_prev).T @ {da_n}])",
        )
        for da_n in ("da_n", "(da_n * r)")
    ),
    change("h_prev.T @ da_h", "(r * h_prev).T @ da_h"),
    change("h_prev.T @ da_h", "(r * h_prev).T @ da_x"),
    tempts="In the convention of Cho et al. (2014), the state that is multiplied by W_hn is r * h_prev.",
    keeps=("dx_t", "dh_prev", "dW_x", "db_x", "db_h"),
)
SPEC.mistake(
    "averaged_over_the_batch",
    "You average over the batch. Sum instead: where the loss is a mean, `dh_t` already contains the division.",
    change("dW_x, dW_h, db_x, db_h", "dW_x / len(x_t), dW_h / len(x_t), db_x / len(x_t), db_h / len(x_t)"),
    tempts="Losses are usually means, but then dh_t already contains the division.",
    keeps=("dx_t", "dh_prev"),
)
SPEC.mistake(
    "biases_not_summed",
    "You do not sum the gradients of the biases over the batch. Sum over the rows, so that (B, 3H) becomes (3H,), "
    "because each row contributes to the gradient of a bias that all of them share.",
    change("da_x.sum(axis=0), da_h.sum(axis=0)", "da_x, da_h"),
    change("da_x.sum(axis=0), da_h.sum(axis=0)", "da_x[0], da_h[0]"),
    tempts="The bias is multiplied by nothing, so its gradient looks like that of the pre-activation.",
    keeps=("dx_t", "dh_prev", "dW_x", "dW_h"),
)


def backward_of_cho(dh_t, x_t, h_prev, W_x, W_h, b_x, b_h, own_candidate):
    """The backward pass of the other convention, with its own candidate or that of PyTorch."""
    (x_r, x_z, x_n), (h_r, h_z, h_n) = (np.split(a, 3, axis=1) for a in (x_t @ W_x + b_x, h_prev @ W_h + b_h))
    W_hr, W_hz, W_hn = np.split(W_h, 3, axis=1)
    r, z = 1 / (1 + np.exp(-x_r - h_r)), 1 / (1 + np.exp(-x_z - h_z))
    n = np.tanh(x_n + ((r * h_prev) @ W_hn + b_h[-len(W_h) :] if own_candidate else r * h_n))
    da_n = dh_t * (1 - z) * (1 - n**2)
    d_reset = da_n @ W_hn.T
    da_r, da_z = d_reset * h_prev * r * (1 - r), dh_t * (h_prev - n) * z * (1 - z)
    da = np.hstack([da_r, da_z, da_n])
    dh_prev = dh_t * z + da_r @ W_hr.T + da_z @ W_hz.T + d_reset * r
    dW_h = np.hstack([h_prev.T @ da_r, h_prev.T @ da_z, (r * h_prev).T @ da_n])
    return da @ W_x.T, dh_prev, x_t.T @ da, dW_h, da.sum(axis=0), da.sum(axis=0)


def with_its_candidate(dh_t, x_t, h_prev, W_x, W_h, b_x, b_h):
    return backward_of_cho(dh_t, x_t, h_prev, W_x, W_h, b_x, b_h, own_candidate=True)


def with_pytorch_s_candidate(dh_t, x_t, h_prev, W_x, W_h, b_x, b_h):
    return backward_of_cho(dh_t, x_t, h_prev, W_x, W_h, b_x, b_h, own_candidate=False)


SPEC.mistake(
    "r_before_the_product",
    "You differentiate the step of Cho et al. (2014), in which the reset gate multiplies `h_prev` before the product. "
    "Here it comes after the product: `r * (h_prev @ W_hn + b_hn)`.",
    with_its_candidate,
    with_pytorch_s_candidate,
    tempts="Most derivations on the web start from that paper's equations.",
)


@SPEC.alternative
def gate_by_gate(dh_t, x_t, h_prev, W_x, W_h, b_x, b_h):
    """Every block by itself, each path added to `dh_prev` in turn."""
    (W_xr, W_xz, W_xn), (W_hr, W_hz, W_hn) = np.split(W_x, 3, axis=1), np.split(W_h, 3, axis=1)
    (b_xr, b_xz, b_xn), (b_hr, b_hz, b_hn) = np.split(b_x, 3), np.split(b_h, 3)
    r = 1 / (1 + np.exp(-(x_t @ W_xr + b_xr + h_prev @ W_hr + b_hr)))
    z = 1 / (1 + np.exp(-(x_t @ W_xz + b_xz + h_prev @ W_hz + b_hz)))
    q = h_prev @ W_hn + b_hn
    n = np.tanh(x_t @ W_xn + b_xn + r * q)
    da_n = dh_t * (1 - z) * (1 - n) * (1 + n)
    dq, da_r, da_z = da_n * r, da_n * q * (r - r**2), dh_t * (h_prev - n) * (z - z**2)
    dh_prev = dh_t * z
    dh_prev = dh_prev + dq @ W_hn.T
    dh_prev = dh_prev + da_r @ W_hr.T
    dh_prev = dh_prev + da_z @ W_hz.T
    dx_t = da_n @ W_xn.T + da_r @ W_xr.T + da_z @ W_xz.T
    dW_x = np.hstack([x_t.T @ da_r, x_t.T @ da_z, x_t.T @ da_n])
    dW_h = np.hstack([h_prev.T @ da_r, h_prev.T @ da_z, h_prev.T @ dq])
    db_x = np.concatenate([da.sum(axis=0) for da in (da_r, da_z, da_n)])
    db_h = np.concatenate([da.sum(axis=0) for da in (da_r, da_z, dq)])
    return dx_t, dh_prev, dW_x, dW_h, db_x, db_h


@SPEC.alternative
def filled_in_place(dh_t, x_t, h_prev, W_x, W_h, b_x, b_h):
    """One array for each side, filled block by block, with the derivatives in terms of the exponential."""
    H = h_prev.shape[1]
    a_x, a_h = x_t @ W_x + b_x, h_prev @ W_h + b_h
    gates = 0.5 + 0.5 * np.tanh((a_x + a_h)[:, : 2 * H] / 2)
    r, z = gates[:, :H], gates[:, H:]
    n = np.tanh(a_x[:, 2 * H :] + r * a_h[:, 2 * H :])
    da_x, da_h = np.zeros(a_x.shape), np.zeros(a_h.shape)
    da_x[:, 2 * H :] = dh_t * (1 - z) / np.cosh(a_x[:, 2 * H :] + r * a_h[:, 2 * H :]) ** 2
    da_x[:, H : 2 * H] = -dh_t * (n - h_prev)
    da_x[:, :H] = da_x[:, 2 * H :] * a_h[:, 2 * H :]
    da_x[:, : 2 * H] *= gates * (1 - gates)
    da_h[:] = da_x
    da_h[:, 2 * H :] *= r
    return (
        np.einsum("bk,dk->bd", da_x, W_x),
        np.einsum("bk,jk->bj", da_h, W_h) + z * dh_t,
        np.einsum("bd,bk->dk", x_t, da_x),
        np.einsum("bj,bk->jk", h_prev, da_h),
        np.ones(len(x_t)) @ da_x,
        np.ones(len(x_t)) @ da_h,
    )


@SPEC.alternative
def row_by_row(dh_t, x_t, h_prev, W_x, W_h, b_x, b_h):
    """One sequence at a time; the gradients of the weights and the biases accumulate over all of them."""
    H, dx_t, dh_prev = h_prev.shape[1], np.zeros(x_t.shape), np.zeros(h_prev.shape)
    dW_x, dW_h, db_x, db_h = (np.zeros(p.shape) for p in (W_x, W_h, b_x, b_h))
    for b in range(len(x_t)):
        a_x, a_h = (x_t[b] @ W_x + b_x).reshape(3, H), (h_prev[b] @ W_h + b_h).reshape(3, H)
        r, z = 1 / (1 + np.exp(-(a_x + a_h)[:2]))
        n = np.tanh(a_x[2] + r * a_h[2])
        da_n = dh_t[b] * (1 - z) * (1 - n**2)
        common = [da_n * a_h[2] * r * (1 - r), dh_t[b] * (h_prev[b] - n) * z * (1 - z)]
        da_x, da_h = np.concatenate([*common, da_n]), np.concatenate([*common, da_n * r])
        dx_t[b], dh_prev[b] = W_x @ da_x, W_h @ da_h + dh_t[b] * z
        dW_x += np.outer(x_t[b], da_x)
        dW_h += np.outer(h_prev[b], da_h)
        db_x += da_x
        db_h += da_h
    return dx_t, dh_prev, dW_x, dW_h, db_x, db_h

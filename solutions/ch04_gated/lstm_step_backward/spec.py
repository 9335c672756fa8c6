"""How `lstm_step_backward` is checked: against autograd through `torch.nn.LSTMCell`, a facet for each gradient."""

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Gates, Output, Spec, change, instead

BLOCKS = "[da_i, da_f, da_g, da_o]"


def oracle(dh_t, dc_next, x_t, h_prev, c_prev, W_x, W_h, b):
    """Autograd through PyTorch's own cell in float64; only the sum of its two biases matters."""
    D, H = len(W_x), len(W_h)
    cell = torch.nn.LSTMCell(D, H, dtype=torch.float64)
    given = {"weight_ih": W_x.T, "weight_hh": W_h.T, "bias_ih": b, "bias_hh": 0 * b}
    cell.load_state_dict({name: torch.from_numpy(array.copy()) for name, array in given.items()})
    x, h, c = states = [torch.from_numpy(array.copy()).requires_grad_() for array in (x_t, h_prev, c_prev)]
    upstream = torch.from_numpy(dh_t), torch.from_numpy(dc_next)
    weights = cell.weight_ih, cell.weight_hh, cell.bias_ih
    dx, dh, dc, dW_x, dW_h, db = torch.autograd.grad(cell(x, (h, c)), [*states, *weights], upstream)
    return tuple(gradient.numpy() for gradient in (dx, dh, dc, dW_x.T, dW_h.T, db))


EXAMPLE = Case(
    sizes={"B": 1, "D": 1, "H": 1},
    inputs={
        "dh_t": np.array([[2.50]]),
        "dc_next": np.array([[-0.92]]),
        "x_t": np.array([[1.50]]),
        "h_prev": np.array([[-0.40]]),
        "c_prev": np.array([[1.20]]),
        "W_x": np.array([[0.50, -0.30, 0.40, 0.80]]),
        "W_h": np.array([[0.25, 0.60, -0.90, 0.35]]),
        "b": np.array([0.20, 1.79, -1.27, -1.26]),
    },
)


def case(rng, B, D, H):
    return Case(
        sizes={"B": B, "D": D, "H": H},
        inputs={
            "dh_t": rng.normal(size=(B, H)),
            "dc_next": rng.normal(size=(B, H)),
            "x_t": rng.normal(size=(B, D)),
            "h_prev": rng.uniform(-0.9, 0.9, size=(B, H)),
            "c_prev": rng.normal(size=(B, H)),
            "W_x": rng.normal(size=(D, 4 * H)) / np.sqrt(D),
            "W_h": rng.normal(size=(H, 4 * H)) / np.sqrt(H),
            "b": 0.5 * rng.normal(size=4 * H),
        },
    )


def cases(rng):
    yield case(rng, B=2, D=3, H=4)
    yield case(rng, B=3, D=3, H=3)
    yield case(rng, B=4, D=2, H=2)
    yield case(rng, B=1, D=2, H=3)
    yield case(rng, B=3, D=1, H=2)
    yield case(rng, B=3, D=2, H=1)


SPEC = Spec(
    outputs=[
        Output("dx_t", ("B", "D")),
        Output("dh_prev", ("B", "H")),
        Output("dc_prev", ("B", "H")),
        Output("dW_x", ("D", "4H")),
        Output("dW_h", ("H", "4H")),
        Output("db", ("4H",)),
    ],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    gates=[
        Gates(
            "ifgo",
            inputs=("W_x", "W_h", "b"),
            outputs=("dW_x", "dW_h", "db"),
            inside={"da": lambda order: change(BLOCKS, f"[{', '.join(f'da_{gate}' for gate in order)}]")},
        )
    ],
    facets=[
        Facet("dx_t", share=1, outputs=("dx_t",)),
        Facet("dh_prev", share=1, outputs=("dh_prev",)),
        Facet("dc_prev", share=1, outputs=("dc_prev",)),
        Facet("dW_x", share=1, outputs=("dW_x",)),
        Facet("dW_h", share=1, outputs=("dW_h",)),
        Facet("db", share=1, outputs=("db",)),
    ],
)
DC = "dc = dc_next + dh_t * o * (1 - tanh_c**2)"
SLOPES = "da_i, da_f, da_g, da_o = di * i * (1 - i), df * f * (1 - f), dg * (1 - g**2), do * o * (1 - o)"
PRODUCTS = "di, df, dg = dc * g, dc * c_prev, dc * i"

SPEC.mistakes(
    {
        **instead(
            DC,
            {
                # the cell state and its gradient
                "path_through_h_left_out": "dc = dc_next",
                "in_place": "dc = dc_next\ndc += dh_t * o * (1 - tanh_c**2)",
            },
        ),
        "dc_next_left_out": change("dc_next + ", ""),
        "o_left_out_of_dc": change("dh_t * o * (1", "dh_t * (1"),
        "tanh_slope_of_c_left_out": change(" * (1 - tanh_c**2)", ""),
        **instead(
            "dh_t * o * (1 - tanh_c**2)",
            {
                "dh_t_added_to_dc_next": "dh_t",
                "do_added_to_dc_next": "do",
            },
        ),
        **instead(
            "(1 - tanh_c**2)",
            {
                "tanh_slope_taken_on_c_t": "(1 - c_t**2)",
                "tanh_slope_taken_on_h_t": "(1 - (o * tanh_c) ** 2)",
                "tanh_slope_without_a_tanh": "(1 - np.tanh(tanh_c) ** 2)",
                "tanh_slope_of_c_without_parentheses": "1 - tanh_c**2",
                "tanh_slope_of_c_not_squared": "(1 - tanh_c)",
            },
        ),
        "dc_next_through_the_tanh": [
            change("dc_next + dh_t * o * (1 - tanh_c**2)", "(dc_next + dh_t * o) * (1 - tanh_c**2)"),
            change("dc_next + dh_t * o * (1 - tanh_c**2)", "(dc_next + dh_t) * o * (1 - tanh_c**2)"),
        ],
        "tanh_of_c_t_left_out": change("tanh_c = np.tanh(c_t)", "tanh_c = c_t"),
        "gates_in_the_wrong_order": [
            change("i, f, g, o = lstm_gates", "i, f, o, g = lstm_gates"),
            change("i, f, g, o = lstm_gates", "f, i, o, g = lstm_gates"),
        ],
        "dh_t_left_out": change("do = dh_t * tanh_c", "do = tanh_c", ("dc_next + dh_t * o", "dc_next + o")),
    }
)
SPEC.mistakes(
    {
        # the gates
        "do_from_c_t": change("do = dh_t * tanh_c", "do = dh_t * c_t"),
        "do_without_tanh_c": [
            change("do = dh_t * tanh_c", "do = dh_t"),
            change("do = dh_t * tanh_c", "do = dh_t * o * tanh_c"),
        ],
        "do_from_dc": change("do = dh_t * tanh_c\n" + DC, DC + "\ndo = dc * tanh_c"),
        "df_from_c_t": change("dc * c_prev", "dc * c_t"),
        "one_product_from_dc_next": [
            change("dc * c_prev", "dc_next * c_prev"),
            change("dc * g", "dc_next * g"),
            change("dc * i", "dc_next * i"),
        ],
        "di_and_df_exchanged": change(PRODUCTS, "di, df, dg = dc * c_prev, dc * g, dc * i"),
        "di_and_dg_exchanged": change(
            "di, df, dg = dc * g, dc * c_prev, dc * i", "di, df, dg = dc * i, dc * c_prev, dc * g"
        ),
        "sigmoid_slope_left_out": [
            change(SLOPES, "da_i, da_f, da_g, da_o = di, df, dg * (1 - g**2), do"),
            change("di * i * (1 - i)", "di"),
            change("df * f * (1 - f)", "df"),
            change("do * o * (1 - o)", "do"),
        ],
        **instead(
            SLOPES,
            {
                "all_slopes_left_out": "da_i, da_f, da_g, da_o = di, df, dg, do",
                "slope_of_the_gates_as_of_a_tanh": (
                    "da_i, da_f, da_g, da_o = di * (1 - i**2), df * (1 - f**2), dg * (1 - g**2), do * (1 - o**2)"
                ),
                "slope_of_the_gates_is_s_times_1_minus_s_squared": (
                    "da_i, da_f, da_g, da_o = di * i * (1 - i**2), df * f * (1 "
                    "- f**2), dg * (1 - g**2), do * o * (1 - o**2)"
                ),
                "slope_of_the_gates_is_1_minus_s": (
                    "da_i, da_f, da_g, da_o = di * (1 - i), df * (1 - f), dg * (1 - g**2), do * (1 - o)"
                ),
            },
        ),
        "sigmoid_slope_on_the_pre_activation": [
            change(
                SLOPES,
                """
        a_i, a_f, a_g, a_o = np.split(x_t @ W_x + h_prev @ W_h + b, 4, axis=1)
        da_i, da_f, da_g, da_o = di * a_i * (1 - a_i), df * a_f * (1 - a_f), dg * (1 - g**2), do * a_o * (1 - a_o)
        """,
            ),
            change(
                SLOPES,
                """
        a_i, a_f, a_g, a_o = np.split(x_t @ W_x + h_prev @ W_h + b, 4, axis=1)
        da_i, da_f, da_g, da_o = di * a_i * (1 - a_i), df * a_f * (1 - a_f), dg * (1 - a_g**2), do * a_o * (1 - a_o)
        """,
            ),
        ],
        "sigmoid_taken_again": [
            change(
                SLOPES,
                """
        i_2, f_2, o_2 = sigmoid(i), sigmoid(f), sigmoid(o)
        da_i, da_f, da_g, da_o = di * i_2 * (1 - i_2), df * f_2 * (1 - f_2), dg * (1 - g**2), do * o_2 * (1 - o_2)
        """,
            ),
            change(
                SLOPES,
                """
        i_2, f_2, g_2, o_2 = sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o)
        da_i, da_f, da_g, da_o = di * i_2 * (1 - i_2), df * f_2 * (1 - f_2), dg * (1 - g_2**2), do * o_2 * (1 - o_2)
        """,
            ),
        ],
        **instead(
            "1 - g**2",
            {
                "tanh_taken_again_at_g": "1 - np.tanh(g) ** 2",
                "slope_of_g_not_squared": "1 - g",
            },
        ),
        **instead(
            "dg * (1 - g**2)",
            {
                "slope_of_g_as_of_a_sigmoid": "dg * g * (1 - g)",
                "slope_of_g_left_out": "dg",
            },
        ),
        "multiplied_by_the_gate_itself": [
            *(
                change(PRODUCTS, f"di, df, dg = dc * {di}, dc * {df}, dc * {dg}")
                for di, df, dg in (("i", "f", "g"), ("i", "c_prev", "i"), ("g", "f", "i"), ("g", "c_prev", "g"))
            )
        ],
        "other_factor_left_out": [
            *(
                change(PRODUCTS, f"di, df, dg = {di}, {df}, {dg}")
                for di, df, dg in (
                    ("dc", "dc", "dc"),
                    ("dc", "dc * c_prev", "dc * i"),
                    ("dc * g", "dc", "dc * i"),
                    ("dc * g", "dc * c_prev", "dc"),
                )
            )
        ],
        "slope_without_parentheses": [
            change("dg * (1 - g**2)", "dg * 1 - g**2"),
            change(SLOPES, "da_i, da_f, da_g, da_o = di * i * 1 - i, df * f * 1 - f, dg * 1 - g**2, do * o * 1 - o"),
            change(SLOPES, "da_i, da_f, da_g, da_o = di * i * 1 - i, df * f * 1 - f, dg * (1 - g**2), do * o * 1 - o"),
        ],
    },
    keeps=["dc_prev"],
)
SPEC.mistakes(
    {
        **instead(
            "dc_prev = dc * f",
            {
                # what is passed back to the previous states
                "dc_prev_without_f": "dc_prev = dc",
                "dc_prev_from_dc_next": "dc_prev = dc_next * f",
            },
        ),
        "dc_prev_is_another_product": [
            change("dc_prev = dc * f", "dc_prev = dc * i"),
            change("dc_prev = dc * f", "dc_prev = dc * c_prev"),
            change("dc_prev = dc * f", "dc_prev = dc * c_prev * f"),
        ],
    },
    keeps=["dx_t", "dh_prev", "dW_x", "dW_h", "db"],
)
SPEC.mistakes(
    {
        "W_h_left_out": [
            change("da @ W_h.T", "da"),
            change("da @ W_h.T", "da_i + da_f + da_g + da_o"),
            change("da @ W_h.T", "dh_t * o"),
        ],
        "blocks_of_W_h_not_transposed": change(
            "da @ W_h.T", "sum(d @ W for d, W in zip((da_i, da_f, da_g, da_o), np.split(W_h, 4, axis=1), strict=True))"
        ),
        "direct_path_added": [change("da @ W_h.T", "da @ W_h.T + dh_t"), change("da @ W_h.T", "da @ W_h.T + dh_t * o")],
    },
    keeps=["dx_t", "dc_prev", "dW_x", "dW_h", "db"],
)
SPEC.mistakes(
    {
        "reshaped_not_transposed": change(
            "da @ W_x.T", "da @ W_x.reshape(W_x.shape[::-1])", ("da @ W_h.T", "da @ W_h.reshape(W_h.shape[::-1])")
        ),
    },
    keeps=["dc_prev", "dW_x", "dW_h", "db"],
)
SPEC.mistakes(
    {
        **instead(
            "h_prev.T @ da",
            {
                # the weights and the bias
                "dW_h_from_h_t": "(o * tanh_c).T @ da",
                "dW_h_from_c_prev": "c_prev.T @ da",
            },
        ),
    },
    keeps=["dx_t", "dh_prev", "dc_prev", "dW_x", "db"],
)
SPEC.mistakes(
    {
        "averaged_over_the_batch": change(
            "x_t.T @ da, h_prev.T @ da, da.sum(axis=0)",
            "x_t.T @ da / len(da), h_prev.T @ da / len(da), da.mean(axis=0)",
        ),
    },
    keeps=["dx_t", "dh_prev", "dc_prev"],
)
SPEC.mistakes(
    {
        "bias_averaged_over_the_batch": change("da.sum(axis=0)", "da.mean(axis=0)"),
        "bias_not_summed": [*(change("da.sum(axis=0)", becomes) for becomes in ("da", "da.sum(axis=1)", "da[0]"))],
    },
    keeps=["dx_t", "dh_prev", "dc_prev", "dW_x", "dW_h"],
)


@SPEC.alternative
def gate_by_gate(dh_t, dc_next, x_t, h_prev, c_prev, W_x, W_h, b):
    """Each gate with its own block of the weights; the contributions to dx_t and dh_prev are added."""
    H = len(W_h)
    blocks = [slice(n * H, (n + 1) * H) for n in range(4)]
    a_i, a_f, a_g, a_o = (x_t @ W_x[:, n] + h_prev @ W_h[:, n] + b[n] for n in blocks)
    i, f, g, o = 1 / (1 + np.exp(-a_i)), 1 / (1 + np.exp(-a_f)), np.tanh(a_g), 1 / (1 + np.exp(-a_o))
    tanh_c = np.tanh(f * c_prev + i * g)
    dc = dh_t * o * (1 - tanh_c**2) + dc_next
    da = [dc * g * i * (1 - i), dc * c_prev * f * (1 - f), dc * i * (1 - g) * (1 + g), dh_t * tanh_c * o * (1 - o)]
    dx_t = sum(da_n @ W_x[:, n].T for n, da_n in zip(blocks, da, strict=True))
    dh_prev = sum(da_n @ W_h[:, n].T for n, da_n in zip(blocks, da, strict=True))
    dW_x, dW_h = np.hstack([x_t.T @ da_n for da_n in da]), np.hstack([h_prev.T @ da_n for da_n in da])
    return dx_t, dh_prev, dc * f, dW_x, dW_h, np.hstack([da_n.sum(axis=0) for da_n in da])


@SPEC.alternative
def filled_in_place(dh_t, dc_next, x_t, h_prev, c_prev, W_x, W_h, b):
    """One array for the four blocks, filled and then multiplied by all derivatives at once."""
    H = h_prev.shape[1]
    a = x_t @ W_x + h_prev @ W_h + b
    gates = 0.5 * (1 + np.tanh(a / 2))
    gates[:, 2 * H : 3 * H] = np.tanh(a[:, 2 * H : 3 * H])
    slopes = gates * (1 - gates)
    slopes[:, 2 * H : 3 * H] = 1 - gates[:, 2 * H : 3 * H] ** 2
    i, f, g, o = (gates[:, n * H : (n + 1) * H] for n in range(4))
    c_t = f * c_prev + i * g
    dc = dc_next + dh_t * o / np.cosh(c_t) ** 2
    da = np.empty(a.shape)
    da[:, :H] = dc * g
    da[:, H : 2 * H] = dc * c_prev
    da[:, 2 * H : 3 * H] = dc * i
    da[:, 3 * H :] = dh_t * np.tanh(c_t)
    da *= slopes
    dW_x, dW_h = np.einsum("bd,bk->dk", x_t, da), np.einsum("bh,bk->hk", h_prev, da)
    return np.einsum("bk,dk->bd", da, W_x), np.einsum("bk,hk->bh", da, W_h), f * dc, dW_x, dW_h, np.ones(len(da)) @ da


@SPEC.alternative
def row_by_row(dh_t, dc_next, x_t, h_prev, c_prev, W_x, W_h, b):
    """One sequence at a time; the gradients of the weights and the bias accumulate over all of them."""
    dx_t, dh_prev, dc_prev = np.zeros(x_t.shape), np.zeros(h_prev.shape), np.zeros(c_prev.shape)
    dW_x, dW_h, db = np.zeros(W_x.shape), np.zeros(W_h.shape), np.zeros(b.shape)
    for n in range(len(x_t)):
        a_i, a_f, a_g, a_o = np.split(x_t[n] @ W_x + h_prev[n] @ W_h + b, 4)
        i, f, g, o = 1 / (1 + np.exp(-a_i)), 1 / (1 + np.exp(-a_f)), np.tanh(a_g), 1 / (1 + np.exp(-a_o))
        tanh_c = np.tanh(f * c_prev[n] + i * g)
        dc = dc_next[n] + dh_t[n] * o * (1 - tanh_c**2)
        outer = np.stack([dc * g, dc * c_prev[n], dc * i, dh_t[n] * tanh_c])
        da = (outer * np.stack([i * (1 - i), f * (1 - f), 1 - g**2, o * (1 - o)])).ravel()
        dx_t[n], dh_prev[n], dc_prev[n] = W_x @ da, W_h @ da, dc * f
        dW_x, dW_h, db = dW_x + np.outer(x_t[n], da), dW_h + np.outer(h_prev[n], da), db + da
    return dx_t, dh_prev, dc_prev, dW_x, dW_h, db

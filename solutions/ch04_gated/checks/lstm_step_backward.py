"""How `lstm_step_backward` is checked: against autograd through `torch.nn.LSTMCell`, a facet for each gradient."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Gates, Output, Spec, change

BLOCKS = "[da_i, da_f, da_g, da_o]"


def oracle(dh_t, dc_t, x_t, h_prev, c_prev, W_x, W_h, b):
    """Autograd through PyTorch's own cell in float64; only the sum of its two biases matters."""
    D, H = len(W_x), len(W_h)
    cell = torch.nn.LSTMCell(D, H, dtype=torch.float64)
    given = {"weight_ih": W_x.T, "weight_hh": W_h.T, "bias_ih": b, "bias_hh": 0 * b}
    cell.load_state_dict({name: torch.from_numpy(array.copy()) for name, array in given.items()})
    x, h, c = states = [torch.from_numpy(array.copy()).requires_grad_() for array in (x_t, h_prev, c_prev)]
    upstream = torch.from_numpy(dh_t), torch.from_numpy(dc_t)
    weights = cell.weight_ih, cell.weight_hh, cell.bias_ih
    dx, dh, dc, dW_x, dW_h, db = torch.autograd.grad(cell(x, (h, c)), [*states, *weights], upstream)
    return tuple(gradient.numpy() for gradient in (dx, dh, dc, dW_x.T, dW_h.T, db))


EXAMPLE = Case(
    sizes={"B": 1, "D": 1, "H": 1},
    inputs={
        "dh_t": np.array([[2.50]]),
        "dc_t": np.array([[-0.92]]),
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
            "dc_t": rng.normal(size=(B, H)),
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
    why=r"""
The backward pass takes the equations of the step in reverse order. In $h_t = o_t \odot \tanh(c_t)$ each factor gets the
upstream gradient times the other factor: $do = dh_t \odot \tanh(c_t)$, and $dh_t \odot o_t \odot (1 - \tanh^2 c_t)$ for
the cell state. The cell state is also used by the next step, which contributes `dc_t`, so the two are added before
anything else is done with $dc$. In $c_t = f_t \odot c_{t-1} + i_t \odot g_t$ the gradient of each factor is again $dc$
times the other one, and $dc \odot f_t$ goes straight to the previous cell state, without a matrix or a tanh.
Each of these gradients is then multiplied by the derivative of its own nonlinearity: $s (1 - s)$ for the three sigmoids
and $1 - g^2$ for the tanh of the candidate, both computed from the value itself. Side by side, in the order i, f, g, o,
the four pre-activation gradients form one array `da` of shape (B, 4H), and from there on everything is as in a plain
RNN: two products with transposed weights, two with transposed inputs, and a sum over the batch.
""",
)

DC = "dc = dc_t + dh_t * o * (1 - tanh_c**2)"
SLOPES = "da_i, da_f, da_g, da_o = di * i * (1 - i), df * f * (1 - f), dg * (1 - g**2), do * o * (1 - o)"

# the cell state and its gradient
SPEC.mistake(
    "path_through_h_left_out",
    "You use `dc_t` alone as the gradient of the cell state. Add the contribution that reaches it through the hidden "
    "state, `dh_t * o * (1 - np.tanh(c_t)**2)`: `dc_t` comes from the next step only.",
    change(DC, "dc = dc_t"),
    tempts="`dc_t` is called the gradient of c_t and looks like all of it, as `dh_t` was in chapter 02.",
)
SPEC.mistake(
    "dc_t_left_out",
    "You leave out `dc_t`. Add it to what reaches the cell state through the hidden state, because the next step uses "
    "the cell state too.",
    change("dc_t + ", ""),
    tempts="The chain rule through h_t is the harder of the two contributions, and with it the work seems done.",
)
SPEC.mistake(
    "o_left_out_of_dc",
    "You leave out the output gate on the way from `dh_t` to the cell state. Multiply by `o`, because h_t is o times "
    "tanh(c_t).",
    change("dh_t * o * (1", "dh_t * (1"),
    tempts="The step resembles that of a plain RNN, where dh_t times the derivative of the tanh was all.",
)
SPEC.mistake(
    "tanh_slope_of_c_left_out",
    "You leave out the derivative of tanh(c_t) on the way from `dh_t` to the cell state. Multiply by "
    "`1 - np.tanh(c_t)**2`, because the hidden state contains tanh(c_t), not c_t.",
    change(" * (1 - tanh_c**2)", ""),
    tempts="The tanh around the cell state is easily overlooked among the four gates.",
)
SPEC.mistake(
    "dh_t_added_to_dc_t",
    "You add `dh_t` itself to `dc_t`. Multiply it by `o` and by the derivative of tanh(c_t) first, because both lie "
    "between the cell state and the hidden state.",
    change("dh_t * o * (1 - tanh_c**2)", "dh_t"),
    tempts="Two contributions are added, and both arrays have the right shape.",
)
SPEC.mistake(
    "tanh_slope_taken_on_c_t",
    "You compute the derivative of the tanh as 1 − c_t². Use 1 − tanh²(c_t): the square is that of the tanh, not that "
    "of the cell state. Chapter 2 used 1 − h² because there h was the tanh itself.",
    change("(1 - tanh_c**2)", "(1 - c_t**2)"),
    tempts="1 − h_t² was right in chapter 02, so 1 − c_t² looks right here.",
)
SPEC.mistake(
    "tanh_slope_taken_on_h_t",
    "You compute the derivative of the tanh as 1 − h_t². Use 1 − tanh²(c_t), because here h_t is tanh(c_t) times the "
    "output gate.",
    change("(1 - tanh_c**2)", "(1 - (o * tanh_c) ** 2)"),
    tempts="It is the line of chapter 02, where h_t was the tanh.",
)
SPEC.mistake(
    "dc_t_through_the_tanh",
    "You multiply `dc_t` by the derivative of tanh(c_t), and perhaps by `o`. Multiply only the part that comes from "
    "`dh_t` and then add `dc_t`: the next step uses the cell state itself, not its tanh.",
    change("dc_t + dh_t * o * (1 - tanh_c**2)", "(dc_t + dh_t * o) * (1 - tanh_c**2)"),
    change("dc_t + dh_t * o * (1 - tanh_c**2)", "(dc_t + dh_t) * o * (1 - tanh_c**2)"),
    tempts="In a plain RNN all contributions were added first and then taken through the tanh.",
)
# the gates
SPEC.mistake(
    "do_from_c_t",
    "You compute the gradient of the output gate with `c_t`. Multiply `dh_t` by tanh(c_t), because that is what the "
    "output gate was multiplied by.",
    change("do = dh_t * tanh_c", "do = dh_t * c_t"),
    tempts="The output gate 'lets the cell state through', and the tanh is forgotten.",
    keeps=["dc_prev"],
)
SPEC.mistake(
    "do_without_tanh_c",
    "You take `dh_t` itself for the gradient of the output gate, or multiply it by h_t. Multiply `dh_t` by tanh(c_t), "
    "the other factor of the product that gave h_t.",
    change("do = dh_t * tanh_c", "do = dh_t"),
    change("do = dh_t * tanh_c", "do = dh_t * o * tanh_c"),
    tempts="The gate is the last thing before h_t, so dh_t seems to be its gradient.",
    keeps=["dc_prev"],
)
SPEC.mistake(
    "tanh_of_c_t_left_out",
    "You use `c_t` wherever tanh(c_t) belongs. Take the tanh first: the output gate was multiplied by tanh(c_t), and "
    "the derivative is 1 − tanh²(c_t).",
    change("tanh_c = np.tanh(c_t)", "tanh_c = c_t"),
    tempts="The tanh around the cell state is easily overlooked among the four gates.",
)
SPEC.mistake(
    "do_from_dc",
    "You compute the gradient of the output gate from that of the cell state. Start from `dh_t`, because the output "
    "gate acts on the hidden state only.",
    change("do = dh_t * tanh_c\n" + DC, DC + "\ndo = dc * tanh_c"),
    tempts="The other three gates use dc, so the fourth seems to.",
    keeps=["dc_prev"],
)
SPEC.mistake(
    "gates_in_the_wrong_order",
    "You take the results of `lstm_gates` in the wrong order. It returns i, f, g, o, so unpack them with "
    "`i, f, g, o = lstm_gates(…)`.",
    change("i, f, g, o = lstm_gates", "i, f, o, g = lstm_gates"),
    change("i, f, g, o = lstm_gates", "f, i, o, g = lstm_gates"),
    tempts="The gates are often listed as i, f, o, with the candidate last, or with the forget gate first.",
)
SPEC.mistake(
    "df_from_c_t",
    "You compute the gradient of the forget gate with `c_t`. Use `c_prev`, because the forget gate multiplies the "
    "*previous* cell state.",
    change("dc * c_prev", "dc * c_t"),
    tempts="c_t has just been computed and has the same shape.",
    keeps=["dc_prev"],
)
SPEC.mistake(
    "one_product_from_dc_t",
    "You use `dc_t` in one of the products where `dc` belongs. Use `dc` for i, f and g alike, because it also contains "
    "what reaches the cell state through `dh_t`.",
    change("dc * c_prev", "dc_t * c_prev"),
    change("dc * g", "dc_t * g"),
    change("dc * i", "dc_t * i"),
    tempts="The two names differ by two characters, and `dc_t` is the argument.",
    keeps=["dc_prev"],
)
SPEC.mistake(
    "di_and_dg_exchanged",
    "You exchange the gradients of the input gate and the candidate. In a product, the gradient of one factor is the "
    "upstream gradient times the *other* factor: `dc * g` for i, `dc * i` for g.",
    change("di, df, dg = dc * g, dc * c_prev, dc * i", "di, df, dg = dc * i, dc * c_prev, dc * g"),
    tempts="dc * i looks like the gradient of i.",
    keeps=["dc_prev"],
)
SPEC.mistake(
    "sigmoid_slope_left_out",
    "You leave out the derivative of the sigmoid at one gate or more. Multiply the gradient of each gate i, f, o by "
    "s · (1 − s), with s the value of that gate, because the gate is the sigmoid of its pre-activation.",
    change(SLOPES, "da_i, da_f, da_g, da_o = di, df, dg * (1 - g**2), do"),
    change("di * i * (1 - i)", "di"),
    change("df * f * (1 - f)", "df"),
    change("do * o * (1 - o)", "do"),
    tempts="di, df and do look finished, and there are four of them to take one step further.",
    keeps=["dc_prev"],
)
SPEC.mistake(
    "all_slopes_left_out",
    "You leave out the derivatives of the four nonlinearities, so `da` holds the gradients of the gates. Multiply by "
    "s · (1 − s) for i, f and o, and by 1 − g² for the candidate, because the weights feed the pre-activations.",
    change(SLOPES, "da_i, da_f, da_g, da_o = di, df, dg, do"),
    tempts="After four products the gradients of the gates look like the end of the elementwise part.",
    keeps=["dc_prev"],
)
SPEC.mistake(
    "sigmoid_slope_on_the_pre_activation",
    "You put the pre-activation into the derivative of the sigmoid, a · (1 − a). Use the value of the gate instead, "
    "s · (1 − s) with s = σ(a), and for the candidate 1 − g²: both derivatives are written in terms of the result.",
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
    tempts="The derivative is taken *at* the pre-activation, so the pre-activation seems to belong into the formula.",
    keeps=["dc_prev"],
)
SPEC.mistake(
    "sigmoid_taken_again",
    "You apply the sigmoid a second time: σ(s) · (1 − σ(s)). Use s · (1 − s), because the gate s is already the "
    "sigmoid of its pre-activation, just as g is already a tanh, with the derivative 1 − g².",
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
    tempts="The derivative is written σ(…)(1 − σ(…)), and the gate is at hand to put in.",
    keeps=["dc_prev"],
)
SPEC.mistake(
    "tanh_taken_again_at_g",
    "You compute the derivative at the candidate as 1 − tanh²(g), which applies the tanh a second time. Use `1 - "
    "g**2`, because g is already the tanh of its pre-activation.",
    change("1 - g**2", "1 - np.tanh(g) ** 2"),
    tempts="1 − tanh²(c_t) is right one line earlier, but c_t is not a tanh and g is.",
    keeps=["dc_prev"],
)
SPEC.mistake(
    "tanh_slope_without_a_tanh",
    "You compute the derivative of tanh(c_t) with a tanh too many. Square tanh(c_t) once: `1 - np.tanh(c_t)**2`.",
    change("(1 - tanh_c**2)", "(1 - np.tanh(tanh_c) ** 2)"),
    tempts="`tanh_c` already contains the tanh, but the formula says 1 − tanh²(…).",
)
SPEC.mistake(
    "slope_of_g_as_of_a_sigmoid",
    "You treat the candidate like the three gates, with g · (1 − g). Use 1 − g², because the candidate is a tanh.",
    change("dg * (1 - g**2)", "dg * g * (1 - g)"),
    tempts="Four blocks, four lines: the third is copied from the second.",
    keeps=["dc_prev"],
)
SPEC.mistake(
    "slope_of_g_left_out",
    "You leave out the derivative of the tanh at the candidate. Multiply `dg` by `1 - g**2`, because the candidate is "
    "the tanh of its pre-activation.",
    change("dg * (1 - g**2)", "dg"),
    tempts="The three sigmoids get their derivatives, and the candidate is not a gate.",
    keeps=["dc_prev"],
)
SPEC.mistake(
    "slope_of_g_not_squared",
    "You compute the derivative at the candidate as 1 − g. Square it: `1 - g**2`, because the derivative of the tanh "
    "is 1 − tanh².",
    change("1 - g**2", "1 - g"),
    tempts="The 1 − s of the other three lines is copied.",
    keeps=["dc_prev"],
)
SPEC.mistake(
    "slope_of_the_gates_as_of_a_tanh",
    "You treat the gates i, f and o like a tanh, with 1 − s². Use s · (1 − s), the derivative of the sigmoid.",
    change(SLOPES, "da_i, da_f, da_g, da_o = di * (1 - i**2), df * (1 - f**2), dg * (1 - g**2), do * (1 - o**2)"),
    tempts="1 − h² was the derivative in chapters 02 and 03.",
    keeps=["dc_prev"],
)
SPEC.mistake(
    "slope_of_the_gates_is_s_times_1_minus_s_squared",
    "You use s · (1 − s²) as the derivative of the sigmoid, which mixes it with that of the tanh. Use s · (1 − s): the "
    "square belongs to the tanh only.",
    change(
        SLOPES,
        "da_i, da_f, da_g, da_o = di * i * (1 - i**2), df * f * (1 - f**2), dg * (1 - g**2), do * o * (1 - o**2)",
    ),
    tempts="Both derivatives contain a difference from 1, and the line of the candidate has a square.",
    keeps=["dc_prev"],
)
SPEC.mistake(
    "slope_of_the_gates_is_1_minus_s",
    "You use 1 − s as the derivative of the sigmoid. Multiply by the gate as well, s · (1 − s).",
    change(SLOPES, "da_i, da_f, da_g, da_o = di * (1 - i), df * (1 - f), dg * (1 - g**2), do * (1 - o)"),
    tempts="The first factor is easily lost between di and i.",
    keeps=["dc_prev"],
)
PRODUCTS = "di, df, dg = dc * g, dc * c_prev, dc * i"
SPEC.mistake(
    "multiplied_by_the_gate_itself",
    "In at least one of the two products in c_t, you multiply `dc` by the factor whose gradient you compute. Multiply "
    "by the other factor instead: `dc` times `c_prev` for f, and in i · g each gets `dc` times the other.",
    *(
        change(PRODUCTS, f"di, df, dg = dc * {di}, dc * {df}, dc * {dg}")
        for di, df, dg in (("i", "f", "g"), ("i", "c_prev", "i"), ("g", "f", "i"), ("g", "c_prev", "g"))
    ),
    tempts="The derivative of a product is remembered as 'dc times the factor'.",
    keeps=["dc_prev"],
)
SPEC.mistake(
    "other_factor_left_out",
    "You leave out the other factor of at least one of the products that make up c_t. The gradient of f is `dc` times "
    "`c_prev`, that of i is `dc` times g, and that of g is `dc` times i.",
    *(
        change(PRODUCTS, f"di, df, dg = {di}, {df}, {dg}")
        for di, df, dg in (
            ("dc", "dc", "dc"),
            ("dc", "dc * c_prev", "dc * i"),
            ("dc * g", "dc", "dc * i"),
            ("dc * g", "dc * c_prev", "dc"),
        )
    ),
    tempts="dc is passed on to every summand of c_t, but each summand is a product.",
    keeps=["dc_prev"],
)
SPEC.mistake(
    "slope_without_parentheses",
    "You left out the parentheses around a derivative. For example, `dg * 1 - g**2` is `dg` minus the square of `g`. "
    "Write `dg * (1 - g**2)`, and `ds * s * (1 - s)` for a gate s: the gradient multiplies the whole derivative.",
    change("dg * (1 - g**2)", "dg * 1 - g**2"),
    change(SLOPES, "da_i, da_f, da_g, da_o = di * i * 1 - i, df * f * 1 - f, dg * 1 - g**2, do * o * 1 - o"),
    change(SLOPES, "da_i, da_f, da_g, da_o = di * i * 1 - i, df * f * 1 - f, dg * (1 - g**2), do * o * 1 - o"),
    tempts="'dg times 1 - g²' is how one says it, but Python multiplies first.",
    keeps=["dc_prev"],
)
SPEC.mistake(
    "tanh_slope_of_c_without_parentheses",
    "You left out the parentheses around the derivative of tanh(c_t), so 1 multiplies `dh_t * o` and the square is "
    "subtracted. Write `dh_t * o * (1 - np.tanh(c_t)**2)`.",
    change("(1 - tanh_c**2)", "1 - tanh_c**2"),
    tempts="Python multiplies before it subtracts.",
)
SPEC.mistake(
    "tanh_slope_of_c_not_squared",
    "You compute the derivative of tanh(c_t) as 1 − tanh(c_t). Square the tanh: `1 - np.tanh(c_t)**2`.",
    change("(1 - tanh_c**2)", "(1 - tanh_c)"),
    tempts="1 − s belongs to the sigmoid.",
)
SPEC.mistake(
    "dh_t_left_out",
    "You do not use `dh_t`, so you differentiate the hidden state instead of the loss. Multiply its derivatives with "
    "respect to the output gate and the cell state by `dh_t`, because the chain rule starts at the loss.",
    change("do = dh_t * tanh_c", "do = tanh_c", ("dc_t + dh_t * o", "dc_t + o")),
    tempts="∂h/∂o and ∂h/∂c are worked out on paper, without the upstream gradient.",
)
SPEC.mistake(
    "do_added_to_dc_t",
    "You add `dh_t` times tanh(c_t), the gradient of the output gate, to `dc_t`. Add "
    "`dh_t * o * (1 - np.tanh(c_t)**2)`: the cell state enters h_t through the tanh, multiplied by `o`.",
    change("dh_t * o * (1 - tanh_c**2)", "do"),
    tempts="do has just been computed and comes from the same product.",
)
# what is passed back to the previous states
SPEC.mistake(
    "dc_prev_without_f",
    "You pass the gradient of the cell state back unchanged. Multiply it by `f`, because c_t contains f times "
    "`c_prev`.",
    change("dc_prev = dc * f", "dc_prev = dc"),
    tempts="The cell is said to carry the gradient unchanged, which holds only where the forget gate is 1.",
    keeps=["dx_t", "dh_prev", "dW_x", "dW_h", "db"],
)
SPEC.mistake(
    "dc_prev_from_dc_t",
    "You compute `dc_prev` from `dc_t` alone. Multiply the whole gradient of the cell state by `f`: it also contains "
    "what reached the cell state through `dh_t`.",
    change("dc_prev = dc * f", "dc_prev = dc_t * f"),
    tempts="dc_t is the argument's name, and dc_t * f is the direct path of the first exercise.",
    keeps=["dx_t", "dh_prev", "dW_x", "dW_h", "db"],
)
SPEC.mistake(
    "dc_prev_is_another_product",
    "You compute `dc_prev` with a factor that belongs elsewhere. Multiply the gradient of the cell state by `f`, "
    "because c_t contains f times `c_prev`.",
    change("dc_prev = dc * f", "dc_prev = dc * i"),
    change("dc_prev = dc * f", "dc_prev = dc * c_prev"),
    change("dc_prev = dc * f", "dc_prev = dc * c_prev * f"),
    tempts="df, which has c_prev in it, is easily taken for the gradient of c_prev.",
    keeps=["dx_t", "dh_prev", "dW_x", "dW_h", "db"],
)
SPEC.mistake(
    "W_h_left_out",
    "You do not use `W_h` for `dh_prev`. Multiply `da` by `W_h.T`, because the previous hidden state entered all "
    "four pre-activations as a product with `W_h`.",
    change("da @ W_h.T", "da"),
    change("da @ W_h.T", "da_i + da_f + da_g + da_o"),
    change("da @ W_h.T", "dh_t * o"),
    tempts="The previous hidden state is taken for a line that runs through the cell, as the cell state does.",
    keeps=["dx_t", "dc_prev", "dW_x", "dW_h", "db"],
)
# the weights and the bias
SPEC.mistake(
    "dW_h_from_h_t",
    "You compute `dW_h` from the new hidden state. Use `h_prev`, because `W_h` was multiplied by the previous one.",
    change("h_prev.T @ da", "(o * tanh_c).T @ da"),
    tempts="dW_x uses x_t, so dW_h seems to use h_t.",
    keeps=["dx_t", "dh_prev", "dc_prev", "dW_x", "db"],
)
SPEC.mistake(
    "dW_h_from_c_prev",
    "You compute `dW_h` from the previous cell state. Use `h_prev`, because only the hidden state goes through `W_h`.",
    change("h_prev.T @ da", "c_prev.T @ da"),
    tempts="There are two previous states of the same shape.",
    keeps=["dx_t", "dh_prev", "dc_prev", "dW_x", "db"],
)
SPEC.mistake(
    "averaged_over_the_batch",
    "You average the gradients of the weights and the bias over the batch. Sum them instead: where the loss is a "
    "mean, `dh_t` and `dc_t` already contain the division.",
    change(
        "x_t.T @ da, h_prev.T @ da, da.sum(axis=0)", "x_t.T @ da / len(da), h_prev.T @ da / len(da), da.mean(axis=0)"
    ),
    tempts="Losses are usually means, but then dh_t already contains the division.",
    keeps=["dx_t", "dh_prev", "dc_prev"],
)
SPEC.mistake(
    "bias_averaged_over_the_batch",
    "You average `db` over the batch. Sum it instead: where the loss is a mean, `dh_t` and `dc_t` already contain the "
    "division.",
    change("da.sum(axis=0)", "da.mean(axis=0)"),
    tempts=".mean(axis=0) turns (B, 4H) into (4H,) just as .sum(axis=0) does.",
    keeps=["dx_t", "dh_prev", "dc_prev", "dW_x", "dW_h"],
)
SPEC.mistake(
    "bias_not_summed",
    "You do not sum `db` over the batch. Sum over the rows, so that (B, 4H) becomes (4H,), because the one bias is "
    "added in every row and each row contributes to its gradient.",
    *(change("da.sum(axis=0)", becomes) for becomes in ("da", "da.sum(axis=1)", "da[0]")),
    tempts="The bias is multiplied by nothing, so da looks like its gradient. For a single row it is.",
    keeps=["dx_t", "dh_prev", "dc_prev", "dW_x", "dW_h"],
)
SPEC.mistake(
    "in_place",
    "Your gradients are right, but you overwrite `dc_t`: `dc = dc_t` is a second name for the array, not a copy, so "
    "`+=` writes into `dc_t` itself. Make a new array instead: `a = a + b`.",
    change(DC, "dc = dc_t\ndc += dh_t * o * (1 - tanh_c**2)"),
    tempts="'Add the contribution to dc' is written +=, and under the name dc it looks like an array of its own.",
)


@SPEC.alternative
def gate_by_gate(dh_t, dc_t, x_t, h_prev, c_prev, W_x, W_h, b):
    """Each gate with its own block of the weights; the contributions to dx_t and dh_prev are added."""
    H = len(W_h)
    blocks = [slice(n * H, (n + 1) * H) for n in range(4)]
    a_i, a_f, a_g, a_o = (x_t @ W_x[:, n] + h_prev @ W_h[:, n] + b[n] for n in blocks)
    i, f, g, o = 1 / (1 + np.exp(-a_i)), 1 / (1 + np.exp(-a_f)), np.tanh(a_g), 1 / (1 + np.exp(-a_o))
    tanh_c = np.tanh(f * c_prev + i * g)
    dc = dh_t * o * (1 - tanh_c**2) + dc_t
    da = [dc * g * i * (1 - i), dc * c_prev * f * (1 - f), dc * i * (1 - g) * (1 + g), dh_t * tanh_c * o * (1 - o)]
    dx_t = sum(da_n @ W_x[:, n].T for n, da_n in zip(blocks, da, strict=True))
    dh_prev = sum(da_n @ W_h[:, n].T for n, da_n in zip(blocks, da, strict=True))
    dW_x, dW_h = np.hstack([x_t.T @ da_n for da_n in da]), np.hstack([h_prev.T @ da_n for da_n in da])
    return dx_t, dh_prev, dc * f, dW_x, dW_h, np.hstack([da_n.sum(axis=0) for da_n in da])


@SPEC.alternative
def filled_in_place(dh_t, dc_t, x_t, h_prev, c_prev, W_x, W_h, b):
    """One array for the four blocks, filled and then multiplied by all derivatives at once."""
    H = h_prev.shape[1]
    a = x_t @ W_x + h_prev @ W_h + b
    gates = 0.5 * (1 + np.tanh(a / 2))
    gates[:, 2 * H : 3 * H] = np.tanh(a[:, 2 * H : 3 * H])
    slopes = gates * (1 - gates)
    slopes[:, 2 * H : 3 * H] = 1 - gates[:, 2 * H : 3 * H] ** 2
    i, f, g, o = (gates[:, n * H : (n + 1) * H] for n in range(4))
    c_t = f * c_prev + i * g
    dc = dc_t + dh_t * o / np.cosh(c_t) ** 2
    da = np.empty(a.shape)
    da[:, :H] = dc * g
    da[:, H : 2 * H] = dc * c_prev
    da[:, 2 * H : 3 * H] = dc * i
    da[:, 3 * H :] = dh_t * np.tanh(c_t)
    da *= slopes
    dW_x, dW_h = np.einsum("bd,bk->dk", x_t, da), np.einsum("bh,bk->hk", h_prev, da)
    return np.einsum("bk,dk->bd", da, W_x), np.einsum("bk,hk->bh", da, W_h), f * dc, dW_x, dW_h, np.ones(len(da)) @ da


@SPEC.alternative
def row_by_row(dh_t, dc_t, x_t, h_prev, c_prev, W_x, W_h, b):
    """One sequence at a time; the gradients of the weights and the bias accumulate over all of them."""
    dx_t, dh_prev, dc_prev = np.zeros(x_t.shape), np.zeros(h_prev.shape), np.zeros(c_prev.shape)
    dW_x, dW_h, db = np.zeros(W_x.shape), np.zeros(W_h.shape), np.zeros(b.shape)
    for n in range(len(x_t)):
        a_i, a_f, a_g, a_o = np.split(x_t[n] @ W_x + h_prev[n] @ W_h + b, 4)
        i, f, g, o = 1 / (1 + np.exp(-a_i)), 1 / (1 + np.exp(-a_f)), np.tanh(a_g), 1 / (1 + np.exp(-a_o))
        tanh_c = np.tanh(f * c_prev[n] + i * g)
        dc = dc_t[n] + dh_t[n] * o * (1 - tanh_c**2)
        outer = np.stack([dc * g, dc * c_prev[n], dc * i, dh_t[n] * tanh_c])
        da = (outer * np.stack([i * (1 - i), f * (1 - f), 1 - g**2, o * (1 - o)])).ravel()
        dx_t[n], dh_prev[n], dc_prev[n] = W_x @ da, W_h @ da, dc * f
        dW_x, dW_h, db = dW_x + np.outer(x_t[n], da), dW_h + np.outer(h_prev[n], da), db + da
    return dx_t, dh_prev, dc_prev, dW_x, dW_h, db

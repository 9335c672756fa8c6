"""How `cell_gradient` is checked: against PyTorch's autograd through the cell states alone."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Output, Spec, change

ORDINARY, SAME = "ordinary", "k = t"


def oracle(f, k, t):
    """Autograd through c_s = f_s c_{s-1} + (what is written), with the gates held fixed."""
    gates = torch.from_numpy(f)
    written = torch.linspace(-1, 1, f.shape[1], dtype=torch.float64)
    start = torch.ones(gates[:, 0].shape, dtype=torch.float64, requires_grad=True)
    cell = start
    for s in range(k + 1, t + 1):
        cell = gates[:, s] * cell + written[s]
    return torch.autograd.grad(cell.sum(), start)[0].numpy()


EXAMPLE = Case(
    sizes={"B": 1, "T": 4, "H": 2},
    inputs={"f": np.array([[[0.30, 0.85], [0.90, 0.40], [0.80, 0.60], [0.95, 0.70]]]), "k": 0, "t": 2},
)


def case(rng, B, T, H, k, t):
    return Case(
        sizes={"B": B, "T": T, "H": H},
        inputs={"f": rng.uniform(0.15, 0.95, size=(B, T, H)), "k": k, "t": t},
        kind=SAME if k == t else ORDINARY,
    )


def cases(rng):
    yield case(rng, B=2, T=5, H=3, k=1, t=3)
    yield case(rng, B=3, T=6, H=4, k=1, t=4)
    yield case(rng, B=3, T=5, H=3, k=0, t=4)
    yield case(rng, B=2, T=3, H=3, k=0, t=1)
    yield case(rng, B=1, T=7, H=2, k=2, t=6)
    yield case(rng, B=3, T=6, H=1, k=2, t=4)
    yield case(rng, B=1, T=8, H=1, k=3, t=6)
    yield case(rng, B=2, T=4, H=3, k=1, t=1)
    yield case(rng, B=3, T=3, H=2, k=2, t=2)
    yield case(rng, B=2, T=1, H=4, k=0, t=0)
    yield case(rng, B=1, T=2, H=1, k=0, t=0)


SPEC = Spec(
    outputs=[Output("gradient", ("B", "H"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[Facet("k < t", 3, kinds=(ORDINARY,)), Facet(SAME, 1, kinds=(SAME,))],
    why=r"""
Along the direct path each step multiplies the cell state by its forget gate and adds something that does not depend on
the cell state. The derivative of one step is therefore $f_s$, and that of several steps is the product of their forget
gates, entry by entry, because each unit has its own cell. The step that produces $c_{k+1}$ uses $f_{k+1}$ and the step
that produces $c_t$ uses $f_t$, so $f_k$ is not in the product and $f_t$ is: in Python, the slice `k + 1 : t + 1`. For
k = t the slice is empty, and `np.prod` of nothing is 1, as it should be. No matrix and no tanh is in the way, which is
why this path can keep a gradient over many steps where that of a plain network vanishes.
""",
)

PRODUCT = "np.prod(f[:, k + 1 : t + 1], axis=1)"
GATES = "f[:, k + 1 : t + 1]"

SPEC.mistake(
    "f_one_step_early",
    "You multiply `f[:, k]` to `f[:, t - 1]`, one step too early. Multiply `f[:, k + 1]` to `f[:, t]`, because the "
    "step that leads to `c[:, s]` multiplies the previous cell state by `f[:, s]`.",
    change(GATES, "f[:, k:t]"),
    tempts="`k:t` is how a slice 'from k to t' is written, and it has the right number of factors.",
    keeps=[SAME],
)
SPEC.mistake(
    "f_k_included",
    "Your product has one factor too many, `f[:, k]`. Begin with `f[:, k + 1]`, because `f[:, k]` acts in the step "
    "that leads *to* `c[:, k]`, before the path begins.",
    change(GATES, "f[:, k : t + 1]"),
    tempts="'From k to t' sounds as if both ends were included.",
)
SPEC.mistake(
    "f_t_left_out",
    "Your product lacks its last factor, `f[:, t]`. Include it, because the last step of the path multiplies by it; a "
    "slice or a `range` stops one short of its end.",
    change(GATES, "f[:, k + 1 : t]"),
    tempts="`k + 1 : t` looks like 'from k + 1 to t', but it leaves t out.",
    keeps=[SAME],
)
SPEC.mistake(
    "first_factor_left_out",
    "Your product lacks its first factor, `f[:, k + 1]`. Include it, because the first step of the path, from "
    "`c[:, k]` to `c[:, k + 1]`, multiplies by it.",
    change(GATES, "f[:, k + 2 : t + 1]"),
    tempts="A loop from t down to k + 1 is easily written `range(t, k + 1, -1)`, which leaves its end out.",
    keeps=[SAME],
)
SPEC.mistake(
    "gate_after_t_included",
    "Your product has one factor too many, `f[:, t + 1]`. Stop at `f[:, t]`, because the path ends at `c[:, t]`.",
    change(GATES, "f[:, k + 1 : t + 2]"),
    change(PRODUCT, "np.prod([f[:, s] for s in range(k + 1, t + 2)], axis=0)"),
    tempts="Both ends are moved by one to correct `k:t`, and one of them twice.",
)
SPEC.mistake(
    "ones_always",
    "You return ones for every k and t, so no gate enters your product. Check that the two ends of your range are in "
    "the right order, and that each pass of a loop stores the new product.",
    change(GATES, "f[:, t + 1 : k + 1]"),
    tempts="A slice whose ends are exchanged is empty and raises no error.",
)
SPEC.mistake(
    "sigmoid_taken_again",
    "You apply the sigmoid to `f`. Multiply `f` itself, because it holds the gates, not their pre-activations.",
    change(GATES, f"sigmoid({GATES})"),
    tempts="f = σ(a_f) is the equation, and the function sigmoid is given.",
    keeps=[SAME],
)
SPEC.mistake(
    "k_ignored",
    "You multiply all gates from the start of the sequence. Begin with `f[:, k + 1]`, because the path begins at "
    "`c[:, k]`.",
    change(GATES, "f[:, : t + 1]"),
    change(GATES, "f[:, 1 : t + 1]"),
    tempts="The product over all steps so far is what a text calls 'what survives until t'.",
)
SPEC.mistake(
    "t_ignored",
    "You multiply all gates to the end of the sequence. Stop at `f[:, t]`, because the path ends at `c[:, t]`.",
    change(GATES, "f[:, k + 1 :]"),
    tempts="The gradient usually comes from the end of the sequence.",
)
SPEC.mistake(
    "added",
    "You add the forget gates. Multiply them, because each step multiplies the cell state that the previous step left.",
    change(PRODUCT, f"{GATES}.sum(axis=1)"),
    change(PRODUCT, "sum(f[:, s] for s in range(k + 1, t + 1))"),
    change(PRODUCT, "np.cumsum(f, axis=1)[:, t]"),
    tempts="Gradients of weights are sums over the steps, but this path goes through all of them one after another.",
)
SPEC.mistake(
    "averaged",
    "You average the forget gates. Multiply them, because each step multiplies the cell state that the previous step "
    "left.",
    change(PRODUCT, f"{GATES}.mean(axis=1) if k < t else np.ones(f[:, 0].shape)"),
    tempts="'How much is kept on this path' sounds like a mean.",
    keeps=[SAME],
)
SPEC.mistake(
    "not_one_for_k_equal_t",
    "Your result is wrong if k = t. There is no step between the two states then, so return ones of shape (B, H): the "
    "derivative of a cell state with respect to itself is 1. If you start the product from ones, this needs no `if`.",
    change("return", "if k == t:\n    return f[:, t]\nreturn"),
    change("return", "if k == t:\n    return np.zeros(f[:, t].shape)\nreturn"),
    change("return", "if k == t:\n    return 1.0\nreturn"),
    change("return", "if k == t:\n    return None\nreturn"),
    change("return", "if k == t:\n    return np.eye(f.shape[2])\nreturn"),
    change("return", "if k == t:\n    return f[:, t + 1]\nreturn"),
    tempts="A product is often started from its first factor, and then nothing is left for k = t.",
    keeps=["k < t"],
)
SPEC.mistake(
    "one_gate_for_all_steps",
    "You use the gate of a single step for the whole path. Multiply the gates of all steps from `f[:, k + 1]` to "
    "`f[:, t]`, because the forget gate is computed again at every step.",
    change(PRODUCT, "f[:, t] ** (t - k)"),
    change(PRODUCT, "f[:, k] ** (t - k)"),
    tempts="σ(b)^T, what survives if the gate is the same at every step, is the formula on the page.",
    keeps=[SAME],
)
SPEC.mistake(
    "only_one_factor",
    "You return the gate of one step. Multiply all gates from `f[:, k + 1]` to `f[:, t]`: in a loop, each pass must "
    "use the product of the previous passes.",
    change(PRODUCT, "f[:, t] if k < t else np.ones(f[:, t].shape)"),
    change(PRODUCT, "f[:, k + 1] if k < t else np.ones(f[:, t].shape)"),
    tempts="∂c_t/∂c_{t−1} = f_t is the line that everyone remembers.",
    keeps=[SAME],
)
SPEC.mistake(
    "derivative_of_the_gate",
    "You multiply derivatives of the sigmoid, f · (1 − f). Multiply the gates themselves, because the cell state is "
    "multiplied by `f`; the derivative of the sigmoid belongs to the path through the gate's pre-activation.",
    change(GATES, f"({GATES} * (1 - {GATES}))"),
    tempts="Backward through a sigmoid means f (1 − f), but this path does not go through the sigmoid.",
    keeps=[SAME],
)
SPEC.mistake(
    "share_that_is_forgotten",
    "You multiply 1 − f. Multiply `f` itself, because the forget gate is the share that is *kept*.",
    change(GATES, "(1 - f[:, k + 1 : t + 1])"),
    tempts="'Forget gate' sounds as if it gave the share that is forgotten.",
    keeps=[SAME],
)
SPEC.mistake(
    "multiplied_over_another_axis",
    "You multiply the gates along the wrong axis. Multiply over time, `axis=1`, so that each sequence and each unit "
    "keeps a product of its own and the result is (B, H).",
    *(change("axis=1", axis) for axis in ("axis=0", "axis=2", "axis=-1", "axis=None")),
    change(PRODUCT, "np.prod(f[k + 1 : t + 1], axis=0)"),
    tempts="`np.prod` multiplies everything unless it is told an axis, and time is not the first one here.",
)
SPEC.mistake(
    "diagonal_matrix",
    "You return the whole diagonal matrix for each sequence. Return its diagonal, of shape (B, H), because all other "
    "entries are zero.",
    change("return np.prod(f[:, k + 1 : t + 1], axis=1)", f"return {PRODUCT}[:, :, None] * np.eye(f.shape[2])"),
    tempts="The formula has a diag(…) in it.",
)
SPEC.mistake(
    "product_of_every_step",
    "You return the running products of all steps. Return the last one, which contains all gates up to `f[:, t]`.",
    change(PRODUCT, f"np.cumprod({GATES}, axis=1)"),
    tempts="`np.cumprod` gives the products of all lags at once.",
)
SPEC.mistake(
    "counted_from_the_start",
    "Your product has the right number of factors, but they come from the first steps, wherever the path begins. "
    "Begin with `f[:, k + 1]`.",
    change(GATES, "f[:, : t - k]"),
    change(GATES, "f[:, 1 : t - k + 1]"),
    tempts="A loop over `range(t - k)` counts the steps, and its index is easily taken for the step.",
    keeps=[SAME],
)
SPEC.mistake(
    "started_from_zeros",
    "You start the product from zeros, so it stays zero. Start from ones.",
    change(PRODUCT, "np.zeros(f[:, 0].shape)"),
    tempts="Arrays are created with `np.zeros` everywhere else.",
)


@SPEC.alternative
def with_a_loop(f, k, t):
    """One factor for each step of the path."""
    gradient = np.ones((f.shape[0], f.shape[2]))
    for s in range(k + 1, t + 1):
        gradient = gradient * f[:, s]
    return gradient


@SPEC.alternative
def backward_through_the_steps(f, k, t):
    """As backpropagation does it: from c_t back to c_k."""
    dc = np.ones_like(f[:, t])
    while t > k:
        dc = dc * f[:, t]
        t -= 1
    return dc


@SPEC.alternative
def with_logarithms(f, k, t):
    """A sum of logarithms; all gates are above 0."""
    return np.exp(np.log(f)[:, k + 1 : t + 1].sum(axis=1))


@SPEC.alternative
def as_a_quotient(f, k, t):
    """What survives until t, divided by what survives until k."""
    survives = np.cumprod(f, axis=1)
    return survives[:, t] / survives[:, k]

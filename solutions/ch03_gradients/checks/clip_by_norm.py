"""How `clip_by_norm` is checked: against a slow loop over all entries, with Python's exact sums.

The list is never empty: an empty one has no gradient to clip.
"""

import math

import numpy as np

from grader.author.spec import Case, Facet, Output, Spec, change

ORDINARY, BELOW, AT, ZERO = "ordinary", "below the limit", "at the limit", "all gradients zero"


def oracle(grads, max_norm):
    """All entries as one list of Python numbers; their sum of squares is rounded only once."""
    norm = math.sqrt(math.fsum(x * x for g in grads for x in g.ravel().tolist()))
    if norm <= max_norm:
        return [g.copy() for g in grads], norm
    return [np.array([x * max_norm / norm for x in g.ravel().tolist()]).reshape(g.shape) for g in grads], norm


EXAMPLE = Case(
    sizes={"D": 2, "H": 1},
    inputs={"grads": [np.array([[0.60], [-1.20]]), np.array([0.40])], "max_norm": 1.05},
)


def case(rng, D, H, share, size=1.0, arrays=3):
    """The gradients of an RNN, W_xh, W_hh and b_h or the first of these, and a limit of this share of their norm."""
    shapes = [(D, H), (H, H), (H,)][:arrays]
    grads = [size * rng.normal(size=shape) for shape in shapes]
    norm = np.sqrt(sum(np.sum(g**2) for g in grads))
    kind = BELOW if share > 1 else ORDINARY
    return Case(sizes={"D": D, "H": H}, inputs={"grads": grads, "max_norm": round(float(share * norm), 4)}, kind=kind)


def cases(rng):
    yield case(rng, D=3, H=2, share=0.4)
    yield case(rng, D=2, H=3, share=1.6)
    yield case(rng, D=4, H=5, share=0.85)  # above the limit together, but no array is by itself
    yield case(rng, D=1, H=1, share=0.5)
    yield case(rng, D=3, H=4, share=0.6, arrays=1)
    yield case(rng, D=5, H=2, share=0.01, size=100)
    yield case(rng, D=2, H=4, share=0.3, size=0.01)
    yield Case(
        sizes={"D": 1, "H": 2},
        inputs={"grads": [np.array([[1.0, -2.0]]), np.array([2.0, -4.0])], "max_norm": 5.0},
        kind=AT,
    )
    yield Case(
        sizes={"D": 2, "H": 3},
        inputs={"grads": [np.zeros((2, 3)), np.zeros((3, 3)), np.zeros(3)], "max_norm": 1.5},
        kind=ZERO,
    )


SPEC = Spec(
    outputs=[Output("clipped"), Output("norm")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("clipped", 3, outputs=("clipped",), kinds=(ORDINARY, BELOW, AT)),
        Facet("norm", 2, outputs=("norm",), kinds=(ORDINARY, BELOW, AT)),
        Facet("zero gradients", 1, kinds=(ZERO,)),
    ],
    why=r"""
The gradient with respect to all weights is one vector, of which each array holds a part, so its squared norm is the sum
of the squares of all entries of all arrays. Multiplying every array by the same number changes the vector's length and
keeps its direction; the factor `max_norm` over the norm makes the length exactly `max_norm`. A gradient that is
short enough keeps its length. The factor is computed only where the norm exceeds a positive limit, so that nothing is
divided by zero. The norm is taken from the unclipped gradients, which stay as they are.
""",
)

NORM = "np.sqrt(sum(np.sum(g**2) for g in grads))"
FACTOR = "max_norm / norm if norm > max_norm else 1.0"
CLIPPED = "[factor * g for g in grads]"
EACH = "[g * min(1.0, max_norm / max(np.linalg.norm(g), 1e-300)) for g in grads]"
SPEC.mistake(
    "each_array_by_its_own_norm",
    "You compare each array with the limit by itself and scale it by its own norm. Compute one norm over all arrays, "
    "and multiply all of them by the same factor: otherwise the direction of the gradient changes, and it can still be "
    "longer than `max_norm`.",
    change(CLIPPED, EACH),
    change(CLIPPED, "[g if np.linalg.norm(g) <= max_norm else g * (max_norm / norm) for g in grads]"),
    tempts="The loop over the arrays is there anyway, and each array has a norm that NumPy computes in one call.",
    keeps=("norm", "zero gradients"),
)
SPEC.mistake(
    "number_added_to_the_norm",
    "You add a small number such as 1e-6 to the norm before you divide. Divide by the norm itself, only where it "
    "exceeds the limit: the norm is not zero there, and the clipped gradient has exactly the norm `max_norm`.",
    *(
        change(FACTOR, becomes.format(eps))
        for eps in ("1e-6", "1e-8")
        for becomes in ("max_norm / (norm + {}) if norm > max_norm else 1.0", "min(1.0, max_norm / (norm + {}))")
    ),
    change(FACTOR, "max_norm / (norm + 1e-7) if norm > max_norm else 1.0"),
    tempts="PyTorch's `clip_grad_norm_` adds 1e-6, and so do many implementations that copy it.",
    keeps=("norm", "zero gradients"),
)
SPEC.mistake(
    "norm_with_a_number_added",
    "You add a small number such as 1e-6 to the norm, or to the sum of squares under the root, so the norm that you "
    "return is too large. Leave it out: where the norm exceeds the limit it is not zero, and nothing else is divided.",
    *(
        change(NORM, becomes.format(eps))
        for eps in ("1e-6", "1e-8")
        for becomes in (f"{NORM} + {{}}", "np.sqrt(sum(np.sum(g**2) for g in grads) + {})")
    ),
    tempts="It avoids a division by zero once and for all, and it changes the norm by very little.",
)
ALWAYS = (
    "You scale every gradient to the norm `max_norm`, shorter ones too. Leave a gradient as it is unless its norm "
    "exceeds the limit: clipping makes gradients shorter, never longer."
)
SPEC.mistake(
    "always_scaled",
    f"{ALWAYS} A gradient of zeros then needs no division either.",
    change(FACTOR, "max_norm / norm"),
    tempts="The formula for the factor is all that many texts show.",
    keeps=("norm",),
)
SPEC.mistake(
    "always_scaled_unless_zero",
    ALWAYS,
    *(
        change(FACTOR, becomes)
        for becomes in (
            "max_norm / norm if norm > 0 else 1.0",
            "max_norm / max(norm, 1e-12)",
            "max_norm / (norm + 1e-6)",
            "max_norm / (norm + 1e-8)",
        )
    ),
    tempts="A check for zero, or a small number added to the norm, looks like all the care that the division needs.",
    keeps=("norm", "zero gradients"),
)
SPEC.mistake(
    "scaled_below_the_limit",
    "You scale the gradients that are within the limit and leave the others as they are. Turn the comparison round: "
    "only a norm that *exceeds* `max_norm` needs scaling.",
    change("norm > max_norm", "0 < norm < max_norm"),
    change(FACTOR, "max(1.0, max_norm / max(norm, 1e-300))"),
    change(FACTOR, "max(1.0, max_norm / norm) if norm > 0 else 1.0"),
    tempts="Which of `min` and `max`, or of the two signs, is right is easily mixed up.",
    keeps=("norm", "zero gradients"),
)
SPEC.mistake(
    "norm_after_clipping",
    "You return the norm after clipping, which is at most `max_norm`. Return the norm *before* clipping: it shows "
    "whether, and by how much, a gradient was too large.",
    change("grads], norm", "grads], min(norm, max_norm)"),
    change("grads], norm", "grads], factor * norm"),
    tempts="The name is assigned once more, or the norm is computed at the end, from the arrays that are returned.",
    keeps=("clipped", "zero gradients"),
)
SPEC.mistake(
    "norms_of_arrays_added",
    "You add up the norms of the arrays. Add up their *squared* norms and take one root at the end, because a norm is "
    "the root of the sum of all squares.",
    change(NORM, "sum(np.linalg.norm(g) for g in grads)"),
    tempts="The norm of each array takes one call, and sums of parts are wholes elsewhere.",
    keeps=("zero gradients",),
)
SPEC.mistake(
    "norm_without_the_root",
    "You leave out the root, so the norm is squared. Take the root of the sum of squares before you compare it with "
    "`max_norm`, divide by it and return it.",
    change(NORM, "sum(np.sum(g**2) for g in grads)"),
    tempts="The sum of the squares is the larger part of the work, and the root looks like a detail.",
    keeps=("zero gradients",),
)
SPEC.mistake(
    "squared_norm_compared",
    "You compare the squared norm with `max_norm`. Compare the norm itself: the two comparisons differ wherever the "
    "norm and its square are on different sides of the limit.",
    change("norm > max_norm", "norm**2 > max_norm"),
    tempts="The sum of the squares is at hand before the root is taken.",
    keeps=("norm", "zero gradients"),
)
SPEC.mistake(
    "norm_averaged",
    "You average instead of adding: over the entries, or over the arrays. Use the root of the plain *sum* of all "
    "squares, in which the number of entries plays no part.",
    change(NORM, "np.sqrt(np.mean(np.concatenate([g.ravel() for g in grads]) ** 2))"),
    change(NORM, "np.sqrt(np.mean([np.mean(g**2) for g in grads]))"),
    change(NORM, "np.sqrt(sum(np.mean(g**2) for g in grads))"),
    change(NORM, "np.sqrt(np.mean([np.sum(g**2) for g in grads]))"),
    change(NORM, "np.mean([np.linalg.norm(g) for g in grads])"),
    change(NORM, "np.sqrt(sum(np.sum(g**2) for g in grads)) / len(grads)"),
    tempts="A mean does not depend on the size of the network, but it is another measure.",
    keeps=("zero gradients",),
)
SPEC.mistake(
    "largest_instead_of_norm",
    "You use the largest entry, or the largest norm of an array. Use one norm over everything, the root of the sum of "
    "the squares of all entries.",
    change(NORM, "max(np.abs(g).max() for g in grads)"),
    change(NORM, "max(g.max() for g in grads)"),
    change(NORM, "max(np.linalg.norm(g) for g in grads)"),
    tempts="A limit is about the largest, and both quantities exceed it when something explodes.",
    keeps=("zero gradients",),
)
SPEC.mistake(
    "absolute_values_added",
    "You add up the absolute values of the entries. Add up their squares, and take the root of the sum.",
    change(NORM, "sum(np.abs(g).sum() for g in grads)"),
    tempts="This is a norm too, but another one, and the worked neighbour adds amounts without squaring.",
    keeps=("zero gradients",),
)
SPEC.mistake(
    "added_before_squaring",
    "You add up entries before you square, so positive and negative ones cancel. Square every entry first, then add up "
    "all the squares.",
    change(NORM, "np.sqrt(sum(np.sum(g) ** 2 for g in grads))"),
    change(NORM, "np.abs(sum(g.sum() for g in grads))"),
    change(NORM, "sum(g.sum() for g in grads)"),
    tempts="`np.sum(g) ** 2` and `np.sum(g**2)` differ by one parenthesis.",
    keeps=("zero gradients",),
)
SPEC.mistake(
    "spectral_norm_of_matrices",
    "You use `np.linalg.norm(g, 2)`, which is the largest singular value of a matrix. Use the root of the sum of all "
    "squares, which is what `np.linalg.norm(g)` computes for an array of any shape.",
    change(NORM, "np.sqrt(sum(np.linalg.norm(g, 2) ** 2 for g in grads))"),
    tempts="For a vector, ord=2 is the root of the sum of squares, but for a matrix it is the spectral norm.",
    keeps=("zero gradients",),
)
SPEC.mistake(
    "one_array_only",
    "Your norm is that of one array, the first or the last. Add up the squares of *all* arrays: does the loop replace "
    "the sum, or return too early?",
    change(NORM, "np.linalg.norm(grads[0])"),
    change(NORM, "np.linalg.norm(grads[-1])"),
    tempts="`total = np.sum(g**2)` in a loop keeps only what the last array gives.",
    keeps=("zero gradients",),
)
SPEC.mistake(
    "max_norm_left_out_of_the_factor",
    "You divide by the norm but do not multiply by `max_norm`, so the clipped gradient has the norm 1. Multiply by "
    "`max_norm / norm`.",
    change(FACTOR, "1 / norm if norm > max_norm else 1.0"),
    tempts="Dividing a vector by its norm is how a direction is made.",
    keeps=("norm", "zero gradients"),
)
SPEC.mistake(
    "norm_left_out_of_the_factor",
    "You scale by `max_norm` alone, so the result still grows with the gradient. Multiply by `max_norm / norm`: only "
    "then is the clipped gradient as long as the limit.",
    change(FACTOR, "max_norm if norm > max_norm else 1.0"),
    change(FACTOR, "1 / max_norm if norm > max_norm else 1.0"),
    tempts="One argument is the limit, and to apply it seems to be to multiply or to divide by it.",
    keeps=("norm", "zero gradients"),
)
SPEC.mistake(
    "divided_by_the_squared_norm",
    "You divide by the squared norm. Divide by the norm itself: dividing by its square makes long gradients shorter "
    "than the limit, and the longer they are, the shorter they become.",
    change("max_norm / norm if", "max_norm / norm**2 if"),
    tempts="The sum of the squares and its root are two variables, and either can stand in the factor.",
    keeps=("norm", "zero gradients"),
)
SPEC.mistake(
    "norm_of_the_arrays_so_far",
    "You scale each array in the loop in which you add up the squares, by the norm of the arrays so far. Finish that "
    "loop first, and scale all arrays in a second one, because the factor depends on every array.",
    change(
        f"return {CLIPPED}, norm",
        """
        clipped, so_far = [], 0.0
        for g in grads:
            so_far = np.sqrt(so_far**2 + np.sum(g**2))
            clipped.append(g * (max_norm / so_far) if so_far > max_norm else g)
        return clipped, norm
        """,
    ),
    tempts="Both steps go through all arrays, so one loop seems to be enough.",
    keeps=("norm", "zero gradients"),
)
SPEC.mistake(
    "factor_inverted",
    "You multiply by the norm over `max_norm`. Multiply by `max_norm` over the norm: a factor that shortens is less "
    "than 1.",
    change(FACTOR, "norm / max_norm if norm > max_norm else 1.0"),
    tempts="Which of the two is on top is easily mixed up; a small example decides.",
    keeps=("norm", "zero gradients"),
)
SPEC.mistake(
    "root_of_the_factor",
    "You multiply by the root of `max_norm` over the norm. Multiply by the ratio itself: a factor multiplies the norm "
    "by just that factor.",
    change("max_norm / norm if", "np.sqrt(max_norm / norm) if"),
    tempts="There is a root in the formula of the norm, so one may seem to belong here too.",
    keeps=("norm", "zero gradients"),
)
SPEC.mistake(
    "limited_entry_by_entry",
    "You limit every entry to the interval from −`max_norm` to `max_norm`. Multiply all entries by the same factor "
    "instead, so that the gradient keeps its direction; limiting entries is the next exercise.",
    change(CLIPPED, "[np.clip(g, -max_norm, max_norm) for g in grads]"),
    tempts="Clipping is also what `np.clip` does, and its name fits.",
    keeps=("norm", "zero gradients"),
)
SPEC.mistake(
    "set_to_zero",
    "You replace gradients that are too long by zeros. Shorten them to the norm `max_norm`: their direction is still "
    "worth following.",
    change(FACTOR, "0.0 if norm > max_norm else 1.0"),
    tempts="Skipping a step with an exploded gradient is a rule that some training loops use.",
    keeps=("norm", "zero gradients"),
)
SPEC.mistake(
    "never_clipped",
    "You return the gradients as they are, also where their norm exceeds the limit. Multiply every array by `max_norm` "
    "over the norm there, and put the products into the list that you return.",
    change(CLIPPED, "list(grads)"),
    tempts="`for g in grads: g = factor * g` gives a name to each product, but changes no list.",
    keeps=("norm", "zero gradients"),
)
SPEC.mistake(
    "zero_norm_divided",
    "You divide by the norm even if all gradients are zero, and 0 / 0 is NaN. Check whether the norm exceeds "
    "`max_norm` first, and divide only then: the limit is positive, so the norm is positive there too.",
    change(CLIPPED, "[g / norm * min(norm, max_norm) for g in grads]"),
    change(CLIPPED, "[g * (min(norm, max_norm) / norm) for g in grads]"),
    tempts="Direction times length is a neat way to write it, and no ordinary gradient is exactly zero.",
    keeps=("clipped", "norm"),
)
SPEC.mistake(
    "zero_division_raised",
    "You divide by the norm even if all gradients are zero, and with Python's own numbers this raises an exception. "
    "Check whether the norm exceeds `max_norm` first, and divide only then: the limit is positive, so the norm is "
    "positive there too.",
    change(FACTOR, "min(1.0, max_norm / float(norm))"),
    tempts="`min(1, max_norm / norm)` is one line, and no ordinary gradient is exactly zero.",
    keeps=("clipped", "norm"),
)
SPEC.mistake(
    "norm_not_returned",
    "You return the clipped arrays alone. Return two results: the list and, after a comma, the norm before clipping.",
    change("grads], norm", "grads]"),
    tempts="The clipped gradients are the point of the function; the norm looks like an intermediate result.",
)
SPEC.mistake(
    "norm_of_zeros_not_0",
    "If all gradients are zero, you return a norm that is not 0, in order not to divide by zero. Return 0: if you "
    "divide only where the norm exceeds `max_norm`, you never divide by zero.",
    change(NORM, f"{NORM} or 1.0"),
    change(NORM, "np.sqrt(sum(np.sum(g**2) for g in grads) + 1e-12)"),
    tempts="Another value for the norm avoids the division by zero, but it is returned as well.",
    keeps=("clipped", "norm"),
)
SPEC.mistake(
    "grads_changed_in_place",
    "You change the arrays of the caller, or the list that holds them. Put new arrays into a new list: `g *= factor` "
    "and `grads[i] = …` overwrite the unclipped gradients, which the caller may still need.",
    change(f"return {CLIPPED}, norm", "for g in grads:\n    g *= factor\nreturn grads, norm"),
    change(f"return {CLIPPED}, norm", "for i, g in enumerate(grads):\n    grads[i] = factor * g\nreturn grads, norm"),
    tempts="PyTorch's `clip_grad_norm_` works in place, as its name says with the underscore.",
    keeps=("zero gradients",),
)


@SPEC.alternative
def one_long_vector(grads, max_norm):
    """Put all entries into one vector, clip it, and cut it up again."""
    vector = np.concatenate([g.ravel() for g in grads])
    norm = np.linalg.norm(vector)
    if norm > max_norm:
        vector = vector / norm * max_norm
    ends = np.cumsum([g.size for g in grads])[:-1]
    return [part.reshape(g.shape) for part, g in zip(np.split(vector, ends), grads, strict=True)], norm


@SPEC.alternative
def in_a_loop_on_copies(grads, max_norm):
    """Add up in a loop, and change copies in place."""
    total = 0.0
    for g in grads:
        total += float(np.vdot(g, g))
    norm = total**0.5
    clipped = [g.copy() for g in grads]
    if norm > max_norm:
        for g in clipped:
            g *= max_norm
            g /= norm
    return clipped, norm


@SPEC.alternative
def norm_of_norms(grads, max_norm):
    """The norm of the vector of the arrays' norms, and a divisor that is at least 1."""
    norm = float(np.linalg.norm([np.linalg.norm(g) for g in grads]))
    divisor = max(1.0, norm / max_norm)
    return tuple(g / divisor for g in grads), norm

"""How `numerical_gradient` is checked: against slopes by a complex step, on functions that take complex numbers.

A central difference is the mean of the slope between its two points: for a quadratic function the derivative whatever
eps is, for others the derivative if eps is small, and another number, which tells eps, if it is large.
"""

import numpy as np

from grader.author.spec import Case, Facet, Fixture, Output, Spec, Tolerance, change
from grader.checking.fixtures import BUILDERS

EXACT, ORDINARY, LONG, BY_HAND = "exact steps", "ordinary", "a long step", "the notebook's example"
SYMBOLS = {1: "H", 2: "DH", 3: "BTH"}
NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)  # of a mean over [-1, 1]; the weights sum to 2


def oracle(f, theta, eps=1e-5):
    """The mean of the slope from eps below to eps above. A slope is the imaginary part of f after an imaginary step,
    which no rounding touches: no difference is taken.
    """
    gradient = np.zeros(theta.shape)
    for index in np.ndindex(theta.shape):
        slopes = []
        for node in NODES:
            step = np.zeros(theta.shape, dtype=complex)
            step[index] = eps * node + 1e-30j
            slopes.append((f(theta + step) / 1e-30).imag)
        gradient[index] = WEIGHTS @ slopes / 2
    return gradient


def quadratic(theta, matrix, linear):
    return Fixture("quadratic", {"shape": list(theta.shape), "matrix": matrix, "linear": linear})


EXAMPLE_THETA = np.array([[3.00, 2.00]])
EXAMPLE = Case(
    sizes={"D": 1, "H": 2},
    inputs={
        "f": quadratic(EXAMPLE_THETA, np.array([[1.00, 3.00], [0.00, 0.00]]), np.array([0.00, 0.00])),
        "theta": EXAMPLE_THETA,
        "eps": 0.10,
    },
    kind=BY_HAND,
)


def stays(theta, eps):
    """Whether adding a step and taking it away again gives theta back, as it does on paper."""
    return np.array_equal(theta + eps - 2 * eps + eps, theta) or np.array_equal(theta + eps - eps - eps + eps, theta)


def case(rng, *shape, kind=ORDINARY, form="tanh_sum", eps=None):
    """A function of theta whose derivatives are no smaller than their second derivatives' part in a slip. With a long
    step some entry of theta is large, so that a step made longer for it shows.
    """
    n = int(np.prod(shape))
    while True:
        theta = rng.normal(size=shape)
        if kind in (EXACT, LONG):
            theta = np.round(theta * 2**10) / 2**10 + 0.0  # with eps a power of 2, every sum is exact; none ends at −0
        matrix, vector = rng.normal(size=(n + 2, n)), rng.normal(size=n + 2)
        f = Fixture(
            "tanh_sum",
            {"shape": list(shape), "matrix": matrix, "bias": vector / 2, "weight": 2 * rng.normal(size=n + 2)},
        )
        if form == "quadratic":
            f = quadratic(theta, matrix[:n], vector[:n])
        step = eps or 1e-5
        value = BUILDERS[f.kind](**f.params)
        if (
            (kind in (EXACT, LONG)) == stays(theta, step)
            and tells(value, theta, step)
            and (kind != LONG or (np.abs(theta).max() > 1.5 and bends(value, theta, step)))
        ):
            inputs = {"f": f, "theta": theta}
            return Case(
                dict(zip(SYMBOLS[len(shape)], shape, strict=True)), inputs | ({"eps": eps} if eps else {}), kind
            )


def tells(f, theta, eps):
    """Whether a one-sided difference is visibly another number than a central one, in every entry."""
    for index in np.ndindex(theta.shape):
        step = np.zeros(theta.shape)
        step[index] = eps
        if abs(f(theta + step) - 2 * f(theta) + f(theta - step)) / (2 * eps) < 2e-7:
            return False
    return True


def bends(f, theta, eps):
    """Whether a step of another length than eps visibly gives another central difference, in every entry."""
    for index in np.ndindex(theta.shape):
        step = np.zeros(theta.shape)
        step[index] = 1
        slopes = [(f(theta + h * step) - f(theta - h * step)) / (2 * h) for h in (1e-5, eps / 2, eps, 2 * eps)]
        if min(abs(a - b) for k, a in enumerate(slopes) for b in slopes[:k]) < 1e-3:
            return False
    return True


def cases(rng):
    yield case(rng, 2, 3, kind=EXACT, eps=2.0**-17)
    yield case(rng, 3, 3, kind=EXACT, eps=2.0**-4, form="quadratic")
    yield case(rng, 4, kind=EXACT, eps=2.0**-15)
    yield case(rng, 2, 1, 3, kind=EXACT, eps=2.0**-17)
    yield case(rng, 1, 1, kind=EXACT, eps=2.0**-16)
    yield case(rng, 3, 2)
    yield case(rng, 5)
    yield case(rng, 3, 1, 2)
    yield case(rng, 2, 4, eps=0.3, form="quadratic")
    yield case(rng, 2, 3, kind=LONG, eps=2.0**-1)
    yield case(rng, 4, kind=LONG, eps=2.0**-2)


SPEC = Spec(
    outputs=[Output("gradient")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    tolerance=Tolerance(relative=1e-8, absolute=2e-8),
    facets=[
        Facet("gradient", 2, kinds=(EXACT,)),
        Facet("theta as it was", 1, kinds=(ORDINARY, BY_HAND)),
        Facet("the eps that is passed", 1, kinds=(LONG,)),
    ],
    why="""
One entry at a time moves by eps to either side, the others stay where they are: that is what *partial* means. The two
values lie 2·eps apart. Taken on both sides, the errors of second order cancel, so halving eps quarters the error.
The old value is kept and put back, because floating-point numbers do not come back by themselves:
0.7 + 1e-5 − 2e-5 + 1e-5 is not 0.7. `np.ndindex` walks through an array of any number of axes.
""",
)


LOOP = "np.ndindex(theta.shape)"
VALUES = "theta[index] = old + eps\nabove = f(theta)\ntheta[index] = old - eps\nbelow = f(theta)"
PUT_BACK = "theta[index] = old\ngradient"  # with the beginning of the next line, for the first alone stands three times
TWO_DOWN = ("= old - eps", "-= 2 * eps")
OWN_ARRAYS = "plus[index] += eps\nminus[index] -= eps\nabove, below = f(plus), f(minus)"
KEPT = ("old = theta[index]", "old = theta[index].copy()")  # where this is no number

SPEC.mistake(
    "one_sided_difference",
    "The difference is taken to one side of theta only. Its error shrinks with eps; that of a central difference, "
    "from one eps above to one eps below, shrinks with the square of eps.",
    change("old - eps", "old", ("(2 * eps)", "eps")),
    change("old + eps", "old", ("(2 * eps)", "eps")),
    tempts="It is how a derivative is defined, and it saves a call; its error is 10,000 times larger.",
)
SPEC.mistake(
    "eps_for_two_eps",
    "The difference is right and is divided by the wrong length: the two points lie 2·eps apart. Mind the brackets: "
    "`a / 2 * eps` is `(a / 2) * eps`.",
    change("(2 * eps)", "eps"),
    change("(2 * eps)", "2 * eps"),
    tempts="The step is eps; the two points are two steps apart.",
)
SPEC.mistake(
    "stops_in_the_middle",
    "The second value is taken at theta itself, not at eps below it: from eps above it takes two steps down to get "
    "there.",
    change("= old - eps", "-= eps"),
    tempts="Minus eps undoes plus eps, which is where theta was, and not eps below it.",
)
SPEC.mistake(
    "one_array_for_both",
    "All entries are 0, or next to nothing. If you do take differences, look whether both calls of `f` get the same "
    "numbers: `plus = theta` makes no copy, so what is added under one name is taken away under the other; "
    "`theta.flatten()` does make one, and `f` never sees what is changed there.",
    change(VALUES, f"plus, minus = theta, theta\n{OWN_ARRAYS}"),
    tempts="`plus = theta` looks like a copy; both names mean the one array, and nothing differs.",
)
SPEC.mistake(
    "not_restored",
    "The entries that were looked at stay off by eps while the next ones are looked at. Put each entry's old value "
    "back before you go on; `old = theta` is no copy.",
    change(PUT_BACK, "gradient"),
    change(
        "old = theta[index]", "old = theta", ("= old + eps", "+= eps"), TWO_DOWN, (PUT_BACK, "theta = old\ngradient")
    ),
    change("np.zeros_like(theta)", "np.zeros_like(theta)\ntheta = theta.copy()", (PUT_BACK, "gradient")),
    change(
        "np.zeros_like(theta)", "np.zeros_like(theta)\nplus, minus = theta.copy(), theta.copy()", (VALUES, OWN_ARRAYS)
    ),
    tempts="One looks at an entry and goes on to the next; the ones done stay eps off.",
)
SPEC.mistake(
    "restored_to_rounding",
    "`theta` is not left bit for bit as it was. Adding a step and taking it away again rounds each time. Keep the "
    "entry's old value, and put that back.",
    change(PUT_BACK, "theta[index] += eps\ngradient", TWO_DOWN),
    change(PUT_BACK, "theta[index] += eps\ngradient", ("= old - eps", "-= eps\ntheta[index] -= eps")),
    tempts="On paper up, twice down, and up again is where one was. Floating point rounds at each step.",
    keeps=("gradient", "the eps that is passed"),
)
SPEC.mistake(
    "left_with_other_numbers",
    "The gradient is right, but after the call `theta` holds other numbers than before, and not by rounding alone. Put "
    "the old value of every entry back, that of the last one too.",
    change("return gradient", "theta[...] = 0\nreturn gradient"),
    change("return gradient", "theta[index] += eps\nreturn gradient"),
    change("return gradient", "theta[index] -= eps\nreturn gradient"),
    tempts="The old value is put back where the next entry begins, and after the last one nothing begins.",
)
SPEC.mistake(
    "all_at_once",
    "All entries move together, which gives the slope in one direction. Each entry has its own partial derivative: "
    "move one, and leave the others alone.",
    change(VALUES, "above, below = f(theta + eps), f(theta - eps)"),
    change(VALUES, "above, below = f(theta + eps), f(theta - eps)", ("gradient[index] =", "return")),
    change(VALUES, "above, below = f(theta + eps), f(theta)", ("(2 * eps)", "eps")),
    tempts="NumPy adds eps to all entries in one line; that is one slope, in one direction.",
)
SPEC.mistake(
    "first_axis_only",
    "The loop goes along the first axis alone, so that of a matrix a whole row moves at once. If you keep the row in "
    "`old = theta[i]`, that is a view: it moves along, and puts nothing back. Go through every entry; "
    "`np.ndindex(theta.shape)` gives their indices.",
    change(LOOP, "range(len(theta))", KEPT),
    change(LOOP, "range(len(theta))", KEPT, ("np.zeros_like(theta)", "np.zeros(len(theta))")),
    change(LOOP, "range(len(theta))"),
    change(LOOP, "range(len(theta))", ("= old + eps", "+= eps"), TWO_DOWN),
    tempts="range(len(theta)) goes through a vector; of a matrix it moves whole rows.",
)
SPEC.mistake(
    "two_axes_only",
    "It is right for matrices. theta may have one axis, like a bias, or three: `np.ndindex(theta.shape)` gives the "
    "index of every entry for any number of axes.",
    change(LOOP, "np.ndindex(theta.shape[0], theta.shape[1])", KEPT),
    tempts="The weights one thinks of are matrices; a bias has one axis, and some arrays have three.",
)
SPEC.mistake(
    "flat_result",
    "The numbers are right and stand in a row. The result has theta's shape.",
    change("return gradient", "return gradient.reshape(-1)"),
    tempts="A flat view makes one simple loop; the result has to get its shape back.",
)
SPEC.mistake(
    "eps_not_used",
    "A long step shows it: other points are used than one `eps` above and one `eps` below. Move by the `eps` that is "
    "passed, to either side, and look at these two points alone.",
    change("np.zeros_like(theta)", "np.zeros_like(theta)\neps = 1e-5"),
    change("old + eps", "old + eps / 2", ("old - eps", "old - eps / 2"), ("(2 * eps)", "eps")),
    change(
        "gradient[index] = (above - below) / (2 * eps)",
        """
        step = np.zeros_like(theta)
        step[index] = 2 * eps
        gradient[index] = (8 * (above - below) - (f(theta + step) - f(theta - step))) / (12 * eps)
        """,
    ),
    *(
        change(
            "old = theta[index]",
            f"old = theta[index]\nstep = eps * {scale}",
            ("old + eps", "old + step"),
            ("old - eps", "old - step"),
            ("2 * eps", "2 * step"),
        )
        for scale in ("max(1.0, abs(old))", "(1 + abs(old))")
    ),
    tempts="1e-5 is the number that everybody takes; who passes another one wants to see what it does. Books on "
    "numerical methods make the step longer for large entries.",
    keeps=("gradient", "theta as it was"),
)
SPEC.mistake(
    "difference_without_brackets",
    "Brackets are missing: only the second value is divided. Take the difference first, `(above - below)`, then "
    "divide it.",
    change("(above - below) / (2 * eps)", "above - below / (2 * eps)"),
    tempts=("'above minus below, over two eps' is how one says it; in Python the division comes first."),
)
SPEC.mistake(
    "not_divided_by_eps",
    "The difference is not divided by the distance: what is missing is `eps`. The two points lie 2·eps apart, so "
    "divide by `2 * eps`.",
    change(" / (2 * eps)", ""),
    change(" / (2 * eps)", " / 2"),
    tempts=("The difference of two values is how much f changes; a slope is that for each unit of length."),
)
SPEC.mistake(
    "first_entry_only",
    "Only the first entry has been looked at: `return` stands inside the loop, and ends it in its first round. "
    "Move it to the left, behind the loop.",
    change("return gradient", "    return gradient"),
    tempts=("One level of indentation too many, and nothing complains."),
)
SPEC.mistake(
    "slopes_added_to_every_entry",
    "All slopes are added up, and every entry gets the sum. Each belongs into its own place: `gradient[index] = …`.",
    change("gradient[index] =", "gradient +="),
    tempts=("Gradients are collected with += in a loop; here each round fills one place."),
)


@SPEC.alternative
def in_place_and_put_back(f, theta, eps=1e-5):
    """A flat view of theta, its entries moved in place and put back."""
    gradient, flat = np.zeros_like(theta), theta.reshape(-1)
    for i in range(flat.size):
        old = flat[i]
        values = []
        for flat[i] in (old - eps, old + eps):
            values.append(f(theta=theta))
        flat[i] = old
        gradient.flat[i] = (values[1] - values[0]) / (2 * eps)
    return gradient


@SPEC.alternative
def along_unit_vectors(f, theta, eps=1e-5):
    """Rows of a unit matrix as directions."""
    directions = np.eye(theta.size).reshape(-1, *theta.shape)
    return np.reshape([(f(theta + eps * d) - f(theta - eps * d)) / eps / 2 for d in directions], theta.shape)


def moved(theta, index, by):
    new = theta.copy()
    new[index] += by
    return new


@SPEC.alternative
def values_first(f, theta, eps=1e-5):
    """All values first, in two arrays; then their halves are subtracted and divided."""
    above, below = np.empty(theta.shape), np.empty(theta.shape)
    for i in np.ndindex(theta.shape):
        above[i], below[i] = f(moved(theta, i, eps)), f(moved(theta, i, -eps))
    return above / (2 * eps) - below / (2 * eps)

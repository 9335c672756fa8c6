"""How `numerical_gradient` is checked: against slopes by a complex step, on functions that take complex numbers.

A central difference is the mean of the slope between its two points: for a quadratic function the derivative whatever
eps is, for others the derivative if eps is small, and another number, which tells eps, if it is large.
"""

import numpy as np

from grader.author.spec import Case, Facet, Fixture, Output, Spec, Tolerance
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
    """A function of theta whose derivatives are no smaller than their second derivatives' part in a slip."""
    n = int(np.prod(shape))
    while True:
        theta = rng.normal(size=shape)
        if kind in (EXACT, LONG):
            theta = np.round(theta * 2**10) / 2**10  # with eps a power of 2, every sum is exact
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
            and (kind != LONG or bends(value, theta, step))
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


def each(theta):
    return np.ndindex(theta.shape)


def moved(theta, index, by):
    new = theta.copy()
    new[index] += by
    return new


@SPEC.misconception()
def one_sided_difference(f, theta, eps=1e-5):
    """Tempting because it is how a derivative is defined, and it saves a call; its error is 10,000 times larger."""
    gradient = np.zeros(theta.shape)
    for i in each(theta):
        gradient[i] = (f(moved(theta, i, eps)) - f(theta)) / eps
    return gradient


@SPEC.misconception("one_sided_difference")
def backward_difference(f, theta, eps=1e-5):
    """The same to the other side."""
    gradient = np.zeros(theta.shape)
    for i in each(theta):
        gradient[i] = (f(theta) - f(moved(theta, i, -eps))) / eps
    return gradient


@SPEC.misconception()
def eps_for_two_eps(f, theta, eps=1e-5):
    """Tempting because the step is eps; the two points are two steps apart."""
    gradient = np.zeros(theta.shape)
    for i in each(theta):
        gradient[i] = (f(moved(theta, i, eps)) - f(moved(theta, i, -eps))) / eps
    return gradient


@SPEC.misconception("eps_for_two_eps")
def precedence(f, theta, eps=1e-5):
    """The same division, written / 2 * eps, which Python reads as (… / 2) * eps."""
    gradient = np.zeros(theta.shape)
    for i in each(theta):
        gradient[i] = (f(moved(theta, i, eps)) - f(moved(theta, i, -eps))) / 2 * eps
    return gradient


@SPEC.misconception()
def stops_in_the_middle(f, theta, eps=1e-5):
    """Tempting because minus eps undoes plus eps, which is where theta was, and not eps below it."""
    gradient = np.zeros(theta.shape)
    for i in each(theta):
        old = theta[i]
        theta[i] += eps
        above = f(theta)
        theta[i] -= eps
        gradient[i] = (above - f(theta)) / (2 * eps)
        theta[i] = old
    return gradient


@SPEC.misconception()
def one_array_for_both(f, theta, eps=1e-5):
    """Tempting because `plus = theta` looks like a copy; both names mean the one array, and nothing differs."""
    gradient = np.zeros(theta.shape)
    for i in each(theta):
        plus, minus, old = theta, theta, theta[i]
        plus[i] += eps
        minus[i] -= eps
        gradient[i] = (f(plus) - f(minus)) / (2 * eps)
        theta[i] = old
    return gradient


@SPEC.misconception()
def not_restored(f, theta, eps=1e-5):
    """Tempting because one looks at an entry and goes on to the next; the ones done stay eps off."""
    gradient = np.zeros(theta.shape)
    for i in each(theta):
        theta[i] += eps
        above = f(theta)
        theta[i] -= 2 * eps
        gradient[i] = (above - f(theta)) / (2 * eps)
    return gradient


@SPEC.misconception("not_restored")
def copied_by_name(f, theta, eps=1e-5):
    """The same, with an old theta that is the same array: putting it back changes nothing."""
    gradient, old = np.zeros(theta.shape), theta
    for i in each(theta):
        theta[i] = old[i] + eps
        above = f(theta)
        theta[i] = old[i] - 2 * eps
        gradient[i] = (above - f(theta)) / (2 * eps)
        theta = old
    return gradient


@SPEC.misconception("not_restored")
def a_copy_not_restored(f, theta, eps=1e-5):
    """The same on a copy: the student's theta is safe, and the gradient is still off."""
    gradient, theta = np.zeros(theta.shape), theta.copy()
    for i in each(theta):
        theta[i] += eps
        above = f(theta)
        theta[i] -= 2 * eps
        gradient[i] = (above - f(theta)) / (2 * eps)
    return gradient


@SPEC.misconception("not_restored")
def two_copies_that_wander(f, theta, eps=1e-5):
    """The same with a copy for each side, made before the loop."""
    gradient, plus, minus = np.zeros(theta.shape), theta.copy(), theta.copy()
    for i in each(theta):
        plus[i] += eps
        minus[i] -= eps
        gradient[i] = (f(plus) - f(minus)) / (2 * eps)
    return gradient


@SPEC.misconception(keeps=["gradient", "the eps that is passed"])
def restored_to_rounding(f, theta, eps=1e-5):
    """Tempting because on paper up, twice down, and up again is where one was. Floating point rounds at each step."""
    gradient = np.zeros(theta.shape)
    for i in each(theta):
        theta[i] += eps
        above = f(theta)
        theta[i] -= 2 * eps
        gradient[i] = (above - f(theta)) / (2 * eps)
        theta[i] += eps
    return gradient


@SPEC.misconception("restored_to_rounding")
def restored_step_by_step(f, theta, eps=1e-5):
    """The same with one step back at a time."""
    gradient = np.zeros(theta.shape)
    for i in each(theta):
        theta[i] += eps
        above = f(theta)
        theta[i] -= eps
        theta[i] -= eps
        gradient[i] = (above - f(theta)) / (2 * eps)
        theta[i] += eps
    return gradient


@SPEC.misconception()
def all_at_once(f, theta, eps=1e-5):
    """Tempting because NumPy adds eps to all entries in one line; that is one slope, in one direction."""
    return np.full(theta.shape, (f(theta + eps) - f(theta - eps)) / (2 * eps))


@SPEC.misconception("all_at_once")
def all_at_once_as_a_number(f, theta, eps=1e-5):
    """The same, as the one number that it is."""
    return (f(theta + eps) - f(theta - eps)) / (2 * eps)


@SPEC.misconception("all_at_once")
def all_at_once_from_ones(f, theta, eps=1e-5):
    """The same in an array of the right shape, made at every entry anew."""
    gradient = np.zeros(theta.shape)
    for i in each(theta):
        gradient[i] = (f(theta + eps) - f(theta)) / eps
    return gradient


@SPEC.misconception()
def first_axis_only(f, theta, eps=1e-5):
    """Tempting because range(len(theta)) goes through a vector; of a matrix it moves whole rows."""
    gradient = np.zeros(theta.shape)
    for i in range(len(theta)):
        gradient[i] = (f(moved(theta, i, eps)) - f(moved(theta, i, -eps))) / (2 * eps)
    return gradient


@SPEC.misconception("first_axis_only")
def one_number_a_row(f, theta, eps=1e-5):
    """The same, kept in a list."""
    return np.array([(f(moved(theta, i, eps)) - f(moved(theta, i, -eps))) / (2 * eps) for i in range(len(theta))])


@SPEC.misconception("first_axis_only")
def a_row_and_its_view(f, theta, eps=1e-5):
    """The same in place. What was kept of the row is a view of it, so it moves along, and nothing is ever put back."""
    gradient = np.zeros(theta.shape)
    for i in range(len(theta)):
        old = theta[i]
        theta[i] = old + eps
        above = f(theta)
        theta[i] = old - eps
        gradient[i] = (above - f(theta)) / (2 * eps)
        theta[i] = old
    return gradient


@SPEC.misconception("first_axis_only")
def a_row_put_back_from_its_view(f, theta, eps=1e-5):
    """The same with += and -=: here both values are right, and what is put back is what stands there."""
    gradient = np.zeros(theta.shape)
    for i in range(len(theta)):
        old = theta[i]
        theta[i] += eps
        above = f(theta)
        theta[i] -= 2 * eps
        gradient[i] = (above - f(theta)) / (2 * eps)
        theta[i] = old
    return gradient


@SPEC.misconception()
def two_axes_only(f, theta, eps=1e-5):
    """Tempting because the weights one thinks of are matrices; a bias has one axis, and some arrays have three."""
    gradient = np.zeros(theta.shape)
    for i in range(theta.shape[0]):
        for j in range(theta.shape[1]):
            gradient[i, j] = (f(moved(theta, (i, j), eps)) - f(moved(theta, (i, j), -eps))) / (2 * eps)
    return gradient


@SPEC.misconception()
def flat_result(f, theta, eps=1e-5):
    """Tempting because a flat view makes one simple loop; the result has to get its shape back."""
    result = []
    for i in each(theta):
        result.append((f(moved(theta, i, eps)) - f(moved(theta, i, -eps))) / (2 * eps))
    return np.array(result)


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


@SPEC.misconception(keeps=["gradient", "theta as it was"])
def eps_not_used(f, theta, eps=1e-5):
    """Tempting because 1e-5 is the number that everybody takes; who passes another one wants to see what it does."""
    gradient = np.zeros(theta.shape)
    for i in each(theta):
        gradient[i] = (f(moved(theta, i, 1e-5)) - f(moved(theta, i, -1e-5))) / 2e-5
    return gradient


@SPEC.misconception("eps_not_used")
def half_steps(f, theta, eps=1e-5):
    """The same with half a step to each side, so that the two points are one eps apart."""
    gradient = np.zeros(theta.shape)
    for i in each(theta):
        gradient[i] = (f(moved(theta, i, eps / 2)) - f(moved(theta, i, -eps / 2))) / eps
    return gradient


@SPEC.misconception("eps_not_used")
def four_points(f, theta, eps=1e-5):
    """The same with two more points: a difference of higher order, and closer to the derivative than what is asked."""
    gradient = np.zeros(theta.shape)
    for i in each(theta):
        near = (f(moved(theta, i, eps)) - f(moved(theta, i, -eps))) / (2 * eps)
        far = (f(moved(theta, i, 2 * eps)) - f(moved(theta, i, -2 * eps))) / (4 * eps)
        gradient[i] = (4 * near - far) / 3
    return gradient


@SPEC.alternative
def values_first(f, theta, eps=1e-5):
    """All values first, in two arrays; then their halves are subtracted and divided."""
    above, below = np.empty(theta.shape), np.empty(theta.shape)
    for i in each(theta):
        above[i], below[i] = f(moved(theta, i, eps)), f(moved(theta, i, -eps))
    return above / (2 * eps) - below / (2 * eps)

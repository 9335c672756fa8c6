"""How `numerical_gradient` is checked: against derivatives by a complex step, on functions that take complex numbers.

A central difference is the mean of the derivative between its two points. For a quadratic function this is the
derivative itself, whatever eps is. For other functions it is close to the derivative if eps is small; if eps is large,
it is a different number, which reveals the eps that was used.
"""

import numpy as np

from grader.checking.fixtures import BUILDERS
from grader.spec.spec import Case, Facet, Fixture, Output, Spec, Tolerance, change, instead

EXACT, ORDINARY, LONG, BY_HAND = "exact steps", "ordinary", "a long step", "the notebook's example"
SYMBOLS = {1: "H", 2: "DH", 3: "BTH"}
NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)  # of a mean over [-1, 1]; the weights sum to 2


def oracle(f, theta, eps=1e-5):
    """The mean of the derivative from eps below to eps above. A derivative is the imaginary part of f after an
    imaginary step. No difference is taken, so no digits are lost.
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
    """Whether adding a step and subtracting it again restores theta exactly, as it does on paper."""
    return np.array_equal(theta + eps - 2 * eps + eps, theta) or np.array_equal(theta + eps - eps - eps + eps, theta)


def case(rng, *shape, kind=ORDINARY, form="tanh_sum", eps=None):
    """A function of theta for which one-sided and central differences visibly differ. In a case with a long step, some
    entry of theta is large, so that a step scaled by the entry shows.
    """
    n = int(np.prod(shape))
    while True:
        theta = rng.normal(size=shape)
        if kind in (EXACT, LONG):
            theta = np.round(theta * 2**10) / 2**10 + 0.0  # with eps a power of 2, every sum is exact; none is −0
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
    """Whether a one-sided difference visibly differs from a central one in every entry."""
    for index in np.ndindex(theta.shape):
        step = np.zeros(theta.shape)
        step[index] = eps
        if abs(f(theta + step) - 2 * f(theta) + f(theta - step)) / (2 * eps) < 2e-7:
            return False
    return True


def bends(f, theta, eps):
    """Whether steps of other lengths than eps give visibly different central differences in every entry."""
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
)
LOOP = "np.ndindex(theta.shape)"
VALUES = "theta[index] = old + eps\nabove = f(theta)\ntheta[index] = old - eps\nbelow = f(theta)"
PUT_BACK = "theta[index] = old\ngradient"  # with the start of the next line, because the first alone occurs three times
TWO_DOWN = ("= old - eps", "-= 2 * eps")
OWN_ARRAYS = "plus[index] += eps\nminus[index] -= eps\nabove, below = f(plus), f(minus)"
KEPT = ("old = theta[index]", "old = theta[index].copy()")  # where it is a row, not a number


def moved(theta, index, by):
    new = theta.copy()
    new[index] += by
    return new


SPEC.mistakes(
    {
        "one_sided_difference": [
            change("old - eps", "old", ("(2 * eps)", "eps")),
            change("old + eps", "old", ("(2 * eps)", "eps")),
        ],
        "eps_for_two_eps": [change("(2 * eps)", "eps"), change("(2 * eps)", "2 * eps")],
        "second_value_at_theta": change("= old - eps", "-= eps"),
        "one_array_for_both": change(VALUES, f"plus, minus = theta, theta\n{OWN_ARRAYS}"),
        "not_restored": [
            change(PUT_BACK, "gradient"),
            change("np.zeros_like(theta)", "np.zeros_like(theta)\ntheta = theta.copy()", (PUT_BACK, "gradient")),
            change(
                "np.zeros_like(theta)",
                "np.zeros_like(theta)\nplus, minus = theta.copy(), theta.copy()",
                (VALUES, OWN_ARRAYS),
            ),
        ],
        "theta_left_changed": change("return gradient", "theta[...] = 0\nreturn gradient"),
        "all_entries_moved_at_once": [
            change(VALUES, "above, below = f(theta + eps), f(theta - eps)"),
            change(VALUES, "above, below = f(theta + eps), f(theta - eps)", ("gradient[index] =", "return")),
            change(VALUES, "above, below = f(theta + eps), f(theta)", ("(2 * eps)", "eps")),
        ],
        "first_axis_only": [
            change(LOOP, "range(len(theta))", KEPT),
            change(LOOP, "range(len(theta))", KEPT, ("np.zeros_like(theta)", "np.zeros(len(theta))")),
            change(LOOP, "range(len(theta))"),
            change(LOOP, "range(len(theta))", ("= old + eps", "+= eps"), TWO_DOWN),
        ],
        "two_axes_only": change(LOOP, "np.ndindex(theta.shape[0], theta.shape[1])", KEPT),
        **instead(
            "return gradient",
            {
                "flat_result": "return gradient.reshape(-1)",
                "first_entry_only": "    return gradient",
            },
        ),
        "entry_set_to_eps": change("= old + eps", "= eps", ("= old - eps", "= -eps")),
        "difference_without_brackets": change("(above - below) / (2 * eps)", "above - below / (2 * eps)"),
        "not_divided_by_eps": [change(" / (2 * eps)", ""), change(" / (2 * eps)", " / 2")],
        "derivatives_added_to_every_entry": change("gradient[index] =", "gradient +="),
    }
)
SPEC.mistakes(
    {
        "restored_with_rounding": change(PUT_BACK, "theta[index] += eps\ngradient", TWO_DOWN),
    },
    keeps=("gradient", "the eps that is passed"),
)
SPEC.mistakes(
    {
        "eps_not_used": [
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
        ],
    },
    keeps=("gradient", "theta as it was"),
)


@SPEC.alternative
def in_place_and_put_back(f, theta, eps=1e-5):
    """Through a flat view of theta, whose entries are moved in place and put back."""
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
    """With the rows of an identity matrix as directions."""
    directions = np.eye(theta.size).reshape(-1, *theta.shape)
    return np.reshape([(f(theta + eps * d) - f(theta - eps * d)) / eps / 2 for d in directions], theta.shape)


@SPEC.alternative
def values_first(f, theta, eps=1e-5):
    """All values first, in two arrays, each of which is divided before they are subtracted."""
    above, below = np.empty(theta.shape), np.empty(theta.shape)
    for i in np.ndindex(theta.shape):
        above[i], below[i] = f(moved(theta, i, eps)), f(moved(theta, i, -eps))
    return above / (2 * eps) - below / (2 * eps)

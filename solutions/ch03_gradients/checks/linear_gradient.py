"""How `linear_gradient` is checked: the network is run, and PyTorch's autograd goes back through it.

Mistakes such as a forgotten inverse show the order and the signs in which LAPACK returns the eigenvectors. For a matrix
that is larger than 2 × 2 these can depend on the processor, unless the matrix consists of blocks of size 1 and 2 along
its diagonal and is 0 above them: then LAPACK finds the eigenvalues of each block without iterating. So all larger
matrices have this form. One way to take the real part too early can still not be named: the inverse of `Q.real`, in
which two columns are equal, is an exception on one processor and a matrix of huge numbers on another.
"""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Output, Spec, change

REAL, COMPLEX = "real eigenvalues", "complex eigenvalues"


def oracle(W_hh, dh_T, lag):
    """Run `lag` steps of the network from some state, and differentiate h_T · dh_T with respect to that state."""
    W, first = torch.from_numpy(W_hh), torch.zeros(len(dh_T), dtype=torch.float64, requires_grad=True)
    h = first
    for _ in range(lag):
        h = h @ W
    return torch.autograd.grad(h, first, torch.from_numpy(dh_T))[0].numpy()


EXAMPLE = Case(
    sizes={"H": 2},
    inputs={
        "W_hh": np.array([[1.10, 0.30], [-0.60, 0.20]]),
        "dh_T": np.array([3.40, -3.80]),
        "lag": 2,
    },
    kind=REAL,
)


def signed(rng, low, high, size=None):
    return rng.uniform(low, high, size) * rng.choice([-1, 1], size)


def moved(rng, *values):
    """Each value, moved a little."""
    return [value * rng.uniform(0.95, 1.05) for value in values]


def one(rng, value):
    """A block of size 1."""
    return np.array([moved(rng, value)])


def two(rng, first, second):
    """A block of size 2 with these real eigenvalues."""
    a, b = moved(rng, first, second)
    return block(rng, a + b, a * b)


def pair(rng, real, imaginary):
    """A block of size 2 with a pair of complex eigenvalues."""
    a, b = moved(rng, real, imaginary)
    return block(rng, 2 * a, a * a + b * b)


def block(rng, trace, determinant):
    """Neither symmetric nor triangular."""
    p, v = trace / 2 + signed(rng, 0.2, 0.4), signed(rng, 0.4, 0.9)
    q = trace - p
    return np.array([[p, (p * q - determinant) / v], [v, q]])


def case(rng, lag, kind, *blocks):
    """Weights with these blocks along the diagonal, random numbers below them and zeros above."""
    H = sum(len(each) for each in blocks)
    W_hh, i = np.tril(signed(rng, 0.3, 1.2, (H, H))), 0
    for each in blocks:
        j = i + len(each)
        W_hh[i:j, i:j] = each
        i = j
    return Case(sizes={"H": H}, inputs={"W_hh": W_hh, "dh_T": signed(rng, 0.4, 2, H), "lag": lag}, kind=kind)


def cases(rng):
    yield case(rng, 3, REAL, one(rng, -0.9))
    yield case(rng, 0, REAL, two(rng, 0.8, -0.5))
    yield case(rng, 1, REAL, two(rng, -1.1, 0.6))
    yield case(rng, 4, REAL, one(rng, 1.2), one(rng, -0.7), one(rng, 0.4))
    yield case(rng, 1, COMPLEX, pair(rng, 0.5, 0.8))
    yield case(rng, 3, COMPLEX, pair(rng, -0.4, 0.7), one(rng, 0.9))
    yield case(rng, 0, COMPLEX, one(rng, -0.8), pair(rng, 0.6, 0.5))
    yield case(rng, 6, COMPLEX, pair(rng, 0.7, 0.4), pair(rng, -0.3, 1.0))
    yield case(rng, 2, COMPLEX, one(rng, -1.1), pair(rng, 0.3, 0.9), one(rng, 0.6))
    yield case(rng, 20, COMPLEX, one(rng, 0.9), pair(rng, -0.6, 0.8), two(rng, -0.5, 0.3))


SPEC = Spec(
    outputs=[Output("dh", ("H",))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[Facet(REAL, 1, kinds=(REAL,)), Facet(COMPLEX, 2, kinds=(COMPLEX,))],
    why=r"""
Each step back multiplies the gradient, a row, by $W_{hh}^\top$. With $W_{hh}^\top = Q \Lambda Q^{-1}$, the factors
$Q^{-1} Q$ between neighbouring steps cancel, so $dh_{T-\ell} = dh_T \, Q \, \Lambda^\ell \, Q^{-1}$. The product with
$Q$ gives the coordinates of the gradient, the power multiplies each of them by its own number, and the product with
$Q^{-1}$ turns them back into a gradient. Multiplying by a diagonal matrix from the right multiplies the columns, so for
a row a product entry by entry is enough. Complex eigenvalues come in conjugate pairs, with conjugate coordinates, so
the imaginary parts cancel in the last sum and `.real` removes rounding errors alone. A lag of 0 needs no special case,
because every number to the power 0 is 1.
""",
)

DECOMPOSED, POWER, BACK = "np.linalg.eig(W_hh.T)", "eigenvalues**lag", "np.linalg.inv(Q)"
ALL = """
    eigenvalues, Q = np.linalg.eig(W_hh.T)
    coordinates = dh_T @ Q
    coordinates = coordinates * eigenvalues**lag
    dh = coordinates @ np.linalg.inv(Q)
    return dh.real
"""
SPEC.mistake(
    "real_part_too_early",
    "You take real parts before the last product. Take the real part of the final result only: complex eigenvalues and "
    "eigenvectors come in pairs, whose imaginary parts multiply each other on the way and cancel only at the end.",
    change(POWER, "eigenvalues.real**lag"),
    change(POWER, "(eigenvalues**lag).real"),
    change("dh_T @ Q", "(dh_T @ Q).real"),
    change(f"coordinates * {POWER}", f"(coordinates * {POWER}).real"),
    change(BACK, "np.linalg.inv(Q).real"),
    *(
        change(POWER, power, ("dh_T @ Q", "dh_T @ Q.real"), (BACK, "np.linalg.inv(Q).real"))
        for power in ("eigenvalues.real**lag", "(eigenvalues**lag).real")
    ),
    tempts="The result is to be real, so it seems safe to drop imaginary parts wherever they appear.",
    keeps=[REAL],
)
SPEC.mistake(
    "left_complex",
    "Your result is complex if some eigenvalues are. Return its real part: the gradient is real, and what is left of "
    "the imaginary parts is rounding.",
    change("dh.real", "dh"),
    tempts="Where all eigenvalues are real the result is real too, and complex numbers print almost the same.",
    keeps=[REAL],
)
SPEC.mistake(
    "abs_for_real_part",
    "You return the absolute values of the entries. Take the real part instead: a modulus removes the imaginary part "
    "as well, but also the sign, and gradients have signs.",
    change("dh.real", "np.abs(dh)"),
    tempts="`np.abs` turns complex numbers into real ones, as it did for the spectral radius.",
)
SPEC.mistake(
    "modulus_for_eigenvalue",
    "You use the absolute values of the eigenvalues. Use the eigenvalues themselves: a negative one reverses the sign "
    "of its coordinate at every step, and a complex one turns it in the complex plane.",
    change(POWER, "np.abs(eigenvalues) ** lag"),
    tempts="The spectral radius is about absolute values, and they say how fast the gradient grows.",
)
SPEC.mistake(
    "transpose_for_inverse",
    "You use the transpose of `Q` where its inverse belongs. Use `np.linalg.inv(Q)`: the transpose, with or without "
    "conjugation, is the inverse only if the eigenvectors are orthogonal, as for a symmetric matrix.",
    change(BACK, "Q.T"),
    change(BACK, "Q.conj().T"),
    tempts="For symmetric matrices, the usual example, the inverse of Q is its transpose.",
)
SPEC.mistake(
    "inverse_left_out",
    "You leave out the product with the inverse of `Q` and return coordinates. Multiply them by `np.linalg.inv(Q)`, "
    "which turns coordinates back into a gradient.",
    change(f"coordinates @ {BACK}", "coordinates"),
    tempts="The coordinates have the shape of the result, and the interesting part is done.",
)
SPEC.mistake(
    "coordinates_left_out",
    "You multiply the entries of `dh_T` by powers of the eigenvalues. Multiply its *coordinates* instead, `dh_T @ Q`, "
    "because an eigenvalue belongs to an eigenvector and not to a unit.",
    change("dh_T @ Q", "dh_T"),
    change("dh_T @ Q", "dh_T", (f"coordinates @ {BACK}", "coordinates")),
    tempts="There are H entries and H eigenvalues, so the shapes fit.",
)
SPEC.mistake(
    "Q_and_inverse_exchanged",
    "You exchange `Q` and its inverse. With the eigenvectors as columns, the matrix is `Q`, then the eigenvalues, then "
    "the inverse, so a row is first multiplied by `Q` and at the end by the inverse.",
    change("dh_T @ Q", "dh_T @ np.linalg.inv(Q)", (f"coordinates @ {BACK}", "coordinates @ Q")),
    tempts="The order depends on whether the eigenvectors are rows or columns, and texts differ.",
)
SPEC.mistake(
    "inverse_on_the_left",
    "You multiply the inverse of `Q` by the coordinates, with the coordinates on the right. They are a row, so put "
    "them on the left of the inverse. `np.linalg.solve(Q, …)` computes the product with the inverse on the left too.",
    change(f"coordinates @ {BACK}", f"{BACK} @ coordinates"),
    tempts="Most texts write vectors as columns, and NumPy accepts a vector on either side.",
)
SPEC.mistake(
    "eigenvectors_as_rows",
    "You use the rows of `Q` as if they were the eigenvectors. `np.linalg.eig` returns them as columns, so use `Q` "
    "itself and not its transpose.",
    change("dh_T @ Q", "dh_T @ Q.T", (BACK, "np.linalg.inv(Q.T)")),
    tempts="The gradient is a row, so its directions are expected to be rows as well.",
)
SPEC.mistake(
    "entries_powered",
    "You raise the entries of the matrix to a power, which is what `**` does with an array. Multiply the matrix by "
    "itself, as `np.linalg.matrix_power` does, or raise the eigenvalues to the power.",
    change(ALL, "return dh_T @ W_hh.T**lag"),
    change(ALL, "return dh_T @ W_hh**lag"),
    tempts="On paper the power of a matrix is written like the power of a number.",
)
SPEC.mistake(
    "multiplied_by_lag",
    "You multiply by `lag` where a power belongs. Raise the eigenvalues to the power `lag`, because every step "
    "multiplies by them once more.",
    change(POWER, "(eigenvalues * lag)"),
    change(ALL, "return dh_T @ W_hh.T * lag"),
    tempts="* and ** differ by one character.",
)
SPEC.mistake(
    "diagonal_matrix_powered",
    "You raise a diagonal matrix to the power with `**`, entry by entry. At lag 0 that gives a matrix of ones, because "
    "0 to the power 0 is 1. Raise the eigenvalues to the power first, and make a diagonal matrix of the result if you "
    "want one.",
    change(f"coordinates * {POWER}", "coordinates @ np.diag(eigenvalues) ** lag"),
    tempts="It is the formula, letter by letter, and it works for every other lag.",
)
SPEC.mistake(
    "not_dh_T_at_lag_0",
    "At lag 0 you return something other than `dh_T`. Return `dh_T` there, because no step has been passed back: every "
    "number to the power 0 is 1, and a loop over `range(0)` does nothing.",
    change(POWER, "eigenvalues ** max(lag, 1)"),
    change("dh.real", "dh.real if lag else np.zeros(len(dh_T))"),
    change("dh.real", "dh.real if lag else np.ones(len(dh_T))"),
    tempts="The first step back is often written before the loop.",
)
SPEC.mistake(
    "one_step_only",
    "You go back a single step, however large `lag` is. In a loop, each pass must multiply the gradient of the "
    "previous pass, not `dh_T` again; with eigenvalues, raise them to the power `lag`.",
    change(POWER, "eigenvalues ** min(lag, 1)"),
    tempts="`dh = dh_T @ W_hh.T` in a loop runs without an error.",
)
SPEC.mistake(
    "one_step_too_few",
    "You go back one step too few. Multiply by `W_hh.T` exactly `lag` times: for lag 0 the result is `dh_T` itself, "
    "and for lag 1 there is one factor.",
    change(POWER, "eigenvalues ** (lag - 1)"),
    change(POWER, "eigenvalues ** max(lag - 1, 0)"),
    tempts="Between T − lag and T there seem to be lag − 1 steps, or the first step seems to be done already.",
)
SPEC.mistake(
    "one_step_too_many",
    "You go back one step too many. Multiply by `W_hh.T` exactly `lag` times: for lag 0 the result is `dh_T` itself, "
    "without any factor.",
    change(POWER, "eigenvalues ** (lag + 1)"),
    tempts="A loop that counts from 0 to lag, both included, has one step too many.",
)
SPEC.mistake(
    "forward_instead_of_backward",
    "You multiply by `W_hh`, which is how a *state* goes forward. Multiply by its transpose (or decompose the "
    "transpose), because a gradient goes back through the same connections in the other direction.",
    change(DECOMPOSED, "np.linalg.eig(W_hh)"),
    tempts="The recurrence has W_hh, W_hh.T has the same eigenvalues, and the shape of a square matrix does not warn.",
)
SPEC.mistake(
    "only_the_largest_eigenvalue",
    "You use one eigenvalue or the spectral radius for the whole gradient. Multiply every coordinate by its own "
    "eigenvalue: the largest one decides only in the long run.",
    change(ALL, "return dh_T * np.abs(np.linalg.eigvals(W_hh)).max() ** lag"),
    tempts="'The gradient shrinks like the spectral radius' is true of its norm, in the long run.",
)
SPEC.mistake(
    "eigh_used",
    "You use `np.linalg.eigh`, which reads one half of the matrix and assumes that the other half mirrors it. Use "
    "`np.linalg.eig`, because recurrent weights are not symmetric.",
    change(DECOMPOSED, "np.linalg.eigh(W_hh.T)"),
    change(DECOMPOSED, "np.linalg.eigh(W_hh)"),
    tempts="Its eigenvalues and eigenvectors are always real, which spares the complex numbers.",
)


@SPEC.alternative
def step_by_step(W_hh, dh_T, lag):
    """The loop of chapter 02."""
    dh = dh_T.copy()
    for _ in range(lag):
        dh = dh @ W_hh.T
    return dh


@SPEC.alternative
def with_a_matrix_power(W_hh, dh_T, lag):
    """The gradient as a column."""
    return np.linalg.matrix_power(W_hh, lag) @ dh_T


@SPEC.alternative
def with_eigenvectors_of_W_hh(W_hh, dh_T, lag):
    """W_hh itself decomposed, and the gradient as a column; a linear system in place of the inverse."""
    eigenvalues, P = np.linalg.eig(W_hh)
    coordinates = np.linalg.solve(P, dh_T.astype(P.dtype))
    return np.real(P @ (np.power(eigenvalues, lag) * coordinates))


@SPEC.alternative
def by_squaring(W_hh, dh_T, lag):
    """Halve the lag and square the matrix: about log2(lag) products."""
    if lag == 0:
        return 1.0 * dh_T
    if lag % 2:
        return by_squaring(W_hh, W_hh @ dh_T, lag - 1)
    return by_squaring(W_hh @ W_hh, dh_T, lag // 2)

"""How `linear_gradient` is checked: the network is run, and PyTorch's autograd goes back through it.

Mistakes such as a forgotten inverse show the order and the signs in which LAPACK returns the eigenvectors. For a matrix
that is larger than 2 × 2 these can depend on the processor, unless the matrix consists of blocks of size 1 and 2 along
its diagonal and is 0 above them: then LAPACK finds the eigenvalues of each block without iterating. So all larger
matrices have this form. One way to take the real part too early can still not be named: the inverse of `Q.real`, in
which two columns are equal, is an exception on one processor and a matrix of huge numbers on another.
"""

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Output, Spec, change, instead

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
)
DECOMPOSED, POWER, BACK = "np.linalg.eig(W_hh.T)", "eigenvalues**lag", "np.linalg.inv(Q)"
ALL = """
    eigenvalues, Q = np.linalg.eig(W_hh.T)
    coordinates = dh_T @ Q
    coordinates = coordinates * eigenvalues**lag
    dh = coordinates @ np.linalg.inv(Q)
    return dh.real
"""

SPEC.mistakes(
    {
        "real_part_too_early": [
            change(POWER, "eigenvalues.real**lag"),
            change(POWER, "(eigenvalues**lag).real"),
            change("dh_T @ Q", "(dh_T @ Q).real"),
            change(f"coordinates * {POWER}", f"(coordinates * {POWER}).real"),
            change(BACK, "np.linalg.inv(Q).real"),
            *(
                change(POWER, power, ("dh_T @ Q", "dh_T @ Q.real"), (BACK, back))
                for power in ("eigenvalues.real**lag", "(eigenvalues**lag).real")
                for back in ("np.linalg.inv(Q).real", "np.linalg.inv(Q.real)")
            ),
        ],
        "left_complex": change("dh.real", "dh"),
    },
    keeps=[REAL],
)
SPEC.mistakes(
    {
        "abs_for_real_part": change("dh.real", "np.abs(dh)"),
        **instead(
            POWER,
            {
                "modulus_for_eigenvalue": "np.abs(eigenvalues) ** lag",
                "one_step_only": "eigenvalues ** min(lag, 1)",
                "one_step_too_many": "eigenvalues ** (lag + 1)",
            },
        ),
        "transpose_for_inverse": [change(BACK, "Q.T"), change(BACK, "Q.conj().T")],
        **instead(
            f"coordinates @ {BACK}",
            {
                "inverse_left_out": "coordinates",
                "inverse_on_the_left": f"{BACK} @ coordinates",
            },
        ),
        "gradient_as_a_column": change("dh_T @ Q", "Q @ dh_T"),
        "coordinates_left_out": [
            change("dh_T @ Q", "dh_T"),
            change("dh_T @ Q", "dh_T", (f"coordinates @ {BACK}", "coordinates")),
        ],
        "Q_and_inverse_exchanged": change(
            "dh_T @ Q", "dh_T @ np.linalg.inv(Q)", (f"coordinates @ {BACK}", "coordinates @ Q")
        ),
        "eigenvectors_as_rows": change("dh_T @ Q", "dh_T @ Q.T", (BACK, "np.linalg.inv(Q.T)")),
        "entries_powered": [change(ALL, "return dh_T @ W_hh.T**lag"), change(ALL, "return dh_T @ W_hh**lag")],
        "multiplied_by_lag": change(POWER, "(eigenvalues * lag)"),
        "diagonal_matrix_powered": change(f"coordinates * {POWER}", "coordinates @ np.diag(eigenvalues) ** lag"),
        "not_dh_T_at_lag_0": [
            change(POWER, "eigenvalues ** max(lag, 1)"),
            change("dh.real", "dh.real if lag else np.zeros(len(dh_T))"),
            change("dh.real", "dh.real if lag else np.ones(len(dh_T))"),
        ],
        "one_step_too_few": [
            change(POWER, "eigenvalues ** (lag - 1)"),
            change(POWER, "eigenvalues ** max(lag - 1, 0)"),
        ],
        "forward_instead_of_backward": change(DECOMPOSED, "np.linalg.eig(W_hh)"),
        "only_the_largest_eigenvalue": change(ALL, "return dh_T * np.abs(np.linalg.eigvals(W_hh)).max() ** lag"),
        "eigh_used": [change(DECOMPOSED, "np.linalg.eigh(W_hh.T)"), change(DECOMPOSED, "np.linalg.eigh(W_hh)")],
    }
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

"""How `spectral_radius` is checked: against Gelfand's formula, which needs no eigenvalues.

The matrices are built from chosen eigenvalues. In a defective matrix, rounding changes a repeated eigenvalue by about
1e-8, which is more than the tolerance. So the defective case repeats a smaller eigenvalue, not the largest one. The
nilpotent case repeats 0, but it is strictly triangular: LAPACK returns its diagonal exactly, on every processor.
"""

import numpy as np

from grader.spec.spec import Case, Facet, Output, Spec, change, instead, on_grid

REAL, COMPLEX = "real eigenvalues", "complex eigenvalues"
SQUARINGS = 60


def oracle(W):
    """Gelfand's formula: the norm of W to the power k, to the power 1 / k, for k = 2 ** 60, by repeated squaring.

    The power is divided by its norm after every squaring, and the logarithms of these norms are added up. The result is
    rounded, so that it is exactly 1 for every matrix whose rows are probabilities, and not only nearly so.
    """
    power, logarithm = W, 0.0
    for squarings in range(SQUARINGS):
        norm = np.sqrt(np.sum(power * power))
        if norm == 0:
            return 0.0
        logarithm += np.log(norm) / 2.0**squarings
        power = power / norm
        power = power @ power
    return round(float(np.exp(logarithm)), 13)


def from_eigenvalues(rng, *eigenvalues):
    """A matrix with these eigenvalues, apart from rounding to the grid; a complex number stands for itself and its
    conjugate. The matrix of eigenvectors is well conditioned: a product of two triangular ones.
    """
    blocks = [np.array([[z.real, z.imag], [-z.imag, z.real]]) if z.imag else np.array([[z]]) for z in eigenvalues]
    H = sum(len(block) for block in blocks)
    Lambda, i = np.zeros((H, H)), 0
    for block in blocks:
        Lambda[i : i + len(block), i : i + len(block)] = block
        i += len(block)
    lower, upper = (np.tril(rng.uniform(-0.7, 0.7, size=(H, H)), -1) + np.eye(H) for _ in range(2))
    P = lower @ upper.T
    return on_grid(P @ Lambda @ np.linalg.inv(P))


def below(rng, *shares):
    """Numbers that are about these shares of 1, each moved a little."""
    return [share * rng.uniform(0.9, 1.1) for share in shares]


EXAMPLE = Case(sizes={"H": 2}, inputs={"W": np.array([[0.70, -1.60], [0.20, -0.10]])}, kind=COMPLEX)


def case(W, kind):
    return Case(sizes={"H": len(W)}, inputs={"W": W}, kind=kind)


def cases(rng):
    size = rng.uniform(0.7, 1.4)
    yield case(np.array([[-size]]), REAL)
    yield case(from_eigenvalues(rng, *below(rng, 1.1, -0.5)), REAL)
    yield case(from_eigenvalues(rng, *below(rng, -1.2, 0.7, 0.3)), REAL)
    yield case(from_eigenvalues(rng, *below(rng, -0.9, -0.4, -0.2)), REAL)

    a, b, c, d = below(rng, 0.5, 0.9, 0.8, 0.3)
    yield case(from_eigenvalues(rng, complex(-a, b), c), COMPLEX)  # the largest real part is that of another one
    a, b, c, d = below(rng, 0.7, 0.3, 0.3, 1.2)
    yield case(from_eigenvalues(rng, complex(a, b), complex(-c, d)), COMPLEX)  # and here that of another pair
    a, b, c, d = below(rng, 0.8, 0.5, 0.6, 1.3)
    yield case(from_eigenvalues(rng, complex(a, b), c, -d), COMPLEX)  # a pair, but the largest one is real
    a, b, c, d = below(rng, 0.2, 1.3, -0.9, 0.5)
    yield case(from_eigenvalues(rng, complex(a, b), c, d, 0.5 * c), COMPLEX)

    # Non-normal: far from the singular values. With zeros below the diagonal, LAPACK returns the eigenvalues from the
    # top to the bottom, and neither the first nor the last is the largest (or, of four real ones, the smallest).
    diagonal = below(rng, -0.6, 0.8, 0.3, 0.5)
    yield case(np.diag(diagonal) + np.triu(rng.uniform(1, 4, size=(4, 4)), 1), REAL)
    a, b, c, d, e = below(rng, 0.5, 0.9, 0.7, 0.6, 0.3)
    W = np.diag([c, a + e, a - e, -d]) + np.triu(rng.uniform(1, 2, size=(4, 4)), 1)
    W[1:3, 1:3] = [[a + e, -(b * b + e * e)], [1, a - e]]  # a pair in the middle, with real part a and imaginary part b
    yield case(W, COMPLEX)
    # Defective: 0.4, say, is an eigenvalue twice but has one eigenvector only.
    a, b = below(rng, 0.4, -0.9)
    yield case(np.diag([a, b, a]) + np.tril(rng.uniform(1, 3, size=(3, 3)), -1), REAL)
    # Nilpotent: all eigenvalues are 0.
    entries = rng.integers(1, 5, size=(3, 3)) * rng.choice([-1.0, 1.0], size=(3, 3))
    yield case(np.triu(entries, 1), REAL)


SPEC = Spec(
    outputs=[Output("radius")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[Facet(REAL, 1, kinds=(REAL,)), Facet(COMPLEX, 1, kinds=(COMPLEX,))],
)
ABS, EIGENVALUES = "np.abs(eigenvalues)", "np.linalg.eigvals(W)"
LAST = "float(np.abs(eigenvalues).max())"

SPEC.mistakes(
    {
        "largest_singular_value": change(LAST, "float(np.linalg.norm(W, 2))"),
        **instead(
            EIGENVALUES,
            {
                "singular_value_squared": "np.linalg.eigvals(W.T @ W)",
                "symmetric_part": "np.linalg.eigvals((W + W.T) / 2)",
            },
        ),
        **instead(
            LAST,
            {
                "largest_real_part": "float(eigenvalues.real.max())",
                "abs_left_out": "eigenvalues.max()",
                "abs_after_max": "float(np.abs(eigenvalues.max()))",
                "eigenvectors_for_eigenvalues": "float(np.abs(np.linalg.eig(W)[1]).max())",
                "frobenius_norm": "float(np.linalg.norm(W))",
                "no_maximum": ABS,
            },
        ),
        "eigenvalue_returned": [
            change(LAST, "max(eigenvalues, key=abs)"),
            change(LAST, "float(max(eigenvalues, key=abs).real)"),
        ],
        "one_eigenvalue_only": [change(".max()", "[0]"), change(".max()", "[-1]")],
        "modulus_squared": change(ABS, "(eigenvalues.real**2 + eigenvalues.imag**2)"),
        "formula_for_two_units": [
            change(LAST, "float(np.abs(np.roots([1, -np.trace(W), np.linalg.det(W)])).max())"),
            change(
                LAST,
                "float(np.abs(np.roots([1, -W[0, 0] - W[1, 1], W[0, 0] * W[1, 1] - W[0, 1] * W[1, 0]])).max())",
            ),
        ],
        "largest_entry": [change(LAST, "float(np.abs(W).max())"), change(LAST, "float(W.max())")],
        "largest_row_or_column_sum": [
            change(LAST, "float(np.linalg.norm(W, 1))"),
            change(LAST, "float(np.linalg.norm(W, np.inf))"),
        ],
        "eigvalsh_used": [
            change(EIGENVALUES, "np.linalg.eigvalsh(W)"),
            change(EIGENVALUES, "np.linalg.eigvalsh(W, UPLO='U')"),
            change(LAST, "float(np.linalg.eigvalsh(W).max())"),
        ],
        **instead(
            ".max()",
            {
                "smallest_for_largest": ".min()",
                "mean_for_max": ".mean()",
            },
        ),
        "sum_or_norm_for_max": [
            change(".max()", ".sum()"),
            change(LAST, "float(np.linalg.norm(eigenvalues))"),
            change(LAST, "float(abs(np.trace(W)))"),
        ],
    }
)
SPEC.mistakes(
    {
        "largest_and_smallest_compared": change(LAST, "float(max(abs(eigenvalues.max()), abs(eigenvalues.min())))"),
        "imaginary_parts_ignored": change(ABS, "np.abs(eigenvalues.real)"),
        "larger_part_for_modulus": [
            change(ABS, "np.maximum(np.abs(eigenvalues.real), np.abs(eigenvalues.imag))"),
            change(ABS, "(np.abs(eigenvalues.real) + np.abs(eigenvalues.imag))"),
            change(LAST, "float(np.hypot(np.abs(eigenvalues.real).max(), np.abs(eigenvalues.imag).max()))"),
        ],
        "complex_number_squared": [
            change(LAST, "np.sqrt(eigenvalues**2).max()"),
            change(LAST, "np.sqrt(eigenvalues.real**2 - eigenvalues.imag**2).max()"),
        ],
    },
    keeps=[REAL],
)


@SPEC.alternative
def one_by_one(W):
    """A loop over the eigenvalues, each with the root of its two squares."""
    largest = 0.0
    for value in np.linalg.eig(W)[0].tolist():
        largest = max(largest, (value.real**2 + value.imag**2) ** 0.5)
    return largest


@SPEC.alternative
def from_the_square(W):
    """The eigenvalues of W.T @ W.T are the squares of those of W."""
    return np.sqrt(np.abs(np.linalg.eigvals(W.T @ W.T)).max())


@SPEC.alternative
def by_the_characteristic_polynomial(W):
    """The roots of det(λ I − W), with its coefficients from traces (Faddeev and LeVerrier)."""
    H = len(W)
    coefficients, M = [1.0], np.zeros((H, H))
    for k in range(1, H + 1):
        M = W @ M + coefficients[-1] * np.eye(H)
        coefficients.append(-np.trace(W @ M) / k)
    return max((abs(root) for root in np.roots(coefficients)), default=0.0)

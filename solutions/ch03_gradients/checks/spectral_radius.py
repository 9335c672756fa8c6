"""How `spectral_radius` is checked: against Gelfand's formula, which needs no eigenvalues.

The matrices are built from chosen eigenvalues. In a defective matrix, rounding changes a repeated eigenvalue by about
1e-8, which is more than the tolerance. So the defective case repeats a smaller eigenvalue, not the largest one. The
nilpotent case repeats 0, but it is strictly triangular: LAPACK returns its diagonal exactly, on every processor.
"""

import numpy as np

from grader.author.spec import Case, Facet, Output, Spec, change, on_grid

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
    why=r"""
After many factors $W$, the part of a vector along an eigenvector has been multiplied by $\lambda^\ell$, and $\lvert
\lambda^\ell \rvert = \lvert \lambda \rvert^\ell$. So only the moduli matter, and the largest of them wins. `np.abs`
computes the modulus of complex numbers and the absolute value of real ones, so both kinds of array need the same line.
The maximum comes last: of complex numbers it would be the one with the largest real part, and of real ones the largest
with its sign. The eigenvalues of $W$ and $W^\top$ are the same, so the convention for rows and columns makes no
difference here.
""",
)

ABS, EIGENVALUES = "np.abs(eigenvalues)", "np.linalg.eigvals(W)"
LAST = "float(np.abs(eigenvalues).max())"
SPEC.mistake(
    "largest_singular_value",
    "You compute the largest singular value, which is the matrix norm `np.linalg.norm(W, 2)`. Take the eigenvalues of "
    "`W` itself: the singular value limits what a single step can do, but the eigenvalues decide what happens over "
    "many.",
    change(LAST, "float(np.linalg.norm(W, 2))"),
    change(LAST, "float(np.sqrt(np.linalg.eigvalsh(W.T @ W).max()))"),
    tempts="Both are a largest stretch of W, they are equal for symmetric matrices, and texts on vanishing gradients "
    "mention both.",
)
SPEC.mistake(
    "singular_value_squared",
    "You take the largest eigenvalue of `W.T @ W` or `W @ W.T`, which is the square of the largest singular value. "
    "Take the eigenvalues of `W` itself.",
    change(EIGENVALUES, "np.linalg.eigvals(W.T @ W)"),
    tempts="The product is symmetric, so its eigenvalues are real and not negative, which looks like a modulus.",
)
SPEC.mistake(
    "largest_real_part",
    "You take the largest real part of an eigenvalue. Take the absolute value of every eigenvalue first and then the "
    "maximum: −0.8 is larger in size than 0.3, and the imaginary part of a complex eigenvalue counts as well.",
    change(LAST, "float(eigenvalues.real.max())"),
    tempts="'Eigenvalues below 1' is how it is often said, and `float(eigenvalues.max())` gives this number, with a "
    "warning only.",
)
SPEC.mistake(
    "abs_left_out",
    "You take the maximum of the eigenvalues as they are, so their signs count and complex ones give a complex result. "
    "Take their absolute values first: the spectral radius is a size, a real number that is never negative.",
    change(LAST, "eigenvalues.max()"),
    tempts="The largest eigenvalue is what it is called in many texts, which mean the largest in size.",
)
SPEC.mistake(
    "abs_after_max",
    "You take the maximum first and then its absolute value. Exchange the two: `max` finds the eigenvalue with the "
    "largest real part, which need not be the largest in size.",
    change(LAST, "float(np.abs(eigenvalues.max()))"),
    tempts="Both orders are said in the same words, and for non-negative numbers they give the same.",
)
SPEC.mistake(
    "largest_and_smallest_compared",
    "You compare the largest and the smallest eigenvalue, which is enough only if all of them are real. Compare the "
    "absolute values of all: `max` and `min` of complex numbers look at the real part first, and the eigenvalue that "
    "is largest in size may lie in between.",
    change(LAST, "float(max(abs(eigenvalues.max()), abs(eigenvalues.min())))"),
    tempts="On the real line, the number that is largest in size is always at one of the two ends.",
    keeps=[REAL],
)
SPEC.mistake(
    "eigenvalue_returned",
    "You find the eigenvalue that is largest in size, but you return the eigenvalue itself or its real part. Return "
    "its absolute value: the spectral radius is a size, a real number that is never negative.",
    change(LAST, "max(eigenvalues, key=abs)"),
    change(LAST, "float(max(eigenvalues, key=abs).real)"),
    tempts="`argmax` or `key=abs` finds the right eigenvalue, and its size is already known by then.",
)
SPEC.mistake(
    "one_eigenvalue_only",
    "You return the size of the first or the last eigenvalue. Compare all of them: `np.linalg.eigvals` returns them in "
    "no particular order.",
    change(".max()", "[0]"),
    change(".max()", "[-1]"),
    tempts="Singular values come sorted, and so do the eigenvalues of `eigvalsh`.",
)
SPEC.mistake(
    "imaginary_parts_ignored",
    "You use only the real parts of the eigenvalues. Use the modulus of the complex number, `np.abs` of the eigenvalue "
    "itself: the eigenvalue 0.9 i has the size 0.9, although its real part is 0.",
    change(ABS, "np.abs(eigenvalues.real)"),
    tempts="The matrix is real, so the imaginary parts look like a by-product of the computation.",
    keeps=[REAL],
)
SPEC.mistake(
    "larger_part_for_modulus",
    "You compare real and imaginary parts separately, or add them up. Use the modulus of each eigenvalue, the root of "
    "the sum of both squares, which is what `np.abs` computes.",
    change(ABS, "np.maximum(np.abs(eigenvalues.real), np.abs(eigenvalues.imag))"),
    change(ABS, "(np.abs(eigenvalues.real) + np.abs(eigenvalues.imag))"),
    change(LAST, "float(np.hypot(np.abs(eigenvalues.real).max(), np.abs(eigenvalues.imag).max()))"),
    tempts="A complex number comes as two real ones, and their absolute values are easily combined in the wrong way.",
    keeps=[REAL],
)
SPEC.mistake(
    "modulus_squared",
    "You return the square of the spectral radius. Take the root of the sum of both squares: the modulus of a + b i is "
    "√(a² + b²).",
    change(ABS, "(eigenvalues.real**2 + eigenvalues.imag**2)"),
    tempts="λ times its conjugate is the square of the modulus, and the root is easily forgotten.",
)
SPEC.mistake(
    "complex_number_squared",
    "You square the complex eigenvalue itself, but the square of a + b i has the real part a² − b². Square the real "
    "and the imaginary part separately and add the squares, or let `np.abs` compute the modulus.",
    change(LAST, "np.sqrt(eigenvalues**2).max()"),
    change(LAST, "np.sqrt(eigenvalues.real**2 - eigenvalues.imag**2).max()"),
    change(LAST, "np.sqrt(np.linalg.eigvals(W @ W).max())"),
    tempts="The root of the square is the absolute value of a real number.",
    keeps=[REAL],
)
SPEC.mistake(
    "formula_for_two_units",
    "You use the sum and the product of the eigenvalues, the trace and the determinant. These two numbers determine "
    "the eigenvalues of a 2 × 2 matrix only: use `np.linalg.eigvals`, which works for every size.",
    change(LAST, "float(np.abs(np.roots([1, -np.trace(W), np.linalg.det(W)])).max())"),
    change(
        LAST,
        "float(np.abs(np.roots([1, -W[0, 0] - W[1, 1], W[0, 0] * W[1, 1] - W[0, 1] * W[1, 0]])).max())",
    ),
    tempts="It is how the two examples of the notebook are computed.",
)
SPEC.mistake(
    "eigenvectors_for_eigenvalues",
    "You take the largest entry of the eigenvectors. `np.linalg.eig` returns two results, first the eigenvalues and "
    "then the eigenvectors: use the first one.",
    change(LAST, "float(np.abs(np.linalg.eig(W)[1]).max())"),
    tempts="The order of the two results is easily mixed up, and both may be complex.",
)
SPEC.mistake(
    "largest_entry",
    "You take the largest entry of the matrix. Take the largest size of an *eigenvalue*: a matrix with many small "
    "entries can have a large spectral radius, and one with large entries a radius of 0.",
    change(LAST, "float(np.abs(W).max())"),
    change(LAST, "float(W.max())"),
    tempts="Small weights seem to make small gradients, but every step sums over many of them.",
)
SPEC.mistake(
    "frobenius_norm",
    "You compute the Frobenius norm, the root of the sum of all squared entries, which is what `np.linalg.norm(W)` "
    "returns. Use the eigenvalues: the norm is at least as large as the spectral radius, and usually much larger.",
    change(LAST, "float(np.linalg.norm(W))"),
    tempts="It is the default of `np.linalg.norm`, and the length of a matrix sounds like the right question.",
)
SPEC.mistake(
    "largest_row_or_column_sum",
    "You take the largest sum of absolute entries in a row or column. Use the eigenvalues: such a sum is only an upper "
    "bound of the spectral radius.",
    change(LAST, "float(np.linalg.norm(W, 1))"),
    change(LAST, "float(np.linalg.norm(W, np.inf))"),
    tempts="`np.linalg.norm` has an `ord` for it, and it bounds the spectral radius.",
)
SPEC.mistake(
    "eigvalsh_used",
    "You use `np.linalg.eigvalsh` or `np.linalg.eigh`, which read one half of the matrix and assume that the other "
    "half mirrors it. Use `np.linalg.eigvals`, because recurrent weights are not symmetric.",
    change(EIGENVALUES, "np.linalg.eigvalsh(W)"),
    change(EIGENVALUES, "np.linalg.eigvalsh(W, UPLO='U')"),
    change(LAST, "float(np.linalg.eigvalsh(W).max())"),
    tempts="Its eigenvalues are always real, which spares the complex numbers.",
)
SPEC.mistake(
    "smallest_for_largest",
    "You return the smallest size of an eigenvalue. Return the largest: after many steps it outgrows all others.",
    change(".max()", ".min()"),
    tempts="Vanishing is about what becomes small, but it happens only if the largest eigenvalue is below 1.",
)
SPEC.mistake(
    "mean_for_max",
    "You return the mean of the sizes. Return the largest one: a single eigenvalue above 1 in size makes the powers of "
    "the matrix grow.",
    change(".max()", ".mean()"),
    tempts="A mean looks like the growth of a typical direction, but the largest eigenvalue outgrows all others.",
)
SPEC.mistake(
    "sum_or_norm_for_max",
    "You combine all eigenvalues, in a sum such as the trace or in the norm of a vector. Return the size of the "
    "largest one alone: after many steps it outgrows all others, and how many others there are makes no difference.",
    change(".max()", ".sum()"),
    change(LAST, "float(np.linalg.norm(eigenvalues))"),
    change(LAST, "float(abs(np.trace(W)))"),
    tempts="`np.linalg.norm` computes the size of a vector, and `eigenvalues` is one.",
)
SPEC.mistake(
    "no_maximum",
    "You return the sizes of all eigenvalues. Return one number, the largest of them.",
    change(LAST, ABS),
    tempts="The absolute values are the hard part, and the maximum is easily forgotten after them.",
)
SPEC.mistake(
    "symmetric_part",
    "You take the eigenvalues of the symmetric part, of `W + W.T` over 2. Take those of `W` itself, which may be "
    "complex: the antisymmetric part turns vectors, and that changes what is left of them after many steps.",
    change(EIGENVALUES, "np.linalg.eigvals((W + W.T) / 2)"),
    tempts="Making the matrix symmetric gives real eigenvalues and looks harmless.",
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

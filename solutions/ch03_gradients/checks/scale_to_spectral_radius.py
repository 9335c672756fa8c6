"""How `scale_to_spectral_radius` is checked: with a spectral radius from Gelfand's formula, which needs no eigenvalues.

A matrix whose spectral radius is 0 cannot be scaled, and a `rho` of 0 would give zeros however it is computed, so
neither is asked for.
"""

import numpy as np

from grader.author.spec import Case, Output, Spec, change, on_grid

SQUARINGS = 60


def oracle(W, rho):
    """Gelfand's formula: the radius is the norm of W to the power k, to the power 1 / k; here k = 2 ** 60."""
    power, logarithm = W, 0.0
    for squarings in range(SQUARINGS):
        norm = np.sqrt(np.sum(power * power))
        logarithm += np.log(norm) / 2.0**squarings
        power = power / norm
        power = power @ power
    return rho * np.exp(-logarithm) * W


EXAMPLE = Case(sizes={"H": 2}, inputs={"W": np.array([[0.40, 0.30], [0.00, -0.50]]), "rho": 0.75})


def case(rng, rho, *eigenvalues):
    """A matrix with these eigenvalues, apart from rounding to the grid; a complex number stands for itself and its
    conjugate. The matrix of eigenvectors is well conditioned: a product of two triangular ones.
    """
    eigenvalues = [value * rng.uniform(0.93, 1.07) for value in eigenvalues]
    blocks = [np.array([[z.real, z.imag], [-z.imag, z.real]]) if z.imag else np.array([[z]]) for z in eigenvalues]
    H = sum(len(block) for block in blocks)
    Lambda, i = np.zeros((H, H)), 0
    for block in blocks:
        Lambda[i : i + len(block), i : i + len(block)] = block
        i += len(block)
    lower, upper = (np.tril(rng.uniform(-0.7, 0.7, size=(H, H)), -1) + np.eye(H) for _ in range(2))
    P = lower @ upper.T
    return Case(
        sizes={"H": H}, inputs={"W": on_grid(P @ Lambda @ np.linalg.inv(P)), "rho": rho * rng.uniform(0.95, 1.05)}
    )


def cases(rng):
    yield case(rng, 0.9, -1.4)
    yield case(rng, 0.5, -1.7, 0.8, 0.3)
    yield case(rng, 1.2, -0.4 + 0.7j, 0.5)
    yield case(rng, 0.95, 0.3 + 1.6j, 1.2, -0.7)
    yield case(rng, 1.5, 0.5 + 0.2j, 0.2 + 0.6j)
    yield case(rng, 1.1, 2.1, 0.4 + 0.9j, -1.3, 0.6)
    # With zeros below the diagonal, LAPACK returns the eigenvalues from the top to the bottom, and neither the first
    # nor the last is the largest, with its sign or without it.
    W = np.triu(rng.uniform(0.5, 1.5, size=(4, 4)), 1) + np.diag([0.5, -1.3, 0.8, 0.6]) * rng.uniform(0.9, 1.1)
    yield Case(sizes={"H": 4}, inputs={"W": W, "rho": 0.9 * rng.uniform(0.95, 1.05)})


SPEC = Spec(
    outputs=[Output("W", ("H", "H"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    why=r"""
If $W v = \lambda v$, then $(s W) v = (s \lambda) v$, so the factor $s$ multiplies every eigenvalue, and for $s > 0$ the
spectral radius as well. The factor that takes the radius to `rho` is `rho` over the radius. The eigenvectors stay as
they are, and so does the ratio of the largest singular value to the spectral radius: scaling cannot make a non-normal
matrix normal.
""",
)

RADIUS, SCALED = "np.abs(np.linalg.eigvals(W)).max()", "W * (rho / radius)"
EACH = "e, Q = np.linalg.eig(W)\nreturn (Q * (e * {}) @ np.linalg.inv(Q)).real"
SPEC.mistake(
    "divided_by_singular_value",
    "You divide by the largest singular value, the matrix norm `np.linalg.norm(W, 2)`. Divide by the spectral radius, "
    "the largest modulus of an eigenvalue: otherwise the radius of the result is below `rho`.",
    change(RADIUS, "np.linalg.norm(W, 2)"),
    tempts="Spectral norm and spectral radius sound alike, and for symmetric matrices they are equal.",
)
SPEC.mistake(
    "divided_by_frobenius_norm",
    "You divide by the Frobenius norm, which is what `np.linalg.norm(W)` returns. Divide by the spectral radius, the "
    "largest modulus of an eigenvalue.",
    change(RADIUS, "np.linalg.norm(W)"),
    tempts="It is the default of `np.linalg.norm`, and a vector is scaled in this way.",
)
SPEC.mistake(
    "divided_by_largest_entry",
    "You divide by the largest entry. Divide by the spectral radius, the largest modulus of an eigenvalue, because the "
    "eigenvalues of the result are to be at most `rho` in size, not its entries.",
    change(RADIUS, "np.abs(W).max()"),
    change(RADIUS, "W.max()"),
    tempts="Scaling by the maximum is how data are normalised.",
)
SPEC.mistake(
    "divided_by_largest_real_part",
    "You divide by the eigenvalue with the largest real part, by this real part or by its absolute value. Divide by "
    "the largest *modulus*: take `np.abs` of every eigenvalue first and then the maximum.",
    change(RADIUS, "np.linalg.eigvals(W).real.max()"),
    change(RADIUS, "np.linalg.eigvals(W).max()"),
    change(RADIUS, "np.abs(np.linalg.eigvals(W).max())"),
    change(SCALED, "(W * rho / np.linalg.eigvals(W).max()).real"),
    tempts="The largest eigenvalue is what it is called in many texts, which mean the largest in size.",
)
SPEC.mistake(
    "divided_by_eigenvalue",
    "You divide by the eigenvalue that is largest in size, or by its real part. Divide by its absolute value: a "
    "negative or complex divisor changes the signs of all entries or makes them complex.",
    change(RADIUS, "max(np.linalg.eigvals(W), key=abs)"),
    change(RADIUS, "max(np.linalg.eigvals(W), key=abs).real"),
    change(SCALED, "(W * rho / max(np.linalg.eigvals(W), key=abs)).real"),
    tempts="`argmax` or `key=abs` finds the right eigenvalue, and its size is already known by then.",
)
SPEC.mistake(
    "one_eigenvalue_only",
    "You divide by the size of the first or the last eigenvalue. Compare all of them: `np.linalg.eigvals` returns them "
    "in no particular order.",
    change(".max()", "[0]"),
    change(".max()", "[-1]"),
    tempts="Singular values come sorted, and so do the eigenvalues of `eigvalsh`.",
)
SPEC.mistake(
    "imaginary_parts_ignored",
    "You use only the real parts of the eigenvalues. Use the modulus of each complex number, `np.abs` of the "
    "eigenvalue itself.",
    change(RADIUS, "np.abs(np.linalg.eigvals(W).real).max()"),
    tempts="The matrix is real, so the imaginary parts look like a by-product of the computation.",
)
SPEC.mistake(
    "no_maximum",
    "You divide by the sizes of all eigenvalues at once, so every column or row gets a factor of its own. Take their "
    "maximum first, because the whole matrix is multiplied by a single number.",
    change(".max()", ""),
    change(RADIUS, "np.abs(np.linalg.eigvals(W))[:, None]"),
    tempts="There are as many eigenvalues as columns, so the shapes fit and nothing warns.",
)
SPEC.mistake(
    "not_the_largest_size",
    "You divide by another number computed from the eigenvalues, such as the mean, the sum, the norm or the smallest "
    "of their sizes. Divide by the largest size, because that is the spectral radius.",
    change(".max()", ".mean()"),
    change(".max()", ".min()"),
    change(".max()", ".sum()"),
    change(RADIUS, "np.linalg.norm(np.linalg.eigvals(W))"),
    tempts="`np.linalg.norm` computes the size of a vector, and a mean looks like the growth of a typical direction.",
)
SPEC.mistake(
    "modulus_squared",
    "You divide by the square of the spectral radius. Take the root of the sum of both squares: the modulus of a + b i "
    "is √(a² + b²).",
    change(RADIUS, "(np.abs(np.linalg.eigvals(W)) ** 2).max()"),
    tempts="λ times its conjugate is the square of the modulus, and the root is easily forgotten.",
)
SPEC.mistake(
    "diagonal_for_eigenvalues",
    "You take the diagonal of `W` for its eigenvalues. Use `np.linalg.eigvals`, because the two agree only if the "
    "matrix is triangular, as in the example.",
    change(RADIUS, "np.abs(np.diag(W)).max()"),
    change(RADIUS, "np.diag(W).max()"),
    tempts="The worked example reads the eigenvalues off the diagonal.",
)
SPEC.mistake(
    "eigvalsh_used",
    "You use `np.linalg.eigvalsh`, which reads one half of the matrix and assumes that the other half mirrors it. Use "
    "`np.linalg.eigvals`, because recurrent weights are not symmetric.",
    change("eigvals(W)", "eigvalsh(W)"),
    change("eigvals(W)", "eigvalsh(W, UPLO='U')"),
    tempts="Its eigenvalues are always real, which spares the complex numbers.",
)
SPEC.mistake(
    "root_of_the_ratio",
    "You multiply by the square root of `rho` over the radius. Multiply by the ratio itself, because a factor "
    "multiplies every eigenvalue by just that factor.",
    change("(rho / radius)", "np.sqrt(rho / radius)"),
    tempts="Other initialisations contain a square root, because they set a variance.",
)
SPEC.mistake(
    "ratio_inverted",
    "You multiply by the radius over `rho`. Multiply by `rho` over the radius: to halve the radius, the factor must be "
    "a half.",
    change("(rho / radius)", "(radius / rho)"),
    tempts="Which of the two is on top is easily mixed up; a small example decides.",
)
SPEC.mistake(
    "not_divided_by_radius",
    "You multiply `W` by `rho` without dividing by its spectral radius, so the radius becomes `rho` times what it was. "
    "Multiply by `rho` over the radius.",
    change("(rho / radius)", "rho"),
    tempts="This is right for an orthogonal matrix, whose spectral radius is 1.",
)
SPEC.mistake(
    "divided_by_rho",
    "You divide `W` by `rho`. Multiply by `rho` and divide by the spectral radius of `W`: a larger `rho` asks for "
    "larger weights.",
    change("(rho / radius)", "(1 / rho)"),
    tempts="Scaling usually means dividing by something.",
)
SPEC.mistake(
    "difference_added",
    "You add the difference between `rho` and the spectral radius. Multiply by their ratio: a common factor multiplies "
    "every eigenvalue and keeps the eigenvectors, whereas a sum changes the eigenvalues by other amounts.",
    change(SCALED, "W + (rho - radius) * np.eye(len(W))"),
    change(SCALED, "W + (rho - radius)"),
    tempts="Adding a multiple of the identity does shift all eigenvalues, but not their absolute values alike.",
)
SPEC.mistake(
    "eigenvalues_changed_one_by_one",
    "You give each eigenvalue a factor of its own. Multiply the whole matrix by one number instead: only the largest "
    "eigenvalues get the size `rho`, and the others keep their share of it.",
    change(f"return {SCALED}", EACH.format("rho / np.abs(e)")),
    change(f"return {SCALED}", EACH.format("np.minimum(1, rho / np.abs(e))")),
    tempts="With eigenvalues and eigenvectors at hand, each of them can be set to `rho`.",
)
SPEC.mistake(
    "divided_by_root_of_H",
    "You divide by the root of the number of units. Divide by the spectral radius of this `W`: the root is what the "
    "radius of a large matrix with independent standard normal entries is close to, not what it is.",
    change(RADIUS, "np.sqrt(len(W))"),
    tempts="Initialisations of layers divide by such a root, and for large random matrices it is nearly right.",
)
SPEC.mistake(
    "only_shrinks",
    "You leave `W` as it is if its spectral radius is below `rho`. Scale it up in that case: the result has the "
    "spectral radius `rho` for every `W`.",
    change("(rho / radius)", "min(1.0, rho / radius)"),
    tempts="Clipping by norm does this, a few pages earlier in the book.",
)
SPEC.mistake(
    "only_grows",
    "You leave `W` as it is if its spectral radius is above `rho`. Scale it down in that case: the result has the "
    "spectral radius `rho` for every `W`.",
    change("(rho / radius)", "max(1.0, rho / radius)"),
    tempts="Vanishing gradients are the problem at hand, so only small radii seem to need a change.",
)


@SPEC.alternative
def one_eigenvalue_at_a_time(W, rho):
    """A loop for the radius, and a division that comes first."""
    radius = max(abs(value) for value in np.linalg.eig(W.T)[0].tolist())
    return W / radius * rho


@SPEC.alternative
def by_a_helper(W, rho):
    """With the function of the notebook before."""

    def spectral_radius(W):
        return float(np.abs(np.linalg.eigvals(W)).max())

    return np.multiply(rho / spectral_radius(W), W)

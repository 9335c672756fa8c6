"""How `scale_to_spectral_radius` is checked: with a spectral radius from Gelfand's formula, which needs no eigenvalues.

A matrix whose spectral radius is 0 cannot be scaled, and a `rho` of 0 would give zeros however it is computed, so
neither is asked for.
"""

import numpy as np

from grader.spec.spec import Case, Output, Spec, change, instead
from solutions.ch03_gradients.spectral_radius.spec import from_eigenvalues

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
    """A matrix with eigenvalues near these; a complex number stands for itself and its conjugate."""
    W = from_eigenvalues(rng, *[value * rng.uniform(0.93, 1.07) for value in eigenvalues])
    return Case(sizes={"H": len(W)}, inputs={"W": W, "rho": rho * rng.uniform(0.95, 1.05)})


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
)
RADIUS, SCALED = "np.abs(np.linalg.eigvals(W)).max()", "W * (rho / radius)"
EACH = "e, Q = np.linalg.eig(W)\nreturn (Q * (e * {}) @ np.linalg.inv(Q)).real"

SPEC.mistakes(
    {
        **instead(
            RADIUS,
            {
                "divided_by_singular_value": "np.linalg.norm(W, 2)",
                "divided_by_frobenius_norm": "np.linalg.norm(W)",
                "imaginary_parts_ignored": "np.abs(np.linalg.eigvals(W).real).max()",
                "modulus_squared": "(np.abs(np.linalg.eigvals(W)) ** 2).max()",
                "divided_by_root_of_H": "np.sqrt(len(W))",
            },
        ),
        "divided_by_largest_entry": [change(RADIUS, "np.abs(W).max()"), change(RADIUS, "W.max()")],
        "divided_by_largest_real_part": [
            change(RADIUS, "np.linalg.eigvals(W).real.max()"),
            change(RADIUS, "np.linalg.eigvals(W).max()"),
            change(RADIUS, "np.abs(np.linalg.eigvals(W).max())"),
            change(SCALED, "(W * rho / np.linalg.eigvals(W).max()).real"),
        ],
        "divided_by_eigenvalue": [
            change(RADIUS, "max(np.linalg.eigvals(W), key=abs)"),
            change(RADIUS, "max(np.linalg.eigvals(W), key=abs).real"),
            change(SCALED, "(W * rho / max(np.linalg.eigvals(W), key=abs)).real"),
        ],
        "one_eigenvalue_only": [change(".max()", "[0]"), change(".max()", "[-1]")],
        "no_maximum": [change(".max()", ""), change(RADIUS, "np.abs(np.linalg.eigvals(W))[:, None]")],
        "not_the_largest_size": [
            change(".max()", ".mean()"),
            change(".max()", ".min()"),
            change(".max()", ".sum()"),
            change(RADIUS, "np.linalg.norm(np.linalg.eigvals(W))"),
        ],
        "diagonal_for_eigenvalues": [change(RADIUS, "np.abs(np.diag(W)).max()"), change(RADIUS, "np.diag(W).max()")],
        "eigvalsh_used": [change("eigvals(W)", "eigvalsh(W)"), change("eigvals(W)", "eigvalsh(W, UPLO='U')")],
        **instead(
            "(rho / radius)",
            {
                "root_of_the_ratio": "np.sqrt(rho / radius)",
                "ratio_inverted": "(radius / rho)",
                "not_divided_by_radius": "rho",
                "divided_by_rho": "(1 / rho)",
                "only_shrinks": "min(1.0, rho / radius)",
                "only_grows": "max(1.0, rho / radius)",
            },
        ),
        "difference_added": [
            change(SCALED, "W + (rho - radius) * np.eye(len(W))"),
            change(SCALED, "W + (rho - radius)"),
        ],
        "eigenvalues_changed_one_by_one": [
            change(f"return {SCALED}", EACH.format("rho / np.abs(e)")),
            change(f"return {SCALED}", EACH.format("np.minimum(1, rho / np.abs(e))")),
        ],
    }
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

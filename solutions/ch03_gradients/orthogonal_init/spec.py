"""How `orthogonal_init` is checked: by the form, source and distribution of many results, which
`judge.py` judges.

No value is fixed, because there are many ways to draw such a matrix. In each case the function is called several times
with one generator, and then again with a new one of the same seed.
"""

import numpy as np

from grader.spec.spec import Case, Facet, Fixture, Output, Spec, change


def case(n, draws, seed):
    return Case(sizes={"n": n}, inputs={"rng": Fixture("rng", {"seed": seed}), "n": n, "draws": draws})


def cases(rng):
    for n, draws in ((3, 300), (2, 400), (1, 200), (8, 600), (20, 5)):
        yield case(n, draws, int(rng.integers(2**31)))


SPEC = Spec(
    driver="draws",
    outputs=[Output("Q")],
    example=case(2, 200, seed=5),
    cases=cases,
    facets=[Facet("orthogonal", 1, outputs=("Q",)), Facet("distribution", 2, outputs=("distribution",))],
)
QR = "Q, R = np.linalg.qr(rng.normal(size=(n, n)))"
RETURN = "return Q * np.sign(np.diag(R))"

SPEC.mistakes(
    {
        "signs_of_R_ignored": [change(RETURN, "return Q"), change(RETURN, "return Q.T")],
        "diagonal_of_Q_made_positive": [
            change(RETURN, "return Q * np.sign(np.diag(Q))"),
            change(RETURN, "return np.sign(np.diag(Q))[:, None] * Q"),
        ],
        "determinant_never_changes": [
            change(RETURN, "Q = Q * np.sign(np.diag(R))\nQ[:, 0] *= np.sign(np.linalg.det(Q))\nreturn Q"),
            change(RETURN, "Q = Q * np.sign(np.diag(R))\nQ[:, 0] *= -np.sign(np.linalg.det(Q))\nreturn Q"),
            change(
                f"{QR}\n{RETURN}",
                "v = rng.normal(size=n)\nreturn np.eye(n) - 2 * np.outer(v, v) / (v @ v)",
            ),
            change(
                f"{QR}\n{RETURN}",
                "Q = np.eye(n)\nfor v in rng.normal(size=(n, n)):\n"
                "    Q = Q - 2 * np.outer(Q @ v, v) / (v @ v)\nreturn Q",
            ),
        ],
        "starts_from_uniform_numbers": [
            change("rng.normal(size=(n, n))", "rng.uniform(-1, 1, size=(n, n))"),
            change("rng.normal(size=(n, n))", "rng.random((n, n))"),
            change(
                f"{QR}\n{RETURN}",
                "U, _, Vt = np.linalg.svd(rng.uniform(-1, 1, size=(n, n)))\nreturn U @ Vt",
            ),
        ],
        "eigenvectors_of_a_symmetric_matrix": [
            change(f"{QR}\n{RETURN}", "A = rng.normal(size=(n, n))\nreturn np.linalg.eigh(A + A.T)[1]"),
            change(f"{QR}\n{RETURN}", "A = rng.normal(size=(n, n))\nreturn np.linalg.eigh(A @ A.T)[1]"),
            change(f"{QR}\n{RETURN}", "return np.linalg.svd(rng.normal(size=(n, n)))[0]"),
        ],
    },
    keeps=("orthogonal",),
)
SPEC.mistakes(
    {
        "random_matrix_returned": [
            change(f"{QR}\n{RETURN}", "return rng.normal(size=(n, n))"),
            change(f"{QR}\n{RETURN}", "return rng.normal(size=(n, n)) / np.sqrt(n)"),
            change(f"{QR}\n{RETURN}", "return rng.uniform(-1, 1, size=(n, n)) / np.sqrt(n)"),
        ],
        "lengths_only": [
            change(f"{QR}\n{RETURN}", "A = rng.normal(size=(n, n))\nreturn A / np.linalg.norm(A, axis=0)"),
            change(
                f"{QR}\n{RETURN}", "A = rng.normal(size=(n, n))\nreturn A / np.linalg.norm(A, axis=1, keepdims=True)"
            ),
        ],
        "columns_not_of_length_1": [change(RETURN, "return Q * np.diag(R)"), change(RETURN, "return Q / np.diag(R)")],
        "R_returned": [change(RETURN, "return R"), change(RETURN, "return R * np.sign(np.diag(R))[:, None]")],
        "multiplied_by_signs_of_all_of_R": change("np.sign(np.diag(R))", "np.sign(R)"),
        "numbers_not_from_rng": [
            change("rng.normal", "np.random.normal"),
            change("rng.normal", "np.random.default_rng().normal"),
        ],
        "same_matrix_every_time": [
            change("rng.normal", "np.random.default_rng(0).normal"),
            change(QR, f"np.random.seed(0)\n{QR}", ("rng.normal", "np.random.normal")),
        ],
        "identity_or_permutation": [
            change(f"{QR}\n{RETURN}", "return np.eye(n)"),
            change(f"{QR}\n{RETURN}", "return rng.permutation(np.eye(n))"),
        ],
    }
)


@SPEC.alternative
def polar_factor(rng, n):
    """The orthogonal matrix that is nearest to a random one, from its singular value decomposition."""
    U, _, Vt = np.linalg.svd(rng.standard_normal((n, n)))
    return U @ Vt


@SPEC.alternative
def gram_schmidt(rng, n):
    """Column by column: a random direction, without its components along the columns so far."""
    Q = np.zeros((n, n))
    for j in range(n):
        q = rng.normal(size=n)
        for i in range(j):
            q = q - (Q[:, i] @ q) * Q[:, i]
        Q[:, j] = q / np.linalg.norm(q)
    return Q


@SPEC.alternative
def householder_reflections(rng, n):
    """Reflections of ever larger parts, each of which takes the first axis to a random direction (Stewart 1980)."""
    Q = np.sign(rng.normal(size=(1, 1)))
    for m in range(2, n + 1):
        x = rng.normal(size=m)
        sign = 1.0 if x[0] > 0 else -1.0
        v = x / np.linalg.norm(x)
        v[0] += sign
        wider = np.eye(m)
        wider[1:, 1:] = Q
        Q = -sign * (wider - np.outer(v, v @ wider) * (2 / (v @ v)))
    return Q


@SPEC.alternative
def random_signs(rng, n):
    """A QR decomposition whose columns get random signs, which the library's rule cannot undo."""
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    return Q * rng.choice([-1.0, 1.0], size=n)

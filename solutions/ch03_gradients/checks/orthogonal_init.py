"""How `orthogonal_init` is checked: by the form, source and distribution of many results, which
`orthogonal_init_judge.py` judges.

No value is fixed, because there are many ways to draw such a matrix. In each case the function is called several times
with one generator, and then again with a new one of the same seed.
"""

import numpy as np

from grader.author.spec import Case, Facet, Fixture, Output, Spec, change


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
    why=r"""
If $A$ has independent standard normal entries, then $M A$ is distributed like $A$ for every orthogonal $M$, because the
density depends only on the sum of the squares of all entries. With a positive diagonal of $R$ the decomposition
$A = Q R$ is unique, so the matrix $M A = (M Q) R$ has the factor $M Q$: the distribution of $Q$ does not change if it
is multiplied by $M$, and only the uniform distribution has this property. With the library's signs this argument fails,
because its choice for $M A$ need not be $M$ times its choice for $A$. Multiplying column $j$ of $Q$ and row $j$ of $R$
by the sign of $R_{jj}$ leaves the product as it is and makes the diagonal positive.
""",
)

QR = "Q, R = np.linalg.qr(rng.normal(size=(n, n)))"
RETURN = "return Q * np.sign(np.diag(R))"
SPEC.mistake(
    "signs_of_R_ignored",
    "Your matrices are orthogonal, but the signs of their columns follow a rule of the QR decomposition, so some "
    "matrices never occur. Multiply each column of `Q` by −1 where the diagonal of `R` is negative: with a positive "
    "diagonal the decomposition is unique and prefers no direction.",
    change(RETURN, "return Q"),
    change(RETURN, "return Q.T"),
    tempts="`Q` is orthogonal, and nothing shows that its signs are not random.",
    keeps=("orthogonal",),
)
SPEC.mistake(
    "diagonal_of_Q_made_positive",
    "You make the diagonal of `Q` itself positive. Use the signs of the diagonal of `R`: the entries of a random "
    "orthogonal matrix are negative as often as they are positive, those on the diagonal too.",
    change(RETURN, "return Q * np.sign(np.diag(Q))"),
    change(RETURN, "return np.sign(np.diag(Q))[:, None] * Q"),
    tempts="Which of the two diagonals has to be positive is easily mixed up.",
    keeps=("orthogonal",),
)
SPEC.mistake(
    "determinant_never_changes",
    "All your matrices have the same determinant for a given `n`. Do not correct the determinant, and do not build the "
    "matrix from a fixed number of reflections or rotations: half of all orthogonal matrices have the determinant 1, "
    "the other half −1.",
    change(RETURN, "Q = Q * np.sign(np.diag(R))\nQ[:, 0] *= np.sign(np.linalg.det(Q))\nreturn Q"),
    change(RETURN, "Q = Q * np.sign(np.diag(R))\nQ[:, 0] *= -np.sign(np.linalg.det(Q))\nreturn Q"),
    change(
        f"{QR}\n{RETURN}",
        "v = rng.normal(size=n)\nreturn np.eye(n) - 2 * np.outer(v, v) / (v @ v)",
    ),
    change(
        f"{QR}\n{RETURN}",
        "Q = np.eye(n)\nfor v in rng.normal(size=(n, n)):\n    Q = Q - 2 * np.outer(Q @ v, v) / (v @ v)\nreturn Q",
    ),
    tempts="A rotation is what one imagines, and a mirror image looks like an accident.",
    keeps=("orthogonal",),
)
SPEC.mistake(
    "starts_from_uniform_numbers",
    "You start from uniformly distributed numbers. Draw normal ones, with `rng.normal`: uniform numbers fill a cube, "
    "whose corners are further away than its faces, so directions towards the corners are preferred.",
    change("rng.normal(size=(n, n))", "rng.uniform(-1, 1, size=(n, n))"),
    change("rng.normal(size=(n, n))", "rng.random((n, n))"),
    change(
        f"{QR}\n{RETURN}",
        "U, _, Vt = np.linalg.svd(rng.uniform(-1, 1, size=(n, n)))\nreturn U @ Vt",
    ),
    tempts="A uniform distribution is wanted, of the directions; uniform entries seem to be the way to it.",
    keeps=("orthogonal",),
)
SPEC.mistake(
    "eigenvectors_of_a_symmetric_matrix",
    "You use the eigenvectors of a symmetric matrix, or singular vectors, which are such eigenvectors too. They are "
    "perpendicular, but each is determined only up to its sign, and the library picks the signs by a rule of its own. "
    "Give every vector a random sign from `rng`, or use a QR decomposition and the signs of the diagonal of `R`.",
    change(f"{QR}\n{RETURN}", "A = rng.normal(size=(n, n))\nreturn np.linalg.eigh(A + A.T)[1]"),
    change(f"{QR}\n{RETURN}", "A = rng.normal(size=(n, n))\nreturn np.linalg.eigh(A @ A.T)[1]"),
    change(f"{QR}\n{RETURN}", "return np.linalg.svd(rng.normal(size=(n, n)))[0]"),
    tempts="The eigenvectors of a symmetric matrix are the best-known orthogonal matrix.",
    keeps=("orthogonal",),
)
SPEC.mistake(
    "random_matrix_returned",
    "Your matrices are random, but their columns are not perpendicular. Make them so: decompose the random matrix, for "
    "example with `np.linalg.qr`, and use its orthogonal factor.",
    change(f"{QR}\n{RETURN}", "return rng.normal(size=(n, n))"),
    change(f"{QR}\n{RETURN}", "return rng.normal(size=(n, n)) / np.sqrt(n)"),
    change(f"{QR}\n{RETURN}", "return rng.uniform(-1, 1, size=(n, n)) / np.sqrt(n)"),
    tempts="Most layers start from such a matrix, and its columns are nearly perpendicular if n is large.",
)
SPEC.mistake(
    "lengths_only",
    "Your columns or rows have length 1, but they are not perpendicular. Make them perpendicular as well: each column "
    "must have no component along the others.",
    change(f"{QR}\n{RETURN}", "A = rng.normal(size=(n, n))\nreturn A / np.linalg.norm(A, axis=0)"),
    change(f"{QR}\n{RETURN}", "A = rng.normal(size=(n, n))\nreturn A / np.linalg.norm(A, axis=1, keepdims=True)"),
    tempts="'Orthonormal' asks for two things, and the length is the easier one.",
)
SPEC.mistake(
    "columns_not_of_length_1",
    "Your columns or rows are perpendicular, but not all of length 1. Divide each by its length; if you use the "
    "diagonal of `R`, multiply by 1 or −1 only.",
    change(RETURN, "return Q * np.diag(R)"),
    change(RETURN, "return Q / np.diag(R)"),
    tempts="The diagonal of R is needed, and its sign is easily forgotten on the way.",
)
SPEC.mistake(
    "R_returned",
    "You return the triangular factor. Return the orthogonal one: `np.linalg.qr` gives `Q` first and `R` second.",
    change(RETURN, "return R"),
    change(RETURN, "return R * np.sign(np.diag(R))[:, None]"),
    tempts="A pair is unpacked in the wrong order.",
)
SPEC.mistake(
    "multiplied_by_signs_of_all_of_R",
    "You multiply `Q` by the signs of all entries of `R`, entry by entry, which sets everything below the diagonal to "
    "0. Use the signs of the diagonal of `R` alone: one for each column of `Q`.",
    change("np.sign(np.diag(R))", "np.sign(R)"),
    tempts="`np.sign(R)` has the shape of Q, so nothing complains.",
)
SPEC.mistake(
    "numbers_not_from_rng",
    "Not all your random numbers come from `rng`. Call its methods, such as `rng.normal`, and no other source, neither "
    "`np.random.…` nor a generator of your own: otherwise an experiment cannot be repeated by choosing its seed.",
    change("rng.normal", "np.random.normal"),
    change("rng.normal", "np.random.default_rng().normal"),
    tempts="`np.random.randn(n, n)` is what many examples show.",
)
SPEC.mistake(
    "same_matrix_every_time",
    "You return the same matrix at every call. Draw new numbers from `rng` each time: it continues where the previous "
    "call stopped, whereas a generator with a fixed seed inside the function would start from the beginning.",
    change("rng.normal", "np.random.default_rng(0).normal"),
    change(QR, f"np.random.seed(0)\n{QR}", ("rng.normal", "np.random.normal")),
    tempts="A seed makes results reproducible, and inside the function it seems to be at the right place.",
)
SPEC.mistake(
    "identity_or_permutation",
    "Your matrices contain only 0, 1 and −1: they are the identity or rearrange the axes. They are orthogonal, but "
    "only a few of all orthogonal matrices. Every direction must be possible for every column.",
    change(f"{QR}\n{RETURN}", "return np.eye(n)"),
    change(f"{QR}\n{RETURN}", "return rng.permutation(np.eye(n))"),
    tempts="The identity is the simplest orthogonal matrix, and the one that the IRNN starts from.",
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

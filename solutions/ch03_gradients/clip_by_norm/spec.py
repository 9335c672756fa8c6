"""How `clip_by_norm` is checked: against a slow loop over all entries, with Python's exact sums.

The list is never empty: an empty one has no gradient to clip.
"""

import math

import numpy as np

from grader.spec.spec import Case, Facet, Output, Spec, change, instead

ORDINARY, BELOW, AT, ZERO = "ordinary", "below the limit", "at the limit", "all gradients zero"


def oracle(grads, max_norm):
    """All entries as one list of Python numbers; their sum of squares is rounded only once."""
    norm = math.sqrt(math.fsum(x * x for g in grads for x in g.ravel().tolist()))
    if norm <= max_norm:
        return [g.copy() for g in grads], norm
    return [np.array([x * max_norm / norm for x in g.ravel().tolist()]).reshape(g.shape) for g in grads], norm


EXAMPLE = Case(
    sizes={"D": 2, "H": 1},
    inputs={"grads": [np.array([[0.60], [-1.20]]), np.array([0.40])], "max_norm": 1.05},
)


def case(rng, D, H, share, size=1.0, arrays=3):
    """The gradients of an RNN, W_xh, W_hh and b_h or the first of these, and a limit of this share of their norm."""
    shapes = [(D, H), (H, H), (H,)][:arrays]
    grads = [size * rng.normal(size=shape) for shape in shapes]
    norm = np.sqrt(sum(np.sum(g**2) for g in grads))
    kind = BELOW if share > 1 else ORDINARY
    return Case(sizes={"D": D, "H": H}, inputs={"grads": grads, "max_norm": round(float(share * norm), 4)}, kind=kind)


def cases(rng):
    yield case(rng, D=3, H=2, share=0.4)
    yield case(rng, D=2, H=3, share=1.6)
    yield case(rng, D=4, H=5, share=0.85)  # above the limit together, but no array is by itself
    yield case(rng, D=1, H=1, share=0.5)
    yield case(rng, D=3, H=4, share=0.6, arrays=1)
    yield case(rng, D=5, H=2, share=0.01, size=100)
    yield case(rng, D=2, H=4, share=0.3, size=0.01)
    yield Case(
        sizes={"D": 1, "H": 2},
        inputs={"grads": [np.array([[1.0, -2.0]]), np.array([2.0, -4.0])], "max_norm": 5.0},
        kind=AT,
    )
    yield Case(
        sizes={"D": 2, "H": 3},
        inputs={"grads": [np.zeros((2, 3)), np.zeros((3, 3)), np.zeros(3)], "max_norm": 1.5},
        kind=ZERO,
    )


SPEC = Spec(
    outputs=[Output("clipped"), Output("norm")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("clipped", 3, outputs=("clipped",), kinds=(ORDINARY, BELOW, AT)),
        Facet("norm", 2, outputs=("norm",), kinds=(ORDINARY, BELOW, AT)),
        Facet("zero gradients", 1, kinds=(ZERO,)),
    ],
)
NORM = "np.sqrt(sum(np.sum(g**2) for g in grads))"
FACTOR = "max_norm / norm if norm > max_norm else 1.0"
CLIPPED = "[factor * g for g in grads]"
EACH = "[g * min(1.0, max_norm / max(np.linalg.norm(g), 1e-300)) for g in grads]"

SPEC.mistakes(
    {
        "each_array_by_its_own_norm": [
            change(CLIPPED, EACH),
            change(CLIPPED, "[g if np.linalg.norm(g) <= max_norm else g * (max_norm / norm) for g in grads]"),
        ],
        "number_added_to_the_norm": [
            *(
                change(FACTOR, becomes.format(eps))
                for eps in ("1e-6", "1e-8")
                for becomes in (
                    "max_norm / (norm + {}) if norm > max_norm else 1.0",
                    "min(1.0, max_norm / (norm + {}))",
                )
            ),
            change(FACTOR, "max_norm / (norm + 1e-7) if norm > max_norm else 1.0"),
        ],
        "always_scaled_unless_zero": [
            *(
                change(FACTOR, becomes)
                for becomes in (
                    "max_norm / norm if norm > 0 else 1.0",
                    "max_norm / max(norm, 1e-12)",
                    "max_norm / (norm + 1e-6)",
                    "max_norm / (norm + 1e-8)",
                )
            )
        ],
        "scaled_below_the_limit": change("norm > max_norm", "0 < norm < max_norm"),
        "squared_norm_compared": change("norm > max_norm", "norm**2 > max_norm"),
        **instead(
            FACTOR,
            {
                "max_norm_left_out_of_the_factor": "1 / norm if norm > max_norm else 1.0",
                "factor_inverted": "norm / max_norm if norm > max_norm else 1.0",
                "set_to_zero": "0.0 if norm > max_norm else 1.0",
            },
        ),
        "norm_left_out_of_the_factor": [
            change(FACTOR, "max_norm if norm > max_norm else 1.0"),
            change(FACTOR, "1 / max_norm if norm > max_norm else 1.0"),
        ],
        **instead(
            "max_norm / norm if",
            {
                "divided_by_the_squared_norm": "max_norm / norm**2 if",
                "root_of_the_factor": "np.sqrt(max_norm / norm) if",
            },
        ),
        "norm_of_the_arrays_so_far": change(
            f"return {CLIPPED}, norm",
            """
        clipped, so_far = [], 0.0
        for g in grads:
            so_far = np.sqrt(so_far**2 + np.sum(g**2))
            clipped.append(g * (max_norm / so_far) if so_far > max_norm else g)
        return clipped, norm
        """,
        ),
        **instead(
            CLIPPED,
            {
                "limited_entry_by_entry": "[np.clip(g, -max_norm, max_norm) for g in grads]",
                "never_clipped": "list(grads)",
            },
        ),
    },
    keeps=("norm", "zero gradients"),
)
SPEC.mistakes(
    {
        "norm_with_a_number_added": [
            *(
                change(NORM, becomes.format(eps))
                for eps in ("1e-6", "1e-8")
                for becomes in (f"{NORM} + {{}}", "np.sqrt(sum(np.sum(g**2) for g in grads) + {})")
            )
        ],
        "norm_not_returned": change("grads], norm", "grads]"),
    }
)
SPEC.mistakes(
    {
        "always_scaled": change(FACTOR, "max_norm / norm"),
    },
    keeps=("norm",),
)
SPEC.mistakes(
    {
        "norm_after_clipping": change("grads], norm", "grads], min(norm, max_norm)"),
    },
    keeps=("clipped", "zero gradients"),
)
SPEC.mistakes(
    {
        **instead(
            NORM,
            {
                "norms_of_arrays_added": "sum(np.linalg.norm(g) for g in grads)",
                "norm_without_the_root": "sum(np.sum(g**2) for g in grads)",
                "absolute_values_added": "sum(np.abs(g).sum() for g in grads)",
                "spectral_norm_of_matrices": "np.sqrt(sum(np.linalg.norm(g, 2) ** 2 for g in grads))",
            },
        ),
        "norm_averaged": [
            change(NORM, "np.sqrt(np.mean(np.concatenate([g.ravel() for g in grads]) ** 2))"),
            change(NORM, "np.sqrt(np.mean([np.mean(g**2) for g in grads]))"),
            change(NORM, "np.sqrt(sum(np.mean(g**2) for g in grads))"),
            change(NORM, "np.sqrt(np.mean([np.sum(g**2) for g in grads]))"),
            change(NORM, "np.mean([np.linalg.norm(g) for g in grads])"),
            change(NORM, "np.sqrt(sum(np.sum(g**2) for g in grads)) / len(grads)"),
        ],
        "largest_instead_of_norm": [
            change(NORM, "max(np.abs(g).max() for g in grads)"),
            change(NORM, "max(g.max() for g in grads)"),
            change(NORM, "max(np.linalg.norm(g) for g in grads)"),
        ],
        "added_before_squaring": [
            change(NORM, "np.sqrt(sum(np.sum(g) ** 2 for g in grads))"),
            change(NORM, "np.abs(sum(g.sum() for g in grads))"),
            change(NORM, "sum(g.sum() for g in grads)"),
        ],
        "one_array_only": [change(NORM, "np.linalg.norm(grads[0])"), change(NORM, "np.linalg.norm(grads[-1])")],
        "grads_changed_in_place": change(
            f"return {CLIPPED}, norm", "for g in grads:\n    g *= factor\nreturn grads, norm"
        ),
    },
    keeps=("zero gradients",),
)
SPEC.mistakes(
    {
        "zero_norm_divided": change(CLIPPED, "[g / norm * min(norm, max_norm) for g in grads]"),
        "zero_division_raised": change(FACTOR, "min(1.0, max_norm / float(norm))"),
        "norm_of_zeros_not_0": [
            change(NORM, f"{NORM} or 1.0"),
            change(NORM, "np.sqrt(sum(np.sum(g**2) for g in grads) + 1e-12)"),
        ],
    },
    keeps=("clipped", "norm"),
)


@SPEC.alternative
def one_long_vector(grads, max_norm):
    """Put all entries into one vector, clip it, and cut it up again."""
    vector = np.concatenate([g.ravel() for g in grads])
    norm = np.linalg.norm(vector)
    if norm > max_norm:
        vector = vector / norm * max_norm
    ends = np.cumsum([g.size for g in grads])[:-1]
    return [part.reshape(g.shape) for part, g in zip(np.split(vector, ends), grads, strict=True)], norm


@SPEC.alternative
def in_a_loop_on_copies(grads, max_norm):
    """Add up in a loop, and change copies in place."""
    total = 0.0
    for g in grads:
        total += float(np.vdot(g, g))
    norm = total**0.5
    clipped = [g.copy() for g in grads]
    if norm > max_norm:
        for g in clipped:
            g *= max_norm
            g /= norm
    return clipped, norm


@SPEC.alternative
def norm_of_norms(grads, max_norm):
    """The norm of the vector of the arrays' norms, and a divisor that is at least 1."""
    norm = float(np.linalg.norm([np.linalg.norm(g) for g in grads]))
    divisor = max(1.0, norm / max_norm)
    return tuple(g / divisor for g in grads), norm

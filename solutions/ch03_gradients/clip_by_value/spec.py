"""How `clip_by_value` is checked: against a comparison of every entry with the limit, one by one."""

import numpy as np

from grader.spec.spec import Case, Output, Spec, change, instead


def oracle(grads, limit):
    """One entry at a time."""
    clipped = []
    for g in grads:
        entries = [limit if x > limit else -limit if x < -limit else x for x in g.ravel().tolist()]
        clipped.append(np.array(entries).reshape(g.shape))
    return clipped


EXAMPLE = Case(
    sizes={"D": 1, "H": 2},
    inputs={"grads": [np.array([[0.60, -1.20]]), np.array([0.40, -0.30])], "limit": 0.50},
)


def case(rng, D, H, limit, size=1.0, arrays=3):
    """The gradients of an RNN, W_xh, W_hh and b_h or the first of these."""
    shapes = [(D, H), (H, H), (H,)][:arrays]
    grads = [size * rng.normal(size=shape) for shape in shapes]
    return Case(sizes={"D": D, "H": H}, inputs={"grads": grads, "limit": limit * round(rng.uniform(0.9, 1.1), 3)})


def cases(rng):
    yield case(rng, D=3, H=2, limit=0.7)
    yield case(rng, D=4, H=5, limit=1.4)
    yield case(rng, D=1, H=3, limit=0.3)
    yield case(rng, D=3, H=4, limit=0.6, arrays=1)
    yield case(rng, D=2, H=1, limit=0.2)
    yield case(rng, D=5, H=4, limit=2.5, size=100)
    yield case(rng, D=2, H=3, limit=9.0)  # nothing to clip
    yield Case(
        sizes={"D": 1, "H": 3},
        inputs={"grads": [np.array([[0.75, -0.75, 0.0]]), np.zeros(3), np.array([-2.5, 1.5, 0.5])], "limit": 0.75},
        kind="at the limit",
    )


SPEC = Spec(
    outputs=[Output("clipped")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
)
CLIP = "np.clip(g, -limit, limit)"

SPEC.mistakes(
    {
        **instead(
            CLIP,
            {
                "clipped_above_only": "np.minimum(g, limit)",
                "clipped_below_only": "np.maximum(g, -limit)",
                "signs_lost": "np.minimum(np.abs(g), limit)",
                "set_to_zero": "np.where(np.abs(g) > limit, 0.0, g)",
                "positive_limit_for_all": "np.where(np.abs(g) > limit, limit, g)",
                "signs_only": "limit * np.sign(g)",
                "signs_without_the_limit": "np.where(np.abs(g) > limit, np.sign(g), g)",
                "smoothed_by_tanh": "limit * np.tanh(g / limit)",
            },
        ),
        "ends_swapped": [
            change("-limit, limit", "limit, -limit"),
            change(CLIP, "np.maximum(limit, np.minimum(-limit, g))"),
        ],
        "interval_starts_at_zero": change("-limit", "0"),
        "scaled_by_the_norm": [
            change(
                f"[{CLIP} for g in grads]",
                "[g * min(1.0, limit / max(np.sqrt(sum(np.sum(g**2) for g in grads)), 1e-300)) for g in grads]",
            ),
            change(CLIP, "g * min(1.0, limit / max(np.linalg.norm(g), 1e-300))"),
        ],
        "scaled_by_the_largest_entry": [
            change(CLIP, "g * min(1.0, limit / max(np.abs(g).max(), 1e-300))"),
            change(CLIP, "g * min(1.0, limit / max(max(np.abs(a).max() for a in grads), 1e-300))"),
            change(CLIP, "g * (limit / max(np.abs(g).max(), 1e-300))"),
        ],
        "always_minus_1_to_1": change("-limit, limit", "-1, 1"),
        "norm_returned_too": change(
            f"[{CLIP} for g in grads]", f"[{CLIP} for g in grads], np.sqrt(sum(np.sum(g**2) for g in grads))"
        ),
        "clipped_as_one_array": change(f"[{CLIP} for g in grads]", "np.clip(grads, -limit, limit)"),
        "grads_changed_in_place": change(CLIP, "np.clip(g, -limit, limit, out=g)"),
    }
)


@SPEC.alternative
def by_minimum_and_maximum(grads, limit):
    """The smaller of two, then the larger of two."""
    clipped = []
    for g in grads:
        clipped.append(np.maximum(np.minimum(g, limit), -limit))
    return clipped


@SPEC.alternative
def on_copies_with_masks(grads, limit):
    """Change the entries outside in copies."""
    copies = [g.copy() for g in grads]
    for g in copies:
        g[g > limit] = limit
        g[g < -limit] = -limit
    return copies


@SPEC.alternative
def sign_times_size(grads, limit):
    """The sign of each entry times its limited size."""
    return tuple(np.sign(g) * np.minimum(np.abs(g), limit) for g in grads)

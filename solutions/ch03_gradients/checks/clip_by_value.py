"""How `clip_by_value` is checked: against a comparison of every entry with the limit, one by one."""

import numpy as np

from grader.author.spec import Case, Output, Spec, change


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
    why="""
Every entry is replaced by the nearest number of the interval from −`limit` to `limit`, so an entry inside stays as it
is and an entry outside keeps its sign. No entry depends on any other, which is why the direction of the gradient
changes: large entries shrink and small ones do not.
""",
)

CLIP = "np.clip(g, -limit, limit)"
SPEC.mistake(
    "clipped_above_only",
    "You limit only the large positive entries. Limit the negative ones too, to −`limit`: they can explode as well.",
    change(CLIP, "np.minimum(g, limit)"),
    tempts="A limit sounds like an upper bound, and losses are never negative.",
)
SPEC.mistake(
    "clipped_below_only",
    "You limit only the large negative entries. Limit the positive ones too, to `limit`.",
    change(CLIP, "np.maximum(g, -limit)"),
    tempts="`max` and `min` swap their roles easily: the larger of two numbers sets a lower bound.",
)
SPEC.mistake(
    "ends_swapped",
    "You swap the two ends of the interval, so all entries become the same number. The lower end is −`limit` and the "
    "upper end is `limit`: no entry may be below the first or above the second.",
    change("-limit, limit", "limit, -limit"),
    change(CLIP, "np.maximum(limit, np.minimum(-limit, g))"),
    tempts="`max` and `min` swap their roles easily, and `np.clip` does not complain about swapped ends.",
)
SPEC.mistake(
    "interval_starts_at_zero",
    "You limit every entry to the interval from 0 to `limit`, so all negative entries become 0. Let the interval start "
    "at −`limit`: a negative derivative is as useful as a positive one.",
    change("-limit", "0"),
    tempts="Intervals from 0 are common for probabilities and activations.",
)
SPEC.mistake(
    "signs_lost",
    "You limit absolute values, so the signs are lost. Keep the sign of each entry, because it says in which direction "
    "the weight should move.",
    change(CLIP, "np.minimum(np.abs(g), limit)"),
    tempts="The limit is one of absolute values.",
)
SPEC.mistake(
    "scaled_by_the_norm",
    "You scale by the norm, of all arrays or of each by itself. Compare every entry with the limit instead, and leave "
    "those inside the interval as they are; scaling was the previous exercise.",
    change(
        f"[{CLIP} for g in grads]",
        "[g * min(1.0, limit / max(np.sqrt(sum(np.sum(g**2) for g in grads)), 1e-300)) for g in grads]",
    ),
    change(CLIP, "g * min(1.0, limit / max(np.linalg.norm(g), 1e-300))"),
    tempts="The previous exercise is clipping too, and its code runs here.",
)
SPEC.mistake(
    "scaled_by_the_largest_entry",
    "You scale all entries so that the largest absolute value becomes `limit`. Move only the entries outside the "
    "interval, each by itself, and leave the others as they are.",
    change(CLIP, "g * min(1.0, limit / max(np.abs(g).max(), 1e-300))"),
    change(CLIP, "g * min(1.0, limit / max(max(np.abs(a).max() for a in grads), 1e-300))"),
    change(CLIP, "g * (limit / max(np.abs(g).max(), 1e-300))"),
    tempts="It limits every entry too, and it keeps the direction, but it is a kind of clipping by norm.",
)
SPEC.mistake(
    "set_to_zero",
    "You replace the entries outside the interval by 0. Move them to the nearer end of the interval, `limit` or "
    "−`limit`.",
    change(CLIP, "np.where(np.abs(g) > limit, 0.0, g)"),
    tempts="Dropping outliers is a habit from data cleaning.",
)
SPEC.mistake(
    "positive_limit_for_all",
    "You replace every entry outside the interval by `limit`, also the negative ones. Replace those by −`limit`.",
    change(CLIP, "np.where(np.abs(g) > limit, limit, g)"),
    tempts="One comparison of the absolute value finds both kinds of entries.",
)
SPEC.mistake(
    "signs_only",
    "You return −`limit` or `limit` for every entry. Leave the entries inside the interval as they are.",
    change(CLIP, "limit * np.sign(g)"),
    tempts="`limit * np.sign(g)` is right for the entries outside.",
)
SPEC.mistake(
    "signs_without_the_limit",
    "You replace the entries outside the interval by their signs, −1 or 1. Replace them by −`limit` or `limit`.",
    change(CLIP, "np.where(np.abs(g) > limit, np.sign(g), g)"),
    tempts="`np.sign` picks the right end, and with a limit of 1 that is all.",
)
SPEC.mistake(
    "always_minus_1_to_1",
    "You limit the entries to the interval from −1 to 1. Use `limit`, which is an argument.",
    change("-limit, limit", "-1, 1"),
    tempts="1 is a common choice.",
)
SPEC.mistake(
    "smoothed_by_tanh",
    "You bend all entries towards the limit, as a tanh does. Leave the entries inside the interval as they are.",
    change(CLIP, "limit * np.tanh(g / limit)"),
    tempts="A tanh limits too, and has appeared all over the course.",
)
SPEC.mistake(
    "norm_returned_too",
    "You return the norm as well. Return the list of clipped arrays alone.",
    change(f"[{CLIP} for g in grads]", f"[{CLIP} for g in grads], np.sqrt(sum(np.sum(g**2) for g in grads))"),
    tempts="clip_by_norm returns two results, and its last line is easily copied.",
)
SPEC.mistake(
    "grads_changed_in_place",
    "You change the arrays of the caller, or the list that holds them. Put new arrays into a new list: `out=g`, "
    "`g[g > limit] = limit` and `grads[i] = …` overwrite the unclipped gradients.",
    change(CLIP, "np.clip(g, -limit, limit, out=g)"),
    change(
        f"return [{CLIP} for g in grads]",
        f"for i, g in enumerate(grads):\n    grads[i] = {CLIP}\nreturn grads",
    ),
    tempts="PyTorch's `clip_grad_value_` works in place, as its name says with the underscore.",
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

"""Programs that the spec of `clip_by_norm` does not contain; beside each wrong one is what it is told."""

import math
from functools import reduce
from itertools import chain

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


ZERO, NORM, CLIPPED = "zero gradients", "norm", "clipped"


def norm_of(grads):
    return math.sqrt(sum(float((g**2).sum()) for g in grads))


def factor_of(norm, limit):
    return limit / norm if norm > limit else 1.0


def right(grads, max_norm):
    norm = norm_of(grads)
    return [factor_of(norm, max_norm) * g for g in grads], norm


def with_norm(measure):
    """The right program with another measure of the gradient."""

    def student(grads, max_norm):
        norm = measure(grads)
        return [factor_of(norm, max_norm) * g for g in grads], norm

    return student


def with_factor(rule):
    """The right norm with another factor: rule(norm, max_norm)."""

    def student(grads, max_norm):
        norm = norm_of(grads)
        return [rule(norm, max_norm) * g for g in grads], norm

    return student


def returning(rule):
    """Something made of the right results: rule(clipped, norm, grads, max_norm)."""
    return lambda grads, max_norm: rule(*right(grads, max_norm), grads, max_norm)


def forgets_to_collect(grads, max_norm):
    norm = norm_of(grads)
    for g in grads:
        g = g * factor_of(norm, max_norm)
    return grads, norm


def own_norms_listed(grads, max_norm):
    norms = [float(np.linalg.norm(g)) for g in grads]
    return [factor_of(n, max_norm) * g for n, g in zip(norms, grads, strict=True)], norms


def own_norms_and_the_last(grads, max_norm):
    clipped, norms = own_norms_listed(grads, max_norm)
    return clipped, norms[-1]


def returns_within_the_loop(grads, max_norm):
    norm, clipped = norm_of(grads), []
    for g in grads:
        clipped.append(factor_of(norm, max_norm) * g)
        return clipped, norm
    return None


def scaled_twice(grads, max_norm):
    clipped, norm = right(grads, max_norm)
    return [factor_of(norm, max_norm) * g for g in clipped], norm


def squares_of_the_last_row(grads):
    return math.sqrt(sum(float((g[-1] ** 2).sum()) for g in grads))


def running_total(grads, max_norm):
    """The norm so far decides for each array."""
    total, clipped = 0.0, []
    for g in grads:
        total += float((g**2).sum())
        clipped.append(factor_of(math.sqrt(total), max_norm) * g)
    return clipped, math.sqrt(total)


def extends_grads(grads, max_norm):
    clipped, norm = right(grads, max_norm)
    grads += clipped
    return clipped, norm


EACH = "each_array_by_its_own_norm"


WRONG = {
    "own norms, listed": (own_norms_listed, f"{EACH} For clipped", ()),
    "own norms, the last": (own_norms_and_the_last, f"{EACH} For clipped", {ZERO}),
    "largest norm of rows": (
        with_norm(lambda gs: max(np.linalg.norm(np.atleast_2d(g), axis=1).max() for g in gs)),
        None,
        {ZERO},
    ),
    "squares of the last row": (with_norm(squares_of_the_last_row), None, {ZERO}),
    "mean square": (with_norm(lambda gs: float(np.mean([np.mean(g**2) for g in gs]))), None, {ZERO}),
    "sum of squared norms, one root too many": (
        with_norm(lambda gs: math.sqrt(norm_of(gs))),
        "after: square missing For norm",
        {ZERO},
    ),
    "root of the sum of norms": (with_norm(lambda gs: math.sqrt(sum(np.linalg.norm(g) for g in gs))), None, {ZERO}),
    "norm of the sum of all": (
        with_norm(lambda gs: abs(sum(float(g.sum()) for g in gs))),
        "added_before_squaring",
        {ZERO},
    ),
    "max abs": (with_norm(lambda gs: max(float(np.abs(g).max()) for g in gs)), "largest_instead_of_norm", {ZERO}),
    "doubled norm": (with_norm(lambda gs: 2 * norm_of(gs)), "doubled each entry of grads For norm", {ZERO}),
    "divided by the root of N": (
        with_norm(lambda gs: norm_of(gs) / math.sqrt(sum(g.size for g in gs))),
        "norm_averaged",
        {ZERO},
    ),
    "cubes": (with_norm(lambda gs: sum(float((abs(g) ** 3).sum()) for g in gs) ** (1 / 3)), None, {ZERO}),
    "epsilon in the root": (with_norm(lambda gs: math.sqrt(norm_of(gs) ** 2 + 1e-6)), "norm_with_a_number_added", ()),
    "the limit as the norm": (returning(lambda c, n, g, m: (c, m)), "after: is max_norm For norm", {CLIPPED}),
    "one over the norm": (returning(lambda c, n, g, m: (c, 1 / n if n else 0.0)), None, {CLIPPED, ZERO}),
    "the factor as the norm": (returning(lambda c, n, g, m: (c, factor_of(n, m))), None, {CLIPPED}),
    "whether it was clipped": (returning(lambda c, n, g, m: (c, n > m)), None, {CLIPPED}),
    "the squared norm returned": (
        returning(lambda c, n, g, m: (c, n * n)),
        "norm_without_the_root For norm",
        {CLIPPED, ZERO},
    ),
    "norm first": (returning(lambda c, n, g, m: (n, c)), "order", ()),
    "half the excess": (with_factor(lambda n, m: (n + m) / (2 * n) if n > m else 1.0), None, {NORM, ZERO}),
    "subtracts the limit": (with_factor(lambda n, m: (n - m) / n if n > m else 1.0), None, {NORM, ZERO}),
    "to the norm 1 if above 1": (
        with_factor(lambda n, m: 1 / n if n > 1 else 1.0),
        "altered input: one max_norm",
        {NORM, ZERO},
    ),
    "limit squared": (with_factor(lambda n, m: m**2 / n if n > m else 1.0), None, {NORM, ZERO}),
    "by the squared norm": (
        with_factor(lambda n, m: m / n**2 if n > m else 1.0),
        "divided_by_the_squared_norm",
        {NORM, ZERO},
    ),
    "root of the limit compared": (
        with_factor(lambda n, m: m / n if n * n > m else 1.0),
        "squared_norm_compared",
        {NORM, ZERO},
    ),
    "max for min": (with_factor(lambda n, m: max(1.0, m / n) if n else 1.0), "scaled_below_the_limit", {NORM, ZERO}),
    "not multiplied": (with_factor(lambda n, m: m if n > m else 1.0), "norm_left_out_of_the_factor", {NORM, ZERO}),
    "inverted, always": (with_factor(lambda n, m: n / m), None, {NORM, ZERO}),
    "float32": (returning(lambda c, n, g, m: ([x.astype("f4") for x in c], n)), None, {NORM}),
    "rounded": (returning(lambda c, n, g, m: ([x.round(2) for x in c], n)), None, {NORM, ZERO}),
    "negated": (returning(lambda c, n, g, m: ([-x for x in c], n)), "after: sign For clipped", {NORM, ZERO}),
    "signs lost": (returning(lambda c, n, g, m: ([abs(x) for x in c], n)), None, {NORM, ZERO}),
    "flat": (returning(lambda c, n, g, m: ([x.ravel() for x in c], n)), None, {NORM}),
    "one vector": (returning(lambda c, n, g, m: (np.concatenate([x.ravel() for x in c]), n)), None, {NORM}),
    "reversed": (returning(lambda c, n, g, m: (c[::-1], n)), "altered input: reversed grads", {NORM}),
    "lists inside": (returning(lambda c, n, g, m: ([x.tolist() for x in c], n)), None, {NORM}),
    "a generator": (returning(lambda c, n, g, m: ((x for x in c), n)), None, {NORM}),
    "forgets to collect": (forgets_to_collect, "never_clipped", {NORM, ZERO}),
    "returns within the loop": (returns_within_the_loop, None, {NORM}),
    "scaled twice": (scaled_twice, None, {NORM, ZERO}),
    "a running total": (running_total, "norm_of_the_arrays_so_far", {NORM, ZERO}),
    "extends grads": (extends_grads, "grads_changed_in_place", ()),
    "by value": (
        lambda grads, max_norm: ([g.clip(-max_norm, max_norm) for g in grads], norm_of(grads)),
        "limited_entry_by_entry",
        {NORM, ZERO},
    ),
    "raises for zero": (with_factor(lambda n, m: min(1, m / n)), "zero_division_raised", {NORM, CLIPPED}),
    "epsilon, PyTorch": (with_factor(lambda n, m: min(m / (n + 1e-6), 1.0)), "number_added_to_the_norm", {NORM, ZERO}),
    "epsilon, always": (with_factor(lambda n, m: m / (n + 1e-6)), "always_scaled_unless_zero", {NORM, ZERO}),
    "epsilon, another": (with_factor(lambda n, m: min(m / (n + 1e-5), 1.0)), None, {NORM, ZERO}),
}


def dot_products(grads, max_norm):
    norm = np.sqrt(sum(np.vdot(g, g) for g in grads))
    return [g * (max_norm / max(norm, max_norm)) for g in grads], norm


def by_reduce(grads, max_norm):
    norm = reduce(math.hypot, chain.from_iterable(g.ravel() for g in grads), 0.0)
    factor = max_norm / norm if norm >= max_norm else 1
    return [np.multiply(g, factor) for g in grads], norm


def with_np_where(grads, max_norm):
    norm = np.linalg.norm(np.hstack([np.ravel(g) for g in grads]))
    with np.errstate(all="ignore"):
        return [np.where(norm > max_norm, g * max_norm / norm, g) for g in grads], norm


def same_arrays_below(grads, max_norm):
    norm = math.sqrt(math.fsum(x * x for g in grads for x in g.flat))
    return (grads, norm) if norm <= max_norm else ([g / (norm / max_norm) for g in grads], norm)


RIGHT = [right, dot_products, by_reduce, with_np_where, same_arrays_below]

TRIALS.all_wrong(WRONG, earns=())
TRIALS.all_right(RIGHT)

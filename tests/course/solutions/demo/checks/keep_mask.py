"""An exercise whose result is random: no value is fixed, so `keep_mask_judge.py` judges."""

import numpy as np

from grader.author.spec import Case, Fixture, Output, Spec


def case(n, p, seed):
    return Case(sizes={"N": n}, inputs={"rng": Fixture("rng", {"seed": seed}), "n": n, "p": p})


def cases(rng):
    for n, p in ((4000, 0.2), (5000, 0.9), (3000, 0.35)):
        yield case(n, p, int(rng.integers(2**31)))


SPEC = Spec(outputs=[Output("mask", ("N",))], example=case(2000, 0.7, 1), cases=cases)


@SPEC.misconception()
def drops_with_p(rng, n, p):
    """Tempting because in dropout p is the probability to drop."""
    return (rng.random(n) >= p).astype(float)


@SPEC.misconception()
def one_draw_for_all(rng, n, p):
    """Tempting because rng.random() gives a number, and NumPy spreads it."""
    return np.full(n, float(rng.random() < p))


@SPEC.alternative
def by_binomial(rng, n, p):
    """NumPy's own distribution."""
    return rng.binomial(1, p, size=n).astype(float)

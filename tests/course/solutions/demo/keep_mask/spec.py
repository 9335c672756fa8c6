"""An exercise whose result is random: no value is fixed, so `judge.py` judges."""

from grader.spec.spec import Case, Fixture, Output, Spec, change


def case(n, p, seed):
    return Case(sizes={"N": n}, inputs={"rng": Fixture("rng", {"seed": seed}), "n": n, "p": p})


def cases(rng):
    for n, p in ((4000, 0.2), (5000, 0.9), (3000, 0.35)):
        yield case(n, p, int(rng.integers(2**31)))


SPEC = Spec(outputs=[Output("mask", ("N",))], example=case(2000, 0.7, 1), cases=cases)

SPEC.mistakes(
    {
        "drops_with_p": change("<", ">="),
        "one_draw_for_all": change("rng.random(n)", "rng.random(1).repeat(n)"),
    }
)


@SPEC.alternative
def by_binomial(rng, n, p):
    """NumPy's own distribution."""
    return rng.binomial(1, p, size=n).astype(float)

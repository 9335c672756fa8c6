"""How `perplexity` is checked: against PyTorch, in another order of the operations, and a closed form."""

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Output, Spec, change, instead

LONG = "a long text"


def oracle(token_nll):
    """The N-th root of each 1 / p, multiplied: every factor is an ordinary number."""
    nll = torch.from_numpy(token_nll)
    return torch.exp(nll / len(nll)).prod().item()


EXAMPLE = Case(sizes={"N": 3}, inputs={"token_nll": np.array([0.69, 2.30, 1.61])})


def case(token_nll, kind="ordinary"):
    return Case({"N": len(token_nll)}, {"token_nll": np.array(token_nll, dtype=np.float64)}, kind)


def cases(rng):
    for N in (5, 8, 12):
        yield case(rng.uniform(0, 5, size=N))
    yield case(rng.uniform(1, 3, size=1))  # one token
    yield case([*rng.uniform(0, 1, size=3), 0.0])  # one token was certain
    yield case([0.0])  # certain, and the only one
    yield case([*rng.uniform(0, 1, size=5), 25.0])  # one token was nearly impossible
    yield case(rng.uniform(0, 6, size=1500), LONG)
    yield case(rng.uniform(2, 4, size=2000), LONG)


SPEC = Spec(
    outputs=[Output("value")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[Facet("short texts", 3, kinds=("ordinary",)), Facet("long texts", 1, kinds=(LONG,))],
)
CODE = "float(np.exp(np.mean(token_nll)))"

SPEC.mistakes(
    {
        "mean_of_the_exponentials": [
            change(CODE, "float(np.mean(np.exp(token_nll)))"),
            change(CODE, "float(1 / np.mean(np.exp(-token_nll)))"),
        ],
        **instead(
            CODE,
            {
                "base_2": "float(2 ** np.mean(token_nll))",
                "base_10": "float(10 ** np.mean(token_nll))",
                "exponential_missing": "float(np.mean(token_nll))",
                "minus_too_many": "float(np.exp(-np.mean(token_nll)))",
            },
        ),
        "converted_to_bits": change(CODE, "float(np.exp(np.mean(token_nll) / np.log(2)))"),
        "sum_in_place_of_mean": [
            change(CODE, "float(np.exp(np.sum(token_nll)))"),
            change(CODE, "float(np.exp(np.minimum(np.sum(token_nll), 700)))"),
        ],
        "divided_by_one_less": [
            change(CODE, "float(np.exp(np.sum(token_nll) / (len(token_nll) - 1)))"),
            change(CODE, "float(np.exp(np.sum(token_nll) / max(len(token_nll) - 1, 1)))"),
            change(CODE, "float(np.exp(sum(token_nll.tolist()) / (len(token_nll) - 1)))"),
        ],
        "divided_by_one_more": change(CODE, "float(np.exp(np.sum(token_nll) / (len(token_nll) + 1)))"),
        "first_token_left_out": change(CODE, "float(np.exp(np.mean(token_nll[1:])))"),
        "last_token_left_out": change(CODE, "float(np.exp(np.mean(token_nll[:-1])))"),
        "logarithm_taken_again": [
            change(CODE, "float(np.exp(-np.mean(np.log(np.maximum(token_nll, 1e-300)))))"),
            change(CODE, "float(np.exp(-np.mean(np.log(token_nll))))"),
        ],
    }
)
SPEC.mistakes(
    {
        "product_of_probabilities": change(
            CODE, "float(np.float64(np.prod(np.exp(-token_nll))) ** (-1 / len(token_nll)))"
        ),
    },
    keeps=["short texts"],
)


@SPEC.alternative
def with_the_math_module(token_nll):
    """Python's own sum and exponential."""
    import math

    return math.exp(sum(token_nll.tolist()) / len(token_nll))


@SPEC.alternative
def as_powers_of_2(token_nll):
    """Base 2 with a mean in bits."""
    return 2.0 ** (token_nll / np.log(2)).mean()


@SPEC.alternative
def geometric_mean(token_nll):
    """The product of the N-th roots."""
    return np.prod(np.exp(token_nll) ** (1 / token_nll.size))

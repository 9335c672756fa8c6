"""How `perplexity` is checked: against PyTorch, in another order of the operations, and a closed form."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Output, Spec, change

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
    why=r"""
The mean negative log-likelihood is the cross-entropy in nats, and the exponential takes the logarithm back:
$\exp\big(-\frac{1}{N}\sum_t \ln p_t\big) = \big(\prod_t 1/p_t\big)^{1/N}$. This is the *geometric* mean of the numbers
$1/p_t$. In this form no product has to be computed, so nothing underflows, however long the text is.
If all V tokens are equally probable, each costs $\ln V$, and the perplexity is V.
""",
)

CODE = "float(np.exp(np.mean(token_nll)))"
SPEC.mistake(
    "mean_of_the_exponentials",
    "You take the exponential of each token first and the mean afterwards. Take the mean first: the "
    "perplexity is the exponential of *one* number, and otherwise a single improbable token would decide it.",
    change(CODE, "float(np.mean(np.exp(token_nll)))"),
    change(CODE, "float(1 / np.mean(np.exp(-token_nll)))"),
    tempts="`exp` and `mean` look as if they could be exchanged.",
)
SPEC.mistake(
    "base_2",
    "You raise 2 to the mean. `token_nll` is in nats, so use `np.exp`: 2 belongs to a mean in bits.",
    change(CODE, "float(2 ** np.mean(token_nll))"),
    tempts="In many texts perplexity is 2 to the cross-entropy, which is in bits there.",
)
SPEC.mistake(
    "converted_to_bits",
    "You convert the mean into bits, and then take the exponential. Base and unit belong together: `np.exp` of a mean "
    "in nats, without a conversion.",
    change(CODE, "float(np.exp(np.mean(token_nll) / np.log(2)))"),
    change(CODE, "float(np.exp(np.mean(token_nll) * np.log2(np.e)))"),
    tempts="The cross-entropy has just been converted into bits per character.",
)
SPEC.mistake(
    "sum_in_place_of_mean",
    "You take the exponential of the sum. Use the mean over the tokens, so that the length of the text does not "
    "matter.",
    change(CODE, "float(np.exp(np.sum(token_nll)))"),
    change(CODE, "float(np.exp(np.minimum(np.sum(token_nll), 700)))"),
    tempts="The log-likelihood of a text is a sum.",
)
SPEC.mistake(
    "exponential_missing",
    "You return the mean negative log-likelihood, which is the cross-entropy in nats. The perplexity is its "
    "exponential.",
    change(CODE, "float(np.mean(token_nll))"),
    tempts="Cross-entropy and perplexity say the same, on two scales.",
)
SPEC.mistake(
    "minus_too_many",
    "You reverse the sign of the mean. It is in `token_nll` already, the *negative* log-likelihood; as it is, you "
    "compute 1 / perplexity.",
    change(CODE, "float(np.exp(-np.mean(token_nll)))"),
    tempts="In the formula there is a minus before the logarithm.",
)
SPEC.mistake(
    "logarithm_taken_again",
    "You treat `token_nll` as probabilities and take their logarithms again. The logarithm has been taken: only the "
    "mean and the exponential are left.",
    change(CODE, "float(np.exp(-np.mean(np.log(np.maximum(token_nll, 1e-300)))))"),
    change(CODE, "float(np.exp(-np.mean(np.log(token_nll))))"),
    tempts="Definitions of perplexity begin with the probabilities.",
)
SPEC.mistake(
    "product_of_probabilities",
    "You multiply the probabilities of all tokens. In a long text the product is too small for a float, and its root "
    "is wrong. Take the mean of the logarithms, which are ordinary numbers.",
    change(CODE, "float(np.float64(np.prod(np.exp(-token_nll))) ** (-1 / len(token_nll)))"),
    change(CODE, "float(np.float64(np.exp(-np.sum(token_nll))) ** (-1 / len(token_nll)))"),
    change(CODE, "float(np.float64(np.prod(np.exp(token_nll))) ** (1 / len(token_nll)))"),
    change(CODE, "float(np.float64(np.exp(np.sum(token_nll))) ** (1 / len(token_nll)))"),
    tempts="'The N-th root of the inverse probability of the text' is the textbook definition.",
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

"""Programs that the spec of `perplexity` does not contain; beside each wrong one is what it is told."""

import math

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


@TRIALS.wrong("mean_of_the_exponentials")
def inverse_probabilities(token_nll):
    return np.mean(1 / np.exp(-token_nll))


@TRIALS.wrong("base_2")
def powers_of_2(token_nll):
    return np.exp2(np.mean(token_nll))


@TRIALS.wrong("product_of_probabilities")
def root_of_the_product(token_nll):
    with np.errstate(divide="ignore"):
        return (1 / np.prod(np.exp(-token_nll))) ** (1 / len(token_nll))


@TRIALS.wrong("exponential_missing")
def cross_entropy(token_nll):
    return token_nll.sum() / len(token_nll)


@TRIALS.right
def python_sum(token_nll):
    return math.exp(math.fsum(token_nll) / len(token_nll))


@TRIALS.right
def e_to_the_mean(token_nll):
    return math.e ** token_nll.mean()


@TRIALS.wrong("divided_by_one_less")
def one_less(token_nll):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.exp(token_nll.mean() * len(token_nll) / np.float64(len(token_nll) - 1))


@TRIALS.wrong("first_token_left_out")
def from_the_second(token_nll):
    total = sum(token_nll[t] for t in range(1, len(token_nll)))
    return np.exp(np.divide(total, len(token_nll) - 1))


@TRIALS.wrong("divided_by_one_more")
def one_more(token_nll):
    return np.exp(token_nll.sum() / (len(token_nll) + 1))


@TRIALS.wrong()
def median(token_nll):
    return np.exp(np.median(token_nll))

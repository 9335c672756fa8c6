"""How `variational_dropout_mask` is checked: by the form, values, source and distribution of many masks, which
`variational_dropout_mask_judge.py` judges.

No value is fixed, because there are many ways to draw a mask. In each case the function is called several times with
one generator, and then again with a new one of the same seed.
"""

import numpy as np

from grader.author.spec import Case, Facet, Fixture, Output, Spec, change


def case(B, size, p, draws, seed):
    inputs = {"rng": Fixture("rng", {"seed": seed}), "batch_size": B, "size": size, "p": p, "draws": draws}
    return Case({"B": B, "size": size}, inputs, kind="ordinary" if p else "p is 0")


def cases(rng):
    for B, size, p, draws in (
        (3, 4, 0.25, 600),
        (1, 5, 0.4, 600),
        (4, 1, 0.3, 600),
        (2, 3, 0.0, 50),
        (5, 8, 0.8, 400),
        (3, 40, 0.1, 200),
    ):
        yield case(B, size, p, draws, int(rng.integers(2**31)))


SPEC = Spec(
    driver="draws",
    outputs=[Output("mask")],
    example=case(2, 5, 0.2, 600, seed=5),
    cases=cases,
    facets=[Facet("values", 1, outputs=("mask",)), Facet("distribution", 1, outputs=("distribution",))],
    why=r"""
A number that is uniformly distributed between 0 and 1 is at least $p$ with probability $1 - p$, and each entry gets a
number of its own, so the entries are independent. An entry is $1 / (1 - p)$ with probability $1 - p$ and otherwise 0,
so its mean is 1: on average, a masked input is the input itself, and nothing has to be scaled when the network is used
without dropout. The axis of length 1 broadcasts over time, so every step of a sequence gets the same mask.
""",
)

KEEP = "rng.random(size=(batch_size, 1, size)) >= p"
RETURN = "return keep / (1 - p)"
SPEC.mistake(
    "not_scaled",
    "Your masks contain 0 and 1. Divide by 1 − p, so that the mean of every entry is 1: otherwise the inputs of a "
    "layer are smaller in training than afterwards, when nothing is dropped.",
    change(RETURN, "return keep.astype(float)"),
    tempts="Zeros and ones are all that 'dropping' needs.",
    keeps=("distribution",),
)
SPEC.mistake(
    "truth_values_returned",
    "Your masks contain True and False. Divide them by 1 − p, which turns them into numbers: 0, and the factor that "
    "keeps the mean of every entry the same.",
    change(RETURN, "return keep"),
    tempts="A mask in NumPy is an array of truth values.",
)
SPEC.mistake(
    "multiplied_by_1_minus_p",
    "You multiply the entries that are kept by 1 − p. Divide by 1 − p: they have to become larger, to make up for "
    "those that are dropped.",
    change(RETURN, "return keep * (1 - p)"),
    tempts="The first form of dropout multiplies by 1 − p, but after training, not in the mask.",
    keeps=("distribution",),
)
SPEC.mistake(
    "divided_by_p",
    "You divide the entries that are kept by p, the probability that an entry is dropped. Divide by the probability "
    "that it is kept, 1 − p: then the mean of every entry is 1.",
    change(RETURN, "return keep / p"),
    tempts="In some texts p is the probability that an entry is kept.",
)
SPEC.mistake(
    "kept_with_probability_p",
    "You keep an entry with probability p. Here p is the probability that it becomes 0, so keep it with probability "
    "1 − p: a uniform number between 0 and 1 is *below* p with probability p.",
    change(">= p", "< p"),
    change(KEEP, "rng.binomial(1, p, size=(batch_size, 1, size))"),
    tempts="`rng.random(…) < p` is the usual way to draw an event of probability p.",
    keeps=("values",),
)
SPEC.mistake(
    "p_taken_as_the_share_that_is_kept",
    "You keep an entry with probability p, and the entries that stay are not 1 / (1 − p). Here p is the probability "
    "that an entry becomes 0: keep it with probability 1 − p, and divide by 1 − p.",
    change(">= p", "< p", (RETURN, "return keep / p")),
    change(">= p", "< p", (RETURN, "return keep.astype(float)")),
    tempts="In some texts p is the probability that an entry is kept.",
)
SPEC.mistake(
    "one_mask_for_the_batch",
    "All sequences of the batch get the same mask. Draw separate numbers for each sequence: the first axis has length "
    "B, only the time axis has length 1.",
    change("size=(batch_size, 1, size)", "size=(1, 1, size)"),
    change(RETURN, "return np.repeat(keep[:1], batch_size, axis=0) / (1 - p)"),
    tempts="One mask for all steps is asked for, and one for everything seems to be the same.",
)
SPEC.mistake(
    "one_number_for_all_units",
    "All entries of a sequence are kept or dropped together. Draw a separate number for each of the `size` entries.",
    change("size=(batch_size, 1, size)", "size=(batch_size, 1, 1)"),
    change(RETURN, "return np.repeat(keep[:, :, :1], size, axis=2) / (1 - p)"),
    tempts="One mask for each sequence reads like one number for each sequence.",
)
SPEC.mistake(
    "time_axis_missing",
    "Your masks have two axes. Add an axis of length 1 in the middle, (B, 1, size): without it, `x * mask` aligns the "
    "sequences of the batch with the steps.",
    change("size=(batch_size, 1, size)", "size=(batch_size, size)"),
    tempts="A mask has a row for each sequence, and nothing depends on time.",
)
SPEC.mistake(
    "axes_in_another_order",
    "The axes of your masks are in another order. Time is the middle axis, (B, 1, size), so that `x * mask` repeats "
    "each mask along time.",
    change("size=(batch_size, 1, size)", "size=(1, batch_size, size)"),
    change("size=(batch_size, 1, size)", "size=(batch_size, size, 1)"),
    tempts="Time comes first in other libraries, and a new axis is often added at the end.",
)
SPEC.mistake(
    "number_of_zeros_fixed",
    "You drop the same number of entries every time, so the entries are not independent. Decide for each entry by "
    "itself, with a random number of its own, so that the number of zeros varies.",
    change(
        KEEP,
        "rng.random(size=(batch_size, 1, size)).argsort(axis=2) >= round(p * size)",
    ),
    change(
        KEEP,
        "rng.permutation(np.arange(batch_size * size) >= int(p * batch_size * size)).reshape(batch_size, 1, size)",
    ),
    tempts="'A share p of the entries' sounds like a fixed number of them.",
    keeps=("values",),
)
SPEC.mistake(
    "divided_by_the_share_that_was_kept",
    "You divide by the share of entries that happened to be kept, which differs from mask to mask. Divide by 1 − p, "
    "the probability that an entry is kept.",
    change(RETURN, "return keep / keep.mean()"),
    change(RETURN, "return keep / keep.mean(axis=2, keepdims=True)"),
    tempts="It makes the mean of each mask exactly 1.",
)
SPEC.mistake(
    "numbers_not_from_rng",
    "Not all your random numbers come from `rng`. Call its methods, such as `rng.random`, and no other source, neither "
    "`np.random.…` nor a generator of your own: otherwise an experiment cannot be repeated by choosing its seed.",
    change("rng.random", "np.random.random"),
    change("rng.random", "np.random.default_rng().random"),
    tempts="`np.random.rand` is what many examples show.",
)
SPEC.mistake(
    "same_mask_every_time",
    "You return the same mask at every call. Draw new numbers from `rng` each time: it continues where the previous "
    "call stopped, whereas a generator with a fixed seed inside the function would start from the beginning.",
    change("rng.random", "np.random.default_rng(0).random"),
    change("keep =", "np.random.seed(0)\nkeep =", ("rng.random", "np.random.random")),
    tempts="A seed makes results reproducible, and inside the function it seems to be at the right place.",
)


@SPEC.alternative
def from_the_binomial_distribution(rng, batch_size, size, p):
    """Draw zeros and ones directly."""
    return rng.binomial(1, 1 - p, size=(batch_size, 1, size)) / (1 - p)


@SPEC.alternative
def chosen(rng, batch_size, size, p):
    """Draw each entry from the two values, and add the axis of time at the end."""
    return rng.choice([0.0, 1 / (1 - p)], p=[p, 1 - p], size=(batch_size, size))[:, None, :]


@SPEC.alternative
def entry_by_entry(rng, batch_size, size, p):
    """A loop over all entries."""
    mask = np.ones((batch_size, 1, size))
    for b in range(batch_size):
        for j in range(size):
            mask[b, 0, j] = 0.0 if rng.uniform() < p else 1.0 / (1.0 - p)
    return mask

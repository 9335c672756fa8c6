"""Judge random dropout masks: their form, their values, the generator they come from, and their distribution.

Every test of the distribution compares a mean with its exact value for independent entries that are 0 with probability
p. It fails beyond a bound from Bernstein's inequality, which holds for every number of calls: a right function exceeds
it with probability RISK at most, however it is written. The largest case has about 7,000 such tests, mostly of pairs of
entries, so a right function fails a case with a probability below 1e-10.
"""

from math import erf, sqrt

import numpy as np

from grader.checking.case import Observation
from grader.checking.describe import describe
from grader.checking.verdict import Problem

PRECISION = 1e-9  # of an entry that is not 0
RISK = 1e-14  # that a right function exceeds the bound of one test
VALUES, DISTRIBUTION = "mask", "distribution"  # the outputs by which the facets know their problems


def judge(case, observation):
    """What is wrong with the form, the values or the source, and with the distribution of the zeros."""
    text = form_problem(case, observation.result)
    if text:
        return [Problem("judge", text)]
    masks = np.array(observation.result)[:, :, 0]  # (calls, B, size)
    text = source_problem(case, observation) or copies_problem(case, masks)
    if text:
        return [Problem("judge", text)]
    found = {VALUES: value_problem(case, masks), DISTRIBUTION: distribution_problem(case.inputs["p"], masks == 0)}
    return [Problem("judge", text, output) for output, text in found.items() if text]


def largest(case):
    """Results of the right size, in both runs."""
    masks = [np.zeros(shape_of(case))] * case.inputs["draws"]
    return Observation(masks, calls={"again": masks, "rng": ["drawn"]})


# Form, values and source ----------------------------------------------------------------------------------------------


def shape_of(case):
    return case.inputs["batch_size"], 1, case.inputs["size"]


def form_problem(case, results):
    calls = case.inputs["draws"]
    if not isinstance(results, list) or len(results) != calls:
        return f"{calls} results, one for each call; got {describe(results)}"
    for k, result in enumerate(results):
        if result is None:
            return "a mask, but your function returned None. Does it end with `return`?"
        if not (isinstance(result, np.ndarray) and result.shape == shape_of(case) and result.dtype == np.float64):
            return f"call {k}: a float64 array of shape {shape_of(case)}; got {describe(result)}"
        if not np.isfinite(result).all():
            return f"call {k}: finite numbers; got {result[~np.isfinite(result)][0]}"
    return ""


def value_problem(case, masks):
    p = case.inputs["p"]
    kept = 1 / (1 - p)
    wrong = (masks != 0) & (np.abs(masks - kept) > PRECISION * kept)
    if not wrong.any():
        return ""
    k, b, j = (int(index) for index in np.argwhere(wrong)[0])
    return f"call {k}: each entry is 0 or 1 / (1 − p) = {kept:.10g}; entry [{b}, 0, {j}] is {masks[k, b, j]:.10g}"


def source_problem(case, observation):
    if case.inputs["p"] == 0:
        return ""  # nothing needs to be drawn
    if not repeated(observation):
        return "the same masks again from a new generator with the same seed; they were others"
    if case.inputs["size"] > 1 and not drawn(observation):
        return "masks that are drawn from `rng`; nothing was drawn from it"
    return ""


def copies_problem(case, masks):
    """Whether all sequences of every mask, or all units, are equal."""
    if case.inputs["p"] == 0 or same_everywhere(masks):
        return ""
    if sequences_alike(masks):
        return "another mask for each sequence of the batch; in every call, all sequences have the same mask"
    return "a number for each unit; in every call, all units of a sequence have the same number" * units_alike(masks)


def same_everywhere(masks):
    return bool((masks == masks[0]).all())


def one_mask_at_every_call(masks):
    """Whether the masks are all the same, and not because every entry is kept or dropped."""
    return same_everywhere(masks) and len(np.unique(masks)) > 1


def sequences_alike(masks):
    return masks.shape[1] > 1 and bool((masks == masks[:, :1]).all())


def units_alike(masks):
    return masks.shape[2] > 1 and bool((masks == masks[:, :, :1]).all())


def repeated(observation):
    """Whether a new generator with the same seed gave the same results."""
    again = observation.calls.get("again", [])
    return all(
        isinstance(second, np.ndarray) and first.shape == second.shape and np.allclose(first, second, rtol=PRECISION)
        for first, second in zip(observation.result, again, strict=False)
    )


def drawn(observation):
    return "drawn" in observation.calls.get("rng", [])


# Distribution ---------------------------------------------------------------------------------------------------------


def bounds(samples, mean, variance, low, high):
    """The least and the largest mean that is accepted, by Bernstein's inequality, of so many independent samples from
    a distribution with this mean and variance between `low` and `high`.
    """
    log = np.log(2 / RISK)

    def deviation(reach):
        """The t with samples · t² / (2 · variance + 2/3 · reach · t) = log."""
        b = log * 2 / 3 * reach
        return (b + np.sqrt(b * b + 8 * samples * log * variance)) / (2 * samples)

    return mean - deviation(mean - low), mean + deviation(high - mean)


def tests(p, zeros):
    """The tests of the masks' zeros (calls, B, size): each a text, the measured means, and what `bounds` needs. In the
    text, `{0}`, `{1}`, … are the place among the means and `{got}` is the mean there.
    """
    calls, B, size = zeros.shape
    q, off = 1 - p, zeros - p
    flat, most = off.reshape(calls, B * size), max(p, q)
    products = flat.T @ flat / calls  # (B · size, B · size)
    np.fill_diagonal(products, 0)

    def number(off, what):
        """The test of the variance of the number of zeros, whose deviations from the mean are sums along axis 1."""
        n, squares = off.shape[1], off.sum(axis=1) ** 2
        fourth = p * q * (p**3 + q**3)  # of one entry
        spread = n * fourth + 3 * n * (n - 1) * (p * q) ** 2 - (n * p * q) ** 2
        return (
            f"a number of zeros in {what} that varies, with the variance {n * p * q:.2f}; yours has {{got:.2f}}",
            squares.mean(),
            (squares.size, n * p * q, spread, 0, (n * most) ** 2),
        )

    return (
        (
            f"a share of zeros of p = {p:g}; over all entries and calls it is {{got:.3f}}",
            zeros.mean(),
            (zeros.size, p, p * q, 0, 1),
        ),
        (
            f"each entry 0 in a share p = {p:g} of the calls; for entry [{{0}}, 0, {{1}}] it is {{got:.3f}}",
            zeros.mean(axis=0),
            (calls, p, p * q, 0, 1),
        ),
        (
            "independent entries; [{0}, 0, {1}] and [{2}, 0, {3}] are too often "
            f"{'alike' if (products > 0).any() and products.max() > -products.min() else 'different'}",
            products.reshape(B, size, B, size),
            (calls, 0, (p * q) ** 2, -p * q, most**2),
        ),
        number(off.reshape(calls * B, size), "each row"),
        number(flat, "each mask"),
    )


def distribution_problem(p, zeros):
    if p == 0:
        return f"no zeros with p = 0; {zeros.mean():.0%} of your entries are 0" if zeros.any() else ""
    for text, means, given in tests(p, zeros):
        means, (low, high) = np.asarray(means), bounds(*given)
        wrong = (means < low) | (means > high)
        if wrong.any():
            place = [int(index) for index in np.argwhere(wrong)[0]]
            return text.format(*place, got=means[tuple(place)])
    return ""


# Mistakes -------------------------------------------------------------------------------------------------------------
# Each matches a case if the case shows it.


def of_masks(match):
    """A match for finite results of the right form: `match(case, observation, masks)` decides."""

    def matches(case, observation):
        if form_problem(case, observation.result):
            return False
        return bool(match(case, observation, np.array(observation.result)[:, :, 0]))

    return matches


def of_shape(*shapes):
    """A match for arrays that all have the first of these shapes that is not the right one: `shape(B, size)` each."""

    def matches(case, observation):
        B, _, size = shape_of(case)
        allowed = [shape for shape in (shape(B, size) for shape in shapes) if shape != (B, 1, size)]
        return any(_have(observation.result, shape) for shape in allowed)

    return matches


def either(*matches):
    return lambda case, observation: any(each(case, observation) for each in matches)


def _have(results, shape):
    return isinstance(results, list) and all(isinstance(r, np.ndarray) and r.shape == shape for r in results)


def _entries(case, observation):
    """All entries of arrays of the right shape as float64, not finite ones too; empty for other results."""
    results = observation.result
    if not _have(results, shape_of(case)) or any(r.dtype.kind not in "if" for r in results):
        return np.zeros((0, *shape_of(case)))
    return np.array(results, dtype=np.float64)


def kept_as(value, share=lambda p: p):
    """A match for masks with this share of zeros whose other entries are all `value(p)`."""

    def matches(case, observation):
        entries, p = _entries(case, observation), case.inputs["p"]
        kept = entries[entries != 0]
        if not len(kept) or not (p == 0 or repeated(observation)):
            return False
        if p == 0 and not np.isfinite(kept).all():
            return value(p) == np.inf
        right_share = share(p) == 0 or _share_is(share(p), entries == 0)
        return bool(np.allclose(kept, value(p), rtol=PRECISION) and right_share)

    return matches


def _share_is(p, zeros):
    low, high = bounds(zeros.size, p, p * (1 - p), 0, 1)
    return low <= zeros.mean() <= high


def kept_with_probability_p(scaled):
    """A match for a share of zeros of 1 − p, with the other entries 1 / (1 − p), or not so. With p = 0, all entries are
    then 0, or 0 / 0 if they are divided by p.
    """

    def matches(case, observation):
        entries, p = _entries(case, observation), case.inputs["p"]
        if not len(entries) or (p > 0 and not repeated(observation)):
            return False
        if p == 0:
            return not entries.any() or (bool(np.isnan(entries).all()) and not scaled)
        if not _share_is(1 - p, entries == 0) or _share_is(p, entries == 0) or same_everywhere(entries):
            return False
        return (value_problem(case, entries[:, :, 0]) == "") == scaled

    return matches


def own_share(case, observation):
    """Whether the entries of each mask, or of each row, have the mean 1; if none of them is kept, they are NaN."""
    entries, p = _entries(case, observation), case.inputs["p"]
    if not len(entries) or p == 0 or not value_problem(case, np.nan_to_num(entries[:, :, 0], nan=-1)):
        return False
    means = [entries.mean(axis=axes) for axes in ((1, 2, 3), 3)]
    return any(bool((np.isnan(mean) | (np.abs(mean - 1) < PRECISION)).all()) for mean in means) and bool(
        (np.isnan(entries) | (entries >= 0)).all()
    )


def copies(alike):
    return of_masks(lambda case, observation, masks: alike(masks) and not same_everywhere(masks))


def _number_fixed(case, observation, masks):
    """Whether the number of zeros is the same in every mask, and they are at different places."""
    if source_problem(case, observation) or value_problem(case, masks) or one_mask_at_every_call(masks):
        return False
    numbers = (masks == 0).sum(axis=2)
    return (numbers == numbers[0, 0]).all() or (numbers.sum(axis=1) == numbers[0].sum()).all()


def _other_source(case, observation, masks):
    return bool(source_problem(case, observation)) and not same_everywhere(masks)


def _same_every_time(case, observation, masks):
    return case.inputs["p"] > 0 and same_everywhere(masks)


MATCHES = {
    "not_scaled": kept_as(lambda p: 1.0),
    "truth_values_returned": lambda case, observation: (
        _have(observation.result, shape_of(case)) and all(r.dtype == bool for r in observation.result)
    ),
    "multiplied_by_1_minus_p": kept_as(lambda p: 1 - p),
    "divided_by_p": kept_as(lambda p: 1 / p if p else np.inf),
    "numbers_not_uniform": kept_as(lambda p: 1 / (1 - p), share=lambda p: (1 + erf(p / sqrt(2))) / 2),
    "kept_with_probability_p": kept_with_probability_p(scaled=True),
    "p_taken_as_the_share_that_is_kept": kept_with_probability_p(scaled=False),
    "one_mask_for_the_batch": either(of_shape(lambda B, size: (1, 1, size)), copies(sequences_alike)),
    "one_number_for_all_units": either(of_shape(lambda B, size: (B, 1, 1)), copies(units_alike)),
    "time_axis_missing": of_shape(lambda B, size: (B, size)),
    "axes_in_another_order": either(of_shape(lambda B, size: (1, B, size)), of_shape(lambda B, size: (B, size, 1))),
    "number_of_zeros_fixed": of_masks(_number_fixed),
    "divided_by_the_share_that_was_kept": own_share,
    "numbers_not_from_rng": of_masks(_other_source),
    "same_mask_every_time": of_masks(_same_every_time),
}

"""Programs that the spec of `relative_error` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


def errors(a, b):
    size = np.abs(a) + np.abs(b)
    return np.abs(a - b) / np.where(size > 0, size, 1)


WRONG = {
    "the smallest": (lambda a, b: errors(a, b).min(), set()),
    "the median": (lambda a, b: np.median(errors(a, b)), set()),
    "twice": (lambda a, b: 2 * errors(a, b).max(), {"constant_factor"}),
    "of squares": (
        lambda a, b: ((a - b) ** 2 / np.where(a**2 + b**2 > 0, a**2 + b**2, 1)).max(),
        {"sizes_squared_too"},
    ),
    "absolute where one is zero": (lambda a, b: np.where(a * b, errors(a, b), np.abs(a - b)).max(), set()),
    "nothing where b is zero": (lambda a, b: np.where(b, errors(a, b), 0).max(), {"left_out_where_one_is_zero"}),
    "nothing where all are close": (lambda a, b: 0.0 if np.allclose(a, b) else errors(a, b).max(), {"zero_if_close"}),
    "one where both are zero": (lambda a, b: 1.0 if (a == b).any() else errors(a, b).max(), {"one_for_zero"}),
    "as text": (lambda a, b: str(errors(a, b).max()), set()),
    "an array of one": (lambda a, b: errors(a, b).max(keepdims=True), {"after: squeeze missing"}),
    "at the largest difference": (
        lambda a, b: errors(a, b).flat[np.abs(a - b).argmax()],
        {"entry_of_the_largest_difference"},
    ),
    "the first entry": (lambda a, b: errors(a, b).flat[0], {"one_entry_only"}),
    "of the first row": (lambda a, b: errors(a, b)[0].max(), set()),
    "nan to one": (
        lambda a, b: np.nan_to_num(np.abs(a - b) / (np.abs(a) + np.abs(b)), nan=1.0).max(),
        {"one_for_zero"},
    ),
    "changes a": (lambda a, b: (a.__isub__(b), errors(a + b, b).max())[1], set()),
    "float32": (lambda a, b: errors(a, b).max().astype("f4"), {"float32", "lost_precision"}),
}


RIGHT = {
    "a loop, and perhaps the integer 0": lambda a, b: max(
        abs(x - y) / (abs(x) + abs(y)) if x != y else 0 for x, y in zip(a.flat, b.flat, strict=True)
    ),
    "masked": lambda a, b: (
        float(np.ma.masked_invalid(np.abs(a - b) / (np.abs(a) + np.abs(b))).max(fill_value=0) or 0)
        if (a != b).any()
        else 0
    ),
}


def masked(a, b):
    both = (a != 0) * (b != 0)
    a, b = a[both], b[both]
    return (np.abs(a - b) / (np.abs(a) + np.abs(b))).max(initial=0)


def masked_and_empty(a, b):
    both = a * b != 0
    return max(np.abs(a - b)[both] / (np.abs(a) + np.abs(b))[both])


def in_a_loop_unless_one_is_zero(a, b):
    worst = 0.0
    for x, y in zip(a.flat, b.flat, strict=True):
        if x == 0 or y == 0:
            continue
        worst = max(worst, abs(x - y) / (abs(x) + abs(y)))
    return worst


def in_a_loop_above(floor):
    def error(a, b):
        worst = 0.0
        for x, y in zip(a.flat, b.flat, strict=True):
            if abs(x) + abs(y) > floor:
                worst = max(worst, abs(x - y) / (abs(x) + abs(y)))
        return worst

    return error


NAMED_RELATIVE_ERROR = {
    "b minus a": (lambda a, b: np.nan_to_num((b - a) / (np.abs(a) + np.abs(b))).max(), "sign_kept_in_numerator"),
    "a mask": (masked, "left_out_where_one_is_zero"),
    "a mask that may be empty": (masked_and_empty, "left_out_where_one_is_zero"),
    "a loop with continue": (in_a_loop_unless_one_is_zero, "left_out_where_one_is_zero"),
    "nothing below 1e-10": (in_a_loop_above(1e-10), "floor_in_denominator"),
    "nothing below 1e-30": (in_a_loop_above(1e-30), "floor_in_denominator"),
    "a floor of 1e-12": (
        lambda a, b: (np.abs(a - b) / (np.abs(a) + np.abs(b)).clip(1e-12)).max(),
        "floor_in_denominator",
    ),
    "a floor of 1e-20": (
        lambda a, b: (np.abs(a - b) / (np.abs(a) + np.abs(b)).clip(1e-20)).max(),
        "floor_in_denominator",
    ),
    "the machine's eps": (
        lambda a, b: (np.abs(a - b) / (np.finfo(a.dtype).eps + np.abs(a) + np.abs(b))).max(),
        "floor_in_denominator",
    ),
}

TRIALS.all_wrong({title: (program, {None, *true}) for title, (program, true) in WRONG.items()})
TRIALS.all_wrong(NAMED_RELATIVE_ERROR)
TRIALS.all_right(RIGHT)

"""Numbers in a report: short, distinguishable, and equal if only the last bits differ."""

import numpy as np
import pytest

from grader.checking.case import DEFAULT_TOLERANCE, Tolerance
from grader.checking.numbers import distinguish, in_few_digits, number_text, rounded

NONE = Tolerance(0, 0)


@pytest.mark.parametrize(
    ("got", "expected", "texts"),
    [
        (0.12345678, 0.43, ("0.1235", "0.43")),
        (0.12345678, 0.12349, ("0.123457", "0.12349")),
        (0.226028338, 0.226028352, ("0.2260283", "0.2260284")),
        (1.00000002, 1.0, ("1.00000002", "1")),
        (1e-30, 0.25, ("0", "0.25")),
        (3, 5, ("3", "5")),
        (True, False, ("True", "False")),
        (1 + 2j, 1 + 3j, ("1+2j", "1+3j")),
        (np.nan, 1.0, ("nan", "1")),
        (-np.inf, 1.0, ("-inf", "1")),
        (-0.0, 0.5, ("0", "0.5")),
        (1.0, 1.0 + 1e-12, ("1", "1")),  # equal to the judge: no noise is written
        (np.float32(0.1), np.float32(0.10001), ("0.1", "0.10001")),
        (np.float32(0.1), np.float32(0.1000001), ("0.1", "0.1")),
    ],
)
def test_two_numbers_are_told_apart_in_as_few_digits_as_it_takes(got, expected, texts):
    assert distinguish(got, expected) == texts


@pytest.mark.parametrize(
    ("got", "expected", "texts"),
    [
        (1.0000000001, 1.0, ("1.0000000001", "1")),
        (1.0, np.nextafter(1.0, 2), ("1", "1.0000000000000002")),
        (1e-30, 0.0, ("1e-30", "0")),
    ],
)
def test_where_nothing_is_tolerated_every_digit_may_be_needed(got, expected, texts):
    assert distinguish(got, expected, NONE) == texts


def around(number, dtype=np.float64):
    """The number, and the ones just beside it."""
    number = dtype(number)
    return [np.nextafter(number, dtype(-np.inf)), number, np.nextafter(number, dtype(np.inf))]


@pytest.mark.parametrize("tie", [0.14915, 0.311250, -2.00005, 0.28125, 1234.5, 1e-7 + 5e-11, 21.0])
def test_a_tie_is_written_alike_whatever_the_last_bit_is(tie):
    assert len({distinguish(number, 7.0) for number in around(tie)}) == 1
    assert len({number_text(number) for number in around(tie)}) == 1
    assert len({number_text(number) for number in around(tie + 5e-7)}) == 1
    assert len({distinguish(number, np.float32(7)) for number in around(tie, np.float32)}) == 1


@pytest.mark.parametrize(
    ("number", "due", "text"),
    [
        (1 / 3, None, "0.333333"),
        (21.000000000000032, None, "21.0"),
        (21.000000000000032, 21.0, "21.0"),
        (0.599999994, 0.6, "0.59999999"),
        (0.599999994, np.array(0.6), "0.59999999"),
        (0.599999994, np.array([0.6]), "0.6"),
        (0.599999994, "a text", "0.6"),
        (-0.0, None, "0.0"),
        (np.float32(0.1), None, "0.1"),
        (np.int64(2**60), None, str(2**60)),
        (True, None, "True"),
        (np.nan, 0.5, "nan"),
        (1 / 3 + 2j, None, "(0.333333+2j)"),
    ],
)
def test_what_came_back_is_shown_in_six_digits_or_told_from_what_is_due(number, due, text):
    assert number_text(number, due, DEFAULT_TOLERANCE) == text


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (np.array([[1 / 3, 2.0], [0.05, -1e-40]]), [[0.333333, 2.0], [0.05, -1e-40]]),
        (np.array([1, 2]), [1, 2]),
        (np.array([True]), [True]),
        (np.array(0.5), 0.5),
        (0.999999999, 0.999999999),
        (1234567.8, 1234567.8),
        (1234567.0, 1234567.0),
        (2.0**-15, 3.05176e-05),
        ([0.123456789, "a"], [0.123457, "a"]),
        (float("inf"), float("inf")),
        (None, None),
        (7, 7),
    ],
)
def test_an_input_is_rounded_but_never_to_a_whole_number(value, written):
    assert in_few_digits(value) == written
    assert type(in_few_digits(value)) is type(written)


def test_rounding_keeps_the_two_parts_of_a_complex_number():
    assert rounded(np.complex64(1 / 3 + 2j)) == 0.333333 + 2j

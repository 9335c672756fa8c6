"""Small arrays side by side, and what is printed while a function is checked."""

import numpy as np
import pytest

from grader import check
from grader.checking.beside import side_by_side
from grader.checking.case import DEFAULT_TOLERANCE
from grader.checking.printing import first_case_only

MATRIX = np.array([[1.0, 2.5], [3.0, -4.0]])


def beside(expected, got):
    return side_by_side(np.asarray(expected), got, DEFAULT_TOLERANCE)


def test_the_rows_of_a_matrix():
    assert beside(MATRIX, MATRIX + np.array([[0, 0], [0, 0.5]])) == (
        "          yours     expected",
        "[0]     1   2.5       1  2.5",
        "[1]     3  -3.5  ≠    3   -4",
    )


def test_the_entries_of_a_vector():
    assert beside([1, 2], np.array([1, 3])) == (
        "     yours     expected",
        "[0]      1            1",
        "[1]      3  ≠         2",
    )


def test_more_axes_have_their_indices():
    expected = np.arange(4.0).reshape(2, 1, 2)
    assert [line.split()[:2] for line in beside(expected, expected + 1)][1:] == [["[0,", "0]"], ["[1,", "0]"]]


def test_numbers_that_four_digits_do_not_tell_apart_have_more():
    (_, first, _) = beside([1.0, 2.0], np.array([1.0000001, 2.0]))
    assert first.split() == ["[0]", "1.0000001", "≠", "1"]


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (np.zeros((9, 2)), np.ones((9, 2))),
        (np.zeros((2, 5)), np.ones((2, 5))),
        (np.zeros(9), np.ones(9)),
        (np.zeros(1), np.ones(1)),
        (np.zeros((2, 2)), np.ones((2, 3))),
        (np.zeros((2, 2)), [[1, 1], [1, 1]]),
        (1.0, 2.0),
        (np.array(["a", "b"]), np.array(["a", "c"])),
    ],
)
def test_what_is_large_or_no_pair_of_arrays_is_left_out(expected, got):
    assert side_by_side(expected, got, DEFAULT_TOLERANCE) == ()


def step(x_t, h_prev, W_xh, W_hh, b_h):
    print("shape", x_t.shape)
    print("once more", end="")
    print(" on the same line")
    return np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h)


@pytest.mark.usefixtures("session")
def test_only_the_first_case_prints(capsys):
    assert check("rnn_step", step)
    shown = "shape (1, 2)\nonce more on the same line\n(12 more lines printed on the other cases)\n"
    assert capsys.readouterr().out == shown


@pytest.mark.usefixtures("session")
def test_what_is_not_printed_is_not_counted(capsys):
    check("rnn_step", lambda **inputs: 0)
    assert capsys.readouterr().out == ""


def test_one_line_and_an_open_line(capsys):
    with first_case_only() as printing:
        printing.quiet()
        print("a", end="")
        print("b", end="")
    assert capsys.readouterr().out == "(1 more line printed on the other cases)\n"

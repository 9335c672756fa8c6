"""The self-test: the right answers, and the wrong ones that its feedback explains, are what NumPy computes."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from conftest import BOOK
from quiz import Option, split

PAGE = (BOOK / "self_test.md").read_text("utf-8")
QUIZ = re.compile(r"^:::\{quiz\} (\S+)\n(.*?)^:::$", re.M | re.S)
OPTIONS: dict[str, list[Option]] = {name: split(body.splitlines())[1] for name, body in QUIZ.findall(PAGE)}


def right(name: str) -> str:
    (text,) = [option.text for option in OPTIONS[name] if option.right]
    return text


def shown(values: np.ndarray) -> str:
    return str(values.astype(int).tolist()).replace("-", "−")


def test_there_are_eight_questions() -> None:
    assert len(OPTIONS) == 8


def test_the_product_of_a_row_and_a_matrix() -> None:
    """The right row, and the results of three slips: by rows, elementwise, and the entries added."""
    row, matrix = np.array([1, 2]), np.array([[3, 0], [1, -1]])
    assert right("self-product-value") == f"the row {shown(row @ matrix)}"
    by_rows, elementwise, number, _ = OPTIONS["self-product-value"]
    assert (by_rows.text, "each *row*" in by_rows.answer) == (f"the row {shown(matrix @ row)}", True)
    repeated = row * matrix
    assert elementwise.text == f"a matrix with the rows {shown(repeated[0])} and {shown(repeated[1])}"
    assert "repeats the row [1, 2]" in elementwise.answer
    assert number.text == f"the number {(row @ matrix).sum()}"


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("self-product-shape", (np.zeros((2, 3)) @ np.zeros((3, 4))).shape),
        ("self-slice", np.zeros((8, 10, 3))[:, 2].shape),
    ],
)
def test_shapes(name: str, shape: tuple[int, ...]) -> None:
    assert right(name) == str(shape)


def test_other_slices() -> None:
    """The three wrong shapes are those of the slices that their answers name."""
    x = np.zeros((8, 10, 3))
    for shape, code in ((x[:, 2:3].shape, "x[:, 2:3]"), (x[:, :, 2].shape, "x[:, :, 2]"), (x[2].shape, "x[2]")):
        (option,) = [option for option in OPTIONS["self-slice"] if option.text == str(shape)]
        assert f"`{code}`" in option.answer


def test_numbers() -> None:
    w, step = 0.3, 1e-6
    derivative = ((3 * (w + step) + 1) ** 2 - (3 * (w - step) + 1) ** 2) / (2 * step)
    assert right("self-chain") == "6 · (3w + 1)"
    assert derivative == pytest.approx(6 * (3 * w + 1), rel=1e-8)
    assert right("self-logarithm") == f"−4 ln 2, about −{4 * math.log(2):.2f}"
    assert -4 * math.log(2) == pytest.approx(math.log(1 / 2 * 1 / 2 * 1 / 4))
    assert np.tanh(50.0) == 1
    assert right("self-tanh") == "almost exactly 1"

"""What exam questions are written with: exact numbers, draws, tables, and the solution while it is written."""

import math
from fractions import Fraction

import pytest

from grader.exam.draw import Draw, Redraw, demand, grid
from grader.exam.numbers import decimals_of, factor, floats, is_near_boundary, matrix, rounded, written
from grader.exam.question import ExamError
from grader.exam.tables import EXP, MINUS_LN, ROOT, SIGMOID, TABLES, TANH
from grader.exam.working import Minus, Working
from tests.loops import for_each

F = Fraction


@for_each(
    ("value", "decimals", "expected"),
    [
        (F("0.125"), 2, F("0.13")),
        (F("-0.125"), 2, F("-0.13")),
        (F("0.1249"), 2, F("0.12")),
        (F(2, 3), 4, F("0.6667")),
        (-0.5, 0, -1),
        (3, 2, 3),
    ],
)
def test_halves_are_rounded_away_from_zero(value, decimals, expected):
    assert rounded(value, decimals) == expected


@for_each(
    ("value", "near"),
    [
        ("0.345", True),
        ("0.3441", True),
        ("0.3439", False),
        ("0.344", True),
        ("0.346", True),
        ("0.3459", True),
        ("0.3461", False),
        ("0.34", False),
        ("-0.346", True),
    ],
)
def test_a_tenth_of_the_last_decimal_counts_as_near(value, near):
    assert is_near_boundary(F(value), 2) is near
    assert is_near_boundary(float(value), 2) is near  # whatever its last bit is


@for_each(
    ("value", "decimals", "expected"),
    [
        (F("0.5"), None, "0.5"),
        (F("-0.05"), 2, "−0.05"),
        (F("-0.004"), 2, "0.00"),
        (F(12), None, "12"),
        (F("1.2"), 4, "1.2000"),
        (F("-3.25"), None, "−3.25"),
    ],
)
def test_numbers_are_written_with_a_digit_before_the_point(value, decimals, expected):
    assert written(value, decimals) == expected


def test_a_third_is_no_decimal_number():
    assert decimals_of(F(1, 3)) is None
    with pytest.raises(ValueError, match="1/3 cannot be written"):
        written(F(1, 3))


def test_matrices_and_factors():
    assert matrix([[F("0.5"), -1], [2, 3]]) == r"\begin{matrix} 0.5 & -1 \\ 2 & 3 \end{matrix}"
    assert (factor(F("-0.5")), factor(F("0.5"))) == ("(-0.5)", "0.5")
    assert floats([[F("0.5"), 1], [2, 3]]).tolist() == [[0.5, 1.0], [2.0, 3.0]]


def test_draws_depend_on_the_seed_alone():
    one, same, other = (Draw(seed) for seed in ("a 1", "a 1", "a 2"))
    drawn = [[each.below(1000) for _ in range(20)] for each in (one, same, other)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawn[0][:5] == [Draw("a 1").below(1000), *drawn[0][1:5]]


def test_drawn_numbers_are_multiples_in_the_range_with_different_sizes():
    draw = Draw("numbers")
    for _ in range(200):
        numbers = draw.numbers(4, "-0.5", "1", "0.25")
        assert len({abs(number) for number in numbers}) == 4
        assert all(F(-1, 2) <= number <= 1 and number and number % F(1, 4) == 0 for number in numbers)
    assert grid("-0.1", "0.1", "0.05") == [F("-0.1"), F("-0.05"), F("0.05"), F("0.1")]
    assert sorted(draw.some([1, 2, 3], 3)) == [1, 2, 3]
    demand(True)
    with pytest.raises(Redraw):
        demand(False)


@for_each(
    ("table", "argument", "expected"),
    [
        (TANH, F("0.35"), math.tanh(0.35)),
        (TANH, F("-1.95"), math.tanh(-1.95)),
        (TANH, F("0.3482"), math.tanh(0.35)),  # rounded to two decimals first
        (SIGMOID, F("-0.5"), 1 / (1 + math.exp(0.5))),
        (EXP, F("2.3"), math.exp(-2.3)),
        (EXP, F(0), 1),
        (MINUS_LN, F("0.05"), -math.log(0.05)),
        (ROOT, F("0.4"), math.sqrt(0.4)),
    ],
)
def test_values_are_those_of_the_function_with_four_decimals(table, argument, expected):
    assert abs(float(table.look_up(argument)) - expected) <= 0.5e-4
    assert decimals_of(table.look_up(argument)) <= 4


@for_each(
    ("table", "argument"),
    [(TANH, F("0.36")), (TANH, F(2)), (TANH, F("0.355")), (EXP, F("-0.1")), (MINUS_LN, F(0)), (ROOT, F("0.33"))],
)
def test_what_is_not_in_a_table_is_drawn_again(table, argument):
    with pytest.raises(Redraw):
        table.look_up(argument)


def test_no_printed_value_is_near_a_boundary():
    """So they are the same with every library of mathematical functions."""
    for table in TABLES:
        arguments = [table.argument(row, column) for row in range(table.rows) for column in range(10)]
        for argument in arguments:
            if table.entry(argument) is not None:
                value = table.function(float(argument))
                assert abs(value * 1e4 % 1 - 0.5) > 1e-6


def test_steps_are_noted_and_counted():
    work = Working()
    assert work.total("a", (F("0.5"), F("-0.2")), (F("-1"), F("0.3")), F("-0.05")) == F("-0.45")
    assert work.total("s", F(1), Minus((F("-0.5"), F("-0.5")))) == F("0.75")
    assert work.total("t", Minus((F(2), F(3)))) == -6
    assert work.quotient("q", F(1), F(-3)) == F("-0.3333")
    assert work.look_up("h", TANH, F("0.3512")) == F("0.3364")
    assert work.products == 5
    work.answer("q", F("-0.3333"), -1 / 3)
    work.answer("x", F("0.5"), 0.5)
    work.part("Compute.", 2, 3)
    question = work.question("id", "Title", ["Text."], {"a": F("0.5")})
    (part,) = question.parts
    assert part.steps == (
        r"$a = 0.5 \cdot (-0.2) + (-1) \cdot 0.3 - 0.05 = {-0.45}$",
        r"$s = 1 - (-0.5) \cdot (-0.5) = {0.75}$",
        r"$t = -2 \cdot 3 = {-6}$",
        r"$q = 1 / (-3) \approx {-0.3333}$",
        r"$h = \tanh(0.3512) \approx \tanh(0.35) \approx {0.3364}$",
    )
    assert [answer.shown for answer in part.answers] == [r"$q \approx {-0.33}$", "$x = {0.50}$"]
    assert (question.points, question.products, question.tables) == (2, 5, (TANH,))


@for_each(
    ("by_hand", "expected"),
    [
        (F("0.345"), 0.345),  # on the boundary
        (F("0.3441"), 0.3456),  # near it
        (F("0.3438"), 0.3462),  # on both sides of it
        (F("0.001"), 0.001),  # nothing is left of it
    ],
)
def test_a_result_that_rounding_could_change_is_drawn_again(by_hand, expected):
    with pytest.raises(Redraw):
        Working().answer("h", by_hand, expected)


def test_a_wrong_question_is_no_bad_draw():
    with pytest.raises(ExamError, match=r"disagree about h: 0\.34 and 0\.36\. Correct the question"):
        Working().answer("h", F("0.34"), 0.36)
    with pytest.raises(ExamError, match="disagree about the token: 'a' and 'b'"):
        Working().answer_text("the token", "a", "b")


def test_a_question_is_refused_if_it_cannot_be_done_by_hand():
    work = Working()
    work.total("a", *((F(1), F(2)) for _ in range(21)))
    with pytest.raises(ExamError, match="steps follow the last part"):
        work.question("long", "", [], {})
    work.part("", 1, 1)
    with pytest.raises(ExamError, match="long needs 21 products; at most 20"):
        work.question("long", "", [], {})
    with pytest.raises(ExamError, match="fine gives 1/8, which has more than 2 decimals"):
        Working().question("fine", "", [], {"x": [[F(1, 8)]]})

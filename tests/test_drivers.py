"""Drivers: whatever a student's function does becomes an observation, and nothing else."""

import dataclasses
import functools
import linecache
import textwrap

import numpy as np
import pytest

from grader.checking.case import Case, Observation
from grader.checking.drivers import DRIVERS, call, drive
from grader.codec import Fixture, Line, Opaque, Raised

CASE = Case({"N": 3}, {"x": np.array([1.0, 2.0, 3.0]), "w": np.ones((3, 2)), "names": ["a", {"b": 1}]})


def students(source: str, name: str = "f"):
    """A function as a notebook defines it: in a cell of its own, with its source at hand."""
    source, filename = textwrap.dedent(source), f"<cell {hash(source)}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace = {"np": np}
    exec(compile(source, filename, "exec"), namespace)
    return namespace[name]


def test_the_inputs_come_by_keyword():
    seen = {}
    result = call(lambda **inputs: seen.update(inputs) or 7, CASE)
    assert list(seen) == ["x", "w", "names"]
    assert result == Observation(result=7)


class Callable:
    def __call__(self, x, w, names):
        return x

    def method(self, x, w, names):
        return x

    @staticmethod
    def static(x, w, names):
        return x


@pytest.mark.parametrize(
    "function",
    [
        lambda x, w, names: x,
        lambda names, w, x: x,
        lambda x, w, names, more=1: x,
        lambda x, *, w, names: x,
        lambda x, **others: x,
        lambda *nothing, **inputs: inputs["x"],
        functools.partial(lambda a, x, w, names: x, 0),
        functools.partial(lambda x, w, names, scale: x, scale=2),
        functools.wraps(len)(lambda x, w, names: x),
        Callable(),
        Callable().method,
        Callable.static,
    ],
)
def test_anything_that_can_be_called_with_these_names_is_called(function):
    observation = call(function, CASE)
    assert observation.raised is None
    assert np.array_equal(observation.result, CASE.inputs["x"])


@pytest.mark.parametrize(
    ("function", "yours"),
    [
        (lambda x, w: x, "(x, w)"),
        (lambda: 0, "()"),
        (lambda x, w, nombres: x, "(x, w, nombres)"),
        (lambda x, w, names, extra: x, "(x, w, names, extra); here `extra` is left out, so it needs a default"),
        (lambda x, w, names, /: x, "(x, w, names, /)"),
    ],
)
def test_a_wrong_argument_list_is_told_in_the_exercises_words(function, yours):
    raised = call(function, CASE).raised
    assert raised == Raised("TypeError", f"the function must take (x, w, names); yours takes {yours}")


@pytest.mark.parametrize(("thing", "kind"), [(None, "NoneType"), (3, "int"), (np.ones(2), "ndarray"), ("f", "str")])
def test_what_cannot_be_called_says_what_is_due(thing, kind):
    raised = call(thing, CASE).raised
    assert raised.type == "TypeError"
    assert raised.text == f"the check expects a function that takes (x, w, names); what you passed is of type {kind}"


def test_a_type_error_inside_the_function_is_the_functions_own():
    raised = call(students("def f(x, w, names):\n    return len(x, w)"), CASE).raised
    assert "len() takes exactly one argument" in raised.text
    assert raised.lines == (Line(2, "f", "return len(x, w)"),)
    assert raised.lines[0].text == "line 2, in f: return len(x, w)"


class Sad(BaseException):
    pass


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(0), GeneratorExit(), Sad("no"), StopIteration(3)])
def test_whatever_is_raised_is_observed(error):
    def function(**_):
        raise error

    raised = call(function, CASE).raised
    assert (raised.type, raised.text) == (type(error).__name__, str(error))


def test_an_interrupt_reaches_the_student():
    def function(**_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        call(function, CASE)


def test_an_endless_recursion_is_observed():
    raised = call(students("def f(**k):\n    return f(**k)"), CASE).raised
    assert raised.type == "RecursionError"
    assert len(raised.lines) == 3


class UnreadableError(Exception):
    def __str__(self):
        raise RuntimeError


def test_an_exception_whose_text_cannot_be_read():
    def function(**_):
        raise UnreadableError

    assert call(function, CASE).raised.text == "(its text could not be read)"


def test_a_long_or_strange_text_is_cut_and_mended():
    def function(**_):
        raise ValueError("\ud800" + "x" * 9000)

    text = call(function, CASE).raised.text
    assert len(text) == 500
    assert text.startswith("?xxx")


def test_the_traceback_shows_the_students_lines_alone():
    function = students(
        """
        def inner(x):
            return np.linalg.inv(x)  # raises deep in NumPy

        def f(x, w, names):
            y = x + 1
            return inner(y)
        """
    )
    raised = call(function, CASE).raised
    assert raised.type == "LinAlgError"
    assert raised.lines == (
        Line(7, "f", "return inner(y)"),
        Line(3, "inner", "return np.linalg.inv(x)  # raises deep in NumPy"),
    )


def test_a_file_beside_the_grader_is_still_the_students(tmp_path):
    import grader

    source = "def f(**_):\n    raise ValueError('mine')"
    filename = f"{grader.__path__[0]}_homework.py"
    namespace = {}
    exec(compile(source, filename, "exec"), namespace)
    assert len(call(namespace["f"], CASE).raised.lines) == 1


def change_x(x, w, names):
    x += 1
    return x


def change_w_and_names(x, w, names):
    w[0, 0] = np.nan
    names[1]["b"] = 2
    return x


def change_the_shape(x, w, names):
    w.shape = (2, 3)
    return x


def change_a_view(x, w, names):
    w.T[1][:] = 0
    return x


def change_and_raise(x, w, names):
    names.append(w)
    raise ValueError


def put_something_strange(x, w, names):
    class Unreadable(list):
        def __len__(self):
            raise RuntimeError

    names[0] = Unreadable()
    return x


@pytest.mark.parametrize(
    ("function", "changed"),
    [
        (change_x, ("x",)),
        (change_w_and_names, ("w", "names")),
        (change_the_shape, ("w",)),
        (change_a_view, ("w",)),
        (change_and_raise, ("names",)),
        (put_something_strange, ("names",)),
        (lambda x, w, names: x.sort() or x, ()),
    ],
)
def test_a_changed_input_is_named(function, changed):
    assert call(function, CASE).changed == changed


def test_a_change_that_is_undone_is_none():
    def function(x, w, names):
        before = x.copy()
        x *= 2
        y = x.copy()
        x[:] = before
        return y

    assert call(function, CASE).changed == ()


def test_no_call_sees_what_another_changed():
    call(change_x, CASE)
    call(change_w_and_names, CASE)
    assert np.array_equal(call(lambda x, w, names: (x, w), CASE).result[0], [1.0, 2.0, 3.0])
    assert CASE.inputs["names"] == ["a", {"b": 1}]


def test_a_view_of_an_input_is_a_result_like_any_other():
    observation = call(lambda x, w, names: w.T[:, ::2], CASE)
    assert observation.changed == ()
    assert np.array_equal(observation.result, np.ones((2, 2)))


def test_the_result_is_what_was_returned_and_not_what_became_of_it():
    kept = []

    def function(x, w, names):
        kept.append(x)
        return x

    result = call(function, CASE).result
    kept[0][:] = 9
    assert np.array_equal(result, [1.0, 2.0, 3.0])


def contains_itself():
    tree = []
    tree.append([tree])
    return tree


class Tricky:
    @property
    def __class__(self):
        raise RuntimeError("not to be asked")


class Lying:
    __class__ = list


@pytest.mark.parametrize(
    ("make", "kind", "says"),
    [
        (contains_itself, "list", "deep"),
        (lambda: np.zeros(10**7), "ndarray", "too large"),
        (lambda: [[0] * 1000] * 1000, "list", "too large"),
        (lambda: {(1, (2, 3)): {"k": {frozenset(): (np.ones(2),)}}, (4, [5][0]): 0}, "dict", None),
        (lambda: (n for n in range(3)), "generator", ""),
        (Tricky, "Tricky", "could not be read"),
        (Lying, "Lying", ""),
        (lambda: len, "builtin_function_or_method", ""),
        (lambda: 3 + 4j, "complex", ""),
    ],
)
def test_a_result_that_cannot_be_kept_says_why(make, kind, says):
    observed = call(lambda **_: make(), CASE).result
    if says is None:
        assert type(observed).__name__ == kind
    else:
        assert isinstance(observed, Opaque)
        assert observed.type == kind
        assert says in observed.text


def test_drive_finds_the_driver_by_its_name():
    assert drive("call", lambda **_: 1, CASE).result == 1
    with pytest.raises(KeyError):
        drive("no such driver", lambda **_: 1, CASE)


def test_an_argument_that_is_left_out_needs_its_default():
    raised = call(lambda x, w, names, axis: x, CASE).raised
    assert raised.text.endswith("yours takes (x, w, names, axis); here `axis` is left out, so it needs a default")
    assert call(lambda x, w, names, axis=0: x, CASE).raised is None
    assert call(lambda x, w, name, axis: x, CASE).raised.text.endswith("yours takes (x, w, name, axis)")


def test_a_warning_of_the_students_is_neither_shown_nor_an_error():
    with np.errstate(all="warn"):
        assert call(lambda x, w, names: np.exp(x * 1000), CASE).result.tolist() == [np.inf] * 3


# Several calls with one generator -------------------------------------------------------------------------------------

DRAWS = Case({"n": 2}, {"rng": Fixture("rng", {"seed": 3}), "n": 2, "draws": 5})


def test_draws_come_from_one_generator_and_start_again_with_a_new_one():
    observation = drive("draws", lambda rng, n: rng.normal(size=n), DRAWS)
    rng = np.random.default_rng(3)
    expected = [rng.normal(size=2) for _ in range(5)]
    assert [np.array_equal(*pair) for pair in zip(observation.result, expected, strict=True)] == [True] * 5
    assert [np.array_equal(*pair) for pair in zip(observation.calls["again"], expected, strict=False)] == [True] * 3
    assert observation.calls["rng"] == ["drawn"]
    assert observation.changed == ()
    assert len(drive("draws", lambda rng, n: n, dataclasses.replace(DRAWS, inputs={**DRAWS.inputs, "draws": 1})).result)


def test_each_draw_is_a_copy_and_other_sources_show_in_the_second_run():
    buffer = np.zeros(2)

    def into_one_array(rng, n):
        buffer[:] = np.random.default_rng().normal(size=n)
        return buffer

    observation = drive("draws", into_one_array, DRAWS)
    assert len({draw.tobytes() for draw in [*observation.result, *observation.calls["again"]]}) == 8
    assert observation.calls["rng"] == []


def test_the_first_exception_and_a_wrong_argument_list_end_the_draws():
    numbers = iter(range(3))
    observation = drive("draws", lambda rng, n: next(numbers), DRAWS)
    assert observation.result is None
    assert observation.raised.type == "StopIteration"
    raised = drive("draws", lambda n: n, DRAWS).raised
    assert raised == Raised("TypeError", "the function must take (rng, n); yours takes (n)")


def test_inputs_changed_by_one_of_the_draws_are_told():
    case = Case({}, {"x": np.zeros(2), "draws": 2})
    assert drive("draws", lambda x: x.__iadd__(1), case).changed == ("x",)


def test_draws_as_text_can_be_pasted():
    text = "rng = np.random.default_rng(3)\n[f(rng, n=2) for _ in range(5)]"
    assert DRIVERS["draws"].call_text("f", DRAWS) == text
    assert DRIVERS["draws"].call_text("f", Case({}, {"x": np.zeros((2, 3)), "draws": 2})) == (
        "[f(x (2, 3)) for _ in range(2)]"
    )

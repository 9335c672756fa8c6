"""Many small cases in one test: a test costs 10 to 20 ms whatever it does, however little each case needs."""

import functools
import inspect
import reprlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

Test = Callable[..., None]


def for_each(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Like `pytest.mark.parametrize`, but one test runs all cases, and then names each that failed with what it got.

    Where the first name is `exercise_id`, there is one test for each exercise.
    """
    names = (names,) if isinstance(names, str) else names
    apart = names[0] == "exercise_id"
    given = [dict(zip(names, case if len(names) > 1 else (case,), strict=True)) for case in cases]
    assert given, "no cases"

    def decorate(function: Test) -> Test:
        @functools.wraps(function)
        def test(**fixtures: Any) -> None:
            chosen = [case for case in given if not apart or case["exercise_id"] == fixtures["exercise_id"]]
            errors = [(case, error) for case in chosen for error in _failure(function, fixtures | case)]
            if errors:
                told = "\n".join(f"{_named(case)}: {_shortened(error)}" for case, error in errors)
                raise AssertionError(f"{len(errors)} of {len(chosen)} cases fail\n{told}") from errors[0][1]

        own = [p for p in inspect.signature(function).parameters.values() if p.name not in names]
        if not apart:
            test.__signature__ = inspect.Signature(own)  # type: ignore[attr-defined]
            return test
        own.insert(0, inspect.Parameter("exercise_id", inspect.Parameter.POSITIONAL_OR_KEYWORD))
        test.__signature__ = inspect.Signature(own)  # type: ignore[attr-defined]
        return pytest.mark.parametrize("exercise_id", list(dict.fromkeys(case["exercise_id"] for case in given)))(test)

    return decorate


def _failure(function: Test, arguments: dict[str, Any]) -> Iterator[BaseException]:
    try:
        function(**arguments)
    except (Exception, pytest.fail.Exception) as error:
        yield error


def _named(case: dict[str, Any]) -> str:
    return ", ".join(f"{name} {_in_short(value)}" for name, value in case.items())


def _in_short(value: Any) -> str:
    return value if isinstance(value, str) else getattr(value, "__name__", None) or reprlib.repr(value)


def _shortened(error: BaseException) -> str:
    lines = f"{type(error).__name__}: {error}".splitlines()
    return "\n  ".join(line[:300] for line in lines[:8])

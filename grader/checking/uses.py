"""Which other functions a student's function uses, found in its code."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType, MethodType
from typing import Any

from grader.checking.observing import is_the_students

MOST = 2_000  # objects that are looked at
_HOLD_ONE: dict[type, str] = {
    functools.partial: "func",
    MethodType: "__func__",
    staticmethod: "__func__",
    classmethod: "__func__",
    property: "fget",
}


def used(thing: Any, names: Iterable[str]) -> list[str]:
    """Those of the names that the code of a function or class mentions, or that of another one of the student's which
    it uses. A function counts as mentioned under its own name too. If there is no code to be read, all of them.
    """
    if not isinstance(thing, (FunctionType, type, *_HOLD_ONE)):
        return list(names)
    mentioned: set[str] = set()
    seen: set[int] = set()
    waiting = [thing]
    while waiting and len(seen) < MOST:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, FunctionType) and is_the_students(each.__code__):
            found = {name for code in _codes(each.__code__) for name in (*code.co_names, *code.co_freevars)}
            mentioned |= found if each is thing else found | {each.__name__}
            waiting += [each.__globals__[name] for name in found if name in each.__globals__]
            waiting += [cell.cell_contents for cell in each.__closure__ or () if _is_filled(cell)]
            waiting.append(vars(each).get("__wrapped__"))
        elif isinstance(each, type):
            waiting += [value for base in each.__mro__ for value in vars(base).values()]
        elif type(each) in _HOLD_ONE:
            waiting.append(getattr(each, _HOLD_ONE[type(each)]))
    return [name for name in names if name in mentioned]


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False

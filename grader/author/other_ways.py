"""How an exercise is solved: the course's solution, why it works, and another way.

The self-study edition of the book shows this, folded; once a chapter is over, a class sees it on its feedback pages or
on the page of `grader solutions`. All of it is read from `solutions/`, which no package for students contains.
"""

from __future__ import annotations

import ast
import inspect
import symtable
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from grader.author.course import Course
from grader.author.notebooks import BEGIN, END
from grader.cells import cell_source
from grader.manifest import Chapter, Place
from grader.spec.changes import sources
from grader.spec.folders import mistakes_path
from grader.spec.load import load_spec
from grader.spec.mistake_words import read_mistake_words


@dataclass(frozen=True)
class Solved:
    """An exercise's solution; why it works, in Markdown; and another way, with what it does differently, in Markdown.

    What is not written is empty.
    """

    solution: str
    why: str
    way: str
    differs: str


def solved(course: Course, place: Place) -> Solved:
    """An exercise's solution, and the first alternative of its spec. Raises ReleaseError, SpecError, MessageError."""
    cell = cell_source(course.notebooks[place.exercise.id].instructor, place.exercise.id)
    why = read_mistake_words(mistakes_path(course.root, place)).why
    way = next(iter(load_spec(course.root, place).alternatives.values()), None)
    differs, code = ("", "") if way is None else alternative(way)
    return Solved(without_docstring(region(cell)), why, code, differs)


def solved_chapter(course: Course, chapter: Chapter) -> dict[str, Solved]:
    """The same for each exercise of a chapter, by its id."""
    return {exercise.id: solved(course, course.manifest.place(exercise.id)) for exercise in chapter.exercises}


def region(cell: str) -> str:
    """An exercise's cell without the lines that mark its solution."""
    return "\n".join(line for line in cell.splitlines() if line.strip() not in (BEGIN, END))


def alternative(function: Callable[..., Any]) -> tuple[str, str]:
    """(the first line of its docstring, its source without decorator and docstring, below what it uses of its file)."""
    _, source = sources(function)
    lines = source.splitlines()
    found = {n.name: n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    code = {name: "\n".join(lines[node.lineno - 1 : node.end_lineno]) for name, node in found.items()}
    needed = [function.__name__]
    for name in needed:
        needed += [used for used in dict.fromkeys(global_names(code[name])) if used in code and used not in needed]
    beside = [code[name] for name in code if name in needed[1:]]
    differs = inspect.cleandoc(function.__doc__ or "").partition("\n")[0]
    return differs, "\n\n\n".join([*beside, without_docstring(code[function.__name__])])


def global_names(code: str) -> Iterator[str]:
    """The names that code takes from its module or from Python, at its top and within functions."""
    waiting = [symtable.symtable(code, "<way>", "exec")]
    while waiting:
        scope = waiting.pop()
        waiting += scope.get_children()
        yield from (each.get_name() for each in scope.get_symbols() if each.is_referenced() and each.is_global())


def without_docstring(source: str) -> str:
    """Source without the docstrings of its functions and classes, which the task, or the text above it, has said."""
    lines = source.rstrip().splitlines()
    for node in reversed(ast.parse(source).body):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            first, end = node.body[0].lineno - 1, node.body[0].end_lineno or 0
            while end < len(lines) and not lines[end].strip():
                end += 1
            if len(node.body) > 1:
                del lines[first:end]
    return "\n".join(lines)

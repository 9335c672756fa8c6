"""What the mistakes of an exercise did on its cases, kept from one run of `grader lint --watch` to the next.

A result is used again only if everything that it depends on is unchanged: the mistake's own code, and all else in the
spec, the notebook and the modules that they import. Texts for readers do not matter.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.author.changes import Change
from grader.author.record import Observer
from grader.author.spec import Spec
from grader.checking.case import Checks, Observation
from grader.codec import encode
from grader.released import cases_tree

_TEXTS = ("why", "tempts")  # arguments that no result depends on


@dataclass
class Memory:
    """Results by their keys. `new` has those of this run, to be kept for the next."""

    known: dict[str, tuple[Observation, ...]] = field(default_factory=dict)
    new: dict[str, tuple[Observation, ...]] = field(default_factory=dict)

    def remembering(self, observer: Observer, kind: str, keys: dict[int, str]) -> Observer:
        """An observer that runs a function only if its result is not known. `keys` maps `id(function)` to a key for
        those functions whose results may be kept.
        """
        of_cases: dict[int, str] = {}

        def observed(function: Callable[..., Any], checks: Checks) -> tuple[Observation, ...]:
            if id(function) not in keys:
                return observer(function, checks)
            if id(checks.cases) not in of_cases:
                of_cases[id(checks.cases)] = hashlib.sha256(encode(cases_tree(checks))).hexdigest()
            key = _digest(kind, keys[id(function)], of_cases[id(checks.cases)])
            if key not in self.known:
                self.known[key] = self.new[key] = observer(function, checks)
            return self.known[key]

        return observed


def variant_keys(spec: Spec, source: str, others: Iterable[Path]) -> dict[int, str]:
    """A key for each variant of each mistake, by `id(function)`. `source` is that of the spec, and `others` are the
    files that the results depend on besides it.
    """
    tree = ast.parse(source)
    base = _digest(_without_mistakes(tree), *(f"{path}\n{path.read_text('utf-8')}" for path in sorted(others)))
    whole = _digest(base, ast.dump(tree))
    definitions = {node.name: ast.dump(node) for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    found = {}
    for name, entry in spec.misconceptions.items():
        for number, (way, function) in enumerate(zip(entry.ways, entry.variants, strict=True)):
            if isinstance(way, Change):
                found[id(function)] = _digest(base, repr(way.pairs))
            elif way.__qualname__ in definitions and not getattr(way, "__closure__", None):
                found[id(function)] = _digest(base, definitions[way.__qualname__])
            else:  # made by other code, such as a loop
                found[id(function)] = _digest(whole, name, str(number))
    return found


def mistake_digests(spec: Spec, source: str) -> dict[str, str]:
    """A digest of each mistake with its texts and its ways, which tells whether its author has changed it."""
    bodies = {node.name: ast.dump(node) for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
    return {
        name: _digest(
            entry.message,
            repr(entry.keeps),
            *(repr(way.pairs) if isinstance(way, Change) else bodies.get(way.__name__, "") for way in entry.ways),
        )
        for name, entry in spec.misconceptions.items()
    }


def _without_mistakes(tree: ast.Module) -> str:
    """The spec without texts for readers and without mistakes, apart from functions that other code uses."""
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    kept = [node for node in tree.body if not _is_mistake(node, used)]
    dumped = ast.parse(ast.unparse(ast.Module(kept, [])))
    for node in ast.walk(dumped):
        if isinstance(node, ast.Call):
            node.keywords = [keyword for keyword in node.keywords if keyword.arg not in _TEXTS]
    return ast.dump(dumped)


def _is_mistake(node: ast.stmt, used: set[str]) -> bool:
    if isinstance(node, ast.Expr):
        return _registers(node.value)
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return node.name not in used and any(map(_registers, node.decorator_list))
    return False


def _registers(node: ast.expr) -> bool:
    called = node.func if isinstance(node, ast.Call) else node
    return isinstance(called, ast.Attribute) and called.attr in ("mistake", "alternative")


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()

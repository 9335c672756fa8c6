"""The modules of `grader` import one another in one direction, at their top and within functions."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def modules(root: Path) -> dict[str, ast.Module]:
    """The modules of the package `grader` below a folder, by name."""
    found = {}
    for path in sorted((root / "grader").rglob("*.py")):
        name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        found[name] = ast.parse(path.read_text("utf-8"))
    return found


def imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    """(module, name in it or '') of every import that may run."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.If(test=ast.Name("TYPE_CHECKING")):
                continue
            case ast.Import(names):
                yield from ((each.name, "") for each in names)
            case ast.ImportFrom(module, names, level):
                assert module is not None
                assert level == 0, "a relative import is not looked at"
                yield from ((module, each.name) for each in names)
        yield from imported(child)


def graph(trees: dict[str, ast.Module]) -> dict[str, set[str]]:
    """Which modules each imports. A package that is imported for one of its modules does not count."""
    targets = {name: {f"{m}.{n}" if f"{m}.{n}" in trees else m for m, n in imported(trees[name])} for name in trees}
    return {name: found & set(trees) for name, found in targets.items()}


def test_no_import_leads_back():
    found = graph(modules(ROOT))
    assert "grader.codec" in found["grader.checking.case"]
    assert "grader.author.demo_class" in found["grader.cli.author"]  # within a function
    assert "grader.manifest" not in found["grader.inside.frames"]  # for types alone
    order = list(TopologicalSorter(found).static_order())
    assert len(order) == len(found) > 50


def test_a_circle_would_be_found(tmp_path):
    (tmp_path / "grader").mkdir()
    (tmp_path / "grader/__init__.py").write_text("")
    (tmp_path / "grader/one.py").write_text("from grader import two\n")
    (tmp_path / "grader/two.py").write_text("def show():\n    import grader.one\n")
    with pytest.raises(CycleError):
        list(TopologicalSorter(graph(modules(tmp_path))).static_order())

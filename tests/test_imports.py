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


def rooms(found: dict[str, set[str]], packages: set[str]) -> dict[str, set[str]]:
    """Which rooms use one another. A room is a folder of `grader` with all below it, or one of its own modules."""

    def room(module: str) -> str:
        first = ".".join(module.split(".")[:2])
        return first if module != "grader" and first in packages else module

    together: dict[str, set[str]] = {}
    for module, used in found.items():
        together.setdefault(room(module), set()).update({room(each) for each in used} - {room(module)})
    return together


def folders_of(root: Path) -> set[str]:
    """The names of the packages directly below `grader`."""
    return {f"grader.{path.parent.name}" for path in (root / "grader").glob("*/__init__.py")}


def test_no_room_uses_one_that_uses_it():
    """So every room can be given a floor: it stands above all that it uses, and no arrow runs upwards."""
    found = rooms(graph(modules(ROOT)), folders_of(ROOT))
    assert {"grader.spec", "grader.checking", "grader.codec"} <= found.keys()
    assert "grader.checking" in found["grader.spec"]
    order = list(TopologicalSorter(found).static_order())
    assert order.index("grader.checking") < order.index("grader.spec") < order.index("grader.author")


def test_two_rooms_that_use_each_other_would_be_found(tmp_path):
    for room in ("low", "high"):
        (tmp_path / "grader" / room).mkdir(parents=True)
        (tmp_path / "grader" / room / "__init__.py").write_text("")
    (tmp_path / "grader/__init__.py").write_text("")
    (tmp_path / "grader/high/one.py").write_text("from grader.low import two\n")
    (tmp_path / "grader/low/two.py").write_text("")
    (tmp_path / "grader/low/other.py").write_text("from grader.high.two import much\n")
    (tmp_path / "grader/high/two.py").write_text("much = 1\n")
    modules_alone = graph(modules(tmp_path))
    list(TopologicalSorter(modules_alone).static_order())
    with pytest.raises(CycleError):
        list(TopologicalSorter(rooms(modules_alone, folders_of(tmp_path))).static_order())


def test_a_circle_would_be_found(tmp_path):
    (tmp_path / "grader").mkdir()
    (tmp_path / "grader/__init__.py").write_text("")
    (tmp_path / "grader/one.py").write_text("from grader import two\n")
    (tmp_path / "grader/two.py").write_text("def show():\n    import grader.one\n")
    with pytest.raises(CycleError):
        list(TopologicalSorter(graph(modules(tmp_path))).static_order())

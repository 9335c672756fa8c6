"""The rooms of `grader` and what each stands on: `python -m tests.house` draws them in ARCHITECTURE.md.

A room is a folder of `grader` with all below it, or one of its own modules. It stands on what it imports, at its top or
within a function, and its floor is one above the highest of these.
"""

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "ARCHITECTURE.md"
DRAWING = re.compile(r"(?<=<!-- python -m tests\.house -->\n```text\n).*?(?=```\n)", re.DOTALL)
Graph = dict[str, set[str]]


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


def graph(trees: dict[str, ast.Module]) -> Graph:
    """Which modules each imports. A package that is imported for one of its modules does not count."""
    targets = {name: {f"{m}.{n}" if f"{m}.{n}" in trees else m for m, n in imported(trees[name])} for name in trees}
    return {name: found & set(trees) for name, found in targets.items()}


def rooms(root: Path) -> Graph:
    """Which rooms each stands on."""
    folders = {f"grader.{path.parent.name}" for path in (root / "grader").glob("*/__init__.py")}

    def room(module: str) -> str:
        first = ".".join(module.split(".")[:2])
        return first if first in folders else module

    together: Graph = {}
    for module, used in graph(modules(root)).items():
        together.setdefault(room(module), set()).update({room(each) for each in used} - {room(module)})
    return together


def floors(found: Graph) -> dict[str, int]:
    """The floor of each room. Raises CycleError."""
    floor: dict[str, int] = {}
    for room in TopologicalSorter(found).static_order():
        floor[room] = 1 + max((floor[each] for each in found[room]), default=0)
    return floor


def below(found: Graph, room: str) -> set[str]:
    """All that a room stands on, directly or through others."""
    return set().union(*({each} | below(found, each) for each in found[room]))


def drawing(found: Graph) -> str:
    """A line for each room, from the top floor down, with what it stands on directly and not through others as well."""
    floor, lines = floors(found), []
    for number, at in groupby(sorted(found, key=lambda room: (-floor[room], room)), key=floor.__getitem__):
        for index, room in enumerate(at):
            direct = {each for each in found[room] if not any(each in below(found, one) for one in found[room])}
            names = " ".join(sorted(map(_short, direct)))
            lines.append(
                f"{'' if index else number:>2}  {_short(room):<14}{'→ ' + names if names else ''}".rstrip() + "\n"
            )
    return "".join(lines)


def _short(room: str) -> str:
    return "__init__" if room == "grader" else room.removeprefix("grader.")


if __name__ == "__main__":
    text = DRAWING.sub(lambda _: drawing(rooms(ROOT)), DOCUMENT.read_text("utf-8"))
    DOCUMENT.write_text(text, "utf-8")

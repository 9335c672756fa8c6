"""The house: imports run in one direction, between modules and between rooms, and the documents say what is there."""

import ast
import re
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.house import DOCUMENT, DRAWING, ROOT, drawing, floors, graph, imported, modules, rooms


def test_no_import_leads_back():
    found = graph(modules(ROOT))
    assert "grader.codec" in found["grader.checking.case"]
    assert "grader.author.demo_class" in found["grader.cli.author"]  # within a function
    assert "grader.manifest" not in found["grader.inside.frames"]  # for types alone
    order = list(TopologicalSorter(found).static_order())
    assert len(order) == len(found) > 50


def test_no_room_stands_on_one_that_stands_on_it():
    """So each has a floor above all that it uses, and no arrow runs upwards."""
    found = rooms(ROOT)
    assert {"grader.checking", "grader.codec"} <= found["grader.spec"]
    floor = floors(found)
    assert floor["grader.codec"] == 1
    assert floor["grader.checking"] < floor["grader.spec"] < floor["grader.author"] < floor["grader.cli"]


def test_only_recorded_data_is_inflated():
    """What a student's process sends never is: a few bytes could become sixteen million."""
    readers = {name for name, tree in modules(ROOT).items() if {"inflate", "inflated"} & {n for _, n in imported(tree)}}
    assert readers == {"grader.author.leaks", "grader.released", "grader.spec.record"}


def write(root, **sources):
    for name, source in sources.items():
        path = root / "grader" / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
        (path.parent / "__init__.py").touch()


def test_a_circle_would_be_found(tmp_path):
    write(tmp_path, one="from grader import two\n", two="def show():\n    import grader.one\n")
    with pytest.raises(CycleError):
        list(TopologicalSorter(graph(modules(tmp_path))).static_order())


def test_two_rooms_that_use_each_other_would_be_found(tmp_path):
    write(tmp_path, low__other="from grader.high.two import much\n", low__two="")
    write(tmp_path, high__one="from grader.low import two\n", high__two="much = 1\n")
    list(TopologicalSorter(graph(modules(tmp_path))).static_order())  # the modules alone form no circle
    with pytest.raises(CycleError):
        floors(rooms(tmp_path))


def test_the_drawing_is_that_of_the_imports():
    (drawn,) = DRAWING.findall(DOCUMENT.read_text("utf-8"))
    assert drawn == drawing(rooms(ROOT)), "draw it again:  python -m tests.house"


def test_a_drawing_leaves_out_what_follows(tmp_path):
    write(tmp_path, low="", mid__one="import grader.low\n", top__one="import grader.low\nfrom grader.mid import one\n")
    assert drawing(rooms(tmp_path)) == (" 3  top           → mid\n 2  mid           → low\n 1  __init__\n    low\n")


LONGEST = 60
FOLDERS = sorted(path.parent for path in (ROOT / "grader").rglob("__init__.py") if path.parent.name != "data")


@pytest.mark.parametrize("folder", FOLDERS[1:], ids=lambda path: path.name)
def test_a_room_says_what_each_of_its_modules_is_for(folder):
    said = ast.get_docstring(ast.parse((folder / "__init__.py").read_text("utf-8"))) or ""
    named = set(re.findall(r"`([\w/]+?)/?`", said))
    there = {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/__init__.py")}
    assert there - named - {"__init__"} == set()


def test_a_room_is_named_in_the_architecture():
    text = DOCUMENT.read_text("utf-8")
    missing = [folder.name for folder in FOLDERS[1:] if f"`{folder.relative_to(ROOT / 'grader')}/`" not in text]
    assert missing == []


def test_no_function_is_longer_than_a_screen():
    """Outside `cli`, where the options of a command stand in its signature."""
    long = [
        f"{name}: {node.name}"
        for name, tree in modules(ROOT).items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.end_lineno - node.lineno >= LONGEST
        if not name.startswith(("grader.cli.", "grader.data."))
    ]
    assert long == []

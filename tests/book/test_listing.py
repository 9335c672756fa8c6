"""Listings on pages: narrow, without annotations, and still the same program."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from listing import COLUMNS, shown

ROOT = Path(__file__).parents[2]
EXPERIMENTS = sorted((ROOT / "experiments").rglob("*.py"))


class Plain(ast.NodeTransformer):
    """The program without annotations, which is what has to be left of it, with the lines of texts joined."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return ast.Expr(ast.Constant(" ".join(node.value.value.split())))
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            return node
        return ast.Assign(targets=[node.target], value=node.value, lineno=node.lineno)


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_what_is_shown_does_the_same(path: Path) -> None:
    source = path.read_text("utf-8")
    expected = ast.unparse(Plain().visit(ast.parse(source)))
    assert ast.unparse(Plain().visit(ast.parse(shown(source)))) == expected


def test_annotations_and_notes_to_tools_are_left_out() -> None:
    code = """
        def fit(x: np.ndarray, *, lr: float = 0.1, **how: Any) -> tuple[np.ndarray, dict[str, float]]:
            stop = lambda done: done == "ω: x"  # noqa: E731
            share: float = 0.5  # of all
            return x * lr, {"a -> b": share}
    """
    assert (
        shown(code)
        == """def fit(x, *, lr=0.1, **how):
    stop = lambda done: done == "ω: x"
    share = 0.5  # of all
    return x * lr, {"a -> b": share}"""
    )


def test_a_long_call_is_broken_and_a_short_one_joined() -> None:
    code = "f(\n    a,\n    b,\n)\n" + "value = function(" + ", ".join(f"argument_{i}" for i in range(9)) + ")\n"
    first, *rest = shown(code).split("\n")
    assert first == "f(a, b)"
    assert rest[0] == "value = function("
    assert max(map(len, rest)) <= COLUMNS


def test_long_docstrings_and_comments_are_broken() -> None:
    words = "word " * 30
    code = f"""def f():
    \"\"\"{words.strip()}.\"\"\"
    # {words}
    return 1
"""
    lines = shown(code).split("\n")
    assert max(map(len, lines)) <= COLUMNS
    assert lines[1].startswith('    """word')
    assert sum(line.startswith("    # word") for line in lines) == 3
    assert lines[-1] == "    return 1"


def test_a_part_of_a_statement_is_shown_as_it_is() -> None:
    assert shown("    for x in y:") == "for x in y:"

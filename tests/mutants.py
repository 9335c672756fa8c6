"""Nearly right work, made from the reference solution: small changes to its syntax tree, one or two at a time."""

import ast
import copy
import random
import re
from collections.abc import Callable, Iterator
from itertools import islice

Change = Callable[[ast.AST], Iterator[ast.AST]]  # a node → what may stand in its place

NUMPY = ast.Name("np", ast.Load())
MOST_STEPS = 10_000  # of a loop, each time that it is begun


def mutants(code: str, seed: int = 0) -> Iterator[tuple[str, str]]:
    """(what was changed, the code) of every mutant with one change, and after two of them each time one with two."""
    rng = random.Random(seed)
    ones = rng.sample(places := list(_places(code)), len(places))
    twos = _twice(code, places, rng)
    seen = {ast.unparse(ast.parse(code))}
    for number, one in enumerate(ones):
        for what, changed in (*_made(code, *one), *islice(twos, number % 2)):
            if changed not in seen:
                seen.add(changed)
                yield what, changed


class _Bounded(ast.NodeTransformer):
    """Counts the steps of each loop in a variable of its own."""

    def __init__(self) -> None:
        self.loops = 0

    def visit(self, node: ast.AST) -> ast.AST | list[ast.stmt]:
        node = self.generic_visit(node)
        return self.bound(node) if isinstance(node, ast.While | ast.For) else node

    def bound(self, loop: ast.While | ast.For) -> list[ast.stmt]:
        self.loops += 1
        steps = f"_steps_{self.loops}"
        text = f"{steps} += 1\nif {steps} > {MOST_STEPS}:\n    raise BaseException('a loop has no end')"
        loop.body = [*ast.parse(text).body, *loop.body]
        return [*ast.parse(f"{steps} = 0").body, loop]


def bounded(code: str) -> str:
    """The code, but each of its loops ends: it raises where it takes too many steps."""
    return ast.unparse(ast.fix_missing_locations(_Bounded().visit(ast.parse(code))))


Place = tuple[int, ast.AST]  # of a node in the order of the tree, and what may stand there


def _twice(code: str, places: list[Place], rng: random.Random) -> Iterator[tuple[str, str]]:
    for one in rng.sample(places, len(places)):
        for what, changed in _made(code, *one):
            places_left = list(_places(changed))  # none are left in `return E`
            for also, twice in _made(changed, *rng.choice(places_left)) if places_left else ():
                yield f"{what}; {also}", twice


def _places(code: str) -> Iterator[Place]:
    """Every change of every kind at every place."""
    tree = ast.parse(code)
    for index, node in enumerate(ast.walk(tree)):
        yield from ((index, new) for new in _in_place_of(node, tree))


def _made(code: str, index: int, new: ast.AST) -> Iterator[tuple[str, str]]:
    """What was changed, and the changed code; nothing where that is no Python."""
    changed = ast.parse(code)
    place = next(islice(ast.walk(changed), index, None))
    was, line = ast.unparse(place), getattr(place, "lineno", "?")
    new = ast.fix_missing_locations(copy.deepcopy(new))
    _put(changed, place, new)
    try:
        text = ast.unparse(ast.fix_missing_locations(changed))
        compile(text, "<mutant>", "exec")
    except (SyntaxError, ValueError):
        return
    if re.search(r"(\b\w+)\.append\(\1\)", text):  # of a list that holds itself NumPy never makes an array
        return
    what = ast.unparse(new) if isinstance(new, ast.expr | ast.stmt) else ast.dump(new)
    yield f"line {line}: {was} → {what}", text


def _put(tree: ast.AST, old: ast.AST, new: ast.AST) -> None:
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, name, new)
                return
            if isinstance(value, list) and any(item is old for item in value):
                value[:] = [new if item is old else item for item in value]
                return


def _in_place_of(node: ast.AST, tree: ast.AST) -> Iterator[ast.AST]:
    for change in CHANGES:
        yield from change(node)
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield from (ast.Name(name, ast.Load()) for name in _near_names(node.id, tree))


def _near_names(name: str, tree: ast.AST) -> list[str]:
    """Other names of the function's own that begin alike: `h_prev` for `h_t`, `W_xh` for `W_hh`."""
    own = {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    own |= {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return sorted(other for other in own - {name} if name in own and other[0].lower() == name[0].lower())


def _number(node: ast.AST) -> int | None:
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def _plus(node: ast.expr, step: int) -> ast.expr:
    number = _number(node)
    if number is not None:
        return ast.parse(str(number + step), mode="eval").body
    return ast.BinOp(node, ast.Add() if step > 0 else ast.Sub(), ast.Constant(abs(step)))


def _called(node: ast.AST) -> str:
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


def signs(node: ast.AST) -> Iterator[ast.AST]:
    """A sign flipped, + for − and − for +."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        yield ast.BinOp(node.left, ast.Sub() if isinstance(node.op, ast.Add) else ast.Add(), node.right)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield node.operand
    elif isinstance(node, ast.Assign | ast.Return) and isinstance(node.value, ast.BinOp | ast.Call):
        new = copy.deepcopy(node)
        new.value = ast.UnaryOp(ast.USub(), node.value)
        yield new


def dropped_parts(node: ast.AST) -> Iterator[ast.AST]:
    """A summand, a factor, a divisor or a power left out; a function of one argument not applied."""
    if isinstance(node, ast.BinOp):
        yield node.left
        if isinstance(node.op, ast.Add | ast.Mult | ast.MatMult):
            yield node.right
    elif isinstance(node, ast.Call) and len(node.args) == 1 and _called(node).startswith("np."):
        yield node.args[0]


def products(node: ast.AST) -> Iterator[ast.AST]:
    """`*` for `@` and `@` for `*`, factors in the other order."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.MatMult):
        yield ast.BinOp(node.left, ast.MatMult() if isinstance(node.op, ast.Mult) else ast.Mult(), node.right)
        if isinstance(node.op, ast.MatMult):
            yield ast.BinOp(node.right, node.op, node.left)


def transposes(node: ast.AST) -> Iterator[ast.AST]:
    """`.T` left out, or put behind a factor of a product."""
    if isinstance(node, ast.Attribute) and node.attr == "T":
        yield node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        for left, right in ((True, False), (False, True)):
            yield ast.BinOp(
                _transposed(node.left) if left else node.left, node.op, _transposed(node.right) if right else node.right
            )


def _transposed(node: ast.expr) -> ast.expr:
    return ast.Attribute(node, "T", ast.Load())


def axes(node: ast.AST) -> Iterator[ast.AST]:
    """Another axis, or none; keepdims forgotten."""
    if not isinstance(node, ast.Call):
        return
    for keyword in node.keywords:
        if keyword.arg in ("axis", "keepdims", "dtype"):
            new = copy.deepcopy(node)
            new.keywords = [k for k in new.keywords if k.arg != keyword.arg]
            yield new
        if keyword.arg == "axis":
            for axis in {0, 1, -1} - {_number(keyword.value)}:
                new = copy.deepcopy(node)
                for k in new.keywords:
                    if k.arg == "axis":
                        k.value = ast.parse(str(axis), mode="eval").body
                yield new


def indices(node: ast.AST) -> Iterator[ast.AST]:
    """An index one too early or late; a slice without one of its ends."""
    if isinstance(node, ast.Subscript):
        elements = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for number, element in enumerate(elements):
            for new_element in _near_indices(element):
                new = copy.deepcopy(node)
                if isinstance(new.slice, ast.Tuple):
                    new.slice.elts[number] = new_element
                else:
                    new.slice = new_element
                yield new


def _near_indices(element: ast.expr) -> Iterator[ast.expr]:
    if isinstance(element, ast.Slice):
        for end in ("lower", "upper"):
            value = getattr(element, end)
            if value is not None:
                for other in (None, _plus(value, 1), _plus(value, -1)):
                    new = copy.deepcopy(element)
                    setattr(new, end, other)
                    yield new
    elif isinstance(element, ast.Name | ast.BinOp) or _number(element) is not None:
        yield _plus(element, 1)
        yield _plus(element, -1)


def ranges(node: ast.AST) -> Iterator[ast.AST]:
    """A loop that begins late, ends early or late, or runs the other way."""
    called = _called(node)
    if called == "range" and len(node.args) == 1:
        (end,) = node.args
        yield ast.Call(node.func, [ast.Constant(1), end], [])
        yield ast.Call(node.func, [_plus(end, -1)], [])
        yield ast.Call(node.func, [_plus(end, 1)], [])
    if called == "reversed":
        yield node.args[0]
    if isinstance(node, ast.For) and called == "" and _called(node.iter) == "range":
        new = copy.deepcopy(node)
        new.iter = ast.Call(ast.Name("reversed", ast.Load()), [node.iter], [])
        yield new


def beginnings(node: ast.AST) -> Iterator[ast.AST]:
    """Zeros for what a variable begins with, ones for zeros."""
    if _called(node) in ("np.zeros", "np.zeros_like"):
        yield ast.Call(
            ast.Attribute(NUMPY, node.func.attr.replace("zeros", "ones"), ast.Load()), node.args, node.keywords
        )
    if isinstance(node, ast.Assign):
        values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        for number, value in enumerate(values):
            if isinstance(value, ast.Name):
                new, zeros = copy.deepcopy(node), ast.Call(ast.Attribute(NUMPY, "zeros_like", ast.Load()), [value], [])
                if isinstance(new.value, ast.Tuple):
                    new.value.elts[number] = zeros
                else:
                    new.value = zeros
                yield new


def comparisons(node: ast.AST) -> Iterator[ast.AST]:
    """Another comparison, or its opposite; another number to compare with."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        for op in (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq):
            if not isinstance(node.ops[0], op) and isinstance(node.ops[0], ast.Is | ast.IsNot) is False:
                yield ast.Compare(node.left, [op()], node.comparators)
        if _number(node.comparators[0]) is not None:
            yield ast.Compare(node.left, node.ops, [_plus(node.comparators[0], 1)])


def branches(node: ast.AST) -> Iterator[ast.AST]:
    """One branch always."""
    if isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
    if isinstance(node, ast.If):
        for always in (True, False):
            yield ast.If(ast.Constant(always), node.body, node.orelse)


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """`=` for `+=`, and a line left out."""
    if isinstance(node, ast.AugAssign):
        yield ast.Assign([node.target], node.value)
        yield ast.Pass()
    elif isinstance(node, ast.Assign | ast.Expr):
        yield ast.Pass()


def arguments(node: ast.AST) -> Iterator[ast.AST]:
    """Two neighbouring arguments, or results, exchanged."""
    if isinstance(node, ast.Call) and len(node.args) > 1:
        for first in range(len(node.args) - 1):
            new = copy.deepcopy(node)
            new.args[first], new.args[first + 1] = new.args[first + 1], new.args[first]
            yield new
    if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
        for first in range(len(node.value.elts) - 1):
            new = copy.deepcopy(node)
            elements = new.value.elts
            elements[first], elements[first + 1] = elements[first + 1], elements[first]
            yield new


def reductions(node: ast.AST) -> Iterator[ast.AST]:
    """A mean for a sum, the smallest for the largest, and the like."""
    others = {"sum": "mean", "mean": "sum", "max": "min", "argmax": "argmin", "exp": "log", "stack": "concatenate"}
    if isinstance(node, ast.Attribute) and node.attr in others:
        yield ast.Attribute(node.value, others[node.attr], node.ctx)


CHANGES: tuple[Change, ...] = (
    signs,
    dropped_parts,
    products,
    transposes,
    axes,
    indices,
    ranges,
    beginnings,
    comparisons,
    branches,
    statements,
    arguments,
    reductions,
)

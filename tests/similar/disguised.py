"""A submission as a second student might submit it: the same code with other names, comments and order."""

import ast
import copy
import io
import random
import re
import tokenize

from grader.cells import grade_id


def disguised(notebook, released, seed=0):
    """The notebook with the student's own cells with other names and comments, in another order."""
    other = copy.deepcopy(notebook)
    given = {cell.source for cell in released.cells}
    own = [cell for cell in other.cells if cell.cell_type == "code" and cell.source not in given]
    for cell in own:
        cell.source = commented(renamed(cell.source, keep=(grade_id(cell),)))
    order = iter(random.Random(seed).sample(own, len(own)))
    other.cells = [next(order) if any(cell is each for each in own) else cell for cell in other.cells]
    return other


def renamed(source, keep=()):
    """Every argument, variable and helper has another name; attributes and keywords of calls stay."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return source
    found = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    found |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    found |= {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    keywords = {node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword)}
    attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for number, name in enumerate(sorted(found - keywords - attributes - set(keep))):
        source = re.sub(rf"\b{name}\b", f"my_own_{number}", source)
    ast.parse(source)
    return source


def commented(source):
    """Without the comments of the original, and with others."""
    try:
        found = [t for t in tokenize.generate_tokens(io.StringIO(source).readline) if t.type == tokenize.COMMENT]
    except (tokenize.TokenError, SyntaxError):
        return source
    lines = source.split("\n")
    for token in reversed(found):
        row, column = token.start
        lines[row - 1] = lines[row - 1][:column].rstrip()
    return "# my solution\n" + "\n".join(line + ("  # then" if line.endswith(":") else "") for line in lines)

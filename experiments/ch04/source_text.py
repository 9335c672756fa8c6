"""Python source code as a text: the standard library of the Python that runs this, read where it is installed.

    python -m experiments.ch04.source_text     describe the text

The library is under the licence of the Python Software Foundation. Nothing of it is shipped with the course: a record
names the version and the hash of the text that was read. Another version of Python has another text.

Comments and docstrings are removed, because they are prose, and so are lines that are left empty, except one at a time.
Whole modules are held out. Tests, demonstrations, interfaces to Tk, tables of data, and modules that are not in ASCII
or that use tabs are left out. A training line of at least 50 characters that occurs in the held-out part is dropped.

`Structure` says what the text's own tokenizer, `tokenize`, finds: brackets, strings, and the indentation of statements.
"""

from __future__ import annotations

import ast
import hashlib
import io
import platform
import sysconfig
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from experiments.text import Text

TRAIN, HELD_OUT = 1_800_000, 150_000  # characters, at most one module more
LEFT_OUT = {
    "__phello__", "encodings", "ensurepip", "idlelib", "lib2to3", "pydoc_data", "site-packages", "test", "tests",
    "tkinter", "turtledemo", "config-3",
}  # fmt: skip
TABLES = {"html/entities.py", "locale.py", "sre_constants.py", "symbol.py", "turtle.py"}
LONG_LINE = 50
OPENING, CLOSING = "([{", ")]}"
PAIRS = dict(zip(CLOSING, OPENING, strict=True))


def modules() -> Iterator[tuple[str, str]]:
    """The names and cleaned sources of the modules that are read, in an order that does not depend on their content."""
    library = Path(sysconfig.get_paths()["stdlib"])
    found = [path.relative_to(library) for path in library.rglob("*.py")]
    names = [path.as_posix() for path in found if not any(part.startswith(tuple(LEFT_OUT)) for part in path.parts)]
    for name in sorted(set(names) - TABLES, key=lambda name: hashlib.sha256(name.encode()).hexdigest()):
        raw = (library / name).read_bytes()
        if raw.isascii() and b"\t" not in raw and b"\f" not in raw and len(raw) > 1000:
            yield name, cleaned(raw.decode("ascii").replace("\r\n", "\n"))


def cleaned(source: str) -> str:
    """Source code without comments, docstrings, trailing spaces, and more than one empty line at a time."""
    lines = source.split("\n")
    for node in ast.walk(ast.parse(source)):
        body = getattr(node, "body", None)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and body:
            first = body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                assert first.end_lineno is not None
                assert first.end_col_offset is not None
                start, end = first.lineno - 1, first.end_lineno - 1
                before, after = lines[start][: first.col_offset], lines[end][first.end_col_offset :]
                lines[start : end + 1] = [before + "pass" + after] + ["\0"] * (end - start)
                if len(body) > 1 and body[1].lineno > end + 1 and not before.strip():
                    lines[start] = "\0"
    source = "\n".join(lines)
    comments = [
        token.start for token in tokenize.generate_tokens(io.StringIO(source.replace("\0", "")).readline)
        if token.type == tokenize.COMMENT
    ]  # fmt: skip
    for row, column in comments:
        lines[row - 1] = lines[row - 1][:column].rstrip() or "\0"
    kept: list[str] = []
    for line in lines:
        line = line.rstrip()
        if line != "\0" and (line or (kept and kept[-1])):
            kept.append(line)
    return "\n".join(kept).strip("\n") + "\n\n"


@cache
def python_source() -> tuple[Text, dict[str, str]]:
    """The text, and the held-out modules, whose sources in this order are its held-out part."""
    train: list[str] = []
    held_out: dict[str, str] = {}
    aside = left = 0
    for name, source in modules():
        if aside < HELD_OUT:
            held_out[name] = source
            aside += len(source)
        elif left < TRAIN:
            train.append(source)
            left += len(source)
    known = {line for source in held_out.values() for line in source.split("\n") if len(line) >= LONG_LINE}
    lines = [line for line in "".join(train).split("\n") if line not in known]
    text = "\n".join(lines)
    characters = "".join(sorted(set(text)))
    held_out = {name: "".join(c for c in source if c in characters) for name, source in held_out.items()}
    source_name = f"the standard library of Python {platform.python_version()}"
    return Text(text, "".join(held_out.values()), characters, source_name), held_out


# What the tokenizer finds ---------------------------------------------------------------------------------------------


@dataclass
class Structure:
    """Positions in a text, all of them indices of characters."""

    brackets: list[tuple[int, int]] = field(
        default_factory=list
    )  # of an opening bracket, and of the one that closes it
    strings: list[tuple[int, int]] = field(
        default_factory=list
    )  # of the quotes of a string with one quote on each side
    depth: list[int] = field(default_factory=list)  # open brackets after each character
    inside: list[int] = field(default_factory=list)  # 1 within a string, after its opening quote, else 0
    statements: list[tuple[int, tuple[int, ...], bool, int]] = field(default_factory=list)
    # the start of a statement's line, the indentations that are legal there (after a colon, the one in the text),
    # whether the previous statement ends with a colon, and the start of the statement that opened the innermost block


def tokens(source: str) -> Iterator[tuple[int, str, int, int, int]]:
    """Type, text, row and column of each token's start, and its length in characters; an f-string is one token."""
    starts = [0]
    for line in source.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    nested, began = 0, (0, 0)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        name = tokenize.tok_name[token.type]
        start, end = (starts[row - 1] + column for row, column in (token.start, token.end))
        if name == "FSTRING_START":  # from Python 3.12 on
            began = began if nested else token.start
            nested += 1
        elif name == "FSTRING_END":
            nested -= 1
            if not nested:
                first = starts[began[0] - 1] + began[1]
                yield tokenize.STRING, source[first:end], *began, end - first
        elif not nested:
            yield token.type, token.string, *token.start, end - start


def structure(source: str) -> Structure:
    """The structure of one module. Raises tokenize.TokenError for a text that is not one."""
    starts = [0]
    for text in source.split("\n"):
        starts.append(starts[-1] + len(text) + 1)
    found = Structure(depth=[0] * len(source), inside=[0] * len(source))
    open_brackets: list[int] = []
    changes: dict[int, int] = {}
    levels, headers = [0], [0]
    fresh, statement, colon, last = True, 0, False, ""
    for kind, string, row, indent, length in tokens(source):
        line = starts[row - 1]
        start, end = line + indent, line + indent + length
        if kind == tokenize.INDENT:
            levels.append(len(string))
            headers.append(statement)
        elif kind == tokenize.NEWLINE:
            fresh, colon = True, last == ":"
        if kind in (tokenize.INDENT, tokenize.DEDENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER):
            continue
        if fresh:
            found.statements.append((line, (indent,) if colon else tuple(levels), colon, headers[-1]))
            while levels[-1] > indent:
                levels.pop()
                headers.pop()
            fresh, statement = False, line
        last = string
        if kind == tokenize.OP and string in OPENING:
            open_brackets.append(start)
            changes[start] = 1
        elif kind == tokenize.OP and string in CLOSING:
            found.brackets.append((open_brackets.pop(), start))
            changes[start] = -1
        elif kind == tokenize.STRING:
            quote = string[-1]
            first = start + string.index(quote)
            if not string.endswith(quote * 3) or end - first == 2:
                found.strings.append((first, end - 1))
            found.inside[first : end - 1] = [1] * (end - 1 - first)
    depth = 0
    for position in range(len(source)):
        depth += changes.get(position, 0)
        found.depth[position] = depth
    return found


def main() -> None:
    text, held_out = python_source()
    print(text.label)
    print(f"train {len(text.train):,}, held out {len(text.held_out):,} characters, of {len(text.characters)} kinds")
    print("held out:", ", ".join(held_out))
    parts = [structure(source) for source in held_out.values()]
    print(*(sum(len(getattr(part, name)) for part in parts) for name in ("brackets", "strings", "statements")))


if __name__ == "__main__":
    main()

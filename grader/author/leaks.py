"""Find what students must not see in the files that they get: solutions, specs, and a term's hidden cases.

Solutions and specs are compared without white space, so line breaks and the mark-up of a page hide nothing. A statement
too small to give anything away, such as `T = x.shape[1]`, is not searched for; `statements` says what counts.
"""

from __future__ import annotations

import ast
import json
import re
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from html import unescape
from pathlib import Path, PurePosixPath
from typing import Any

from grader.author.course import Course
from grader.author.notebooks import BEGIN, END
from grader.author.shown_solutions import SMALLEST, shown_pieces, solution_pieces, source_pieces
from grader.cells import cell_source
from grader.codec import CodecError, decode, encode, inflated
from grader.released import Released
from grader.spec.folders import SPEC

LONG_LINE = 30  # characters from which a whole line of a solution is searched for, whatever it is
SHOWN_AT_LEAST = 2  # statements of a function of a spec in one file that count as this function
SHORTEST_SEED = 8  # digits; a shorter number may be anywhere
PRIVATE_NAMES = frozenset(
    {"solutions", "checks", "term", "hidden", "submitted", "autograded", "seed", "gradebook.db"}
    | {"_sources", ".doctrees", ".jupyter_cache", "jupyter_execute", ".git", "__pycache__"}
)
_NOTEBOOK, _PAGE, _DATA, _MARKDOWN = ".ipynb", ".html", ".msgpack", ".md"
_COMPRESSED = ".zlib"
_CODE = {_NOTEBOOK, _PAGE, _MARKDOWN, ".py"}
_BLOCK = re.compile(r"<pre[^>]*>(.*?)</pre>", re.DOTALL)
_QUOTED = {".js", ".json"}  # whose strings have line breaks and quotes in another form
_TAG = re.compile(r"<[^>]*>")
_VALUE = re.compile(r"<!--.*?-->|\"[^\"<>]{12,}\"", re.DOTALL)  # comments, and values of attributes
_STRING = re.compile(rb"[\t\n\r -~]{8,}")
_WORD = re.compile(r"\w+")
_LONG_NUMBER = re.compile(r"\d\.\d{12,17}(?:e[-+]\d+)?")


@dataclass(frozen=True)
class Leak:
    """What was found in which file of the bundle."""

    path: str
    what: str

    def __str__(self) -> str:
        return f"{self.path}: {self.what}"


@dataclass(frozen=True)
class Term:
    """What a term's folder `hidden/` contains: its seed, and its cases, by their bytes and by their numbers."""

    folder: Path
    seed: str
    cases: Mapping[bytes, str]  # an encoded case: its exercise
    numbers: Mapping[str, str]  # a number with 13 digits or more, as Python writes it: its exercise


@dataclass(frozen=True)
class Secrets:
    """What to search for: squeezed statements with the id of their exercise, the squeezed statements of each function
    of a spec, by (path of the spec, name), the values of a solution's statements as syntax trees, which a renamed
    result does not change, and what terms keep hidden.
    """

    solutions: Mapping[str, str]
    specs: Mapping[tuple[str, str], list[str]]
    values: Mapping[str, str] = field(default_factory=dict)
    terms: tuple[Term, ...] = ()


def secrets_of(course: Course, terms: Iterable[Path] = ()) -> Secrets:
    """Everything that students must not see, apart from what their notebooks contain anyway.

    Raises ReleaseError for a source that cannot be released.
    """
    cells = [cell for made in course.made for cell in made.student.cells]
    released = squeezed("\n".join(cell.source for cell in cells))
    given = {value for cell in cells if cell.cell_type == "code" for value in source_pieces(cell.source)}
    values = {
        value: exercise_id
        for exercise_id, made in course.notebooks.items()
        for value in sorted(solution_pieces(cell_source(made.instructor, exercise_id)) - given)
    }
    data = Released(course.root / "grader" / "data")
    hidden = tuple(term_secrets(term, data) for term in terms if (term / "hidden").is_dir())
    return Secrets(solution_statements(course, released), spec_functions(course, released), values, hidden)


def solution_statements(course: Course, released: str = "") -> dict[str, str]:
    """The statements and long lines of all solutions, squeezed, with the id of their exercise."""
    found = {}
    for exercise_id, made in course.notebooks.items():
        for rest in cell_source(made.instructor, exercise_id).split(BEGIN)[1:]:
            region = textwrap.dedent(rest.partition(END)[0].partition("\n")[2])
            lines = filter(lambda line: len(squeezed(line)) >= LONG_LINE, region.splitlines())
            for piece in (*statements(region), *lines):
                found[squeezed(piece)] = exercise_id
    return _without(found, released)


def spec_functions(course: Course, released: str = "") -> dict[tuple[str, str], list[str]]:
    """The squeezed statements of each function of a spec, by (path of the spec, name of the function).

    Judges and fixtures are no specs: the package for students contains them.
    """
    found = {}
    for path in sorted((course.root / "solutions").glob(f"*/*/{SPEC}")):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                body = "\n".join(map(ast.unparse, node.body))
                pieces = dict.fromkeys(map(squeezed, statements(body)), "")
                if left := list(_without(pieces, released)):
                    found[course.where(path), node.name] = left
    return found


def statements(source: str) -> Iterator[str]:
    """The simple statements of a function's body that are long enough to give something away, each as it is written
    and as Python would write it.
    """
    whole = "def _():\n" + textwrap.indent(source, " ")
    for node in ast.walk(ast.parse(whole)):
        if isinstance(node, ast.Return | ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr):
            if node.value is None or isinstance(node.value, ast.Constant):
                continue
            if sum(1 for _ in ast.walk(node)) >= SMALLEST + 2:
                yield ast.get_source_segment(whole, node) or ""
                yield ast.unparse(node)


def squeezed(text: str) -> str:
    """Text without white space and with one kind of quote."""
    return re.sub(r"\s+", "", text).replace("'", '"')


def shown_text(path: str, content: bytes) -> str:
    """What a file shows, squeezed: of a page its text and the values in its mark-up, of a notebook its cells too, of
    recorded data only the strings.
    """
    suffix = _suffix(path)
    if suffix == _DATA:
        content = b"\n".join(_STRING.findall(content))
    text = content.decode("utf-8", errors="replace")
    if suffix in _QUOTED:
        text = text.replace("\\n", "\n").replace('\\"', '"')
    elif suffix == _NOTEBOOK:
        text += "\n" + "\n".join(_cell_texts(text))
    elif suffix == _PAGE:
        text = unescape("\n".join([_TAG.sub("", text), *_VALUE.findall(text)]))
    return squeezed(text)


def term_secrets(folder: Path, released: Released) -> Term:
    """Read TERM/hidden/. What the public cases contain too is no secret."""
    seed = (folder / "hidden" / "seed").read_text("utf-8").strip() if (folder / "hidden" / "seed").exists() else ""
    cases: dict[bytes, str] = {}
    numbers: dict[str, str] = {}
    for path in sorted((folder / "hidden").glob("*.msgpack")):
        try:
            trees = decode(path.read_bytes())["exercises"]
        except (CodecError, KeyError, TypeError):
            continue  # written by another version of the course, which computes them again
        for exercise_id, (tree, _) in trees.items():
            shown = released.checks(exercise_id).cases if exercise_id in released.manifest.places else ()
            known = {number for case in shown for number in _numbers(case.inputs)}
            public_bytes = {encode([dict(case.sizes), dict(case.inputs), case.kind]) for case in shown}
            for case in tree["cases"]:
                content = encode(case)
                if content not in public_bytes:
                    cases[content] = exercise_id
                    numbers |= {number: exercise_id for number in _numbers(case[1]) if number not in known}
    return Term(folder, seed, cases, numbers)


def find_leaks(files: Iterable[tuple[str, bytes]], secrets: Secrets) -> list[Leak]:
    """Search files, given as (path, content). The files of an archive have to be given one by one."""
    found = []
    for path, content in files:
        if path.endswith(_COMPRESSED):
            try:
                content = inflated(content)
            except CodecError as error:
                found.append(Leak(path, f"it cannot be searched: {error}"))
                continue
        if private := PRIVATE_NAMES & set(PurePosixPath(path).parts):
            found.append(Leak(path, f"a file of a folder that is not for students: {', '.join(sorted(private))}"))
        text = shown_text(path, content)
        words = set(_WORD.findall(text))
        for piece, exercise_id in secrets.solutions.items():
            if _is_in(piece, text, words):
                found.append(Leak(path, f"a line of the solution of {exercise_id}: {piece}"))
        shown_values = {secrets.values[value] for value in _values(path, content) if value in secrets.values}
        found += [Leak(path, f"an expression of the solution of {name}") for name in sorted(shown_values)]
        for (spec, name), pieces in secrets.specs.items():
            shown = [piece for piece in pieces if _is_in(piece, text, words)]
            if len(shown) >= min(SHOWN_AT_LEAST, len(pieces)):
                found.append(Leak(path, f"the function {name} of {spec}: {shown[0]}"))
        for term in secrets.terms:
            found += _of_term(path, content, text, term)
    return found


def _values(path: str, content: bytes) -> Iterator[str]:
    """The values of the statements in a file's code, as `source_pieces` gives them."""
    suffix = _suffix(path)
    text = content.decode("utf-8", errors="replace") if suffix in _CODE else ""
    if suffix == _MARKDOWN:
        yield from (piece for _, _, piece in shown_pieces(text))
        return
    blocks = [text]
    if suffix == _NOTEBOOK:
        blocks = list(_cell_texts(text))
    elif suffix == _PAGE:
        blocks = [unescape(_TAG.sub("", block)) for block in _BLOCK.findall(text)]
    with warnings.catch_warnings(action="ignore"):  # of Python, about what is no code of ours, such as "\\d"
        yield from (piece for block in blocks if "\0" not in block for piece in source_pieces(block))


def _is_in(piece: str, text: str, words: set[str]) -> bool:
    """Whether a text contains a piece. Most pieces contain a word that is not in the text, which is faster to find."""
    return _inner_words(piece) <= words and piece in text


@cache
def _inner_words(piece: str) -> frozenset[str]:
    """The words of a piece that are the same wherever it is: not its first and its last, which may be part of longer
    ones there.
    """
    return frozenset(word[0] for word in _WORD.finditer(piece) if word.start() > 0 and word.end() < len(piece))


def _suffix(path: str) -> str:
    """What kind of file it is, compressed or not."""
    return PurePosixPath(path.removesuffix(_COMPRESSED)).suffix


def _of_term(path: str, content: bytes, text: str, term: Term) -> Iterator[Leak]:
    if len(term.seed) >= SHORTEST_SEED and term.seed in text:
        yield Leak(path, f"the seed of the hidden cases in {term.folder}")
    if _suffix(path) == _DATA:
        exercises = {exercise_id for case, exercise_id in term.cases.items() if case in content}
    else:
        exercises = {term.numbers[number] for number in _LONG_NUMBER.findall(text) if number in term.numbers}
    yield from (Leak(path, f"a hidden case of {name} in {term.folder}") for name in sorted(exercises))


def _numbers(tree: Any) -> Iterator[str]:
    """The numbers with many digits of the arrays in a tree, without sign."""
    if hasattr(tree, "dtype"):
        if tree.dtype.kind == "f":
            texts = (repr(abs(float(value))) for value in tree.ravel())
            yield from (text for text in texts if _LONG_NUMBER.fullmatch(text))
    elif isinstance(tree, Mapping):
        for value in tree.values():
            yield from _numbers(value)
    elif isinstance(tree, list | tuple):
        for value in tree:
            yield from _numbers(value)


def _without(pieces: dict[str, str], shown: str) -> dict[str, str]:
    return {piece: name for piece, name in pieces.items() if piece and piece not in shown}


def _cell_texts(text: str) -> Iterator[str]:
    try:
        for cell in json.loads(text).get("cells", []):
            yield "".join(cell["source"])
            yield json.dumps(cell.get("outputs", []), ensure_ascii=False)
    except (ValueError, AttributeError, KeyError, TypeError):
        return  # not a notebook; its text is searched as it is

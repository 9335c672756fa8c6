"""What the checks of an exercise are computed from, and checks that are kept until some of it changes.

The checks of the public cases are kept in `grader/data`, those of a term in `TERM/hidden` (`autograde/grading/hidden`),
and those of the other seeds that lint and tests use in `build/checks`.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from itertools import accumulate
from pathlib import Path
from typing import Any

from grader.author.record import PUBLIC_SEED, checks_folder, fixtures_path, make_checks, reference_path
from grader.author.spec import Spec
from grader.checking.case import Checks
from grader.codec import CodecError, decode, encode
from grader.files import update_with_files, write_whole
from grader.manifest import Place
from grader.released import OWN_JUDGE, cases_tree, checks_from_trees, load_own_judge, outputs_tree, read_fixtures
from grader.sources import PACKAGE, package_sources, with_imports

KEPT = Path("build", "checks")


def sources(root: Path, place: Place) -> list[Path]:
    """The files of the course that an exercise's checks are computed from: its spec and judge, its notebook's source,
    the chapter's fixtures and data files, and the modules of the course that these import.
    """
    folder, name = checks_folder(root, place), place.exercise.id
    own = [spec_path(root, place), folder / OWN_JUDGE.format(name), reference_path(root, place)]
    files = (root / "solutions" / place.chapter.id / "files").glob("*")
    return with_imports(root, [*own, fixtures_path(root, place.chapter), *files])


def spec_path(root: Path, place: Place) -> Path:
    return checks_folder(root, place) / f"{place.exercise.id}.py"


def states(root: Path, places: Iterable[Place]) -> dict[str, str]:
    """For each exercise, a hash of all files that its checks are computed from. Texts that only readers see do not
    count, nor does where the course and the package are.
    """
    engine = hashlib.sha256()
    update_with_files(engine, PACKAGE, package_sources("author/record.py"))
    found = {}
    for place in places:
        digest, spec = engine.copy(), spec_path(root, place)
        digest.update(place.exercise.id.encode() + b"\0")
        read = partial(_without_words_of, spec)
        update_with_files(digest, root, sources(root, place), read)
        found[place.exercise.id] = digest.hexdigest()
    return found


def _without_words_of(spec: Path, path: Path) -> bytes:
    return without_words(path.read_bytes()) if path == spec else path.read_bytes()


@cache
def without_words(source: bytes) -> bytes:
    """The source of a spec without the messages of its mistakes, why they tempt, and why the solution works.

    They are cut out of the text, because a printed syntax tree differs between versions of Python.
    """
    try:
        calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    except (SyntaxError, ValueError):
        return source  # who runs it says so
    starts = [0, *accumulate(map(len, source.splitlines(keepends=True)))]
    spans = [
        (starts[words.lineno - 1] + words.col_offset, starts[words.end_lineno - 1] + words.end_col_offset)
        for call in calls
        for words in _words(call)
        if words.end_lineno is not None and words.end_col_offset is not None
    ]
    for start, end in sorted(spans, reverse=True):
        source = source[:start] + source[end:]
    return source


def _words(call: ast.Call) -> Iterator[ast.expr]:
    """The arguments of `SPEC.mistake(…)` and `Spec(…)` that are texts for readers."""
    match call.func:
        case ast.Attribute(attr="mistake"):
            yield from call.args[1:2]
            yield from (keyword.value for keyword in call.keywords if keyword.arg == "tempts")
        case ast.Name(id="Spec"):
            yield from (keyword.value for keyword in call.keywords if keyword.arg == "why")


def written_why(source: bytes) -> str:
    """What the source of a spec has as `why`, if it is written as a plain text."""
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    found = (words for call in calls if isinstance(call.func, ast.Name) for words in _words(call))
    return next((node.value for node in found if isinstance(node, ast.Constant) and isinstance(node.value, str)), "")


def versions(*packages: str) -> str:
    """The installed versions of these packages."""
    return " ".join(f"{package} {_version(package)}" for package in packages)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


def kept_checks(root: Path, place: Place, seed: int, spec: Spec | None = None) -> Checks:
    """The checks on the cases of this seed, those of the public one preceded by the example: read from `build/checks`,
    or computed and kept there. `spec` is that of the course; it is loaded unless it is given.
    """
    name = place.exercise.id
    path = root / KEPT / str(seed) / f"{name}.msgpack"
    state = f"{versions('numpy', 'torch')} {states(root, [place])[name]}"
    try:
        tree: Any = decode(path.read_bytes())
        if tree["state"] == state:
            return checks_of_trees(root, place, tree["cases"], tree["outputs"])
    except (FileNotFoundError, CodecError, KeyError, TypeError):  # or those of another version
        pass
    checks = make_checks(root, place, seed, seed == PUBLIC_SEED, spec)
    write_whole(path, encode({"state": state, "cases": cases_tree(checks), "outputs": outputs_tree(checks)}))
    return checks


def checks_of_trees(root: Path, place: Place, cases: Any, outputs: Any) -> Checks:
    """The checks that these trees were made of (see `grader.released`), with the judge and fixtures of the course."""
    name = place.exercise.id
    own = checks_folder(root, place) / OWN_JUDGE.format(name)
    judge = load_own_judge(own) if own.exists() else None
    return checks_from_trees(name, cases, outputs, judge, read_fixtures(fixtures_path(root, place.chapter)))

"""What the checks of an exercise are computed from, and checks that are kept until some of it changes.

The checks of the public cases are kept in `grader/data`, those of a term in `TERM/hidden` (`grading/hidden`),
and those of the other seeds that lint and tests use in `build/checks`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from grader.checking.case import Checks
from grader.codec import CodecError, decode, encode
from grader.files import update_with_files, write_whole
from grader.manifest import Place
from grader.released import cases_tree, checks_from_trees, load_own_judge, outputs_tree, read_fixtures
from grader.sources import PACKAGE, package_sources, with_imports
from grader.spec.compute import PUBLIC_SEED, make_checks
from grader.spec.folders import FILES, fixtures_path, judge_path, mistakes_path, reference_path, spec_path, ways_path
from grader.spec.mistake_words import read_mistake_words
from grader.spec.spec import Spec

KEPT = Path("build", "checks")


def sources(root: Path, place: Place) -> list[Path]:
    """The files of the course that an exercise's checks are computed from: its spec, mistakes and judge, its notebook's
    source, the chapter's fixtures and data files, and the modules of the course that these import.
    """
    own = [of(root, place) for of in (spec_path, ways_path, judge_path, reference_path)]
    files = (root / "solutions" / place.chapter.id / FILES).glob("*")
    return with_imports(root, [*own, fixtures_path(root, place.chapter), *files])


def states(root: Path, places: Iterable[Place]) -> dict[str, str]:
    """For each exercise, a hash of all files that its checks are computed from, and of the order of its mistakes. Where
    the course and the package are does not count. Raises MessageError.
    """
    engine = hashlib.sha256()
    update_with_files(engine, PACKAGE, package_sources("spec/record.py"))  # imports all that computes what it records
    found = {}
    for place in places:
        digest, order = engine.copy(), read_mistake_words(mistakes_path(root, place)).messages
        digest.update(" ".join([place.exercise.id, *order]).encode() + b"\0")
        update_with_files(digest, root, sources(root, place))
        found[place.exercise.id] = digest.hexdigest()
    return found


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
    own = judge_path(root, place)
    judge = load_own_judge(own) if own.exists() else None
    return checks_from_trees(name, cases, outputs, judge, read_fixtures(fixtures_path(root, place.chapter)))

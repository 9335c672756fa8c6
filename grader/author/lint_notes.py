"""What passed `grader lint`, noted in `build/lint.json`, so that it is checked again only after a change."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from pathlib import Path

import msgspec

from grader.author.course import Course
from grader.files import update_with_files, write_whole
from grader.manifest import Place
from grader.sources import PACKAGE, package_sources
from grader.spec.folders import HINTS, hints_path, mistakes_path, reference_path
from grader.spec.kept import states, versions

PASSED = Path("build", "lint.json")
RESULTS, WORDS, PAGES = "results", "words", "pages"  # what a rule may depend on

Notes = dict[str, dict[str, str]]  # of each exercise: the rules that passed, each with the hash of what it depends on


def read_notes(root: Path) -> Notes:
    try:
        return msgspec.json.decode((root / PASSED).read_bytes(), type=Notes)
    except (FileNotFoundError, msgspec.DecodeError):
        return {}


def write_notes(root: Path, notes: Notes) -> None:
    write_whole(root / PASSED, msgspec.json.encode(notes))


def hashes(course: Course, places: Iterable[Place]) -> dict[str, dict[str, str]]:
    """For each exercise, hashes of all that its RESULTS, its WORDS, and what PAGES and hints show of it depend on."""
    engine = hashlib.sha256(f"{sys.version} {versions('numpy', 'torch', 'jupytext', 'nbformat', 'nbgrader')}".encode())
    update_with_files(engine, PACKAGE, package_sources("author/lint.py"))
    shown = engine.copy()
    update_with_files(shown, course.root, [*course.pages, *(course.root / "solutions").glob(f"*/*/{HINTS}")])
    places, found = list(places), {}
    for (name, state), place in zip(states(course.root, places).items(), places, strict=True):
        entry = msgspec.json.encode((place.chapter.id, place.chapter.pages, place.notebook))
        words = [hints_path(course.root, place), mistakes_path(course.root, place)]
        found[name] = {
            RESULTS: _hash(engine, entry + state.encode()),
            WORDS: _hash(engine, entry, course.root, words),
            PAGES: _hash(shown, entry, course.root, [reference_path(course.root, place)]),
        }
    return found


def _hash(begun: hashlib._Hash, more: bytes, root: Path = PACKAGE, files: Iterable[Path] = ()) -> str:
    digest = begun.copy()
    digest.update(more)
    update_with_files(digest, root, filter(Path.is_file, files))
    return digest.hexdigest()

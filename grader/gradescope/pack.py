"""The zip that Gradescope runs as the autograder of one chapter.

It contains the grader, the released notebooks, and the hidden cases with their expected results, computed here. It
contains no solution, no source of a check, and not the term's seed: grading there needs neither PyTorch's oracle nor
the sources. Format: https://gradescope-autograders.readthedocs.io/en/latest/specs/
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import Any

from grader.codec import encode
from grader.files import PRIVATE, zip_bytes
from grader.gradescope.run import CASES, CHAPTER, COURSE, HIDDEN
from grader.gradescope.scripts import RUN, SETUP
from grader.grading.hidden import hidden_trees
from grader.grading.release import released_notebooks
from grader.manifest import Chapter, Manifest, load_manifest
from grader.released import CASES as PUBLIC_CASES
from grader.released import FIXTURES, MESSAGES, OUTPUTS, OWN_JUDGE
from grader.spec.folders import fixtures_path, judge_path

_PACKAGE = Path(__file__).resolve().parents[1]
_NEEDED = ("ipython", "msgspec", "nbformat", "numpy", "pyseccomp", "rich", "typer")
_CPU_ONLY = "--extra-index-url https://download.pytorch.org/whl/cpu"


def autograder_zip(root: Path, term: Path, chapter_id: str) -> bytes:
    """The zip for a chapter, with the hidden cases of this term, which are computed if necessary.

    Raises UnknownIdError, AutogradeError, HiddenError.
    """
    manifest = load_manifest(root / "course.toml")
    chapter = manifest.chapter(chapter_id)
    released = released_notebooks(root, chapter)
    files = {
        "setup.sh": SETUP.encode(),
        "run_autograder": RUN.encode(),
        "requirements.txt": "".join(f"{line}\n" for line in requirements(manifest, chapter, released)).encode(),
        CHAPTER: f"{chapter.id}\n".encode(),
        f"{HIDDEN}/{CASES}": encode(hidden_trees(root, term, chapter)),
    }
    files |= {f"{COURSE}/{name}": path.read_bytes() for name, path in _course_files(root, manifest, chapter)}
    return zip_bytes(files.items(), _mode)


def _course_files(root: Path, manifest: Manifest, chapter: Chapter) -> Iterator[tuple[str, Path]]:
    """The files of the course that grading reads, by their path in it."""
    yield "course.toml", root / "course.toml"
    for path in sorted((root / "exercises" / chapter.id).iterdir()):
        if path.is_file() and not path.name.startswith("."):
            yield f"exercises/{chapter.id}/{path.name}", path
    for path in sorted(_PACKAGE.rglob("*.py")):
        inside = path.relative_to(_PACKAGE)
        if inside.parts[0] != "data":
            yield f"grader/{inside.as_posix()}", path
    data = root / "grader" / "data"
    names = [name.format(e.id) for e in chapter.exercises for name in (PUBLIC_CASES, OUTPUTS, MESSAGES, OWN_JUDGE)]
    for name in ["__init__.py", "course.toml", FIXTURES.format(chapter.id), *names]:
        if (data / name).is_file():
            yield f"grader/data/{name}", data / name
    own = [judge_path(root, manifest.place(e.id)) for e in chapter.exercises]
    for path in [fixtures_path(root, chapter), *own]:
        if path.is_file():  # they are in students' packages, too
            yield path.relative_to(root).as_posix(), path


def requirements(manifest: Manifest, chapter: Chapter, released: Mapping[str, Any]) -> list[str]:
    """The packages that grading the chapter needs, in the versions that are installed here."""
    names = set(_NEEDED)
    modules = {name.partition(".")[0] for name in manifest.limits(chapter).preload}
    for notebook in released.values():
        for cell in notebook.cells:
            if cell.cell_type == "code":
                modules |= _imported(cell.source)
    installed = packages_distributions()
    for module in modules - sys.stdlib_module_names - {"grader"}:
        names |= {name.lower() for name in installed.get(module, ())[:1]}
    pinned = [f"{name}=={version(name).partition('+')[0]}" for name in sorted(names)]
    return [*([_CPU_ONLY] if "torch" in names else []), *pinned]


def _imported(source: str) -> set[str]:
    """The modules that a cell imports, without their submodules."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except SyntaxError:
        return set()
    found = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    found |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level}
    return {name.partition(".")[0] for name in found}


def _mode(name: str) -> int:
    return PRIVATE if name.startswith(f"{HIDDEN}/") else 0o755 if name in ("setup.sh", "run_autograder") else 0o644

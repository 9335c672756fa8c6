"""The hidden cases of a term: a seed that is made once, and the checks that are computed from it whenever the course's
checks change.

Both are in `TERM/hidden/`, readable only by their owner. The oracle (mostly PyTorch) runs in a short process of its
own, `python -m grader.autograde.grading.hidden ROOT TERM CHAPTER`, so that the grader itself stays small.
"""

from __future__ import annotations

import hashlib
import secrets
import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from grader.author.record import checks_folder, fixtures_path, make_checks
from grader.checking.case import Checks
from grader.codec import CodecError, decode, encode
from grader.errors import ExpectedError
from grader.files import PRIVATE, private_folder, write_whole
from grader.manifest import Chapter, load_manifest
from grader.released import OWN_JUDGE, cases_tree, checks_from_trees, load_own_judge, outputs_tree, read_fixtures


class HiddenError(ExpectedError):
    """The hidden cases could not be computed; the message says why and what to do."""


Trees = dict[str, tuple[object, object]]  # of each exercise: the cases and the expected outputs, for `grader.codec`


def hidden_trees(root: Path, term: Path, chapter: Chapter) -> Trees:
    """The hidden cases of a chapter's exercises, read from `TERM/hidden/` or computed now. Raises HiddenError."""
    path = term / "hidden" / f"{chapter.id}.msgpack"
    state = _state(root, chapter, hidden_seed(term))
    trees = _read(path, state)
    if trees is None:
        command = [
            sys.executable,
            "-P",  # so that a folder grader/ in the course does not hide the package
            "-m",
            "grader.autograde.grading.hidden",
            str(root.resolve()),
            str(term.resolve()),
            chapter.id,
        ]
        made = subprocess.run(command, capture_output=True, text=True, cwd=root, check=False)
        trees = _read(path, state)
        if made.returncode or trees is None:
            raise HiddenError(f"The hidden cases of {chapter.id} could not be computed:\n{made.stderr.strip()}")
    return trees


def hidden_checks(root: Path, term: Path, chapter: Chapter) -> dict[str, Checks]:
    """The hidden checks of a chapter's exercises, read from `TERM/hidden/` or computed now. Raises HiddenError."""
    trees = hidden_trees(root, term, chapter)
    manifest = load_manifest(root / "course.toml")
    fixtures = read_fixtures(fixtures_path(root, chapter))
    checks = {}
    for exercise in chapter.exercises:
        own = checks_folder(root, manifest.place(exercise.id)) / OWN_JUDGE.format(exercise.id)
        cases, outputs = trees[exercise.id]
        checks[exercise.id] = checks_from_trees(
            exercise.id, cases, outputs, load_own_judge(own) if own.exists() else None, fixtures
        )
    return checks


def hidden_seed(term: Path) -> int:
    """The term's seed, made at first use and never changed."""
    folder = term / "hidden"
    private_folder(term)
    private_folder(folder)
    path = folder / "seed"
    if not path.exists():
        write_whole(path, str(secrets.randbits(63)).encode(), PRIVATE)
    try:
        return int(path.read_text())
    except ValueError as error:
        raise HiddenError(
            f"{path} does not contain a number. Restore it from a backup, or delete {folder} to get new cases."
        ) from error


def hidden_state(root: Path, term: Path, chapter: Chapter) -> str:
    """A hash of everything that the hidden checks are computed from. It does not reveal the seed.

    This does not make a seed if there is none, so that a dry run changes nothing.
    """
    return _state(root, chapter, hidden_seed(term) if (term / "hidden" / "seed").exists() else None)


def make(root: Path, term: Path, chapter_id: str) -> None:
    """Compute a chapter's hidden checks and write them."""
    manifest = load_manifest(root / "course.toml")
    chapter = manifest.chapter(chapter_id)
    seed = hidden_seed(term)
    trees = {}
    for exercise in chapter.exercises:
        checks = make_checks(root, manifest.place(exercise.id), seed, example=False)
        trees[exercise.id] = (cases_tree(checks), outputs_tree(checks))
    keep(root, term, chapter, trees)


def keep(root: Path, term: Path, chapter: Chapter, trees: Mapping[str, tuple[object, object]]) -> None:
    """Write hidden cases as those of the term and of the course's present state, wherever they were computed."""
    content = encode({"state": _state(root, chapter, hidden_seed(term)), "exercises": trees})
    write_whole(term / "hidden" / f"{chapter.id}.msgpack", content, PRIVATE)


def _read(path: Path, state: str) -> Trees | None:
    try:
        tree = decode(path.read_bytes())
    except (FileNotFoundError, CodecError):
        return None
    return tree["exercises"] if isinstance(tree, dict) and tree.get("state") == state else None


def _state(root: Path, chapter: Chapter, seed: int | None) -> str:
    """A hash of everything that the hidden checks are computed from."""
    digest = hashlib.sha256(str(seed).encode())
    engine = Path(__file__).resolve().parents[2]
    files = [*(root / "solutions" / chapter.id).rglob("*.py"), engine / "codec.py"]
    files += [path for room in ("author", "checking") for path in (engine / room).rglob("*.py")]
    for path in sorted(files):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    for package in ("numpy", "torch"):
        digest.update(f"{package} {_version(package)}".encode())
    digest.update(",".join(exercise.id for exercise in chapter.exercises).encode())
    return digest.hexdigest()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


if __name__ == "__main__":
    make(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])

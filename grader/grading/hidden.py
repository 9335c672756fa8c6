"""The hidden cases of a term: a seed that is made once, and the checks that are computed from it whenever the course's
checks change, exercise by exercise.

Both are in `TERM/hidden/`, readable only by their owner. The oracle (mostly PyTorch) runs in a short process of its
own, `python -m grader.grading.hidden ROOT TERM CHAPTER …`, so that the grader itself stays small.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from grader.checking.case import Checks
from grader.codec import CodecError, decode, encode
from grader.errors import ExpectedError
from grader.files import PRIVATE, private_folder, write_whole
from grader.manifest import Chapter, load_manifest
from grader.released import cases_tree, outputs_tree
from grader.running.processes import same_modules
from grader.spec.compute import make_checks
from grader.spec.kept import checks_of_trees, states, versions


class HiddenError(ExpectedError):
    """The hidden cases could not be computed; the message says why and what to do."""


Trees = dict[str, tuple[object, object]]  # of each exercise: the cases and the expected outputs, for `grader.codec`


def hidden_trees(root: Path, term: Path, chapter: Chapter) -> Trees:
    """The hidden cases of a chapter's exercises, read from `TERM/hidden/` or computed now. Raises HiddenError."""
    states = _states(root, chapter, hidden_seed(term))
    trees = _up_to_date(term, chapter, states)
    if len(trees) < len(states):
        process = _process(root, term, [chapter])
        complaint = process.communicate()[1].strip()
        trees = _up_to_date(term, chapter, states)
        if process.returncode or len(trees) < len(states):
            reason = complaint or _reason(process.returncode, [name for name in states if name not in trees])
            raise HiddenError(f"The hidden cases of {chapter.id} could not be computed:\n{reason}")
    return trees


def _process(
    root: Path, term: Path, chapters: Sequence[Chapter], errors: int = subprocess.PIPE
) -> subprocess.Popen[str]:
    """The process that computes them. It uses the same modules as this one."""
    command = [sys.executable, "-m", "grader.grading.hidden", str(root.resolve()), str(term.resolve())]
    return subprocess.Popen(
        [*command, *(chapter.id for chapter in chapters)],
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
        cwd=root,
        env={**os.environ, **same_modules()},
    )


def _reason(status: int, missing: Sequence[str]) -> str:
    """Why cases are missing although the process that computes them reported no error."""
    if status < 0:
        return f"The process that computes them was killed by signal {-status}. Is there enough memory?"
    if status:
        return f"The process that computes them ended with status {status} and no message."
    return (
        f"Those of {', '.join(missing)} were computed from other files of the course or of the grader than are there "
        "now. Do not change these files while the command runs, and run it again."
    )


@contextmanager
def computed_ahead(root: Path, term: Path, chapters: Sequence[Chapter]) -> Iterator[Callable[[Chapter], None]]:
    """Compute what is out of date in these chapters, in one process and in this order, while the caller grades others.

    Provide a function that waits until a chapter is done. It reports no error: `hidden_trees` tries again, and does.
    """
    seed = hidden_seed(term)
    states = {chapter.id: _states(root, chapter, seed) for chapter in chapters}
    due = [each for each in chapters if len(_up_to_date(term, each, states[each.id])) < len(states[each.id])]
    if not due:
        yield lambda _: None
        return
    with _process(root, term, due, subprocess.DEVNULL) as process:
        assert process.stdout is not None
        done = process.stdout

        def wait(chapter: Chapter) -> None:
            if chapter in due:
                next((line for line in done if line.strip() == chapter.id), None)

        try:
            yield wait
        finally:
            process.kill()  # if it has ended, this does nothing


def hidden_checks(root: Path, term: Path, chapter: Chapter) -> dict[str, Checks]:
    """The hidden checks of a chapter's exercises, read from `TERM/hidden/` or computed now. Raises HiddenError."""
    trees = hidden_trees(root, term, chapter)
    manifest = load_manifest(root / "course.toml")
    return {e.id: checks_of_trees(root, manifest.place(e.id), *trees[e.id]) for e in chapter.exercises}


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
    states = _states(root, chapter, hidden_seed(term) if (term / "hidden" / "seed").exists() else None)
    return hashlib.sha256(repr(states).encode()).hexdigest()


def make(root: Path, term: Path, chapter_id: str) -> None:
    """Compute the hidden checks of a chapter's exercises that are out of date, and write them."""
    manifest = load_manifest(root / "course.toml")
    chapter = manifest.chapter(chapter_id)
    seed = hidden_seed(term)
    states = _states(root, chapter, seed)
    trees = _up_to_date(term, chapter, states)
    for name in states.keys() - trees.keys():
        checks = make_checks(root, manifest.place(name), seed, example=False)
        trees[name] = (cases_tree(checks), outputs_tree(checks))
    _write(term, chapter, states, trees)


def keep(root: Path, term: Path, chapter: Chapter, trees: Mapping[str, tuple[object, object]]) -> None:
    """Write hidden cases as those of the term and of the course's present state, wherever they were computed."""
    _write(term, chapter, _states(root, chapter, hidden_seed(term)), trees)


def _write(term: Path, chapter: Chapter, states: Mapping[str, str], trees: Mapping[str, tuple[object, object]]) -> None:
    exercises = {name: (state, *trees[name]) for name, state in states.items()}
    write_whole(_path(term, chapter), encode({"exercises": exercises}), PRIVATE)


def _up_to_date(term: Path, chapter: Chapter, states: Mapping[str, str]) -> Trees:
    """The hidden cases on file of the exercises that have not changed since."""
    try:
        tree: Any = decode(_path(term, chapter).read_bytes())
        return {name: entry[1:] for name, entry in tree["exercises"].items() if states.get(name) == entry[0]}
    except (FileNotFoundError, CodecError, KeyError, TypeError):  # or those of another version
        return {}


def _path(term: Path, chapter: Chapter) -> Path:
    return term / "hidden" / f"{chapter.id}.msgpack"


def _states(root: Path, chapter: Chapter, seed: int | None) -> dict[str, str]:
    """For each exercise, a hash of everything that its hidden checks are computed from."""
    manifest = load_manifest(root / "course.toml")
    found = states(root, [manifest.places[exercise.id] for exercise in chapter.exercises])
    common = f"{seed} {versions('numpy', 'torch')}"
    return {name: hashlib.sha256(f"{common} {state}".encode()).hexdigest() for name, state in found.items()}


def main(root: Path, term: Path, chapters: Sequence[str]) -> None:
    """Compute what is out of date in these chapters, and print the id of each when it is done."""
    for chapter_id in chapters:
        make(root, term, chapter_id)
        print(chapter_id, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])

"""Compare the submissions of a chapter. No student code is run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader.counts import counted
from grader.errors import ExpectedError
from grader.grading.release import released_notebooks
from grader.manifest import Chapter, load_manifest
from grader.shown import named
from grader.similar.fingerprints import NOISE, fingerprint
from grader.similar.own import OwnCode, given_code, own_code
from grader.similar.pairs import SIMILAR, Found, Pair, Side, similar_pairs
from grader.submission.files import released_files
from grader.submission.folders import find_submissions


class SimilarError(ExpectedError):
    """The submissions cannot be compared; the message says why and what to do."""


@dataclass(frozen=True)
class Compared:
    """The comparison of a chapter's submissions. `own` is the code of each student, by the name that is shown, and
    `closed` are the students whose folder could not be read.
    """

    chapter: Chapter
    course: str
    own: dict[str, OwnCode]
    found: Found
    share: float
    closed: tuple[str, ...] = ()
    anonymous: bool = False


def compare(
    root: Path,
    term: Path,
    chapter_id: str,
    share: float = SIMILAR,
    given: Iterable[Path] = (),
    on_read: Callable[[int, int], None] = lambda done, of: None,
) -> Compared:
    """Compare all submissions of a chapter. `given` are more files with code that everyone had. `on_read` is called
    after each submission. Raises UnknownIdError, AutogradeError, SimilarError, GivenError, NoLibraryError.
    """
    manifest = load_manifest(root / "course.toml")
    chapter = manifest.chapter(chapter_id)
    released = released_notebooks(root, chapter)
    files = released_files(root / "exercises" / chapter.id)
    known = [fingerprint(source) for source in given_code(root, chapter, released, files, given)]
    folders = find_submissions(term, chapter).folders
    if len(folders) < 2:
        raise SimilarError(
            f"{term / 'submitted'} has {counted(len(folders), 'submission')} of {chapter.id}; a "
            "comparison needs two. Collect the submissions first."
        )
    own: dict[str, OwnCode] = {}
    closed = []
    for number, (student, folder) in enumerate(folders.items(), 1):
        try:
            own[student] = own_code(folder, chapter, released, files)
        except OSError:
            closed.append(student)
        on_read(number, len(folders))
    prints = {student: [fingerprint(part.source) for part in code.parts] for student, code in own.items()}
    return Compared(chapter, manifest.title, own, similar_pairs(prints, known, share), share, tuple(closed))


def without_names(compared: Compared) -> Compared:
    """The same with a number for each student, in the order of the pairs, so that a number says nothing of a name."""
    order = [side.student for pair in compared.found.pairs for side in pair.sides]
    rest = sorted([*compared.own, *compared.closed], key=lambda student: -len(str(compared.own.get(student))))
    numbers = {student: number for number, student in enumerate(dict.fromkeys([*order, *rest]), 1)}
    found = with_names(compared, {student: f"submission {number}" for student, number in numbers.items()}, numbers)
    return replace(found, anonymous=True)


def with_names(compared: Compared, names: Mapping[str, str], order: Mapping[str, int] | None = None) -> Compared:
    """The same with what `names` has for a student's id, in lists by the students' `order`, or by these names."""
    found = compared.found

    def called(student: str) -> str:
        return names.get(student, student)

    def listed(students: Sequence[str]) -> tuple[str, ...]:
        return tuple(map(called, sorted(students, key=order.__getitem__ if order else called)))

    def renamed(side: Side) -> Side:
        return replace(side, student=called(side.student))

    pairs = tuple(replace(pair, left=renamed(pair.left), right=renamed(pair.right)) for pair in found.pairs)
    return replace(
        compared,
        own={called(student): code for student, code in compared.own.items()},
        found=replace(found, pairs=pairs, short=listed(found.short)),
        closed=listed(compared.closed),
    )


def as_tree(compared: Compared) -> dict[str, Any]:
    """The comparison as plain values, for `--json`."""
    found = compared.found
    return {
        "chapter": compared.chapter.id,
        "submissions": len(compared.own) + len(compared.closed),
        "threshold": compared.share,
        "characters_per_fingerprint": NOISE,
        "left_out_if_in_more_than": found.widespread,
        "pairs": [_pair_tree(pair, compared) for pair in found.pairs],
        "too_little_code": [named(student) for student in found.short],
        "not_read": {named(student): list(code.unreadable) for student, code in compared.own.items() if code.unreadable}
        | {named(student): [] for student in compared.closed},
        "cut": [named(student) for student, code in compared.own.items() if code.cut],
    }


def _pair_tree(pair: Pair, compared: Compared) -> dict[str, Any]:
    return {
        "submissions": [
            {
                "student": named(side.student),
                "share": round(side.share, 3),
                "places": [compared.own[side.student].parts[index].title for index in side.passages],
            }
            for side in pair.sides
        ],
        "characters": pair.size,
        "rarity": round(pair.weight, 1),
    }

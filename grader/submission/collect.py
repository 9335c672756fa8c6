"""`grader collect`: unpack the zips that students made with `grader submit`, if they are as the students sent them.

A zip in `submitted/STUDENT/CHAPTER/`, or in `submitted/STUDENT/`, is unpacked into the former and moved to
`TERM/collected/CHAPTER/STUDENT/`. What is not accepted stays where it is and is reported, so that every zip has a line.
Files that did not come from a zip are never overwritten or deleted, and no student's zip keeps another's from being
unpacked.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.errors import ExpectedError
from grader.files import write_whole
from grader.manifest import Chapter
from grader.shown import named, one_line
from grader.submission.archive import NotOfSubmitError, SubmissionManifest, digest, read_archive, this_course
from grader.submission.bounded import ArchiveError
from grader.submission.folders import is_ignored

MOST_PROBLEMS = 5  # of one zip that are listed


class CollectError(ExpectedError):
    """Nothing can be collected."""


@dataclass(frozen=True)
class Collected:
    """What happened to a student's zip: the files that were unpacked, or the problems for which it was not. A zip that
    needs none has neither. `notes` are for the instructor; `path` is relative to the term.
    """

    student: str
    path: str
    files: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Found:
    """A zip of this chapter, as `grader submit` made it."""

    path: Path
    manifest: SubmissionManifest
    files: dict[str, bytes]


def collect(
    term: Path, chapter: Chapter, course_sha256: str | None = None, others: Collection[str] = ()
) -> Iterator[Collected]:
    """Unpack the zips of all students, one after another. `course_sha256` is the checksum of the instructor's
    `course.toml`; default: that of the installed package. `others` are the other chapters of the course. Raises
    CollectError, and OSError if the folder itself cannot be read.
    """
    submitted = term / "submitted"
    if not submitted.is_dir():
        raise CollectError(f"There is no folder {submitted}. Put each student's zip into {submitted}/STUDENT/.")
    course = course_sha256 or this_course().manifest_sha256
    for student in sorted(submitted.iterdir()):
        if student.is_dir() and not is_ignored(student.name):
            try:
                yield from _of_student(term, student, chapter, course, others)
            except OSError as error:
                where = os.path.relpath(error.filename or student, term)
                yield Collected(student.name, where, problems=(str(error.strerror),))


def _of_student(
    term: Path, student: Path, chapter: Chapter, course: str, others: Collection[str]
) -> Iterator[Collected]:
    """The newest zip of this chapter is unpacked; older ones are moved away with it."""
    home, kept = student / chapter.id, term / "collected" / chapter.id / student.name
    earlier = _earlier(kept)
    found: list[_Found] = []
    own: list[tuple[str, NotOfSubmitError]] = []
    for path in _zips(student, home, earlier):
        where = str(path.relative_to(term))
        try:
            manifest, files = _read(path)
        except NotOfSubmitError as error:
            own.append((where, error))
        except ArchiveError as error:
            yield _refused(student, where, path, error.problems, chapter, others)
        else:
            if manifest.chapter == chapter.id:
                found.append(_Found(path, manifest, files))
            else:
                yield _of_other(student, where, path == home / path.name, manifest.chapter, others)
    if found:
        yield _unpacked(term, student, home, kept, course, found, earlier)
    is_complete = any(home.glob("*.ipynb"))
    for where, why in own:  # besides the notebooks, a student may have submitted a zip of their own
        note = (f"left as it is: {why}",) if is_complete else ()
        yield Collected(student.name, where, problems=() if is_complete else why.problems, notes=note)


def _zips(student: Path, home: Path, earlier: dict[str, set[str]]) -> list[Path]:
    """The zips in a student's folder and in the chapter's, whatever their names and contents, without those that came
    from an earlier one.
    """
    folders = [folder for folder in (student, home) if folder.is_dir() and not folder.is_symlink()]
    paths = [path for folder in folders for path in sorted(folder.iterdir()) if path.suffix.lower() == ".zip"]
    paths = [path for path in paths if not path.name.startswith(".") and (path.is_symlink() or not path.is_dir())]
    return [path for path in paths if not (path.parent == home and path.name in earlier and _is_same(path, earlier))]


def _is_same(path: Path, earlier: dict[str, set[str]]) -> bool:
    """Whether a file is one that came from an earlier zip."""
    return path.is_file() and not path.is_symlink() and digest(path.read_bytes()) in earlier[path.name]


def _read(path: Path) -> tuple[SubmissionManifest, dict[str, bytes]]:
    if path.is_symlink() or not path.is_file():
        raise ArchiveError(["it is a link or a special file"])
    try:
        return read_archive(path)
    except OSError as error:
        raise ArchiveError([f"it cannot be read: {error.strerror}"]) from error


def _refused(
    student: Path, where: str, path: Path, problems: tuple[str, ...], chapter: Chapter, others: Collection[str]
) -> Collected:
    """A zip that cannot be accepted. What lies beside the chapters' folders and is named like another one is that
    chapter's.
    """
    whose = [other for other in others if other in path.name]
    if path.parent == student and whose and chapter.id not in path.name:
        note = f"left as it is: {problems[0]}. By its name it is one of  grader collect {whose[0]}"
        return Collected(student.name, where, notes=(note,))
    return Collected(student.name, where, problems=problems)


def _of_other(student: Path, where: str, is_at_home: bool, of: str, others: Collection[str]) -> Collected:
    """A sound zip that is not one of this chapter."""
    if of not in others:
        return Collected(student.name, where, problems=(f"it is a submission of {named(of, 80)!r}, no chapter here",))
    if is_at_home:
        problem = f"it is a submission of {of}; move it into submitted/{student.name}/ and run  grader collect {of}"
        return Collected(student.name, where, problems=(problem,))
    return Collected(student.name, where, notes=(f"left as it is: unpack it with  grader collect {of}",))


def _unpacked(
    term: Path,
    student: Path,
    home: Path,
    kept: Path,
    course: str,
    found: list[_Found],
    earlier: dict[str, set[str]],
) -> Collected:
    """Unpack the newest of these zips, and move all of them away."""
    found.sort(key=lambda each: (each.manifest.created, each.path.name))
    newest = found[-1]
    where = str(newest.path.relative_to(term))
    if problems := tuple(_in_the_way(home, newest.files, earlier)):
        return Collected(student.name, where, problems=problems)
    notes = []
    if newest.manifest.course.manifest_sha256 != course:
        notes.append(f"made with another version of the course (package {named(newest.manifest.course.grader, 40)})")
    home.mkdir(parents=True, exist_ok=True)
    for name, content in newest.files.items():
        write_whole(home / name, content)
    for name, digests in earlier.items():
        old = home / name
        if name not in newest.files and old.is_file() and not old.is_symlink() and digest(old.read_bytes()) in digests:
            old.unlink()
            notes.append(f"{name} of an earlier zip is not in this one, so it was deleted")
    for each in found:
        notes += [f"newer than {each.path.name}"] if each is not newest else []
        _keep(each.path, kept, each.manifest)
    return Collected(student.name, where, tuple(newest.files), notes=tuple(notes))


def _earlier(kept: Path) -> dict[str, set[str]]:
    """The checksums of the files that earlier zips of this student contained, by name."""
    found: dict[str, set[str]] = {}
    for path in sorted(kept.glob("*.zip")):
        try:
            manifest, _ = read_archive(path)
        except (ArchiveError, OSError):  # an instructor may have put it there
            continue
        for file in manifest.files:
            found.setdefault(file.name, set()).add(file.sha256)
    return found


def _in_the_way(home: Path, files: dict[str, bytes], earlier: dict[str, set[str]]) -> Iterator[str]:
    for name, content in files.items():
        path = home / name
        if path.is_symlink() or path.is_dir():
            yield f"{name} exists as a folder or a link; move it away"
        elif path.exists():
            present = digest(path.read_bytes())
            if present != digest(content) and present not in earlier.get(name, set()):
                yield f"{name} exists with other contents, which came from no zip; move it away"


def _keep(path: Path, kept: Path, manifest: SubmissionManifest) -> None:
    """Move a zip out of the submissions, under a name that tells its time."""
    kept.mkdir(parents=True, exist_ok=True)
    time = "".join(each for each in manifest.created if each.isascii() and each.isalnum())[:20]
    path.replace(kept / f"{time}-{digest(path.read_bytes())[:12]}.zip")


def lines(collected: Sequence[Collected]) -> list[str]:
    """What an instructor reads of each zip."""
    told = []
    for each in collected:
        if each.problems:
            more = len(each.problems) - MOST_PROBLEMS
            shown = [*each.problems[:MOST_PROBLEMS], *([f"and {more} more"] if more > 0 else [])]
            told.append(f"✗ {each.path}: not unpacked: {'; '.join(shown)}.")
        elif each.files:
            told.append(f"✓ {each.path}: {len(each.files)} files.")
        else:
            told.append(f"· {each.path}: {each.notes[0]}")
        told += [f"    {note}" for note in (each.notes if each.files else ())]
    return list(map(one_line, told))

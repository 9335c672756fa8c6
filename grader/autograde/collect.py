"""`grader collect`: unpack the zips that students made with `grader submit`, if they are as the students sent them.

A zip in `submitted/STUDENT/CHAPTER/`, or in `submitted/STUDENT/`, is unpacked into the former and moved to
`TERM/collected/CHAPTER/STUDENT/`. What is not accepted stays where it is and is reported. Files that did not come from
a zip are never overwritten or deleted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.autograde.submission.folders import is_ignored
from grader.errors import ExpectedError
from grader.files import write_whole
from grader.manifest import Chapter
from grader.work.archive import ArchiveError, SubmissionManifest, digest, is_submission, read_archive, this_course


class CollectError(ExpectedError):
    """Nothing can be collected."""


@dataclass(frozen=True)
class Collected:
    """What happened to a student's zip: the files that were unpacked, or why it was not. `notes` are for the
    instructor; `path` is relative to the term.
    """

    student: str
    path: str
    files: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def collect(term: Path, chapter: Chapter, course_sha256: str | None = None) -> Iterator[Collected]:
    """Unpack the zips of all students, one after another. `course_sha256` is the checksum of the instructor's
    `course.toml`; default: that of the installed package. Raises CollectError, OSError.
    """
    submitted = term / "submitted"
    if not submitted.is_dir():
        raise CollectError(f"There is no folder {submitted}. Put each student's zip into {submitted}/STUDENT/.")
    course = course_sha256 or this_course().manifest_sha256
    for student in sorted(submitted.iterdir()):
        if student.is_dir() and not is_ignored(student.name):
            yield from _of_student(term, student, chapter, course)


def _of_student(term: Path, student: Path, chapter: Chapter, course: str) -> Iterator[Collected]:
    """The newest zip of this chapter is unpacked; older ones are moved away with it."""
    found: list[tuple[SubmissionManifest, Path, dict[str, bytes]]] = []
    for path in _zips(student, chapter):
        where = str(path.relative_to(term))
        try:
            manifest, files = read_archive(path)
        except ArchiveError as error:
            yield Collected(student.name, where, problems=error.problems)
            continue
        if manifest.chapter == chapter.id:
            found.append((manifest, path, files))
        elif path.parent.name == chapter.id:
            yield Collected(student.name, where, problems=(f"it is a submission of {manifest.chapter}",))
    if not found:
        return
    found.sort(key=lambda each: (each[0].created, each[1].name))
    manifest, path, files = found[-1]
    home, kept = student / chapter.id, term / "collected" / chapter.id / student.name
    where = str(path.relative_to(term))
    earlier = _earlier(kept)
    if problems := list(_in_the_way(home, files, earlier)):
        yield Collected(student.name, where, problems=tuple(problems))
        return
    notes = []
    if manifest.course.manifest_sha256 != course:
        notes.append(f"made with another version of the course (package {manifest.course.grader})")
    home.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        write_whole(home / name, content)
    for name, digests in earlier.items():
        old = home / name
        if name not in files and old.is_file() and not old.is_symlink() and digest(old.read_bytes()) in digests:
            old.unlink()
            notes.append(f"{name} of an earlier zip is not in this one, so it was deleted")
    for each, its_path, _ in found:
        notes += [f"newer than {its_path.name}"] if its_path != path else []
        _keep(its_path, kept, each)
    yield Collected(student.name, where, tuple(files), notes=tuple(notes))


def _zips(student: Path, chapter: Chapter) -> list[Path]:
    """The files in a student's folder and in the chapter's that `grader submit` made, whatever their names are now."""
    folders = [folder for folder in (student, student / chapter.id) if folder.is_dir() and not folder.is_symlink()]
    paths = [path for folder in folders for path in sorted(folder.iterdir()) if path.suffix.lower() == ".zip"]
    return [path for path in paths if path.is_file() and not path.is_symlink() and is_submission(path)]


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
    time = "".join(each for each in manifest.created if each.isalnum())[:20]
    path.replace(kept / f"{time}-{digest(path.read_bytes())[:12]}.zip")


def lines(collected: Sequence[Collected]) -> list[str]:
    """What an instructor reads of each zip."""
    told = []
    for each in collected:
        if each.problems:
            told.append(f"✗ {each.path}: not unpacked: {'; '.join(each.problems)}.")
        else:
            told.append(f"✓ {each.path}: {len(each.files)} files.")
        told += [f"    {note}" for note in each.notes]
    return told

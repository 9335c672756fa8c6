"""The zip that `grader submit` writes and `grader collect` reads: a chapter's files and `manifest.json`.

The manifest lists every file with its size and SHA-256, so that whatever happened to the zip on its way is noticed. The
zip comes from a student, so nothing in it is trusted: it has no folders, links or special files, names that are safe on
every system, and limits on the number and the size of its files, which hold before anything is unpacked.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Literal

import msgspec

from grader.files import zip_bytes
from grader.manifest import Chapter
from grader.shown import named
from grader.submission import bounded
from grader.submission.bounded import MAX_TOTAL, ArchiveError, Entry, same_name, zip_entries
from grader.submission.course import DATA
from grader.submission.files import MAX_FILES

MANIFEST = "manifest.json"
TIMESTAMP = "timestamp.txt"  # where nbgrader reads the time of submission, which students do not set
VERSION = 1
MAX_MANIFEST = 1_000_000
MAX_ENTRIES = 2 * MAX_FILES  # besides the notebooks, which are few


class File(msgspec.Struct, frozen=True):
    """A file of the submission."""

    name: str
    bytes: int
    sha256: str


class Attempt(msgspec.Struct, frozen=True):
    """An exercise or a question that was found in a notebook, and whether something was written for it."""

    id: str
    attempted: bool


class SubmittedNotebook(msgspec.Struct, frozen=True):
    """Which notebook of the chapter a file is, and what it contains."""

    name: str
    file: str
    exercises: tuple[Attempt, ...] = ()
    questions: tuple[Attempt, ...] = ()


class Course(msgspec.Struct, frozen=True):
    """The version of the course that the student has: of the package `unrolled-grader`, and of its `course.toml`."""

    grader: str
    manifest_sha256: str


class SubmissionManifest(msgspec.Struct, frozen=True, kw_only=True):
    """`manifest.json`. `created` is the time on the student's machine, in UTC (ISO 8601)."""

    format: Literal["unrolled-submission"] = "unrolled-submission"
    version: int = VERSION
    chapter: str
    course: Course
    created: str
    files: tuple[File, ...]
    notebooks: tuple[SubmittedNotebook, ...]


def described(files: Mapping[str, bytes]) -> tuple[File, ...]:
    """The files with their sizes and checksums, in the order of their names."""
    return tuple(File(name, len(files[name]), digest(files[name])) for name in sorted(files))


def digest(content: bytes) -> str:
    """SHA-256, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def submission_manifest(
    chapter: Chapter, files: Mapping[str, bytes], notebooks: Iterable[SubmittedNotebook], created: str
) -> SubmissionManifest:
    """The manifest of these files of a chapter."""
    return SubmissionManifest(
        chapter=chapter.id, course=this_course(), created=created, files=described(files), notebooks=tuple(notebooks)
    )


def this_course() -> Course:
    """The version of the course that is installed here."""
    try:
        version = metadata.version("unrolled-grader")
    except metadata.PackageNotFoundError:
        version = "unknown"
    return Course(version, digest((DATA / "course.toml").read_bytes()))


def archive_bytes(manifest: SubmissionManifest, files: Mapping[str, bytes]) -> bytes:
    """The zip. It depends on nothing but its contents and the version of zlib."""
    described_as = msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"
    return zip_bytes([(MANIFEST, described_as), *sorted(files.items())])


def name_problem(name: str) -> str:
    """Why a file cannot have this name in a submission; empty if it can."""
    if same_name(name) in (MANIFEST, TIMESTAMP):
        return "a submission has its own file of this name"
    return bounded.name_problem(name)


def is_submission(path: Path) -> bool:
    """Whether a file is a zip with a manifest of this format, whatever else may be wrong with it."""
    try:
        read_manifest(_manifest_bytes(_entries(path)))
    except (ArchiveError, OSError):
        return False
    return True


def read_archive(path: Path) -> tuple[SubmissionManifest, dict[str, bytes]]:
    """The manifest and the files by name, all checked. Raises ArchiveError with every problem, OSError."""
    found = _entries(path)
    manifest = read_manifest(_manifest_bytes(found))
    others = [entry for entry in found if entry.name != MANIFEST]
    if problems := list(_entry_problems(others)):
        raise ArchiveError(problems)
    files = {entry.name: _content(entry) for entry in others}
    if problems := list(file_problems(manifest, files)):
        raise ArchiveError(problems)
    return manifest, files


def _content(entry: Entry) -> bytes:
    try:
        return entry.read()
    except ArchiveError as error:
        raise ArchiveError([f"{named(entry.name, 120)!r}: {error}"]) from error


class NotOfSubmitError(ArchiveError):
    """A zip contains no manifest, so `grader submit` did not make it, or its files were packed again."""


def _entries(path: Path) -> list[Entry]:
    if (size := path.stat().st_size) > MAX_TOTAL + MAX_MANIFEST:
        raise ArchiveError([f"the zip has {size:,} bytes; the limit is {MAX_TOTAL + MAX_MANIFEST:,}"])
    return zip_entries(io.BytesIO(path.read_bytes()))


def _manifest_bytes(entries: list[Entry]) -> bytes:
    found = [entry for entry in entries if entry.name == MANIFEST]
    if not found:
        inside = [entry.name for entry in entries if entry.name.replace("\\", "/").endswith(f"/{MANIFEST}")]
        where = f" except {named(inside[0], 120)!r}: it was unpacked and packed again" if inside else ""
        raise NotOfSubmitError([f"the zip contains no {MANIFEST}{where}; grader submit did not make it"])
    if len(found) > 1:
        raise ArchiveError([f"the zip contains {len(found)} files {MANIFEST}, not one; grader submit did not make it"])
    if found[0].size > MAX_MANIFEST:
        raise ArchiveError([f"{MANIFEST} has {found[0].size:,} bytes; the limit is {MAX_MANIFEST:,}"])
    if found[0].problem:
        raise ArchiveError([f"{MANIFEST} {found[0].problem}"])
    return found[0].read()


def read_manifest(text: bytes) -> SubmissionManifest:
    """Raises ArchiveError if it is not a manifest of this version."""
    try:
        version = msgspec.json.decode(text, type=_Version).version
        if version != VERSION:
            update = (
                "Update the grader" if version > VERSION else "The student has to update the course and submit again"
            )
            raise ArchiveError([f"{MANIFEST} has version {version}; this grader reads version {VERSION}. {update}"])
        return msgspec.json.decode(text, type=SubmissionManifest)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        raise ArchiveError([f"{MANIFEST} is not that of a submission: {named(str(error))}"]) from error


class _Version(msgspec.Struct):
    format: Literal["unrolled-submission"]
    version: int


def _entry_problems(entries: list[Entry]) -> Iterable[str]:
    if len(entries) > MAX_ENTRIES:
        yield f"the zip contains {len(entries)} files; the limit is {MAX_ENTRIES}"
        return
    total = sum(entry.size for entry in entries)
    if total > MAX_TOTAL:
        yield f"the files have {total:,} bytes; the limit is {MAX_TOTAL:,}"
    seen: set[str] = set()
    for entry in entries:
        if entry.is_folder:
            yield f"{named(entry.name, 120)!r} is a folder"
        elif problem := name_problem(entry.name):
            yield f"{named(entry.name, 120)!r}: {problem}"
        elif entry.problem:
            yield f"{named(entry.name, 120)!r} {entry.problem}"
        elif same_name(entry.name) in seen:
            yield f"{named(entry.name, 120)!r} is there twice"
        seen.add(same_name(entry.name))


def file_problems(manifest: SubmissionManifest, files: Mapping[str, bytes]) -> Iterable[str]:
    """What differs between the files and the manifest."""
    listed = {file.name: file for file in manifest.files}
    for name in sorted(listed.keys() | files.keys()):
        shown = repr(named(name, 120))
        if name not in files:
            yield f"{shown} is missing, but {MANIFEST} lists it"
        elif name not in listed:
            yield f"{shown} was added: {MANIFEST} does not list it"
        elif (len(files[name]), digest(files[name])) != (listed[name].bytes, listed[name].sha256):
            yield f"{shown} was changed: its size or checksum differs from {MANIFEST}"

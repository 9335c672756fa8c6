"""The zip that `grader submit` writes and `grader collect` reads: a chapter's files and `manifest.json`.

The manifest lists every file with its size and SHA-256, so that whatever happened to the zip on its way is noticed. The
zip comes from a student, so nothing in it is trusted: it has no folders, links or special files, names that are safe on
every system, and limits on the number and the size of its files, which hold before anything is unpacked.
"""

from __future__ import annotations

import hashlib
import io
import stat
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Literal

import msgspec

from grader.autograde.submission.files import MAX_FILES
from grader.codec import writable
from grader.errors import ExpectedError
from grader.files import zip_bytes
from grader.manifest import Chapter
from grader.work.course import DATA

MANIFEST = "manifest.json"
TIMESTAMP = "timestamp.txt"  # where nbgrader reads the time of submission, which students do not set
VERSION = 1
MAX_TOTAL = 100_000_000  # bytes of all files together
MAX_MANIFEST = 1_000_000
MAX_ENTRIES = 2 * MAX_FILES  # besides the notebooks, which are few
MAX_NAME = 200  # bytes
_FORBIDDEN = frozenset('/\\:*?"<>|')  # on Windows; the first two make paths everywhere


class ArchiveError(ExpectedError):
    """A zip is not a submission that can be accepted. `problems` has every reason that was found."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(self.problems))


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
    if writable(name) != name or not name.isprintable():
        return "its name contains characters that cannot be printed"
    if found := sorted(_FORBIDDEN & set(name)):
        return f"its name contains {found[0]}"
    if not name or name.startswith(".") or name != name.strip():
        return "its name begins with a dot or a space, or ends with a space"
    if len(name.encode()) > MAX_NAME:
        return f"its name is longer than {MAX_NAME} bytes"
    if name.casefold() in (MANIFEST, TIMESTAMP):
        return "a submission has its own file of this name"
    return ""


def is_submission(path: Path) -> bool:
    """Whether a file is a zip with a manifest of this format, whatever else may be wrong with it."""
    try:
        with _opened(path) as archive:
            read_manifest(_manifest_bytes(archive))
    except (ArchiveError, OSError, *_BROKEN):
        return False
    return True


def read_archive(path: Path) -> tuple[SubmissionManifest, dict[str, bytes]]:
    """The manifest and the files by name, all checked. Raises ArchiveError with every problem, OSError."""
    try:
        with _opened(path) as archive:
            manifest = read_manifest(_manifest_bytes(archive))
            entries = [entry for entry in archive.infolist() if entry.filename != MANIFEST]
            if problems := list(_entry_problems(entries)):
                raise ArchiveError(problems)
            files = {entry.filename: archive.read(entry) for entry in entries}
    except _BROKEN as error:
        raise ArchiveError([f"the zip is damaged or cut off: {error}"]) from error
    if problems := list(file_problems(manifest, files)):
        raise ArchiveError(problems)
    return manifest, files


# what zipfile raises for damaged files, unknown methods of compression, and encrypted entries
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, UnicodeError)


def _opened(path: Path) -> zipfile.ZipFile:
    if (size := path.stat().st_size) > MAX_TOTAL + MAX_MANIFEST:
        raise ArchiveError([f"the zip has {size:,} bytes; the limit is {MAX_TOTAL + MAX_MANIFEST:,}"])
    return zipfile.ZipFile(io.BytesIO(path.read_bytes()))


def _manifest_bytes(archive: zipfile.ZipFile) -> bytes:
    found = [entry for entry in archive.infolist() if entry.filename == MANIFEST]
    if len(found) != 1:
        raise ArchiveError([f"the zip contains {len(found)} files {MANIFEST}, not one; grader submit did not make it"])
    if found[0].file_size > MAX_MANIFEST:
        raise ArchiveError([f"{MANIFEST} has {found[0].file_size:,} bytes; the limit is {MAX_MANIFEST:,}"])
    return archive.read(found[0])


def read_manifest(text: bytes) -> SubmissionManifest:
    """Raises ArchiveError if it is not a manifest of this version."""
    try:
        manifest = msgspec.json.decode(text, type=SubmissionManifest)
    except msgspec.MsgspecError as error:
        raise ArchiveError([f"{MANIFEST} is not that of a submission: {error}"]) from error
    if manifest.version != VERSION:
        raise ArchiveError([f"{MANIFEST} has version {manifest.version}; this grader reads version {VERSION}"])
    return manifest


def _entry_problems(entries: list[zipfile.ZipInfo]) -> Iterable[str]:
    if len(entries) > MAX_ENTRIES:
        yield f"the zip contains {len(entries)} files; the limit is {MAX_ENTRIES}"
        return
    total = sum(entry.file_size for entry in entries)
    if total > MAX_TOTAL:
        yield f"the files have {total:,} bytes; the limit is {MAX_TOTAL:,}"
    seen: set[str] = set()
    for entry in entries:
        name, mode = entry.filename, entry.external_attr >> 16
        if entry.is_dir():
            yield f"{name!r} is a folder"
        elif problem := name_problem(name):
            yield f"{name!r}: {problem}"
        elif stat.S_IFMT(mode) not in (0, stat.S_IFREG):  # 0: made by a program or on a system that has no types
            yield f"{name!r} is a link or a special file"
        elif entry.flag_bits & 1:
            yield f"{name!r} is encrypted"
        elif name.casefold() in seen:
            yield f"{name!r} is there twice"
        seen.add(name.casefold())


def file_problems(manifest: SubmissionManifest, files: Mapping[str, bytes]) -> Iterable[str]:
    """What differs between the files and the manifest."""
    listed = {file.name: file for file in manifest.files}
    for name in sorted(listed.keys() | files.keys()):
        if name not in files:
            yield f"{name!r} is missing, but {MANIFEST} lists it"
        elif name not in listed:
            yield f"{name!r} was added: {MANIFEST} does not list it"
        elif (len(files[name]), digest(files[name])) != (listed[name].bytes, listed[name].sha256):
            yield f"{name!r} was changed: its size or checksum differs from {MANIFEST}"

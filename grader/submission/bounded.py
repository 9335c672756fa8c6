"""Open an archive that a student made. Nothing in it is trusted: all limits hold before anything is unpacked.

An archive is read in memory. Whatever its format's library raises for bytes that are damaged, cut off or made to harm
becomes an ArchiveError in words.
"""

from __future__ import annotations

import gzip
import io
import re
import stat
import tarfile
import unicodedata
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO

from grader.codec import writable
from grader.errors import ExpectedError
from grader.shown import harmless, named

MAX_TOTAL = 100_000_000  # bytes of all files together
MAX_NAME = 200  # bytes
MAX_LISTED = 20_000  # entries; each takes a kilobyte of memory before its name is known
ARCHIVES = (".zip", ".tar", ".tgz", ".gz")  # which `entries` opens
_FORBIDDEN = frozenset('/\\:*?"<>|')  # on Windows; the first two make paths everywhere
_DEVICES = re.compile(
    r"(con|prn|aux|nul|conin\$|conout\$|clock\$|(com|lpt)[0-9¹²³]) *(\..*)?", re.IGNORECASE | re.DOTALL
)
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others can ask for gigabytes, or need another library
_TAR = slice(257, 262)  # where a tar says that it is one
_ENTRY = b"PK\x01\x02"  # in front of each entry in a zip's list


class ArchiveError(ExpectedError):
    """A file is not an archive that can be accepted. `problems` has every reason that was found."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(self.problems))


@dataclass(frozen=True)
class Entry:
    """A file or a folder in an archive, with the size that the archive claims for it. `problem` says why it cannot be
    read; `read` returns at most as many bytes as claimed, and raises ArchiveError.
    """

    name: str
    size: int
    read: Callable[[], bytes]
    is_folder: bool = False
    problem: str = ""


def is_archive(name: str) -> bool:
    """Whether a file is an archive by its name."""
    return name.lower().endswith(ARCHIVES)


def entries(stream: BinaryIO, name: str, most: int = MAX_LISTED) -> list[Entry]:
    """What an archive of this name contains, at most so many entries. Its first bytes count more than its name. Raises
    ArchiveError, OSError.
    """
    start = stream.read(_TAR.stop)
    stream.seek(0)
    is_tar = start.startswith(b"\x1f\x8b") or start[_TAR] == b"ustar"
    is_zip = start.startswith(b"PK") or (name.lower().endswith(".zip") and not is_tar)
    return zip_entries(stream, most) if is_zip else _tar_entries(stream, most)


def zip_entries(stream: BinaryIO, most: int = MAX_LISTED) -> list[Entry]:
    """What a zip contains. Raises ArchiveError."""
    if isinstance(stream, io.BytesIO) and stream.getvalue().count(_ENTRY) > most:  # what it says itself may be false
        raise ArchiveError([f"the zip contains more than {most:,} files"])
    with _understood("the zip"):
        archive = zipfile.ZipFile(stream)
        found = archive.infolist()
    if len(found) > most:
        raise ArchiveError([f"the zip contains {len(found):,} files; the limit is {most:,}"])
    return [_zip_entry(archive, info) for info in found]


def _zip_entry(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Entry:
    def read() -> bytes:
        with _understood("it"), archive.open(info) as file:
            return file.read(info.file_size)

    problem = ""
    if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):  # 0: from a system without types
        problem = "is a link or a special file"
    elif info.flag_bits & 0x41:
        problem = "is encrypted"
    elif info.compress_type not in _METHODS:
        problem = f"is compressed by method {info.compress_type}, which is not supported"
    return Entry(info.orig_filename, info.file_size, read, info.filename.endswith("/"), problem)


def _tar_entries(stream: BinaryIO, most: int) -> list[Entry]:
    """What a tar contains, compressed with gzip or not at all. Raises ArchiveError."""
    with _understood("the archive"):
        content = stream.read(MAX_TOTAL + 1)
        if content.startswith(b"\x1f\x8b"):
            content = gzip.GzipFile(fileobj=io.BytesIO(content)).read(MAX_TOTAL + 1)
    if len(content) > MAX_TOTAL:
        raise ArchiveError([f"it unpacks to more than {MAX_TOTAL:,} bytes"])
    try:
        archive = tarfile.TarFile(fileobj=io.BytesIO(content))
    except Exception as error:
        raise ArchiveError(["it is not an archive of files, or it is damaged"]) from error
    found: list[Entry] = []
    with _understood("the archive"):
        for member in archive:
            if len(found) == most:
                raise ArchiveError([f"it contains more than {most:,} files"])
            if member.size < 0:  # which would be room for more
                raise ArchiveError(["the archive is damaged: a file has a negative size"])
            found.append(_tar_entry(archive, member))
    return found


def _tar_entry(archive: tarfile.TarFile, member: tarfile.TarInfo) -> Entry:
    def read() -> bytes:
        with _understood("it"):
            file = archive.extractfile(member)
            return b"" if file is None else file.read(member.size)

    problem = "" if member.isreg() or member.isdir() else "is a link or a special file"
    return Entry(member.name, member.size, read, member.isdir(), problem)


@contextmanager
def _understood(what: str) -> Iterator[None]:
    """Turn whatever a library raises for the bytes of an archive into an ArchiveError."""
    try:
        yield
    except ArchiveError:
        raise
    except Exception as error:
        raise ArchiveError([f"{what} is damaged or cut off: {named(str(error)) or type(error).__name__}"]) from error


def name_problem(name: str) -> str:
    """Why a file cannot have this name on every system; empty if it can."""
    if writable(name) != name or not name.isprintable() or harmless(name) != name:
        return "its name contains characters that cannot be printed"
    if found := sorted(_FORBIDDEN & set(name)):
        return f"its name contains {found[0]}"
    if not name or name.startswith(".") or name != name.strip() or name.endswith("."):
        return "its name begins or ends with a dot or a space"
    if _DEVICES.fullmatch(name):
        return f"Windows reserves the name {name.partition('.')[0].strip()}"
    if len(name.encode()) > MAX_NAME:
        return f"its name is longer than {MAX_NAME} bytes"
    return ""


def same_name(name: str) -> str:
    """A text that is equal for names that are one file on some system, which ignores case or the form of accents."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())

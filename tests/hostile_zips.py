"""Files that a student may hand in, made to stop a collection, to fill a disk, or to write where they should not.

`HOSTILE` has each with the ending of its name. What it must come to is in the tests that collect them.
"""

from __future__ import annotations

import gzip
import io
import json
import stat
import struct
import tarfile
import warnings
import zipfile
from collections.abc import Callable, Iterable
from functools import cache

from grader.submission.archive import Course, SubmissionManifest, archive_bytes, described

CHAPTER = "ch01_vanilla_rnn"
BOOK = json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()
EVIL = b"evil = True\n"
OUTSIDE = "unrolled-evil"  # in the name of whatever would be written elsewhere
BOMB = 99_000_000  # bytes; within the limit, but only once


def manifest(files: dict[str, bytes], **changes: object) -> bytes:
    """`manifest.json` of these files."""
    given = {"chapter": CHAPTER, "course": Course("0.1.0", "0" * 64), "created": "2026-03-01T12:00:00+00:00"}
    made = SubmissionManifest(**{**given, "files": described(files), "notebooks": (), **changes})  # type: ignore[arg-type]
    with zipfile.ZipFile(io.BytesIO(archive_bytes(made, {}))) as archive:
        return archive.read("manifest.json")


def zipped(entries: Iterable[tuple[str | zipfile.ZipInfo, bytes]], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip of these entries, also of those that have one name."""
    with io.BytesIO() as stream:
        with warnings.catch_warnings(), zipfile.ZipFile(stream, "w", method) as archive:
            warnings.simplefilter("ignore")
            for name, content in entries:
                archive.writestr(name, content)
        return stream.getvalue()


def beside(name: str | zipfile.ZipInfo, content: bytes = EVIL) -> bytes:
    """A zip with a right notebook and one more entry."""
    return zipped([("recurrence.ipynb", BOOK), (name, content)])


def submitted(**changes: object) -> bytes:
    """A zip of `grader submit`, whose manifest has these changes."""
    files = {"recurrence.ipynb": BOOK}
    return zipped([("manifest.json", manifest(files, **changes)), *files.items()])


def renamed(name: str, raw: bytes) -> bytes:
    """A zip whose second entry has a name that no library would write."""
    assert len(name) == len(raw)
    return beside(name).replace(name.encode("ascii"), raw)


def special(name: str, mode: int) -> zipfile.ZipInfo:
    """An entry that says it is a link, a pipe or a device."""
    entry = zipfile.ZipInfo(name)
    entry.create_system = 3
    entry.external_attr = mode << 16
    return entry


def patched(content: bytes, offset: int, value: bytes) -> bytes:
    """The zip with other bytes at an offset in the list's last entry."""
    at = content.rindex(b"PK\x01\x02") + offset
    return content[:at] + value + content[at + len(value) :]


def tarred(*members: tuple[str, bytes, str], end: int | None = None) -> bytes:
    """A .tar.gz of members: name, type, and where a link leads to."""
    with io.BytesIO() as stream:
        with tarfile.open(fileobj=stream, mode="w:gz") as archive:
            for name, kind, link in (("recurrence.ipynb", tarfile.REGTYPE, ""), *members):
                member = tarfile.TarInfo(name)
                member.type, member.linkname = kind, link
                content = BOOK if name.endswith(".ipynb") else EVIL
                member.size = len(content) if kind == tarfile.REGTYPE else 0
                archive.addfile(member, io.BytesIO(content))
        return stream.getvalue()[:end]


@cache
def bomb() -> bytes:
    """29 kB that are 6 GB."""
    inner = zipped([("zeros.csv", bytes(BOMB))])
    return zipped((f"{number}.zip", inner) for number in range(60))


def nested(depth: int) -> bytes:
    """A zip in a zip in a zip, with a notebook in the innermost one."""
    content = zipped([("recurrence.ipynb", BOOK)])
    for _ in range(depth):
        content = zipped([("inner.zip", content)])
    return content


def overlapping() -> bytes:
    """Many entries that all have the same bytes as their content."""
    content = zipped([("a" * 8, bytes(1_000_000))])
    start = content.index(b"PK\x01\x02")
    body, entry = content[:start], content[start : content.index(b"PK\x05\x06")]
    listed = b"".join(entry.replace(b"a" * 8, f"{number:08}".encode()) for number in range(500))
    return body + listed + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 500, 500, len(listed), len(body), 0)


def of_64k_entries(claimed: int = 65_535) -> bytes:
    """More entries than a list needs memory for; it may claim fewer."""
    content = zipped((f"{number:05}", b"") for number in range(65_535))
    end = content.rindex(b"PK\x05\x06")
    return content[: end + 8] + struct.pack("<2H", claimed, claimed) + content[end + 12 :]


def many_headers() -> bytes:
    """A tar of extended headers for extended headers."""
    header = tarfile.TarInfo("x")
    header.type = tarfile.XHDTYPE
    return gzip.compress(header.tobuf(tarfile.USTAR_FORMAT) * 20_000)


def negative() -> bytes:
    """A tar with a file of less than no bytes."""
    header = bytearray(tarfile.TarInfo("a.csv").tobuf(tarfile.GNU_FORMAT))
    header[124:136] = b"\xff" * 11 + b"\xfe"
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return gzip.compress(bytes(header) + bytes(1024))


_ONE = {"recurrence.ipynb": BOOK}
_SUBMITTED = submitted()
_LONG = "é" * 101 + ".py"
HOSTILE: dict[str, tuple[str, Callable[[], bytes]]] = {
    # --- no archive, or a damaged one
    "a submission that was cut off": (".zip", lambda: _SUBMITTED[: len(_SUBMITTED) // 2]),
    "ten bytes of one": (".zip", lambda: _SUBMITTED[:10]),
    "nothing": (".zip", lambda: b""),
    "a text": (".zip", lambda: b"my work"),
    "a page": (".zip", lambda: b"<html>Please log in</html>" * 100),
    "a notebook": (".zip", lambda: BOOK),
    "a rar": (".zip", lambda: b"Rar!\x1a\x07\x01\x00" + bytes(500)),
    "a tar": (".zip", lambda: gzip.decompress(tarred())),
    "a gzip": (".zip", lambda: gzip.compress(BOOK)),
    "a compressed table": (".csv.gz", lambda: gzip.compress(b"1,2\n")),
    "a text called gz": (".gz", lambda: b"my work"),
    "an empty zip": (".zip", lambda: zipped([])),
    "only folders": (".zip", lambda: zipped([("work/", b""), ("work/more/", b"")])),
    "a wrong checksum": (".zip", lambda: patched(beside("a.py"), 16, b"\1\2\3\4")),
    "a list that begins nowhere": (".zip", lambda: _SUBMITTED[:-6] + b"\xff\xff\xff\x7f" + _SUBMITTED[-2:]),
    "a list of the wrong length": (".zip", lambda: _SUBMITTED[:-10] + b"\xff\xff\xff\x7f" + _SUBMITTED[-6:]),
    "an offset after the end": (".zip", lambda: patched(beside("a.py"), 42, b"\xff\xff\xff\x7f")),
    "an extra field that is cut off": (".zip", lambda: patched(beside("a.py"), 30, b"\x08\x00")),
    "a name that is no UTF-8": (".zip", lambda: patched(renamed("abc.py", b"\xff\xfe.py.")[:], 8, b"\x00\x08")),
    "a method of the future": (".zip", lambda: patched(beside("a.py"), 10, struct.pack("<H", 99))),
    "LZMA": (".zip", lambda: zipped([("recurrence.ipynb", BOOK), ("a.py", EVIL)], zipfile.ZIP_LZMA)),
    "a needed version of the future": (".zip", lambda: patched(beside("a.py"), 6, b"\xff\x00")),
    "an encrypted file": (".zip", lambda: patched(beside("a.py"), 8, b"\x01\x00")),
    "a strongly encrypted file": (".zip", lambda: patched(beside("a.py"), 8, b"\x41\x00")),
    "a tar that is cut off": (".tar.gz", lambda: tarred(end=90)),
    "a tar with headers for headers": (".tar.gz", many_headers),
    "a tar of garbage": (".tar.gz", lambda: gzip.compress(b"garbage" * 1000)),
    # --- too much
    "6 GB in 29 kB": (".zip", bomb),
    "a size below zero": (".tar.gz", negative),
    "120 MB in a tar": (".tar.gz", lambda: gzip.compress(bytes(120_000_000), 1)),
    "101 MB in one file": (".zip", lambda: beside("a.csv", bytes(101_000_000))),
    "a size of 4 GB": (".zip", lambda: patched(beside("a.py"), 24, b"\xfe\xff\xff\xff")),
    "a size that is too small": (".zip", lambda: patched(beside("a.csv", bytes(5_000_000)), 24, b"\x10\0\0\0")),
    "a size in 64 bits that is none": (".zip", lambda: patched(beside("a.py"), 20, b"\xff" * 8)),
    "500 entries over each other": (".zip", overlapping),
    "64k entries": (".zip", of_64k_entries),
    "64k entries that are one": (".zip", lambda: of_64k_entries(1)),
    "1001 files": (".zip", lambda: zipped((f"{n}.csv", b"1") for n in range(1001))),
    "zips in each other": (".zip", lambda: nested(6)),
    "200 folders in each other": (".zip", lambda: beside("a/" * 200 + "a.py")),
    "a name of 60 kB": (".zip", lambda: beside("a" * 60_000 + ".py")),
    # --- names
    "a path upwards": (".zip", lambda: beside(f"../../../{OUTSIDE}.py")),
    "an absolute path": (".zip", lambda: beside(f"/tmp/{OUTSIDE}.py")),
    "a path with backslashes": (".zip", lambda: beside(f"..\\..\\{OUTSIDE}.py")),
    "a drive": (".zip", lambda: beside(f"C:{OUTSIDE}.py")),
    "a share": (".zip", lambda: beside(f"\\\\server\\{OUTSIDE}.py")),
    "two dots": (".zip", lambda: beside("..")),
    "a name that is a space": (".zip", lambda: beside(" ")),
    "a path of slashes": (".zip", lambda: beside("a//b.py")),
    "CON": (".zip", lambda: beside("CON.py")),
    "nul": (".zip", lambda: beside("nul")),
    "com1": (".zip", lambda: beside("Com1.tar.ipynb")),
    "lpt with a superscript": (".zip", lambda: beside("LPT².csv")),
    "a dot at the end": (".zip", lambda: beside("text.ipynb.")),
    "a space at the end": (".zip", lambda: beside("text.ipynb ")),
    "NUL": (".zip", lambda: renamed("abc.ipynb", b"a\0c.ipynb")),
    "a line break": (".zip", lambda: beside("a\nNeeds manual review: none.py")),
    "a return": (".zip", lambda: beside("a\rb.py")),
    "an escape sequence": (".zip", lambda: beside("\x1b[2J\x1b]0;evil\x07.py")),
    "right to left": (".zip", lambda: beside("\u202eyp.evil.ipynb")),
    "no width": (".zip", lambda: beside("re\u200bcurrence.ipynb")),
    "a tag": (".zip", lambda: beside("a\U000e0041.py")),
    "201 bytes": (".zip", lambda: beside(_LONG)),
    "one name twice": (".zip", lambda: beside("recurrence.ipynb")),
    "two cases": (".zip", lambda: beside("Recurrence.IPYNB")),
    "two forms of an accent": (".zip", lambda: zipped([("\xe9.ipynb", BOOK), ("e\u0301.ipynb", BOOK)])),
    "a file and a folder of one name": (".zip", lambda: zipped([("work", BOOK), ("work/recurrence.ipynb", BOOK)])),
    # --- what is no file
    "a link": (".zip", lambda: beside(special("link.py", stat.S_IFLNK | 0o777), b"/etc/passwd")),
    "a pipe": (".zip", lambda: beside(special("pipe.py", stat.S_IFIFO | 0o644))),
    "a device": (".zip", lambda: beside(special("tty.py", stat.S_IFCHR | 0o666))),
    "a socket": (".zip", lambda: beside(special("socket.py", stat.S_IFSOCK | 0o666))),
    "a tar with a path upwards": (".tar.gz", lambda: tarred((f"../../{OUTSIDE}.py", tarfile.REGTYPE, ""))),
    "a tar with an absolute path": (".tar.gz", lambda: tarred((f"/tmp/{OUTSIDE}.py", tarfile.REGTYPE, ""))),
    "a tar with a link": (".tar.gz", lambda: tarred(("link.py", tarfile.SYMTYPE, "/etc/passwd"))),
    "a tar with a hard link": (".tar.gz", lambda: tarred(("link.py", tarfile.LNKTYPE, "/etc/passwd"))),
    "a tar through a link": (
        ".tar.gz",
        lambda: tarred(("d", tarfile.SYMTYPE, "/tmp"), (f"d/{OUTSIDE}.py", tarfile.REGTYPE, "")),
    ),
    "a tar with a device": (".tgz", lambda: tarred(("tty", tarfile.CHRTYPE, ""))),
    "a tar with a pipe": (".tgz", lambda: tarred(("pipe", tarfile.FIFOTYPE, ""))),
    # --- manifests of `grader submit`
    "another chapter's": (".zip", lambda: submitted(chapter="ch00_sequences")),
    "no chapter's": (".zip", lambda: submitted(chapter="ch01; rm -rf ~\n✓ all right")),
    "a manifest of the future": (".zip", lambda: submitted(version=2)),
    "a huge manifest": (".zip", lambda: zipped([("manifest.json", b" " * 1_000_001), ("recurrence.ipynb", BOOK)])),
    "two manifests": (
        ".zip",
        lambda: zipped(
            [
                ("manifest.json", manifest({"recurrence.ipynb": BOOK})),
                ("manifest.json", b"{}"),
                ("recurrence.ipynb", BOOK),
            ]
        ),
    ),
    "a manifest of another case": (".zip", lambda: zipped([("recurrence.ipynb", BOOK), ("Manifest.JSON", b"{}")])),
    "packed again in a folder": (
        ".zip",
        lambda: zipped([("w/manifest.json", manifest({"recurrence.ipynb": BOOK})), ("w/recurrence.ipynb", BOOK)]),
    ),
    "a manifest nested 100,000 deep": (".zip", lambda: zipped([("manifest.json", b"[" * 100_000)])),
    "a manifest that is no UTF-8": (".zip", lambda: zipped([("manifest.json", b'{"format": "\xff"}')])),
    "a manifest with a lone surrogate": (
        ".zip",
        lambda: zipped([("manifest.json", manifest({}).replace(b"2026-03", b"\\ud800")), ("recurrence.ipynb", BOOK)]),
    ),
    "an encrypted manifest": (".zip", lambda: patched(zipped([("manifest.json", manifest({}))]), 8, b"\1\0")),
    "a manifest of other contents": (
        ".zip",
        lambda: zipped([("manifest.json", manifest({"recurrence.ipynb": BOOK})), ("recurrence.ipynb", b"{}")]),
    ),
    "a manifest of what is missing": (
        ".zip",
        lambda: zipped([("manifest.json", manifest({"recurrence.ipynb": BOOK}))]),
    ),
    "a file that the manifest does not list": (
        ".zip",
        lambda: zipped([("manifest.json", manifest({})), ("recurrence.ipynb", BOOK)]),
    ),
    "a manifest with a path": (
        ".zip",
        lambda: zipped([("manifest.json", manifest({f"../{OUTSIDE}.py": EVIL})), (f"../{OUTSIDE}.py", EVIL)]),
    ),
    "a submission with CON": (
        ".zip",
        lambda: zipped([("manifest.json", manifest({"CON.py": EVIL})), ("CON.py", EVIL)]),
    ),
    "a submission with an archive": (
        ".zip",
        lambda: zipped([("manifest.json", manifest({"a.zip": b"my work"})), ("a.zip", b"my work")]),
    ),
    "a submission with its own time": (
        ".zip",
        lambda: zipped([("manifest.json", manifest({"timestamp.txt": b"2020"})), ("timestamp.txt", b"2020")]),
    ),
    # --- odd, and all right
    "a program before the zip": (".zip", lambda: b"MZ" + bytes(1000) + _SUBMITTED),
    "a comment that ends like a zip": (".zip", lambda: _SUBMITTED[:-2] + struct.pack("<H", 4) + b"PK\5\6"),
    "what macOS adds": (".zip", lambda: beside("__MACOSX/._recurrence.ipynb", b"\0\5\x16\7")),
    "backslashes of Windows": (".zip", lambda: zipped([("work\\recurrence.ipynb", BOOK)])),
}

"""Files that are fetched once, each recognised by its SHA-256, wherever it came from.

`book/try_here/pins.toml` names them. They are kept in `build/pinned/`, outside the built book.
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import tomllib
import urllib.request
import zipfile
from contextlib import suppress
from pathlib import Path

import msgspec

from grader.errors import ExpectedError
from grader.files import write_whole

PINS = Path("book", "try_here", "pins.toml")
KEPT = Path("build", "pinned")
_SECONDS = 20  # without an answer
_FAILURES = (OSError, ValueError, KeyError, zipfile.BadZipFile, tarfile.TarError)


class PinnedError(ExpectedError):
    """A pinned file is nowhere to be had; the message says which, and what each place answered."""


class Pin(msgspec.Struct, frozen=True):
    """A file's SHA-256, and the addresses where it can be had; what follows a # is its path inside an archive."""

    sha256: str
    from_: list[str] = msgspec.field(name="from")


class _Pins(msgspec.Struct, frozen=True):
    files: dict[str, Pin]


def read_pins(root: Path) -> dict[str, Pin]:
    """The pins by the names of their files. Raises PinnedError if they cannot be read."""
    path = root / PINS
    try:
        return msgspec.convert(tomllib.loads(path.read_text("utf-8")), _Pins).files
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise PinnedError(f"{path}: cannot be read: {error}") from error


def pinned(root: Path) -> dict[str, bytes]:
    """All pinned files by name, fetched where they are not kept yet. Raises PinnedError."""
    fetched: dict[str, bytes] = {}  # archives that hold several of them
    found = {}
    for name, pin in read_pins(root).items():
        path = root / KEPT / name
        content = path.read_bytes() if path.is_file() else b""
        if _digest(content) != pin.sha256:
            content = _fetch(name, pin, fetched)
            write_whole(path, content)
        found[name] = content
    return found


def _fetch(name: str, pin: Pin, fetched: dict[str, bytes]) -> bytes:
    answers = []
    for address in pin.from_:
        where = address.partition("#")[0]
        try:
            content = _from(address, fetched)
        except _FAILURES as error:
            answers.append(f"{where}: {error}")
            continue
        if _digest(content) == pin.sha256:
            return content
        answers.append(f"{where}: another file, whose SHA-256 is {_digest(content)}")
    raise PinnedError(f"{name} (SHA-256 {pin.sha256}) could not be had. " + ". ".join(answers))


def _from(address: str, fetched: dict[str, bytes]) -> bytes:
    """What an address gives; `fetched` keeps archives. Raises one of _FAILURES."""
    where, _, inside = address.partition("#")
    if where not in fetched:
        with urllib.request.urlopen(where, timeout=_SECONDS) as answer:
            fetched[where] = answer.read()
    return _member(fetched[where], inside) if inside else fetched[where]


def _member(archive: bytes, path: str) -> bytes:
    if zipfile.is_zipfile(io.BytesIO(archive)):
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            return opened.read(path)
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        found = opened.extractfile(path)
        if found is None:
            raise KeyError(path)
        return found.read()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def repin(root: Path) -> list[str]:
    """Write the SHA-256 of what the addresses give now into the pins, after the addresses were changed; return the
    names of the files that changed. NumPy's wheel has to be the one that Pyodide's lock file names.

    Raises PinnedError, also if two addresses of a file give different ones.
    """
    text = (root / PINS).read_text("utf-8")
    fetched: dict[str, bytes] = {}
    found: dict[str, bytes] = {}
    changed = []
    for name, pin in read_pins(root).items():
        contents = []
        for address in pin.from_:
            with suppress(*_FAILURES):
                contents.append(_from(address, fetched))
        if len({_digest(content) for content in contents}) != 1:
            raise PinnedError(f"{name}: {len(contents)} of its addresses answer, and not with one and the same file.")
        found[name] = contents[0]
        digest = _digest(contents[0])
        if digest != pin.sha256:
            text = text.replace(pin.sha256, digest)
            changed.append(name)
    check_numpy(found)
    write_whole(root / PINS, text.encode())
    return changed


def check_numpy(files: dict[str, bytes]) -> None:
    """Raise PinnedError if NumPy's wheel is not the one that was built for this Pyodide."""
    numpy = json.loads(files["pyodide-lock.json"])["packages"]["numpy"]
    wheel = files.get(numpy["file_name"])
    if wheel is None or _digest(wheel) != numpy["sha256"]:
        raise PinnedError(
            f"Pyodide's lock file names {numpy['file_name']} with the SHA-256 {numpy['sha256']}. Pin that."
        )


if __name__ == "__main__":
    print(*repin(Path.cwd()) or ["Nothing has changed."], sep="\n")

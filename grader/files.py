"""Write files atomically, hash them, create folders for their owner alone, make zips that are the same everywhere."""

from __future__ import annotations

import hashlib
import io
import os
import stat
import tempfile
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

PRIVATE = 0o600  # the mode of files that only their owner may read: points, results, hidden cases


def write_whole(path: Path, content: bytes, mode: int = 0o644) -> None:
    """Write a file so that readers see either the old or the new content, even after a crash."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def private_folder(path: Path) -> None:
    """Create a folder that only its owner can enter, such as a term's, which holds personal data.

    An existing folder keeps its mode. Raises OSError.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)


def files_digest(root: Path, files: Iterable[Path]) -> str:
    """A hash of the names below `root` and the contents of those of these paths that are files; generated and hidden
    ones do not count. It does not depend on where `root` is.
    """
    digest = hashlib.sha256()
    for path in sorted({path for path in files if path.is_file()}, key=lambda path: path.relative_to(root).parts):
        parts = path.relative_to(root).parts
        if any(part.startswith(".") or part in ("__pycache__", "_build") for part in parts):
            continue
        content = path.read_bytes()
        digest.update(f"{'/'.join(parts)}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def update_with_files(
    digest: Any, base: Path, paths: Iterable[Path], read: Callable[[Path], bytes] = Path.read_bytes
) -> None:
    """Add files to a hash by their paths below a folder, so that it is the same wherever this folder is.

    Raises OSError.
    """
    for name, path in sorted((path.relative_to(base).as_posix(), path) for path in paths):
        digest.update(name.encode("utf-8", "surrogateescape") + b"\0" + hashlib.sha256(read(path)).digest())


def zip_bytes(files: Iterable[tuple[str, bytes]], mode_of: Callable[[str], int] = lambda path: 0o644) -> bytes:
    """A zip of files, in the given order, whose bytes depend on nothing else but the version of zlib."""
    with io.BytesIO() as stream:
        with zipfile.ZipFile(stream, "w") as archive:
            for path, content in files:
                entry = zipfile.ZipInfo(path, _EARLIEST)
                entry.create_system = 3  # Unix, whose modes the next line has; otherwise that of the machine
                entry.external_attr = (stat.S_IFREG | mode_of(path)) << 16
                archive.writestr(entry, content, zipfile.ZIP_DEFLATED, compresslevel=9)
        return stream.getvalue()


_EARLIEST = (1980, 1, 1, 0, 0, 0)  # the first time that a zip can contain

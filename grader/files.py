"""Write files atomically, and create folders that other users cannot enter."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


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

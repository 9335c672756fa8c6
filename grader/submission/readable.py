"""Read a notebook's file as JSON, with a reason in words for the student if it is none. Nothing but the standard
library is needed, so that students' commands can read notebooks too.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

MAX_BYTES = 50_000_000


class UnreadableError(Exception):
    """A submitted file is not a notebook; the message tells the student what is wrong with it."""


class NotSubmittedError(UnreadableError):
    """There is no file that could be the notebook."""


def has_conflict(lines: Sequence[str]) -> bool:
    """Whether these lines contain git's markers of a merge conflict, as a pair."""
    begin = any(line.startswith("<<<<<<< ") for line in lines)
    return begin and any(line.startswith(">>>>>>> ") for line in lines)


def read_tree(path: Path) -> dict[str, Any]:
    """A notebook's file as plain values. It has a list of `cells`, or of `worksheets` in formats before 4, whose
    entries may be anything. Raises UnreadableError.
    """
    try:
        if path.is_symlink():
            raise UnreadableError("the file is a link; submit the notebook itself")
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise UnreadableError(f"the file has {size / 1e6:.0f} MB; the limit is {MAX_BYTES / 1e6:.0f} MB")
        if size == 0:
            raise UnreadableError("the file is empty")
        content = path.read_bytes()
        tree = json.loads(content)
    except OSError as error:
        raise UnreadableError(f"the file cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UnreadableError("the file is not text, so it is not a notebook") from error
    except RecursionError as error:
        raise UnreadableError("the file is nested too deeply to be a notebook") from error
    except ValueError as error:
        if has_conflict(content.decode("utf-8", "replace").splitlines()):
            raise UnreadableError("it contains conflict markers of git (<<<<<<<)") from error
        raise UnreadableError(f"the file is not JSON, so it is not a notebook: {error}") from error
    if not isinstance(tree, dict) or not isinstance(tree.get("cells", tree.get("worksheets")), list):
        raise UnreadableError("the file is JSON but has no cells, so it is not a notebook")
    return tree

"""Pictures pasted into cells: nbformat's attachments, if they are valid and not too large."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

from grader.codec import writable

MAX_PICTURE, MAX_PICTURES = 8_000_000, 20_000_000  # characters of base64: per picture, and per notebook
KINDS = frozenset(f"image/{kind}" for kind in ("png", "jpeg", "gif", "webp", "svg+xml"))
_REFERENCE = re.compile(r"(?:\]\(\s*<?|src=[\"'])attachment:")


def sound_pictures(attachments: Any) -> dict[str, dict[str, str]]:
    """A cell's attachments that are pictures, by name and kind."""
    if not isinstance(attachments, dict):
        return {}
    found = {}
    for name, kinds in attachments.items():
        picture = {kind: _joined(data) for kind, data in kinds.items()} if isinstance(kinds, dict) else {}
        sound = {kind: data for kind, data in picture.items() if kind in KINDS and 0 < len(data) <= MAX_PICTURE}
        if sound:
            found[writable(name)] = sound
    return found


def bound_pictures(notebook: Any) -> None:
    """Remove every picture that does not fit into what is left of the limit for a notebook."""
    room = MAX_PICTURES
    for cell in notebook.cells:
        for name, picture in list(cell.get("attachments", {}).items()):
            size = sum(map(len, picture.values()))
            if size > room:
                del cell.attachments[name]
            else:
                room -= size


def lacks_pictures(cell: Any) -> bool:
    """Whether the text refers to a picture that is not attached to its cell."""
    names = tuple(cell.get("attachments", {}))
    shown = [part[:1_000] for part in _REFERENCE.split(cell.source)[1:]]
    return not all(part.startswith(names) or unquote(part).startswith(names) for part in shown)


def _joined(data: Any) -> str:
    """The data, which a file stores as one text or as lines; empty if it is neither."""
    lines = data if isinstance(data, list) else [data]
    return writable("".join(lines)) if all(isinstance(line, str) for line in lines) else ""

"""Pictures that were pasted into cells: nbformat's attachments, as far as they are sound and not too large."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

from grader.codec import writable

MAX_PICTURE, MAX_PICTURES = 8_000_000, 20_000_000  # characters in base64 of one, and of all in a notebook
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
    """Take out pictures beyond what a notebook may hold in all, the last ones first."""
    room = MAX_PICTURES
    for cell in notebook.cells:
        for name, picture in list(cell.get("attachments", {}).items()):
            size = sum(map(len, picture.values()))
            if size > room:
                del cell.attachments[name]
            else:
                room -= size


def lacks_pictures(cell: Any) -> bool:
    """Whether a text shows a picture that is not attached to its cell."""
    names = tuple(cell.get("attachments", {}))
    shown = [part[:1_000] for part in _REFERENCE.split(cell.source)[1:]]
    return not all(part.startswith(names) or unquote(part).startswith(names) for part in shown)


def _joined(data: Any) -> str:
    """What a file has as a text or as its lines; empty where it is neither."""
    lines = data if isinstance(data, list) else [data]
    return writable("".join(lines)) if all(isinstance(line, str) for line in lines) else ""

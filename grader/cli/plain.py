"""The characters of the commands' output for a terminal or a file whose encoding lacks them."""

from __future__ import annotations

import codecs
import io

ERRORS = "unrolled-plain"
PLAIN = {
    "✓": "+", "✗": "x", "◐": "~", "○": "o", "│": "|", "…": "...", "›": ">", "→": "->", "−": "-", "–": "-", "—": "-",
    "·": "*", "×": "x", "“": '"', "”": '"', "‘": "'", "’": "'",
}  # fmt: skip


def make_plain(stream: object) -> None:
    """Let a stream replace characters that it cannot hold by similar ones, and all others by `?`."""
    if isinstance(stream, io.TextIOWrapper):  # on Windows, a file or a pipe may not be able to hold ✓
        codecs.register_error(ERRORS, _similar)
        stream.reconfigure(errors=ERRORS)


def _similar(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(PLAIN.get(each, "?") for each in error.object[error.start : error.end]), error.end

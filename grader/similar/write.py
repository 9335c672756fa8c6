"""Write the page of a comparison: `TERM/reports/CHAPTER-similar.html`, or `CHAPTER-similar-anonymous.html`."""

from __future__ import annotations

from pathlib import Path

from grader.files import PRIVATE, write_whole
from grader.similar.look import Compared
from grader.similar.page import similar_page


def page_path(term: Path, chapter_id: str, anonymous: bool) -> Path:
    return term / "reports" / f"{chapter_id}-similar{'-anonymous' * anonymous}.html"


def write_page(path: Path, compared: Compared) -> None:
    """Write the page, readable only by its owner. Raises OSError."""
    write_whole(path, similar_page(compared).encode(), PRIVATE)

"""Write the page for instructors into the term."""

from __future__ import annotations

from pathlib import Path

from grader.files import write_whole
from grader.similar.look import Compared
from grader.similar.page import similar_page

PRIVATE = 0o600


def page_path(term: Path, chapter_id: str, anonymous: bool) -> Path:
    return term / "reports" / f"{chapter_id}-similar{'-anonymous' * anonymous}.html"


def write_page(term: Path, compared: Compared) -> Path:
    """Write the page, readable only by its owner; return its path. Raises OSError."""
    path = page_path(term, compared.chapter.id, compared.anonymous)
    write_whole(path, similar_page(compared).encode(), PRIVATE)
    return path

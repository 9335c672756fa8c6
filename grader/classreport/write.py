"""Write the page of a class report: `TERM/reports/CHAPTER.html`, or `CHAPTER-anonymous.html`."""

from __future__ import annotations

from pathlib import Path

from grader.classreport.gather import ClassReport
from grader.classreport.page import report_page
from grader.files import PRIVATE, write_whole


def report_path(term: Path, chapter_id: str, anonymous: bool) -> Path:
    return term / "reports" / f"{chapter_id}{'-anonymous' * anonymous}.html"


def write_report(path: Path, report: ClassReport) -> None:
    """Write the page, readable by its owner only. Raises OSError."""
    write_whole(path, report_page(report).encode(), PRIVATE)

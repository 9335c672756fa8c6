"""`python -m slides`: write all decks to build/slides, out of the book in build/book."""

from __future__ import annotations

import sys
from pathlib import Path

from grader.manifest import load_manifest
from slides.book import Book
from slides.site import write_site
from slides.source import SlidesError

ROOT = Path(__file__).parents[1]


def main() -> None:
    site = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "book" / "_build" / "html"
    out = ROOT / "build" / "slides"
    try:
        decks = write_site(out, ROOT / "slides", Book(site, load_manifest(ROOT / "course.toml")))
    except SlidesError as error:
        sys.exit(f"{error}")
    print(f"{len(decks)} decks: file://{out}/index.html")


if __name__ == "__main__":
    main()

"""The folder of all decks: their pages, and what they share. Nothing in it is loaded from another place."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from html import escape
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from grader.manifest import Chapter, Manifest
from slides.book import Book, Frame
from slides.deck import HEAD, deck
from slides.source import SlidesError, read_deck

HERE = Path(__file__).parent
_REVEAL = "sphinx-revealjs"  # its reveal.js alone, not its Sphinx builder
_REVEAL_FILES = ("dist/reset.css", "dist/reveal.css", "dist/reveal.js", "plugin/notes/notes.js", "LICENSE")
_OF_BOOK = ("book.css", "elements.css", "pygments.css", "mathjax", "explorables")


def write_site(out: Path, texts: Path, book: Book) -> list[Path]:
    """Write a deck for each chapter that has texts, and an index; the decks' files.

    Raises SlidesError if the book is not built, a package is missing, or a deck is wrong; `out` is then unchanged.
    """
    if not (book.site / "_static").is_dir():
        raise SlidesError(f"the book is not built: {book.site} is missing. Run: make book")
    made = {chapter.id: _deck(number, chapter, texts, book) for number, chapter in _with_texts(texts, book.manifest)}
    if not made:
        raise SlidesError(f"{texts} has no file CHAPTER.md with slides")
    shutil.rmtree(out, ignore_errors=True)
    shared = out / "shared"
    shared.mkdir(parents=True)
    _copy_shared(shared, book.site / "_static")
    for chapter_id, html in made.items():
        (out / f"{chapter_id}.html").write_text(html, "utf-8")
    _write_frames(out, book.frames.values())
    titles = {chapter.id: f"{number}. {chapter.title}" for number, chapter in enumerate(book.manifest.chapters)}
    (out / "index.html").write_text(_index({each: titles[each] for each in made}), "utf-8")
    return [out / f"{chapter_id}.html" for chapter_id in made]


def _with_texts(texts: Path, manifest: Manifest) -> Iterator[tuple[int, Chapter]]:
    for number, chapter in enumerate(manifest.chapters):
        if (texts / f"{chapter.id}.md").is_file():
            yield number, chapter


def _deck(number: int, chapter: Chapter, texts: Path, book: Book) -> str:
    slides = read_deck(texts / f"{chapter.id}.md", chapter.id)
    return deck(number, chapter.id, chapter.title, slides, book)


def _copy_shared(shared: Path, static: Path) -> None:
    try:
        reveal = Path(str(distribution(_REVEAL).locate_file("sphinx_revealjs/_static/revealjs")))
    except PackageNotFoundError as error:
        raise SlidesError(f"reveal.js is missing: pip install {_REVEAL}") from error
    (shared / "reveal").mkdir()
    for name in _REVEAL_FILES:
        shutil.copy(reveal / name, shared / "reveal")
    for name in _OF_BOOK:
        copy = shutil.copytree if (static / name).is_dir() else shutil.copy
        copy(static / name, shared / name)
    for file in sorted((HERE / "static").iterdir()):
        shutil.copy(file, shared)


def _write_frames(out: Path, frames: Iterator[Frame] | object) -> None:
    (out / "explorables").mkdir()
    for frame in frames:  # type: ignore[attr-defined]
        page = _FRAME.format(name=frame.name, label=escape(frame.label), html=frame.html)
        (out / "explorables" / f"{frame.name}.html").write_text(page, "utf-8")


def _index(titles: dict[str, str]) -> str:
    decks = "\n".join(f'<li><a href="{each}.html">{escape(title)}</a></li>' for each, title in titles.items())
    return _INDEX.format(decks=decks)


_FRAME = (
    HEAD
    + """<title>{label}</title>
<script src="../shared/theme.js"></script>
<link rel="stylesheet" href="../shared/book.css">
<link rel="stylesheet" href="../shared/elements.css">
<link rel="stylesheet" href="../shared/explorables/parts.css">
<link rel="stylesheet" href="../shared/explorables/{name}.css">
<link rel="stylesheet" href="../shared/colours.css">
<link rel="stylesheet" href="../shared/page.css">
<script defer src="../shared/explorables/parts.js"></script>
<script defer src="../shared/explorables/{name}.js"></script>
<script defer src="../shared/frame.js"></script>
</head>
<body>
<main class="bd-article">
<h1 class="out-of-sight">{label}</h1>
{html}
</main>
</body>
</html>
"""
)

_INDEX = (
    HEAD
    + """<title>Unrolled – slides</title>
<script src="shared/theme.js"></script>
<link rel="stylesheet" href="shared/book.css">
<link rel="stylesheet" href="shared/colours.css">
<link rel="stylesheet" href="shared/page.css">
</head>
<body>
<main class="bd-article">
<h1>Unrolled: slides</h1>
<ul>
{decks}
</ul>
<h2>Keys</h2>
<dl>
<dt>→, space</dt><dd>the next slide</dd>
<dt>↓</dt><dd>the answer below a question</dd>
<dt>S</dt><dd>the speaker's view, with notes</dd>
<dt>O, Escape</dt><dd>all slides at a glance</dd>
<dt>F</dt><dd>the whole screen</dd>
<dt>?</dt><dd>all keys</dd>
</dl>
<p>To print a deck, add <code>?print-pdf</code> to its address (before a <code>#</code>), and print to a PDF file,
without margins and with background graphics. With <code>?print-pdf&amp;showNotes=separate-page</code> the notes are
printed as well.</p>
</main>
</body>
</html>
"""
)

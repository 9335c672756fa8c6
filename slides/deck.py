"""The HTML of a deck: a title, then the slides of its file with the pieces that they name."""

from __future__ import annotations

from html import escape

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from slides.book import Book, Piece
from slides.source import Slide, SlidesError, glued

WIDE = 1.75  # a picture at least this much wider than high stands above caption and words, another one beside them


def deck(number: int, chapter: str, title: str, slides: tuple[Slide, ...], book: Book) -> str:
    """The page of a chapter's deck. Raises SlidesError for a reference that the book does not have."""
    first = (
        f'<section class="title-slide"><div class="slide"><p>Unrolled, chapter {number}</p><h2>{escape(title)}</h2>'
        "<p>Figures, equations and numbers are those of the book's pages.</p></div></section>"
    )
    stacks: list[list[str]] = []
    for slide in slides:
        html = _slide(slide, chapter, book)
        if slide.below:
            stacks[-1].append(html)
        else:
            stacks.append([html])
    body = "\n".join(each[0] if len(each) == 1 else f"<section>\n{''.join(each)}</section>" for each in stacks)
    return _PAGE.format(number=number, title=escape(title), first=first, body=body)


def markdown(text: str, chapter: str, book: Book, where: str) -> str:
    """HTML of a text, with the numbers that its pages glue."""
    for written, page, name in glued(text, chapter):
        text = text.replace(written, _literal(book.number(page, name, where)))
    if "{glue" in text:
        raise SlidesError(f"{where}: write a number as {{glue:text}}`PAGE::NAME`")
    return str(_parser().render(text))


def _slide(slide: Slide, chapter: str, book: Book) -> str:
    pieces = [book.piece(reference) for reference in slide.pieces]
    words = markdown(slide.text, chapter, book, slide.where) if slide.text else ""
    title = markdown(slide.title, chapter, book, slide.where).strip().removeprefix("<p>").removesuffix("</p>")
    told = [markdown(slide.notes, chapter, book, slide.where)] if slide.notes else []
    told += [f"<p>How this was made: {escape(piece.made)}</p>" for piece in pieces if piece.made]
    shown = "".join(f'<div class="piece">{piece.html}</div>' for piece in pieces)
    layout = _layout(words, pieces)
    text = f'<div class="words">{words}</div>' if words else ""
    body = f'<div class="body {layout}">{_origin(slide, book, pieces, shown)}{text}</div>'
    notes = f'<aside class="notes tex2jax_ignore">{"".join(told)}</aside>' if told else ""
    return f'<section><div class="slide"><h2>{title}</h2>{body}</div>{notes}</section>\n'


def _layout(words: str, pieces: list[Piece]) -> str:
    if not pieces:
        return "words-alone"
    drawn = [piece for piece in pieces if piece.ratio is not None]
    if len(pieces) == 2 and len(drawn) == 1 and (drawn[0].ratio or 0) < WIDE:
        return "side-by-side"
    if len(pieces) == len(drawn) == 1 and (drawn[0].ratio or 0) < WIDE:
        return "beside"
    return "stacked" if any(piece.grows for piece in pieces) else "plain"


def _origin(slide: Slide, book: Book, pieces: list[Piece], shown: str) -> str:
    """The pieces of a slide, and from which pages they are."""
    pages = dict.fromkeys(each.page for each in slide.pieces if each.kind != "exercises")
    titles = ", ".join(escape(book.title(page, slide.where)) for page in pages)
    origin = f'<p class="origin">From: {titles}</p>' if titles else ""
    return f'<div class="pieces pieces-{len(pieces)}">{shown}{origin}</div>' if pieces else ""


def _literal(text: str) -> str:
    return "".join(f"\\{character}" if character in "\\`*_{}[]<>#|$" else character for character in text)


def _parser() -> MarkdownIt:
    def formula(content: str, options: dict[str, bool]) -> str:
        return f"\\[{escape(content)}\\]" if options["display_mode"] else f"\\({escape(content)}\\)"

    return MarkdownIt("commonmark", {"html": False}).use(dollarmath_plugin, renderer=formula)


HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
"""

_PAGE = (
    HEAD
    + """<title>{number}. {title} – slides</title>
<script src="shared/theme.js"></script>
<link rel="stylesheet" href="shared/reveal/reset.css">
<link rel="stylesheet" href="shared/reveal/reveal.css">
<link rel="stylesheet" href="shared/pygments.css">
<link rel="stylesheet" href="shared/book.css">
<link rel="stylesheet" href="shared/elements.css">
<link rel="stylesheet" href="shared/colours.css">
<link rel="stylesheet" href="shared/deck.css">
<noscript><link rel="stylesheet" href="shared/no_script.css"></noscript>
<script defer src="shared/reveal/reveal.js"></script>
<script defer src="shared/reveal/notes.js"></script>
<script defer src="shared/deck.js"></script>
<script defer src="shared/mathjax/tex-chtml.js"></script>
</head>
<body>
<main>
<h1 class="out-of-sight">{number}. {title}</h1>
<div class="reveal bd-article">
<div class="slides">
{first}
{body}
</div>
</div>
</main>
</body>
</html>
"""
)

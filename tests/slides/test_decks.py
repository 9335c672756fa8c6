"""Decks out of built books: a small one, built here, and the course's if it is there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from one_page import build

from grader.manifest import load_manifest
from slides.book import Book
from slides.deck import deck
from slides.site import write_site
from slides.source import SlidesError, read_deck

ROOT = Path(__file__).parents[2]
SITE = ROOT / "build" / "book" / "_build" / "html"
MANIFEST = load_manifest(ROOT / "course.toml")
CHAPTER = "ch01_vanilla_rnn"
DRAWING = '<svg viewBox="0 0 20 10"><defs><path id="head" d="M 0 0"/></defs><a href="x.html"><circle r="{radius}"/></a>\
<use href="#head"/><g clip-path="url(#head)"/></svg>'
PAGE = r"""# A page

```{drawing} arrows.svg
:alt: a circle and the head of an arrow beside it
The caption, with a [link](https://example.org).
```

```{math}
:label: the-sum
a + b
```

```python
import math


def double(x):
    return 2 * x

print(double(3))
```

| unit | value of it |
|---|---|
| one | 1 |

```{raw} html
<div class="written"><figure><figcaption>A model, at last.</figcaption><pre>it is so</pre></figure></div>
```
"""
TEXT = """## Shown

figure: page arrows
equation: page the-sum

### Told

code: page def double
table: page unit | value
written: page A model

Glued: {glue:text}`page::length`.

## To do

exercises: recurrence
"""


def small_book(folder: Path, radius: int = 1, page: str = PAGE, glued: str = "2 * 10") -> Book:
    """A book with one page, built with the extensions that figures need."""
    (folder / "book" / CHAPTER).mkdir(parents=True)
    (folder / "book" / CHAPTER / "arrows.svg").write_text(DRAWING.format(radius=radius))
    names = "sphinx.ext.mathjax", "figure_names"
    index = f"```{{toctree}}\nbook/{CHAPTER}/page\n```\n"
    build(folder, index, *names, others={f"book/{CHAPTER}/page": page})
    kept = folder / "jupyter_execute" / "book" / CHAPTER
    kept.mkdir(parents=True)
    (kept / "page.glue.json").write_text(json.dumps({"length": {"data": {"text/plain": repr(glued)}}}))
    return Book(folder / "out", MANIFEST)


def deck_of(folder: Path, book: Book, text: str = TEXT) -> BeautifulSoup:
    (folder / f"{CHAPTER}.md").write_text(text, "utf-8")
    html = deck(1, CHAPTER, "A title", read_deck(folder / f"{CHAPTER}.md", CHAPTER), book)
    return BeautifulSoup(html, "html.parser")


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Book:
    return small_book(tmp_path_factory.mktemp("book"))


def test_a_slide_shows_what_its_page_shows(tmp_path: Path, book: Book):
    made = deck_of(tmp_path, book)
    shown, told, to_do = made.select("section:not(:has(section)):not(.title-slide)")
    assert [each.h2.get_text() for each in (shown, told, to_do)] == ["Shown", "Told", "To do"]
    assert shown.find_parent("section") is told.find_parent("section") is not None
    assert shown.svg["aria-label"] == "a circle and the head of an arrow beside it"
    assert shown.svg["role"] == "img"  # its links are gone
    assert made.select("section a") == []
    assert "The caption, with a link." in shown.figcaption.get_text()
    assert "a + b" in shown.select_one("div.math").get_text()
    assert told.pre.get_text() == "def double(x):\n    return 2 * x\n"
    assert [cell.get_text() for cell in told.find_all("td")] == ["one", "1"]
    assert told.select_one(".written pre").get_text() == "it is so"
    assert "Glued: 2 * 10." in told.get_text()
    assert "rnn_step" in to_do.get_text()
    assert "From: A page" in shown.get_text()


def test_pieces_keep_their_ids_apart(tmp_path: Path, book: Book):
    made = deck_of(tmp_path, book, "## One\n\nfigure: page arrows\n\n## Two\n\nfigure: page arrows\n")
    ids = [each["id"] for each in made.select("[id]")]
    assert len(ids) == len(set(ids)) >= 4
    for picture in made.find_all("svg"):
        head = picture.find("path")["id"]
        assert picture.find("use")["href"] == f"#{head}"
        assert picture.find("g")["clip-path"] == f"url(#{head})"


def test_a_slide_changes_with_its_page(tmp_path: Path, book: Book):
    """All that a page gives to a slide is other when the page is: nothing is typed, and nothing is kept."""
    page = PAGE
    for old, new in (
        ("The caption", "Another caption"),
        ("a + b", "a - c"),
        ("2 * x", "5 * x"),
        ("| 1 |", "| 7 |"),
        ("it is so", "no"),
    ):
        assert page.count(old) == 1
        page = page.replace(old, new)
    other = small_book(tmp_path / "other", 2, page, "3 * 10")
    before, after = (deck_of(tmp_path, each) for each in (book, other))
    assert [each.find("circle")["r"] for each in (before, after)] == ["1", "2"]
    told = [
        [
            each.select_one(kind).get_text()
            for kind in ("figcaption", "div.math", ".highlight pre", "td + td", ".written pre")
        ]
        + [each.select_one(".words p").get_text()]
        for each in (before, after)
    ]
    assert [old for old, new in zip(*told, strict=True) if old == new] == []
    assert told[1][1:] == ["\n(1)\\[a - c\\]", "def double(x):\n    return 5 * x\n", "7", "no", "Glued: 3 * 10."]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("figure: page arows", "has no figure 'arows'. It has: 'arrows'"),
        ("equation: page sum", "has no equation 'sum'. It has: 'the-sum'"),
        ("table: page units", "has no table 'units'. It has: 'unit | value of it'"),
        ("code: page def triple", "has no code 'def triple'. It has: 'import math'"),
        ("written: page A person", "has no written 'A person'. It has: 'A model, at last.'"),
        ("explorable: page lag", "has no explorable 'lag'. It has: none"),
        ("exercises: recurence", "has no exercises ''. It has: 'recurrence'"),
        ("output: page def double", "'def double' shows nothing"),
        ("figure: other arrows", "the built book has no page ch01_vanilla_rnn/other"),
    ],
)
def test_a_wrong_reference_is_an_error_with_its_line(tmp_path: Path, book: Book, line: str, told: str):
    with pytest.raises(SlidesError, match=re.escape(told)) as error:
        deck_of(tmp_path, book, f"## Title\n\n{line}\n")
    assert str(error.value).startswith(f"slides/{CHAPTER}.md:3: ")


def test_a_number_that_no_page_glues_is_an_error(tmp_path: Path, book: Book):
    with pytest.raises(SlidesError, match=r"slides/ch01_vanilla_rnn.md:1: .* glues no 'width'. It glues: 'length'"):
        deck_of(tmp_path, book, "## Title\n\nIt is {glue:text}`page::width`.\n")
    with pytest.raises(SlidesError, match="write a number as"):
        deck_of(tmp_path, book, "## Title\n\nIt is {glue:text}`width`.\n")


def test_nothing_is_written_without_a_book(tmp_path: Path):
    (tmp_path / "slides").mkdir()
    with pytest.raises(SlidesError, match=r"the book is not built: .* Run: make book"):
        write_site(tmp_path / "slides", ROOT / "slides", Book(tmp_path / "html", MANIFEST))
    assert list((tmp_path / "slides").iterdir()) == []


@pytest.fixture(scope="module")
def decks(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The course's decks, out of the book as it was last built."""
    if not (SITE / "index.html").is_file():
        pytest.skip("the book is not built")
    return write_site(tmp_path_factory.mktemp("slides"), ROOT / "slides", Book(SITE, MANIFEST))


def test_the_decks_of_the_course(decks: list[Path]):
    """Each reference is in the book, each picture says what is to be seen, and nothing comes from elsewhere."""
    assert [path.stem for path in decks] == [chapter.id for chapter in MANIFEST.chapters]
    for path in decks:
        made = BeautifulSoup(path.read_text("utf-8"), "html.parser")
        slides = made.select("section:not(:has(section))")
        assert 20 <= len(slides) <= 30
        assert all(slide.h2 for slide in slides)
        assert made.html["lang"] == "en"
        unnamed = [
            each for each in made.select("figure svg, .output svg") if len(each.get("aria-label", "").split()) < 5
        ]
        assert unnamed == []
        assert made.find("img") is None
        assert all(frame["title"] for frame in made.find_all("iframe"))
        ids = [each["id"] for each in made.select("[id]")]
        assert len(ids) == len(set(ids))
        named = [each.get("src") or each.get("href") for each in made.select("[src], link[href]")]
        assert all((path.parent / name).is_file() for name in named)
        assert sum(bool(slide.select_one("aside.notes")) for slide in slides) >= 15

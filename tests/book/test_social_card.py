"""What a link to a page shows elsewhere, its icon, and that both need no network."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from xml.etree import ElementTree

import pytest
from one_page import ROOT, build
from social_card import ALT, CARD, LONGEST, SIZE, shortened, tags

STATIC = ROOT / "book" / "_static"
PAGE = """# One *step* & more

:::{admonition} Do, learn, need
Not this.
:::

| a |
|---|
| Nor this. |

What is a state? It is what a network keeps. {long}

## A section

Not this either.
"""


def meta(html: str) -> dict[str, str]:
    return dict(re.findall(r'<meta (?:property|name)="([\w:]+)" content="([^"]*)"', html))


def test_a_page_says_its_title_its_first_sentences_and_a_picture(tmp_path: Path) -> None:
    html, warnings = build(tmp_path, PAGE.replace("{long}", "X " * 100 + "."), "social_card")
    assert warnings == ""
    found = meta(html)
    assert found["og:title"] == "One step &amp; more"
    assert found["og:description"] == found["description"] == "What is a state? It is what a network keeps."
    assert found["og:image"] == CARD
    assert found["og:image:alt"] == ALT.replace("'", "&#x27;")
    assert "og:url" not in found
    assert not re.search(r"<script[^>]*social", html)


def test_a_page_in_a_folder_finds_the_picture(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    build(tmp_path, "# Page\n\n```{toctree}\ndeep/one\n```\n", "social_card", others={"deep/one": "# One\n\nA text."})
    found = meta((tmp_path / "out" / "deep" / "one.html").read_text("utf-8"))
    assert (found["og:image"], found["og:description"]) == (f"../{CARD}", "A text.")


def test_addresses_of_a_published_book_are_whole(tmp_path: Path) -> None:
    html, _ = build(tmp_path, "# Page\n", "social_card", social_card_address="https://example.org/book/")
    found = meta(html)
    assert found["og:image"] == f"https://example.org/book/{CARD}"
    assert found["og:url"] == "https://example.org/book/index.html"
    assert "og:description" not in found, "a page without text"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two.", "One. Two."),
        ("One. " + "X" * LONGEST + ".", "One."),
        ("word " * 60, ("word " * 39).strip() + " …"),
        ("About 0.2 of it. Then more.", "About 0.2 of it. Then more."),
    ],
)
def test_whole_sentences_are_kept(text: str, expected: str) -> None:
    assert shortened(text.strip()) == expected
    assert len(expected) <= LONGEST


def test_what_a_page_says_cannot_leave_its_tag() -> None:
    assert tags('"><script>', '"><script>', "a", "").count("<script>") == 0


def test_the_card_has_the_size_that_its_tags_name() -> None:
    card = ROOT / "book" / CARD
    data = card.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", data[16:24]) == SIZE
    assert len(data) < 120_000


def test_the_icon_is_a_drawing_that_asks_for_nothing() -> None:
    """For light and dark tabs; a browser draws it alone, so it may not need the page's style."""
    text = (STATIC / "favicon.svg").read_text("utf-8")
    assert ElementTree.fromstring(text).get("viewBox") == "0 0 32 32"
    assert "prefers-color-scheme: dark" in text
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert len(text) < 1_000
    assert "favicon: book/_static/favicon.svg" in (ROOT / "_config.yml").read_text("utf-8")

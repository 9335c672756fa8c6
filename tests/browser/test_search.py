"""A search on the built book: the same results and excerpts from a server and from a file, as text, with contrast."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import pytest
from opened import PHONE, WIDE, Troubles, axe_violations, opened, overflow
from playwright.sync_api import Browser, Page, expect

pytestmark = pytest.mark.browser

SEARCHES = [
    ("length penalty", "Decoding", {"length", "penalt"}),
    ("beam of 4", "Decoding", {"beam"}),
    ("bottleneck", "Encoder and context", {"bottleneck"}),
    ("teacher forcing", "Training an encoder–decoder", {"teacher", "forcing"}),
    ("clip_by_norm", "Cliffs and clipping", {"clip_by_norm"}),
    ("forget gates", "A cell that keeps", {"forget", "gate"}),
    ("sutskever", "Translation, for real", {"sutskever"}),
]


def results(page: Page) -> list[tuple[str, str, list[str]]]:
    """Title, excerpt and highlighted words of each result, once all are there."""
    expect(page.locator(".search-summary")).to_contain_text("Search finished")
    found: list[tuple[str, str, list[str]]] = page.evaluate(
        """() => [...document.querySelectorAll("#search-results li")].map(item => [
        item.querySelector("a").textContent, item.querySelector("p.context")?.textContent ?? "",
        [...item.querySelectorAll("p.context .highlighted")].map(e => e.textContent.toLowerCase())])"""
    )
    return [tuple(each) for each in found]


@pytest.mark.parametrize(("query", "title", "words"), SEARCHES, ids=[query for query, *_ in SEARCHES])
def test_a_search_shows_excerpts_from_a_server_and_from_a_file(
    browser: Browser, base_url: str, site: Path, query: str, title: str, words: set[str]
) -> None:
    """The page is found, its excerpt has all words that were searched, highlighted, and other pages are not loaded."""
    seen = []
    for base in (base_url, f"{site.as_uri()}/"):
        with opened(browser, base, f"search.html?q={quote(query)}") as (page, troubles):
            seen.append(results(page))
            assert page.locator("#search-results p.context *:not(span.highlighted)").count() == 0
            loaded: list[str] = page.evaluate("performance.getEntriesByType('resource').map(entry => entry.name)")
            assert [name for name in loaded if name.endswith(".html")] == []
            assert troubles == Troubles()
    assert seen[0] == seen[1]
    for name, excerpt, marked in seen[1]:
        assert 20 < len(excerpt) < 260, name
        assert marked or title not in name, name
    mine = [marked for name, _, marked in seen[1] if name == title]
    assert all(any(word in mark for marked in mine for mark in marked) for word in words)


def test_what_is_typed_stands_beside_the_magnifying_glass(browser: Browser, base_url: str) -> None:
    with opened(browser, base_url, "search.html") as (page, _):
        assert page.evaluate(
            """() => {
            const form = document.querySelector("main .bd-search"), input = form.querySelector("input");
            const begins = input.getBoundingClientRect().left + parseFloat(getComputedStyle(input).paddingLeft);
            return begins > form.querySelector("i").getBoundingClientRect().right;
            }"""
        )


def test_what_is_searched_and_found_is_never_markup(browser: Browser, base_url: str) -> None:
    text = "a beam <img src=x onerror='document.body.remove()'> &amp; beams"
    texts = f"window.searchTexts = {json.dumps({'book/ch05_encoder_decoder/decoding': [['x', text]]})};"
    with opened(browser, base_url, "search.html") as (page, _):
        page.route("**/search_texts.js", lambda route: route.fulfill(body=texts, content_type="text/javascript"))
        page.goto(f"{base_url}search.html?q={quote('<b>beam</b>')}")
        assert [(excerpt, marked) for _, excerpt, marked in results(page) if excerpt] == [(text, ["beam", "beams"])]
        assert page.locator("#search-results :is(img, b)").count() == 0


def test_without_the_texts_a_search_still_gives_links(browser: Browser, base_url: str) -> None:
    with opened(browser, base_url, "search.html") as (page, _):
        page.route("**/search_texts.js", lambda route: route.abort())
        page.goto(f"{base_url}search.html?q=bottleneck")
        assert [name for name, excerpt, _ in results(page) if not excerpt][:1]


def test_the_texts_are_loaded_only_for_a_search_and_are_light(browser: Browser, base_url: str, site: Path) -> None:
    with opened(browser, base_url, "search.html") as (page, _):
        asked: list[str] = page.evaluate("performance.getEntriesByType('resource').map(entry => entry.name)")
    assert any("search_excerpts.js" in name for name in asked)
    assert not any("search_texts.js" in name for name in asked)
    assert (site / "_static" / "search_texts.js").stat().st_size < 1_000_000
    assert "search_excerpts.js" not in (site / "book" / "index.html").read_text("utf-8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_results_are_accessible(browser: Browser, site: Path, size: tuple[int, int], scheme: str) -> None:
    with opened(browser, f"{site.as_uri()}/", "search.html?q=gradient", size, scheme) as (page, _):
        assert len(results(page)) > 4
        assert overflow(page) == []
        assert axe_violations(page) == []

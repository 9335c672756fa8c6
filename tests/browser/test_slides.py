"""Decks in a browser: they open from a folder, keys turn them, nothing is asked of another place, and all can be read.

One is made out of the specimen, the others out of the course's book.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import SITE
from opened import Troubles, axe_violations, maths_faults, opened
from playwright.sync_api import Browser, Page

from grader.manifest import load_manifest
from slides.book import Book
from slides.site import write_site

ROOT = Path(__file__).parents[2]
MANIFEST = load_manifest(ROOT / "course.toml")
CHAPTERS = [chapter.id for chapter in MANIFEST.chapters]
EVERY = 6  # of a deck of thirty slides, five are looked at closely
pytestmark = pytest.mark.browser

TEXTS = """## A figure

figure: ./plots squares

There are {glue:text}`./plots::how-many` dots.

notes: Ask *how many*.

## Before you look: what bends upward?

### The squares

equation: ./plots squares-again

## Try it

explorable: ./lag lag
"""


@pytest.fixture(scope="module")
def small(specimen: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a deck out of the specimen."""
    texts = tmp_path_factory.mktemp("texts")
    (texts / "ch03_gradients.md").write_text(TEXTS, "utf-8")
    out = tmp_path_factory.mktemp("slides")
    write_site(out, texts, Book(specimen, MANIFEST))
    return out


@pytest.fixture(scope="module")
def decks(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the course's decks."""
    out = tmp_path_factory.mktemp("decks")
    write_site(out, ROOT / "slides", Book(site, MANIFEST))
    return out


@contextmanager
def shown(browser: Browser, folder: Path, page: str, scheme: str = "light") -> Iterator[tuple[Page, Troubles]]:
    with opened(browser, f"{folder.as_uri()}/", page, (1280, 720), scheme) as (deck, troubles):
        deck.wait_for_function("window.Reveal?.isReady()")
        yield deck, troubles


def place(deck: Page) -> tuple[int, int]:
    h, v = deck.evaluate("[Reveal.getIndices().h, Reveal.getIndices().v || 0]")
    return h, v


# Text and the page behind it; axe-core cannot tell what is behind a slide, because reveal.js lays backgrounds under it.
CONTRAST = """() => {
  const parts = (colour) => {
    const [r, g, b, alpha = 1] = colour.match(/[\\d.]+(e-?\\d+)?/g).map(Number);
    return [...[r, g, b].map((c) => (colour.startsWith("color(") ? 255 * c : c)), alpha];
  };
  const light = (colour) => colour.slice(0, 3).map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (e) => {
    const own = parts(getComputedStyle(e).backgroundColor), alpha = own[3];
    if (alpha === 1) return own;
    const below = e.parentElement ? behind(e.parentElement) : [255, 255, 255];
    return own.slice(0, 3).map((c, i) => alpha * c + (1 - alpha) * below[i]);
  };
  const kinds = "h2, p, li, td, th, pre, pre span, pre mark, figcaption";
  const words = [...document.querySelectorAll(`.reveal section :is(${kinds})`)];
  return words.filter((e) => e.checkVisibility() && e.textContent.trim()).map((e) => {
    const [a, b] = [light(parts(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
    return [(a + 0.05) / (b + 0.05), e.textContent.trim().slice(0, 40)];
  }).filter(([ratio]) => ratio < 4.5);
}"""

# Words, pieces and captions that stick out of their slide, or that another one covers; and what would have to be
# scrolled from the top to the bottom to be seen.
OUTSIDE = """() => {
  const slide = document.querySelector("section.present .slide:not(:has(section))").getBoundingClientRect();
  const shown = (kinds) => [...document.querySelectorAll(`section.present:not(:has(section)) :is(${kinds})`)]
    .filter((e) => e.checkVisibility()).map((e) => [e, e.getBoundingClientRect()]);
  const over = (r) => Math.max(r.bottom - slide.bottom, r.right - slide.right, slide.left - r.left) > 2;
  const out = shown("h2, .words, .piece, .origin, figcaption, pre, table").filter(([, r]) => over(r));
  const apart = shown("h2, .words, .origin, figcaption, .piece div.math, pre, table, svg.plot, figure svg");
  const shared = (a, b, low, high) => Math.min(a[high], b[high]) - Math.max(a[low], b[low]) > 2;
  const covers = ([, a], [, b]) => shared(a, b, "top", "bottom") && shared(a, b, "left", "right");
  const covered = apart.filter((a) => apart.some((b) =>
    a !== b && !a[0].contains(b[0]) && !b[0].contains(a[0]) && covers(a, b)));
  const cut = shown("pre, .table-box").filter(([e]) => e.scrollHeight > e.clientHeight + 1);
  return [...out, ...covered, ...cut].map(([e]) => e.outerHTML.slice(0, 120));
}"""


def test_keys_turn_the_slides(browser: Browser, small: Path) -> None:
    with shown(browser, small, "ch03_gradients.html") as (deck, troubles):
        seen = [place(deck)]
        for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowUp", "Space", "Space", "ArrowLeft"):
            deck.keyboard.press(key)
            seen.append(place(deck))
        assert seen == [(0, 0), (1, 0), (2, 0), (2, 1), (2, 0), (2, 1), (3, 0), (2, 1)]
        deck.keyboard.press("Home")
        deck.keyboard.press("o")
        assert deck.evaluate("Reveal.isOverview()")
        assert troubles == Troubles()


def test_the_figure_is_that_of_its_page(browser: Browser, small: Path, specimen: Path) -> None:
    curve = "[...document.querySelectorAll('#{0} svg path, [id$={0}] svg path')].map((e) => e.getAttribute('d'))"
    with opened(browser, f"{specimen.as_uri()}/", "book/plots.html") as (page, _):
        drawn = page.evaluate(curve.format("figure-squares"))
    with shown(browser, small, "ch03_gradients.html#/1") as (deck, _):
        assert deck.evaluate(curve.format("figure-squares")) == drawn != []
        assert "There are 4 dots." in deck.inner_text("section.present")
        assert maths_faults(deck) == []


def test_the_speaker_sees_notes_and_what_comes_next(browser: Browser, small: Path) -> None:
    with shown(browser, small, "ch03_gradients.html#/1") as (deck, _):
        with deck.expect_popup() as popup:
            deck.keyboard.press("s")
        notes = popup.value.locator(".speaker-controls-notes .value")
        notes.get_by_text("how many").wait_for()
        assert notes.locator("em").inner_text() == "how many"


def test_an_explorable_runs_on_its_slide_and_a_clicker_leaves_it(browser: Browser, small: Path) -> None:
    with shown(browser, small, "ch03_gradients.html#/3") as (deck, troubles):
        frame = deck.frame_locator("section.present iframe")
        slider = frame.locator("input[type=range]").first
        before = slider.input_value()
        slider.focus()
        deck.keyboard.press("ArrowRight")
        assert slider.input_value() != before
        assert place(deck) == (3, 0)
        assert 0.7 < frame.locator("body").evaluate("body => Number(body.style.zoom)") < 1  # so that more can be seen
        deck.keyboard.press("PageUp")
        deck.wait_for_function("Reveal.getIndices().h === 2")
        assert troubles == Troubles()
    with opened(browser, f"{small.as_uri()}/", "explorables/lag.html", (1280, 720), "dark") as (page, troubles):
        assert axe_violations(page) == []
        assert troubles == Troubles()


def test_without_script_all_slides_can_be_read(browser: Browser, small: Path) -> None:
    with opened(browser, f"{small.as_uri()}/", "ch03_gradients.html", script=False) as (page, _):
        assert page.locator("section h2:visible").count() == 5


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_list_of_decks(browser: Browser, small: Path, scheme: str) -> None:
    with opened(browser, f"{small.as_uri()}/", "index.html", scheme=scheme) as (page, troubles):
        assert axe_violations(page) == []
        assert troubles == Troubles()
        page.get_by_role("link").click()
        page.wait_for_function("window.Reveal?.isReady()")


def test_it_prints_a_page_for_each_slide_in_light(browser: Browser, small: Path) -> None:
    with shown(browser, small, "ch03_gradients.html?print-pdf", "dark") as (deck, troubles):
        deck.wait_for_selector(".pdf-page")
        assert deck.evaluate("document.documentElement.dataset.theme") == "light"
        deck.frame_locator("iframe").locator("html[data-theme=light]").wait_for()
        assert deck.locator(".pdf-page").count() == 5
        assert deck.pdf(prefer_css_page_size=True, print_background=True).count(b"/Type /Page\n") == 5
        assert troubles == Troubles()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("chapter", CHAPTERS if SITE.is_dir() else ["(no book)"])
def test_a_deck_of_the_course(browser: Browser, decks: Path, chapter: str, scheme: str) -> None:
    """Nothing sticks out of any slide, all has contrast; some slides are looked at by axe-core."""
    with shown(browser, decks, f"{chapter}.html", scheme) as (deck, troubles):
        assert deck.evaluate("document.documentElement.dataset.theme") == scheme
        assert maths_faults(deck) == []
        slides = deck.evaluate("Reveal.getSlides().map((s) => [Reveal.getIndices(s).h, Reveal.getIndices(s).v || 0])")
        assert 20 <= len(slides) <= 30
        for number, (h, v) in enumerate(slides):
            deck.evaluate("([h, v]) => Reveal.slide(h, v)", [h, v])
            assert deck.evaluate(OUTSIDE) == [], (h, v)
            assert deck.evaluate(CONTRAST) == [], (h, v)
            if scheme == "light" and number % EVERY == 1:
                assert axe_violations(deck) == [], (h, v)
        assert troubles == Troubles()

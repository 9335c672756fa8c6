"""Every page of the built book, as a reader meets it: wide and on a phone, light and dark, offline.

A page is loaded three times and all is looked at in these: loading and typesetting take longer than most of the looks.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont
from opened import (
    PHONE,
    WIDE,
    Address,
    Troubles,
    axe_violations,
    boxes_without_keyboard,
    code_wider_than_its_box,
    equations_under_numbers,
    images_without_words,
    maths_faults,
    opened,
    overflow,
    weight,
)
from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser


# Three quarters of the accessibility checker's time, and the only rule of it that depends on the scheme. The style
# sheets have no colours of their own for narrow screens, so on a phone it looks only at some pages.
CONTRAST = ["color-contrast"]
CONTRAST_ON_A_PHONE = ("specimen:", "course:book/index", "course:book/ch05_encoder_decoder/decoding", "course:search")


def faults(page: Page, scheme: str, **rules: list[str]) -> dict[str, list[str]]:
    """What is wrong with an opened page in this scheme; it changes as the reader's system does, without a reload."""
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.wait_for_function("scheme => document.documentElement.dataset.theme === scheme", arg=scheme)
    found = {
        "overflow": overflow(page),
        "maths": maths_faults(page),
        "images": images_without_words(page),
        "axe": axe_violations(page, **rules),
    }
    return {what: problems for what, problems in found.items() if problems}


def test_page_on_a_wide_screen(browser: Browser, address: Address) -> None:
    """Over http, by day and then by night."""
    with opened(browser, address.http, address.path, WIDE, "light") as (page, troubles):
        assert page.evaluate("document.documentElement.dataset.theme") == "light"
        maths = page.locator("main .math").count()
        assert 100_000 < weight(page) < (2_400_000 if maths else 900_000)
        assert faults(page, "light") == {}
        assert faults(page, "dark", only=CONTRAST) == {}
        assert code_wider_than_its_box(page) == []
        for width in (WIDE[0], 500):
            page.set_viewport_size({"width": width, "height": WIDE[1]})
            assert equations_under_numbers(page) == []
        assert troubles == Troubles()


def test_page_on_a_phone(browser: Browser, address: Address, page_path: str) -> None:
    """From a file, by night and then by day."""
    rules = {} if page_path.startswith(CONTRAST_ON_A_PHONE) else {"without": CONTRAST}
    with opened(browser, f"{address.folder.as_uri()}/", address.path, PHONE, "dark") as (page, troubles):
        assert page.evaluate("document.documentElement.dataset.theme") == "dark"
        assert boxes_without_keyboard(page) == []
        assert faults(page, "dark", **rules) == {}
        assert faults(page, "light", **rules) == {}
        assert equations_under_numbers(page) == []
        assert troubles == Troubles()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_theme_is_chosen_before_anything_is_drawn(browser: Browser, base_url: str, scheme: str) -> None:
    watch = """new MutationObserver(() => {
        if (document.body) (window.themes ??= new Set()).add(document.documentElement.dataset.theme);
    }).observe(document, {attributes: true, childList: true, subtree: true})"""
    with opened(browser, base_url, "book/index.html", scheme=scheme) as (page, _):
        page.add_init_script(f"localStorage.clear(); {watch}")  # as on a first visit
        page.reload()
        assert page.evaluate("[...window.themes]") == [scheme]


def test_page_without_script(browser: Browser, address: Address) -> None:
    """The text is there, and what is folded can be unfolded."""
    with opened(browser, address.http, address.path, script=False) as (page, _):
        assert page.locator("main h1:visible").count() == 1
        for summary in page.locator("main details > summary").all():
            summary.click()
        assert page.locator("main details:not([open])").count() == 0


@pytest.mark.parametrize("place", ["search.html", "book/index.html", "book/ch05_encoder_decoder/decoding.html"])
def test_every_icon_is_drawn(browser: Browser, base_url: str, site: Path, place: str) -> None:
    """Each has a character, and the font of its kind has a glyph for it."""
    with opened(browser, base_url, place) as (page, _):
        icons = page.evaluate(
            """() => [...document.querySelectorAll("*")].flatMap(e => ["::before", "::after"]
            .map(part => getComputedStyle(e, part))
            .filter(s => s.fontFamily.includes("Awesome") && !["none", '""'].includes(s.content))
            .map(s => [e.outerHTML.slice(0, 120), s.content, s.fontFamily.includes("Brands") ? "brands-400"
              : s.fontWeight > 400 ? "solid-900" : "regular-400"]))"""
        )
        assert page.locator("i.fa-solid").count() <= len(icons)
    fonts = {file.stem: TTFont(file).getBestCmap() for file in site.glob("_static/vendor/fontawesome/webfonts/*.woff")}
    for element, content, kind in icons:
        assert len(content) == 3, f"{element} has the content {content}"
        assert ord(content[1]) in fonts[f"fa-{kind}"], element


def test_root_leads_to_the_front_page(browser: Browser, base_url: str) -> None:
    with opened(browser, base_url, "index.html", script=False) as (page, troubles):
        page.wait_for_url("**/book/index.html")
        assert troubles.requests_that_leave == []


def test_no_page_offers_a_bare_notebook(site: Path) -> None:
    """A reader has it in `exercises/`; a copy among the downloads would be missed by `grader submit`."""
    link = re.compile(r"<a\s[^>]*(?:\sdownload\b|\.ipynb)[^>]*>")
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 50
    found = {page.name: link.findall(page.read_text("utf-8")) for page in pages}
    assert {name: links for name, links in found.items() if links} == {}

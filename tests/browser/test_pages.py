"""Every page of the built book, as a reader meets it: wide and on a phone, light and dark, offline."""

from __future__ import annotations

import pytest
from opened import (
    PHONE,
    WIDE,
    Address,
    Troubles,
    axe_violations,
    images_without_words,
    maths_faults,
    opened,
    overflow,
    weight,
)
from playwright.sync_api import Browser

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_page_over_http(browser: Browser, address: Address, size: tuple[int, int], scheme: str) -> None:
    with opened(browser, address.http, address.path, size, scheme) as (page, troubles):
        assert page.evaluate("document.documentElement.dataset.theme") == scheme
        assert troubles == Troubles()
        assert overflow(page) == []
        assert maths_faults(page) == []
        assert images_without_words(page) == []
        assert axe_violations(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_theme_is_chosen_before_anything_is_drawn(browser: Browser, base_url: str, scheme: str) -> None:
    watch = """new MutationObserver(() => {
        if (document.body) (window.themes ??= new Set()).add(document.documentElement.dataset.theme);
    }).observe(document, {attributes: true, childList: true, subtree: true})"""
    with opened(browser, base_url, "book/index.html", scheme=scheme) as (page, _):
        page.add_init_script(f"localStorage.clear(); {watch}")  # as on a first visit
        page.reload()
        assert page.evaluate("[...window.themes]") == [scheme]


def test_page_from_a_file(browser: Browser, address: Address) -> None:
    with opened(browser, f"{address.folder.as_uri()}/", address.path) as (page, troubles):
        assert troubles == Troubles()
        assert maths_faults(page) == []


def test_page_is_light(browser: Browser, address: Address) -> None:
    with opened(browser, address.http, address.path) as (page, _):
        maths = page.locator("main .math").count()
        assert 100_000 < weight(page) < (2_400_000 if maths else 900_000)


def test_page_without_script(browser: Browser, address: Address) -> None:
    """The text is there, and what is folded can be unfolded."""
    with opened(browser, address.http, address.path, script=False) as (page, _):
        assert page.locator("main h1:visible").count() == 1
        for summary in page.locator("main details > summary").all():
            summary.click()
        assert page.locator("main details:not([open])").count() == 0


def test_keyboard_reaches_every_box_that_scrolls(browser: Browser, address: Address) -> None:
    with opened(browser, address.http, address.path, PHONE) as (page, _):
        stuck = page.evaluate(
            """() => [...document.querySelectorAll("main article *")]
            .filter(e => e.scrollWidth > e.clientWidth + 1 && e.tabIndex < 0)
            .filter(e => ["auto", "scroll"].includes(getComputedStyle(e).overflowX))
            .map(e => e.outerHTML.slice(0, 120))"""
        )
        assert stuck == []


def test_root_leads_to_the_front_page(browser: Browser, base_url: str) -> None:
    with opened(browser, base_url, "index.html", script=False) as (page, troubles):
        page.wait_for_url("**/book/index.html")
        assert troubles.requests_that_leave == []

"""What the tests of explorables share: another address, words outside a picture, a page on paper, the files' size."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from opened import opened
from playwright.sync_api import Browser, Page, expect

STATIC = Path(__file__).parents[2] / "book" / "_static" / "explorables"


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until the element has the focus."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("s => document.activeElement.matches(s)", selector):
            return
    pytest.fail(f"Tab does not reach {selector}")


def go_to(page: Page, address: str) -> None:
    """Change the address behind the #, and wait until the page has noticed."""
    page.evaluate(
        """hash => location.hash === hash || new Promise(done => {
        addEventListener("hashchange", () => setTimeout(done), {once: true});
        location.hash = hash;
        })""",
        address,
    )


def words_outside(page: Page) -> list[str]:
    """Texts of the explorable's pictures that stick out of them."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll(".explorable svg text")].filter(e => {
        const text = e.getBoundingClientRect(), whole = e.closest("svg").getBoundingClientRect();
        return text.left < whole.left - 1 || text.right > whole.right + 1
          || text.top < whole.top - 2 || text.bottom > whole.bottom + 2;
        }).map(e => e.textContent)"""
    )
    return found


@contextmanager
def on_paper(browser: Browser, base: str, path: str) -> Iterator[Page]:
    """The page as it is printed, after a look without script; the controls are gone in both."""
    with opened(browser, base, path, script=False) as (page, _):
        expect(page.get_by_text("Without script there is this sentence.")).to_be_visible()
        assert page.locator("main article :is(input, button):visible").count() == 0
    with opened(browser, base, path) as (page, _):
        expect(page.get_by_text("Without script there is this sentence.")).to_be_hidden()
        page.emulate_media(media="print")
        assert page.locator("main article :is(button, input[type=range]):visible").count() == 0
        yield page


def size_of(name: str, data: Any) -> int:
    """Bytes of an explorable: script, style and data together, with the script that explorables share."""
    files = [STATIC / file for file in ("parts.js", f"{name}.js", f"{name}.css")]
    return sum(file.stat().st_size for file in files) + len(json.dumps(data, separators=(",", ":")))

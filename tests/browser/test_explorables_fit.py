"""In no explorable do numbers, words or controls run into one another, however wide the page is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from opened import opened
from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

WIDTHS = (320, 390, 768, 1000, 1200, 1280, 1440)
EXPLORABLE = re.compile(r'data-explorable="(\w+)"')

# Every slider and choice to its end, and a dozen steps: the longest numbers and the most rows.
TO_THE_END = """root => {
  for (const slider of root.querySelectorAll("input[type=range]")) {
    slider.value = slider.max;
    slider.dispatchEvent(new Event("input", {bubbles: true}));
  }
  for (const choices of root.querySelectorAll("fieldset")) [...choices.querySelectorAll("input")].at(-1).click();
  for (let step = 0; step < 12; step += 1)
    for (const button of root.querySelectorAll("button"))
      if (/^(Next|Step)$/.test(button.textContent) && !button.disabled) button.click();
}"""

# Cells whose text is not within them or is cut off, neighbours in a row that nearly touch, and controls, sentences and
# words in a picture that overlap. Numbers less than 4 px apart read as one.
COLLISIONS = """root => {
  const found = [];
  const said = e => e.textContent.trim().slice(0, 30) || e.tagName;
  const seen = e => e.checkVisibility() && e.textContent.trim();
  const inside = e => {
    const range = document.createRange();
    range.selectNodeContents(e);
    return range;
  };
  for (const row of root.querySelectorAll(".tables tr")) {
    let end = -Infinity;
    for (const cell of [...row.cells].filter(seen)) {
      const text = inside(cell).getBoundingClientRect(), box = cell.getBoundingClientRect();
      if (text.left < box.left - 0.5 || text.right > box.right + 0.5 || cell.scrollWidth > cell.clientWidth + 1)
        found.push(`“${said(cell)}” sticks out of its cell`);
      if (text.left - end < 4) found.push(`“${said(cell)}” touches its neighbour in “${said(row)}”`);
      end = text.right;
    }
  }
  const overlap = (one, other) => Math.min(one.right, other.right) - Math.max(one.left, other.left) > 2
    && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 2.5;
  const apart = placed => placed.forEach(([one, rects], at) => {
    for (const [other, others] of placed.slice(at + 1))
      if (!one.contains(other) && !other.contains(one) && rects.some(a => others.some(b => overlap(a, b))))
        found.push(`“${said(one)}” overlaps “${said(other)}”`);
  });
  for (const picture of root.querySelectorAll("svg"))
    apart([...picture.querySelectorAll("text")].filter(seen).map(e => [e, [e.getBoundingClientRect()]]));
  const controls = [...root.querySelectorAll("input, textarea, button")].filter(e => e.checkVisibility());
  const sentences = [...root.querySelectorAll("p, legend, caption, label > span, td, th")].filter(seen);
  apart([...controls.map(e => [e, [e.getBoundingClientRect()]]),
    ...sentences.filter(e => !e.querySelector("input, button, span.piece"))
    .map(e => [e, [...inside(e).getClientRects()]])]);
  return found;
}"""


def explorables(site: Path) -> list[tuple[str, str]]:
    """The name of each explorable of the course, and its page."""
    pages = [(page, page.read_text("utf-8")) for page in sorted(site.glob("book/ch*/*.html"))]
    return [(name, page.relative_to(site).as_posix()) for page, html in pages for name in EXPLORABLE.findall(html)]


def collisions(page: Page, name: str) -> dict[str, list[str]]:
    """What runs into one another, at first and with all controls at their end."""
    found = {}
    root = page.locator(f'.explorable[data-explorable="{name}"]')
    for state in ("at first", "at the end"):
        if state == "at the end":
            root.evaluate(TO_THE_END)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            page.evaluate("() => new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
            if here := root.evaluate(COLLISIONS):
                found[f"{name}, {width} px, {state}"] = here[:4]
    return found


def test_nothing_in_an_explorable_overlaps(browser: Browser, site: Path, base_url: str) -> None:
    found = explorables(site)
    assert len(found) == 7
    wrong = {}
    for name, path in found:
        with opened(browser, base_url, path) as (page, _):
            wrong |= collisions(page, name)
    assert wrong == {}

"""The explorable `bpe`: its tokens, pairs and costs are the reference's, by keyboard, pointer, touch and address."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import numpy as np
import pytest
from by_hand import go_to, on_paper, size_of, tab_to
from opened import PHONE, WIDE, Troubles, axe_violations, opened, overflow
from playwright.sync_api import Browser, Page, expect

from experiments.ch00.explorable_bpe import DATA, Shown, explored

pytestmark = pytest.mark.browser

PAGE = "book/bpe.html"
ROWS = 5


class State(NamedTuple):
    merges: int = DATA["merges"]
    text: str = DATA["text"]

    @property
    def hash(self) -> str:
        return f"#merges={self.merges}&text={quote(self.text, safe='')}"


def visible(text: str) -> str:
    return text.replace(" ", "␣")


def times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def rows(page: Page, table: int) -> list[list[str]]:
    found: list[list[str]] = (
        page.locator(".explorable .tables table")
        .nth(table)
        .evaluate("t => [...t.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.textContent))")
    )
    return found


def numbers(shown: Shown) -> list[str]:
    tokens = [token for word in shown.words for token in word]
    values = shown.per_character, shown.bits, shown.bits_with_merges
    return [str(len(tokens)), str(len(set(tokens))), *(f"{value:.3f}" for value in values)]


def expected_summary(state: State, shown: Shown, before: Shown) -> str:
    said = "Every character is a token. "
    if state.merges:
        (one, other), count = before.pairs[0]
        said = f"Merge {state.merges} joined “{visible(one)}” and “{visible(other)}”, counted {times(count)}. "
    if not shown.pairs:
        return said + "Every word is one token, so no pair is left."
    if state.merges == DATA["most"]:
        return said + f"After {DATA['most']} merges we stop."
    (one, other), count = shown.pairs[0]
    said += f"Next come “{visible(one)}” and “{visible(other)}”, counted {times(count)}"
    tie = sum(each == count for _, each in shown.pairs) - 1
    others = "one other pair" if tie == 1 else f"{tie} other pairs"
    return said + (f", a tie with {others}: the first in alphabetical order is taken." if tie else ".")


def assert_shown(page: Page, state: State) -> None:
    """Check the text, the tokens, both tables, the summary and the controls."""
    begin, before, shown = (explored(state.text, n) for n in (0, max(state.merges - 1, 0), state.merges))
    assert len(shown.merges) == state.merges, "a state that the slider can have"
    expect(page.locator(".explorable textarea")).to_have_value(state.text)
    expect(page.locator(".explorable .value")).to_have_text(str(state.merges))
    cut = page.locator(".explorable .word").evaluate_all("all => all.map(w => [...w.children].map(p => p.textContent))")
    assert cut == [[visible(token) for token in word] for word in shown.words]
    new = "".join(shown.merges[-1]) if shown.merges else None
    fresh = page.locator(".explorable .fresh").all_text_contents()
    assert fresh == [visible(token) for word in shown.words for token in word if token == new]
    found = rows(page, 0)
    assert [row[1] for row in found] == numbers(begin)
    assert [row[2] for row in found] == numbers(shown)
    wanted = [[f"{visible(one)} + {visible(other)}", str(count)] for (one, other), count in shown.pairs[:ROWS]]
    assert rows(page, 1) == wanted + [["–", "–"]] * (ROWS - len(wanted))
    assert page.locator(".explorable .summary").inner_text() == expected_summary(state, shown, before)
    most = len(explored(state.text, DATA["most"]).merges)
    expect(page.locator(".explorable input[type=range]")).to_have_attribute("max", str(most))
    for name, none in (("Undo", state.merges == 0), ("Merge", state.merges == most)):
        button = page.locator(".explorable .buttons button").filter(has_text=name)
        expect(button).to_have_attribute("aria-disabled", "true" if none else "false")


TEXTS = [
    DATA["text"],
    "aaaa aaa aaaaa",  # overlaps
    "x",
    "ab cd ef",  # nothing but ties
    'Überfüße über füße, π ≈ 3.14 & <b>100 %</b> = "#1"',
    "𝄞𝄞 ﬁ𝄞 ﬁﬁ 🙂🙂 ﬁ🙂",  # beyond the first 65,536 characters, which UTF-16 sorts differently
    "constructor __proto__ constructor __proto__ toString",
    "the quick brown fox jumps over the lazy dog while five boxing wizards jump quickly past sphinxes of black quartz "
    "judging my vow and pack my box with two dozen jugs of liquid veneer",
]


def states() -> Iterator[State]:
    for text in TEXTS:
        possible = len(explored(text, DATA["most"]).merges)
        yield from (State(made, text) for made in sorted({0, 1, 2, 3, 7, 20, possible}) if made <= possible)


def test_every_number_is_that_of_the_reference(browser: Browser, specimen_url: str) -> None:
    assert any(state.merges == DATA["most"] for state in states()), "one text has more merges than are shown"
    with opened(browser, specimen_url, PAGE) as (page, troubles):
        for state in states():
            go_to(page, state.hash)
            assert_shown(page, state)
        assert troubles == Troubles()


def test_every_control_works_by_keyboard(browser: Browser, specimen_url: str) -> None:
    with opened(browser, specimen_url, PAGE) as (page, troubles):
        state = State()
        assert_shown(page, state)
        tab_to(page, ".explorable textarea")
        page.keyboard.press("Control+A")
        page.keyboard.type("banana bandana")
        state = State(2, "banana bandana")
        assert_shown(page, state)
        tab_to(page, ".explorable button")
        for key, merges in (("Enter", 1), ("Enter", 0), ("Enter", 0)):  # nothing to undo is no error
            page.keyboard.press(key)
            assert_shown(page, state._replace(merges=merges))
        page.keyboard.press("Tab")
        for key, merges in (("Enter", 1), ("Space", 2), ("Enter", 3)):
            page.keyboard.press(key)
            assert_shown(page, state._replace(merges=merges))
        page.keyboard.press("Tab")
        most = len(explored(state.text, DATA["most"]).merges)
        for key, merges in (("ArrowRight", 4), ("ArrowLeft", 3), ("End", most), ("Home", 0), ("ArrowUp", 1)):
            page.keyboard.press(key)
            state = state._replace(merges=merges)
            assert_shown(page, state)
        page.wait_for_url(f"**/{PAGE}{state.hash}")
        page.reload()
        assert_shown(page, state)
        tab_to(page, ".explorable .foot button")
        page.keyboard.press("Enter")
        assert_shown(page, State())
        page.wait_for_url(lambda url: url == specimen_url + PAGE)
        assert troubles == Troubles()


def test_typed_text_is_tidied_and_may_be_empty(browser: Browser, specimen_url: str) -> None:
    with opened(browser, specimen_url, PAGE) as (page, troubles):
        text = page.locator(".explorable textarea")
        text.fill("  to be\n\tor   not\u00a0to be ")
        cut = page.locator(".explorable .word").all_text_contents()
        assert cut == [visible("".join(word)) for word in explored("to be or not to be", 2).words]
        page.wait_for_url(f"**{State(2, 'to be or not to be').hash}")
        expect(text).to_have_value("  to be\n\tor   not\u00a0to be ")
        for empty in ("", "   "):
            text.fill(empty)
            expect(page.locator(".explorable .summary")).to_have_text("Type some text.")
            assert {cell for row in rows(page, 0) for cell in row[1:]} == {"–"}
            assert page.locator(".explorable .word").count() == 0
        text.fill("aa")
        assert_shown(page, State(1, "aa"))
        text.fill("ab" * DATA["longest"])
        assert len(page.locator(".explorable .pieces").inner_text()) <= 2 * DATA["longest"] + 10
        assert troubles == Troubles()


def test_by_pointer_and_from_a_file(browser: Browser, specimen: Path) -> None:
    state = State(5, "so it goes, so it goes")
    with opened(browser, f"{specimen.as_uri()}/", PAGE + state.hash) as (page, troubles):
        assert_shown(page, state)
        page.get_by_role("button", name="Merge", exact=True).click()
        assert_shown(page, state._replace(merges=6))
        page.get_by_role("slider", name="Merges").fill("2")
        assert_shown(page, state._replace(merges=2))
        page.wait_for_url(f"**{state._replace(merges=2).hash}")
        assert troubles == Troubles()


def test_by_touch(browser: Browser, specimen_url: str) -> None:
    context = browser.new_context(viewport={"width": PHONE[0], "height": PHONE[1]}, has_touch=True)
    try:
        page = context.new_page()
        page.goto(specimen_url + PAGE)
        page.get_by_role("button", name="Merge", exact=True).tap()
        assert_shown(page, State(DATA["merges"] + 1))
        for name in ("Merge", "Undo"):
            box = page.get_by_role("button", name=name, exact=True).bounding_box()
            assert box is not None
            assert min(box["width"], box["height"]) >= 24
    finally:
        context.close()


MALFORMED = [
    "merges=2",
    "text=abc&merges=2",
    "merges=2&text=abc&",
    "merges=2&text=abc&more=1",
    "merges=2&text=%E0%A4%A",
    *(f"merges={merges}&text=abc" for merges in ("-1", "1.5", "", "02", "100", "NaN")),
    f"merges=1&text={'a' * (DATA['longest'] + 1)}",
]


def test_a_malformed_address_changes_nothing(browser: Browser, specimen_url: str) -> None:
    with opened(browser, specimen_url, f"{PAGE}#{MALFORMED[0]}") as (page, troubles):
        assert_shown(page, State())
        state = State(3, "an ant and an aunt")
        go_to(page, state.hash)
        for malformed in MALFORMED:
            go_to(page, f"#{malformed}")
            assert_shown(page, state)
        go_to(page, State(99, "an ant").hash)  # more merges than there are: all of them
        assert_shown(page, State(len(explored("an ant", DATA["most"]).merges), "an ant"))
        assert troubles == Troubles()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_it_is_accessible_in_use(browser: Browser, specimen_url: str, size: tuple[int, int], scheme: str) -> None:
    with opened(browser, specimen_url, PAGE, size, scheme) as (page, _):
        expect(page.get_by_role("textbox", name="Text")).to_be_visible()
        expect(page.locator(".explorable .summary")).to_have_attribute("role", "status")
        expect(page.get_by_role("img", name=re.compile(r"Tokens: "))).to_be_visible()
        for state in [State(), State(0, "x"), State(4, TEXTS[-1]), State(99, "ab" * 50 + "c" * 99)]:
            go_to(page, state.hash)
            assert axe_violations(page) == []
            assert overflow(page) == []


def test_a_merge_moves_nothing(browser: Browser, specimen_url: str) -> None:
    """No animation is needed, because characters stay in place; so does the text below."""
    for size in (WIDE, PHONE):
        with opened(browser, specimen_url, PAGE, size) as (page, _):
            heights, places = set(), []
            for merges in range(len(explored(DATA["text"], DATA["most"]).merges) + 1):
                go_to(page, State(merges).hash)
                heights.add(page.locator(".explorable").evaluate("e => e.offsetHeight"))
                found = page.locator(".explorable .word").evaluate_all(
                    "all => all.map(e => [e.getBoundingClientRect().left, e.offsetTop, e.offsetHeight])"
                )
                places.append(found)
            assert len(heights) == 1, (size, heights)
            assert np.ptp(places, axis=0).max() < 2, size  # pixels


def test_without_script_and_on_paper(browser: Browser, specimen_url: str) -> None:
    with on_paper(browser, specimen_url, PAGE) as page:
        assert_shown(page, State())


def test_it_is_small() -> None:
    assert size_of("bpe", {part: DATA[part] for part in ("text", "merges", "longest", "most")}) < 25_000

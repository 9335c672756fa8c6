"""The explorable `attention`: its scores and weights are the solutions', by keyboard, touch, pointer and address."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from by_hand import go_to, on_paper, size_of, tab_to, words_outside
from opened import PHONE, WIDE, Troubles, axe_violations, opened, overflow
from playwright.sync_api import Browser, Page, expect

from experiments.ch06.explorable_data import DATA_FILE
from solutions.ch06_attention.scores import additive_score, bilinear_score, dot_score, masked_softmax

pytestmark = pytest.mark.browser

PAGE = "book/attention.html"
RECORD: dict[str, Any] = json.loads(DATA_FILE.read_text("utf-8"))
REAL, WORDS = len(RECORD["source"]), len(RECORD["target"])
ENGLISH = [*RECORD["source"], *["⟨pad⟩"] * RECORD["pads"]]
SCORES = ("dot", "bilinear", "additive")
MASKS = ("before", "after", "none")


class Settings(NamedTuple):
    word: int = 2
    score: str = "dot"
    scale: float = 1.0
    mask: str = "before"

    @property
    def hash(self) -> str:
        return f"#word={self.word}&score={self.score}&scale={self.scale:g}&mask={self.mask}"


def reference(settings: Settings) -> tuple[np.ndarray, np.ndarray]:
    """Scores (S,) and weights (S,) by the solutions' functions."""
    network = {name: np.array(values) for name, values in RECORD["networks"][settings.score].items()}
    query = network.pop("queries")[settings.word - 1][None]
    keys = np.concatenate([network.pop("keys"), np.zeros((RECORD["pads"], query.shape[1]))])[None]
    score = {"dot": dot_score, "bilinear": bilinear_score, "additive": additive_score}[settings.score]
    scores = settings.scale * score(query, keys, **network)
    real = np.arange(len(ENGLISH))[None] < REAL
    weights = masked_softmax(scores, real if settings.mask == "before" else np.ones_like(real))
    return scores[0], (weights if settings.mask == "none" else weights * real)[0]


def number(text: str) -> float:
    assert re.fullmatch(r"−?\d+\.\d{2,3}", text), text
    return float(text.replace("−", "-"))


def assert_shown(page: Page, settings: Settings) -> None:
    """Check the table, the bars, the lines, the summary and the word that is chosen."""
    scores, weights = reference(settings)
    rows = page.locator(".explorable .tables tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
    )
    assert [row[0] for row in rows] == [*ENGLISH, "sum"]
    for j, (_, score, weight) in enumerate(rows[:-1]):
        if settings.mask == "before" and j >= REAL:
            assert score == "masked"
        else:
            assert number(score) == pytest.approx(scores[j], abs=6e-3)
        assert number(weight) == pytest.approx(weights[j], abs=6e-4)
    assert number(rows[-1][2]) == pytest.approx(weights.sum(), abs=6e-4)
    widths = page.locator(".explorable rect.bar").evaluate_all("bars => bars.map(bar => +bar.getAttribute('width'))")
    assert np.array(widths) / 76 == pytest.approx(weights, abs=1e-3)
    assert page.locator(".explorable .edge:not(.silent)").count() == int((weights >= 0.005).sum())
    said = page.locator(".explorable .summary").inner_text()
    if settings.scale:
        largest, second = np.argsort(weights)[::-1][:2]
        assert weights[largest] - weights[second] > 1e-3, "a tie"
        assert f"“{ENGLISH[largest]}” has the largest weight, {weights[largest]:.3f}." in said
        wanted = RECORD["alignment"][settings.word - 1]
        assert (f"The French word translates “{ENGLISH[wanted]}”" in said) == (largest != wanted)
    else:
        assert "all positions get the same weight" in said
    if settings.mask == "after":
        assert f"the weights sum to {weights.sum():.3f}." in said
    if settings.mask == "none":
        assert f"The padding gets {weights[REAL:].sum():.3f}." in said
    chosen = page.locator(".explorable [role=radio][aria-checked=true]")
    expect(chosen).to_have_count(1)
    expect(chosen).to_have_attribute("aria-label", RECORD["target"][settings.word - 1])


def test_the_sentence_is_one_of_which_the_page_can_speak() -> None:
    assert len(set(RECORD["target"])) == WORDS
    assert sorted(RECORD["alignment"]) == list(range(REAL))
    for score in SCORES:
        hits = [int(reference(Settings(t + 1, score))[1].argmax()) == j for t, j in enumerate(RECORD["alignment"])]
        assert sum(hits) >= WORDS - 1, score
    assert reference(Settings(2, "additive", 1, "after"))[1].sum() < 0.9


def test_every_number_is_that_of_the_solutions(browser: Browser, specimen_url: str) -> None:
    with opened(browser, specimen_url, PAGE) as (page, troubles):
        scales = itertools.cycle([1.0, 0.25, 3.0, 0.0, 0.5, 1.75, 2.0])
        for word, score, mask in itertools.product(range(1, WORDS + 1), SCORES, MASKS):
            settings = Settings(word, score, next(scales), mask)
            go_to(page, settings.hash)
            assert_shown(page, settings)
        assert troubles == Troubles()


def test_every_control_works_by_keyboard(browser: Browser, specimen_url: str) -> None:
    with opened(browser, specimen_url, PAGE) as (page, troubles):
        settings = Settings()
        assert_shown(page, settings)
        for selector, keys, news in [
            ("[name=attention-score]", ["ArrowRight"], {"score": "bilinear"}),
            ("[name=attention-mask]", ["ArrowRight", "ArrowRight"], {"mask": "none"}),
            ("[name=attention-scale]", ["ArrowLeft"] * 3, {"scale": 0.25}),
            (".chosen", ["ArrowDown", "ArrowRight", "ArrowUp"], {"word": 3}),
        ]:
            tab_to(page, selector)
            for key in keys:
                page.keyboard.press(key)
            settings = settings._replace(**news)  # type: ignore[arg-type]
            assert_shown(page, settings)
        page.wait_for_url(f"**/{PAGE}{settings.hash}")
        for key, word in (("End", WORDS), ("ArrowDown", WORDS), ("Home", 1), ("ArrowUp", 1), ("ArrowRight", 2)):
            page.keyboard.press(key)
            settings = settings._replace(word=word)
            assert_shown(page, settings)
        page.wait_for_url(f"**/{PAGE}{settings.hash}")
        page.reload()
        assert_shown(page, settings)
        tab_to(page, ".explorable button")
        page.keyboard.press("Enter")
        assert_shown(page, Settings())
        page.wait_for_url(lambda url: url == specimen_url + PAGE)
        assert troubles == Troubles()


def test_by_pointer_and_from_a_file(browser: Browser, specimen: Path) -> None:
    with opened(browser, f"{specimen.as_uri()}/", PAGE + Settings(5, "additive").hash) as (page, troubles):
        assert_shown(page, Settings(5, "additive"))
        page.get_by_role("radio", name="vertes").hover()
        assert_shown(page, Settings(3, "additive"))
        page.get_by_role("radio", name="roi", exact=True).click()
        assert_shown(page, Settings(6, "additive"))
        page.get_by_role("slider", name="Scores times").fill("2.5")
        settings = Settings(6, "additive", 2.5)
        assert_shown(page, settings)
        page.wait_for_url(f"**{settings.hash}")
        assert troubles == Troubles()


def test_by_touch(browser: Browser, specimen_url: str) -> None:
    context = browser.new_context(viewport={"width": PHONE[0], "height": PHONE[1]}, has_touch=True)
    try:
        page = context.new_page()
        page.goto(specimen_url + PAGE)
        page.get_by_role("radio", name="doux").tap()
        assert_shown(page, Settings(7))
        box = page.get_by_role("radio", name="doux").bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 24
    finally:
        context.close()


MALFORMED = [
    "word=2",
    "word=2&score=dot&scale=1&mask=before&",
    "score=dot&word=2&scale=1&mask=before",
    *(f"word={word}&score=dot&scale=1&mask=before" for word in ("0", str(WORDS + 1), "2.5", "-1", "", "filles")),
    *(f"word=2&score={score}&scale=1&mask=before" for score in ("", "cosine", "__proto__")),
    *(f"word=2&score=dot&scale={scale}&mask=before" for scale in ("3.25", "0.3", "NaN", "1=1")),
    *(f"word=2&score=dot&scale=1&mask={mask}" for mask in ("", "both")),
]


def test_a_malformed_address_changes_nothing(browser: Browser, specimen_url: str) -> None:
    with opened(browser, specimen_url, f"{PAGE}#{MALFORMED[0]}") as (page, troubles):
        assert_shown(page, Settings())
        settings = Settings(4, "bilinear", 0.75, "after")
        go_to(page, settings.hash)
        for malformed in MALFORMED:
            go_to(page, f"#{malformed}")
            assert_shown(page, settings)
        assert troubles == Troubles()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_it_is_accessible_in_use(browser: Browser, specimen_url: str, size: tuple[int, int], scheme: str) -> None:
    with opened(browser, specimen_url, PAGE, size, scheme) as (page, _):
        expect(page.get_by_role("radiogroup", name="French word").get_by_role("radio")).to_have_count(WORDS)
        expect(page.locator(".explorable .summary")).to_have_attribute("role", "status")
        expect(page.get_by_role("group", name=re.compile(r"Weights for filles: three 0\.\d\d, "))).to_be_visible()
        for settings in [Settings(), Settings(2, "additive", 1.0, "none"), Settings(8, "bilinear", 0.0, "after")]:
            go_to(page, settings.hash)
            assert axe_violations(page) == []
            assert overflow(page) == []


def test_words_stay_inside_the_picture_and_the_text_below_in_place(browser: Browser, specimen_url: str) -> None:
    for size in (WIDE, PHONE):
        with opened(browser, specimen_url, PAGE, size) as (page, _):
            heights = set()
            for word, score, (scale, mask) in itertools.product(
                range(1, WORDS + 1), SCORES, [(1, "before"), (0.25, "none"), (3, "after"), (0, "after")]
            ):
                go_to(page, Settings(word, score, scale, mask).hash)
                heights.add(page.locator(".explorable").evaluate("e => e.offsetHeight"))
                assert words_outside(page) == [], (size, word, score)
            assert len(heights) == 1, (size, heights)


def test_without_script_and_on_paper(browser: Browser, specimen_url: str) -> None:
    with on_paper(browser, specimen_url, PAGE) as page:
        assert_shown(page, Settings())


def test_it_is_small() -> None:
    parts = ("source", "target", "alignment", "pads", "networks")
    assert size_of("attention", {part: RECORD[part] for part in parts}) < 25_000

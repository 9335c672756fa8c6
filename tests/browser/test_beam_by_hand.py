"""The explorable `beam`: it finds the hypotheses and scores of the Python search, by keyboard, touch and address."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from math import exp, log
from pathlib import Path
from typing import NamedTuple

import pytest
from by_hand import go_to, on_paper, size_of, tab_to, words_outside
from opened import PHONE, WIDE, Troubles, axe_violations, opened, overflow
from playwright.sync_api import Browser, Page, expect

from experiments.ch05 import tree as reference

pytestmark = pytest.mark.browser

PAGE = "book/beam.html"
PENALTIES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5)


class Settings(NamedTuple):
    step: int = 2
    width: int = 2
    penalty: float = 0.0

    @property
    def hash(self) -> str:
        return f"#step={self.step}&width={self.width}&penalty={self.penalty:g}"


def number(text: str) -> float:
    assert re.fullmatch(r"−?\d+\.\d{3}", text), text
    return float(text.replace("−", "-"))


def assert_shown(page: Page, settings: Settings) -> None:
    """Check the hypotheses, their numbers, what is kept, the scores and the tree."""
    steps = reference.search(settings.width)
    step = min(settings.step, len(steps))
    competing = steps[step - 1]
    first, second = page.locator(".explorable .tables table").evaluate_all(
        "tables => tables.map(table => [...table.tBodies[0].rows].map("
        "row => [...row.cells].map(cell => cell.textContent)))"
    )
    assert [row[0] for row in first] == [" ".join(beam.words) for beam in competing]
    for (_, logs, p, kept), beam in zip(first, competing, strict=True):
        assert number(logs) == pytest.approx(beam.log_prob, abs=6e-4)
        assert number(p) == pytest.approx(exp(beam.log_prob), abs=6e-4)
        assert kept == ("pruned" if beam.kept is None else "kept")
    ranked = sorted((beam for beam in competing if beam.kept is not None), key=lambda b: -b.score(settings.penalty))
    assert [row[0] for row in second] == [" ".join(beam.words) for beam in ranked]
    for (_, ids, score), beam in zip(second, ranked, strict=True):
        assert int(ids) == len(beam.words)
        assert number(score) == pytest.approx(beam.score(settings.penalty), abs=6e-4)
    said = page.locator(".explorable .summary").inner_text()
    best = " ".join(word for word in ranked[0].words if word != reference.EOS)
    assert f"“{best}”" in said
    assert (f"The search ended with step {step}" in said) == (step == len(steps))
    assert ("There is no step" in said) == (settings.step > step)
    drawn = page.evaluate(
        "() => ['kept', 'pruned'].map(kind => document.querySelectorAll(`.explorable path.branch.${kind}`).length)"
    )
    kept = sum(beam.kept is not None for competing in steps[:step] for beam in competing)
    assert drawn == [kept, sum(map(len, steps[:step])) - kept]


def test_every_word_has_probabilities_that_sum_to_1() -> None:
    tree = reference.load_tree()
    for word, after in tree["next"].items():
        assert sum(after.values()) == pytest.approx(1, abs=1e-12), word
        assert after.keys() <= {*tree["next"], reference.EOS}


def everything() -> Iterator[tuple[tuple[str, ...], float]]:
    """Every hypothesis that is finished within five words, or as long as that, by brute force."""
    tree = reference.load_tree()
    waiting: list[tuple[tuple[str, ...], float]] = [((), 0.0)]
    while waiting:
        words, total = waiting.pop()
        if words[-1:] == (reference.EOS,) or len(words) == tree["max_length"]:
            yield words, total
        else:
            after = tree["next"][words[-1] if words else reference.SOS]
            waiting += [((*words, word), total + log(p)) for word, p in after.items()]


def test_a_wide_beam_finds_the_best_of_all() -> None:
    best = max(everything(), key=lambda found: found[1])
    assert reference.results(1000, 0.0)[0].words == best[0]
    assert reference.results(3, 0.0)[0].words == best[0]
    by_mean = max(everything(), key=lambda found: found[1] / len(found[0]))
    assert reference.results(3, 1.0)[0].words == by_mean[0]
    greedy = reference.results(1, 0.0)[0]
    assert greedy.words[:-1] == ("mille", "six", "cent", "dix")


def test_every_number_is_pythons(browser: Browser, specimen_url: str) -> None:
    with opened(browser, specimen_url, PAGE) as (page, troubles):
        penalties = itertools.cycle(PENALTIES)
        for step, width in itertools.product(range(1, 6), range(1, 5)):
            settings = Settings(step, width, next(penalties))
            go_to(page, settings.hash)
            assert_shown(page, settings)
        assert troubles == Troubles()


def test_every_control_works_by_keyboard(browser: Browser, specimen_url: str) -> None:
    with opened(browser, specimen_url, PAGE) as (page, troubles):
        settings = Settings()
        assert_shown(page, settings)
        for name, keys, news in [
            ("width", ["ArrowRight"], {"width": 3}),
            ("step", ["End", "ArrowLeft"], {"step": 4}),
            ("penalty", ["ArrowRight"] * 4, {"penalty": 1.0}),
        ]:
            tab_to(page, f"[name=beam-{name}]")
            for key in keys:
                page.keyboard.press(key)
            settings = settings._replace(**news)  # type: ignore[arg-type]
            assert_shown(page, settings)
        page.wait_for_url(f"**/{PAGE}{settings.hash}")
        page.reload()
        assert_shown(page, settings)
        tab_to(page, ".explorable button")
        page.keyboard.press("Enter")
        assert_shown(page, Settings())
        page.wait_for_url(lambda url: url == specimen_url + PAGE)
        assert troubles == Troubles()


def test_from_a_file_too(browser: Browser, specimen: Path) -> None:
    settings = Settings(5, 3, 1.0)
    with opened(browser, f"{specimen.as_uri()}/", PAGE + settings.hash) as (page, troubles):
        assert_shown(page, settings)
        page.get_by_role("slider", name="Length penalty").fill("0.5")
        settings = settings._replace(penalty=0.5)
        assert_shown(page, settings)
        page.wait_for_url(f"**{settings.hash}")
        assert troubles == Troubles()


MALFORMED = [
    "step=2",
    "step=2&width=2&penalty=0&",
    "width=2&step=2&penalty=0",
    *(f"step={step}&width=2&penalty=0" for step in ("0", "6", "2.5", "-1", "")),
    *(f"step=2&width={width}&penalty=0" for width in ("0", "5", "__proto__")),
    *(f"step=2&width=2&penalty={penalty}" for penalty in ("1.6", "0.3", "NaN", "1=1")),
]


def test_a_malformed_address_changes_nothing(browser: Browser, specimen_url: str) -> None:
    with opened(browser, specimen_url, f"{PAGE}#{MALFORMED[0]}") as (page, troubles):
        assert_shown(page, Settings())
        settings = Settings(4, 3, 0.75)
        go_to(page, settings.hash)
        for malformed in MALFORMED:
            go_to(page, f"#{malformed}")
            assert_shown(page, settings)
        assert troubles == Troubles()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_it_is_accessible_in_use(browser: Browser, specimen_url: str, size: tuple[int, int], scheme: str) -> None:
    with opened(browser, specimen_url, PAGE, size, scheme) as (page, _):
        expect(page.get_by_role("radio")).to_have_count(4)
        expect(page.locator(".explorable .summary")).to_have_attribute("role", "status")
        expect(page.get_by_role("img", name=re.compile(r"after step 2\. Kept, .*: mille six, −1\.076"))).to_be_visible()
        for settings in [Settings(), Settings(5, 4, 1.5), Settings(1, 1, 0.0)]:
            go_to(page, settings.hash)
            assert axe_violations(page) == []
            assert overflow(page) == []


def test_words_stay_inside_the_picture_and_the_text_below_in_place(browser: Browser, specimen_url: str) -> None:
    for size in (WIDE, PHONE):
        with opened(browser, specimen_url, PAGE, size) as (page, _):
            heights = set()
            for step, width, penalty in itertools.product((1, 3, 5), (1, 2, 4), (0.0, 1.0)):
                go_to(page, Settings(step, width, penalty).hash)
                heights.add(page.locator(".explorable").evaluate("e => e.offsetHeight"))
                assert words_outside(page) == [], (size, step, width)
            assert len(heights) == 1, (size, heights)


def test_without_script_and_on_paper(browser: Browser, specimen_url: str) -> None:
    with on_paper(browser, specimen_url, PAGE) as page:
        assert_shown(page, Settings())


def test_it_is_small() -> None:
    assert size_of("beam", reference.load_tree()) < 25_000

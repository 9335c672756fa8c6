"""Prediction, quiz, museum and exercise as a reader uses them: by keyboard, without script, on paper."""

from __future__ import annotations

import pytest
from by_hand import tab_to
from opened import PHONE, WIDE, Troubles, axe_violations, opened, overflow
from playwright.sync_api import Browser, expect

pytestmark = pytest.mark.browser

PAGE = "book/elements.html"


def test_a_prediction_unfolds_by_keyboard(browser: Browser, specimen_url: str) -> None:
    with opened(browser, specimen_url, PAGE) as (page, _):
        shows = page.get_by_text("They are not: the second starts from 0.46")
        expect(shows).to_be_hidden()
        tab_to(page, "details.answer > summary")
        page.keyboard.press("Enter")
        expect(shows).to_be_visible()


def test_a_quiz_answers_each_option_by_keyboard(browser: Browser, specimen_url: str) -> None:
    with opened(browser, specimen_url, PAGE) as (page, troubles):
        sent: list[str] = []
        page.on("request", lambda request: sent.append(request.url))
        quiz = page.locator("#quiz-shared-weights")
        expect(quiz.get_by_role("radio")).to_have_count(3)
        expect(quiz.get_by_role("radio", name="B. three, one for each step")).to_be_visible()
        expect(quiz.locator(".quiz-options")).to_have_css("list-style-type", "none")  # one letter, not two
        status = quiz.get_by_role("status")
        tab_to(page, "#quiz-shared-weights input")
        page.keyboard.press("Enter")
        expect(status).to_have_text("Choose an answer first.")
        for key, answer in [
            ("Space", "Right. The same matrix is applied"),
            ("ArrowDown", "Not this one. A drawing that is unrolled"),
            ("ArrowDown", "Not this one. Then the number of weights"),
        ]:
            page.keyboard.press(key)
            expect(status).to_be_empty()
            page.keyboard.press("Enter")
            expect(status).to_contain_text(answer)
        tab_to(page, "#quiz-shared-weights button")
        tab_to(page, "#quiz-shared-weights summary")
        page.keyboard.press("Enter")
        assert quiz.locator(".quiz-answers li:visible").count() == 3
        expect(page.locator("#quiz-second input:checked")).to_have_count(0)
        assert (sent, page.url) == ([], specimen_url + PAGE)
        assert troubles == Troubles()


def test_maths_of_an_answer_is_typeset(browser: Browser, specimen_url: str) -> None:
    with opened(browser, specimen_url, PAGE) as (page, _):
        page.locator("#quiz-shared-weights input").first.check()
        page.locator("#quiz-shared-weights button").click()
        formulas = page.locator("#quiz-shared-weights .quiz-answer mjx-container mjx-assistive-mml")
        expect(formulas).to_have_count(2)


def test_a_museum_shows_one_exhibit_by_keyboard(browser: Browser, specimen_url: str) -> None:
    with opened(browser, specimen_url, PAGE) as (page, _):
        names = ["No bug", "h_prev is left out", "The state is never handed on"]
        visible = page.locator(".exhibit-name:visible")
        expect(visible).to_have_text(names[:1])
        tab_to(page, ".museum-controls input")
        for name in names[1:]:
            page.keyboard.press("ArrowRight")
            expect(visible).to_have_text([name])
        expect(page.get_by_role("group", name="Switch on").get_by_role("radio")).to_have_count(3)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_used_elements_are_accessible(browser: Browser, specimen_url: str, size: tuple[int, int], scheme: str) -> None:
    """With all unfolded, a question answered and each exhibit shown in turn."""
    with opened(browser, specimen_url, PAGE, size, scheme) as (page, _):
        for details in page.locator("main details").all():
            details.evaluate("details => { details.open = true; }")
        for at, quiz in enumerate(page.locator(".quiz").all()):
            quiz.locator("input").nth(at).check()
            quiz.locator("button").click()
        for radio in page.locator(".museum-controls input").all():
            radio.check()
            assert axe_violations(page) == []
            assert overflow(page) == []


@pytest.mark.parametrize("script", [True, False], ids=["with script", "without script"])
def test_paper_shows_everything_and_no_controls(browser: Browser, specimen_url: str, script: bool) -> None:
    with opened(browser, specimen_url, PAGE, scheme="dark", script=script) as (page, _):
        page.emulate_media(media="print")
        for text in ["They are not: the second", "Count the names", "One", "It writes hello", "It writes hehe"]:
            expect(page.locator("main").get_by_text(text).last).to_be_visible()
        assert page.locator(".exhibit-name:visible").count() == 3
        assert page.locator("main article :is(input, button, summary, legend):visible").count() == 0
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        if script:
            page.emulate_media(media="screen")
            page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
            assert page.locator("main details[open]").count() == 0


def test_without_script_nothing_is_lost(browser: Browser, specimen_url: str) -> None:
    with opened(browser, specimen_url, PAGE, script=False) as (page, _):
        assert page.locator(".exhibit-name:visible").count() == 3
        assert page.locator("main article :is(input, button):visible").count() == 0
        for summary in page.locator("main details > summary").all():
            summary.click()
        assert page.locator(".quiz-answers li:visible").count() == 6
        expect(page.get_by_text("They are not: the second")).to_be_visible()


def test_an_exercise_has_an_address_and_names_its_notebook(browser: Browser, specimen_url: str) -> None:
    with opened(browser, specimen_url, f"{PAGE}#exercise-rnn_step") as (page, _):
        box = page.locator("#exercise-rnn_step")
        expect(box).to_be_in_viewport()
        expect(box).to_contain_text("In the notebook The recurrence, exercises/ch01_vanilla_rnn/recurrence.ipynb")
        expect(box.get_by_role("link")).to_have_count(0)


def test_plots_follow_the_page(browser: Browser, specimen_url: str) -> None:
    colours = {}
    for scheme in ("light", "dark"):
        with opened(browser, specimen_url, "book/plots.html", scheme=scheme) as (page, _):
            assert page.locator("svg.plot").count() == 3
            colours[scheme] = page.evaluate(
                """() => [...document.querySelectorAll("svg.plot path[style*=u-plot]")]
                .map(path => getComputedStyle(path).stroke)"""
            )
    assert len(colours["light"]) > 5
    assert not set(colours["light"]) & set(colours["dark"]) - {"none"}

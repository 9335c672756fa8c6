"""A page of feedback as a student opens it: a file, on a laptop or a phone, by day and by night, and on paper."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from opened import PHONE, WIDE, Troubles, axe_violations, images_without_words, opened, overflow
from playwright.sync_api import Browser, expect

from grader.author.course import Course
from grader.author.other_ways import solved_chapter
from grader.checking.evaluate import evaluate, observe, verdict
from grader.checking.verdict import CaseResult, Problem
from grader.feedback.page import feedback_page
from grader.feedback.solutions import solutions_page, solutions_section
from grader.grading.grade import Graded
from grader.grading.score import without_cases
from grader.manifest import load_manifest
from grader.released import Released
from grader.spec.load import load_messages, load_spec
from grader.submission.remark import LeftOut, OddCell, Remark

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
EVIL = (
    "</script><script>document.title='LOST'</script><img src=https://example.org/x onerror=\"document.title='LOST'\">"
)
WORDY = f"{EVIL} {'long' * 300} \u202egnp.exe\x1b[31m"
URL = "https://example.org/unrolled"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of many mistakes, one of them hostile; one where all is right, with solutions; the page of solutions."""
    out = tmp_path_factory.mktemp("feedback")
    manifest = dataclasses.replace(load_manifest(ROOT / "course.toml"), book_url=URL)
    chapter = manifest.chapter("ch01_vanilla_rnn")
    data = Released(ROOT / "grader" / "data")
    hints = {exercise.id: data.messages(exercise.id).hints[0] for exercise in chapter.exercises}
    right = {n.name: {e.id: verdict(manifest.place(e.id), "passed") for e in n.exercises} for n in chapter.notebooks}
    wrong, public = {n: dict(v) for n, v in right.items()}, {n: {} for n in right}  # type: ignore[var-annotated]
    for notebook in chapter.notebooks:
        for exercise in notebook.exercises:
            place = manifest.place(exercise.id)
            mistake = next(iter(load_spec(ROOT, place).named_mistakes.values())).functions[0]
            checks = data.checks(exercise.id)
            texts = load_messages(ROOT, place).mistakes
            seen = evaluate(place, checks, texts, observe(checks, mistake))
            public[notebook.name][exercise.id] = seen
            wrong[notebook.name][exercise.id] = without_cases(seen, hints)
    hostile = CaseResult(WORDY, WORDY, WORDY, (Problem("raised", WORDY, lines=(WORDY, WORDY)),))
    public["recurrence"]["rnn_step"] = dataclasses.replace(public["recurrence"]["rnn_step"], cases=(hostile,))
    wrong["writing"]["generate"] = verdict(
        manifest.place("generate"), "timeout", note="generate was stopped after 5 s."
    )
    del public["writing"]["generate"]
    remarks = (Remark(OddCell("check edited", "rnn_step"), "recurrence"), Remark(LeftOut(WORDY, 4_100_000)))
    unanswered = {"capstone": {"why_it_writes": ""}}
    pages = {
        "wrong": Graded(WORDY, wrong, public, remarks, answers=unanswered, sandboxed=False),
        "right": Graded("ann", right, answers={"capstone": {"why_it_writes": "digest"}}),
    }
    solved = solved_chapter(Course(ROOT), chapter)
    for name, graded in pages.items():
        shown = solutions_section(chapter, solved) if name == "right" else ""
        page = feedback_page(manifest, chapter, graded, hints, solutions=shown)
        (out / f"{name}.html").write_text(page, "utf-8")
    (out / "solutions.html").write_text(solutions_page(manifest, chapter, solved), "utf-8")
    return out


TITLES = {"wrong": "your feedback", "right": "your feedback", "solutions": "solutions"}


@pytest.mark.parametrize("name", TITLES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_a_page_is_accessible_and_fetches_nothing(
    browser: Browser, folder: Path, name: str, size: tuple[int, int], scheme: str
) -> None:
    base = f"{folder.as_uri()}/"
    with opened(browser, base, f"{name}.html", size, scheme) as (page, troubles):
        assert page.title().startswith("The vanilla RNN, ")
        assert overflow(page) == []
        assert images_without_words(page) == []
        expect(page.get_by_role("heading", level=1)).to_have_text(f"The vanilla RNN: {TITLES[name]}")
        for landmark in ("banner", "main", "contentinfo"):
            expect(page.get_by_role(landmark)).to_have_count(1)
        expect(page.locator("details[open]")).to_have_count(0)
        assert troubles == Troubles()
        assert axe_violations(page) == []
        for details in page.locator("details").all():
            details.locator("summary").click()
        assert axe_violations(page) == []
        assert overflow(page) == []


def test_a_hint_unfolds_by_keyboard(browser: Browser, folder: Path) -> None:
    with opened(browser, f"{folder.as_uri()}/", "wrong.html") as (page, _):
        hint = page.get_by_text("Which are they, and which of the five arguments belong to each?")
        expect(hint).to_be_hidden()
        for _ in range(40):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.matches('#rnn_step summary')"):
                break
        page.keyboard.press("Enter")
        expect(hint).to_be_visible()


def test_a_solution_unfolds_by_keyboard_and_has_formulas(browser: Browser, folder: Path) -> None:
    with opened(browser, f"{folder.as_uri()}/", "solutions.html", PHONE) as (page, troubles):
        summary = page.locator("summary", has_text="sequence_loss")
        formula = page.locator("details", has=summary).locator("math").first
        expect(formula).to_be_hidden()
        summary.focus()
        page.keyboard.press("Enter")
        expect(formula).to_be_visible()
        assert formula.evaluate("math => getComputedStyle(math).display") == "math"
        for name in ("The course's solution", "Why it works", "Another way"):
            expect(page.get_by_role("heading", name=name, exact=True)).to_have_count(
                1
            )  # those of the others are folded
        assert troubles == Troubles()


def test_paper_shows_every_solution(browser: Browser, folder: Path) -> None:
    with opened(browser, f"{folder.as_uri()}/", "solutions.html") as (page, _):
        page.emulate_media(media="print")
        for code in page.locator("pre").all():
            expect(code).to_be_visible()


def test_every_link_leads_to_its_exercise_or_to_the_book(browser: Browser, folder: Path) -> None:
    with opened(browser, f"{folder.as_uri()}/", "wrong.html") as (page, _):
        targets = [link.get_attribute("href") or "" for link in page.get_by_role("link").all()]
        within = [target for target in targets if target.startswith("#")]
        assert len(within) == 8
        assert all(page.locator(target).count() == 1 for target in within)
        assert {target.partition("#")[0] for target in targets} - {""} == {
            f"{URL}/book/ch01_vanilla_rnn/{name}.html" for name in ("one_step", "unrolling", "hello", "sampling")
        }


def test_paper_shows_all_of_it(browser: Browser, folder: Path) -> None:
    with opened(browser, f"{folder.as_uri()}/", "wrong.html", scheme="dark") as (page, _):
        page.emulate_media(media="print")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        expect(page.get_by_text("Which are they, and which of the five arguments belong to each?")).to_be_visible()


def test_the_policy_holds_where_escaping_would_not(browser: Browser, folder: Path) -> None:
    """The same page with hostile text put in as it is: nothing of it runs, and nothing leaves the machine."""
    attack = f"{EVIL}<style>@import 'https://example.org/y';</style><iframe src=https://example.org/z></iframe>"
    whole = (folder / "right.html").read_text("utf-8").replace("<main>", f"<main>{attack}<p>Here.</p>")
    (folder / "broken.html").write_text(whole, "utf-8")
    with opened(browser, f"{folder.as_uri()}/", "broken.html") as (page, troubles):
        expect(page.get_by_text("Here.")).to_be_visible()
        assert page.title() == "The vanilla RNN, feedback for ann"
        assert troubles.requests_that_leave == []
        assert len(troubles.console_errors) >= 3  # each refusal is told

"""The mistake diary on a chapter's last page: a file that is read in the browser and sent nowhere."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from by_hand import tab_to
from opened import PHONE, WIDE, Troubles, axe_violations, opened, overflow
from playwright.sync_api import Browser, Page, expect

from grader.journal import Entry
from grader.mistakes import met
from grader.released import COURSE
from grader.render.diary import diary_of

pytestmark = pytest.mark.browser

PAGE = "book/diary.html"
NOTED = [
    ("rnn_step", "failed", "no_tanh"),
    ("rnn_step", "failed", "W_hh_transposed"),
    ("rnn_step", "passed", None),
    ("rnn_step", "failed", "W_hh_transposed"),
    ("rnn_forward", "failed", "sign"),
    ("rnn_forward", "error", None),
    ("one_hot", "failed", "sign"),  # of another chapter
    ("sample_id", "failed", "no_such_mistake"),
    ("sample_id", "failed", "altered input: zeros u"),
    ("sample_id", "failed", "needs"),
    ("sample_id", "failed", "after: squeeze"),
]
ENTRIES = [Entry(f"2026-01-05T10:00:{i:02}+00:00", e, s, 0.0, 1.0, c) for i, (e, s, c) in enumerate(NOTED)]  # type: ignore[arg-type]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    lines = [b"cut off {", *(msgspec.json.encode(entry) for entry in ENTRIES), b"[]", b"null"]
    (tmp_path / "diary.jsonl").write_bytes(b"\n".join(lines))
    return tmp_path / "diary.jsonl"


def listed(page: Page) -> list[str]:
    return [" ".join(text.split()) for text in page.locator(".mistake-diary-list li li").all_inner_texts()]


def test_it_lists_the_mistakes_of_a_chosen_file(browser: Browser, specimen_url: str, file: Path) -> None:
    with opened(browser, specimen_url, PAGE) as (page, troubles):
        sent: list[str] = []
        page.on("request", lambda request: sent.append(request.url))
        page.on("filechooser", lambda chooser: chooser.set_files(file))
        tab_to(page, ".mistake-diary input")
        page.keyboard.press("Enter")
        status = page.locator(".mistake-diary").get_by_role("status")
        expect(status).to_have_text("Your checks have met 5 mistakes in this chapter. You have overcome 2 of them.")
        assert listed(page) == [
            "✓ You return the pre-activation. Overcome: the exercise passed later. Met in 1 check.",
            "○ You multiply the previous state by the transpose of W_hh. Still open. Met in 2 checks.",
            "○ The result had the wrong sign. Still open. Met in 1 check.",
            "✓ An input was not used as it should be. Overcome: a later check no longer showed it. Met in 1 check.",
            "○ The result needed one operation less, or one more. Still open. Met in 1 check.",
        ]
        link = page.locator(".mistake-diary-list a").first
        assert link.get_attribute("href") == "ch01_vanilla_rnn/one_step.html#exercise-rnn_step"
        assert (sent, page.url) == ([], specimen_url + PAGE)
        assert troubles == Troubles()


def test_it_follows_the_same_rules_as_python(browser: Browser, specimen_url: str, file: Path) -> None:
    of_the_chapter = [one for one in met(ENTRIES) if one.exercise in ("rnn_step", "rnn_forward", "sample_id")]
    expected = [
        ({"passed": "passed later.", "gone": "no longer showed it."}.get(one.overcome or "", "Still open."), one.times)
        for one in of_the_chapter
        if one.cause != "no_such_mistake"
    ]
    with opened(browser, specimen_url, PAGE) as (page, _):
        page.locator(".mistake-diary input").set_input_files(file)
        expect(page.locator(".mistake-diary").get_by_role("status")).not_to_be_empty()
        for text, (state, times) in zip(listed(page), expected, strict=True):
            assert f"{state} Met in {times} check" in text


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "This file contains no checks. Choose the file diary.jsonl."),
        ('{"exercise": 1}\n<b>', "This file contains no checks. Choose the file diary.jsonl."),
        (
            '{"exercise": "one_hot", "status": "failed", "cause": "sign"}',
            "Your checks have met no known mistake in this chapter yet.",
        ),
    ],
)
def test_it_says_when_there_is_nothing(
    browser: Browser, specimen_url: str, tmp_path: Path, content: str, told: str
) -> None:
    (tmp_path / "some.jsonl").write_text(content)
    with opened(browser, specimen_url, PAGE) as (page, _):
        page.locator(".mistake-diary input").set_input_files(tmp_path / "some.jsonl")
        expect(page.locator(".mistake-diary").get_by_role("status")).to_have_text(told)
        assert listed(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_it_is_accessible_with_its_list(
    browser: Browser, specimen_url: str, file: Path, size: tuple[int, int], scheme: str
) -> None:
    with opened(browser, specimen_url, PAGE, size, scheme) as (page, _):
        page.locator(".mistake-diary input").set_input_files(file)
        expect(page.locator(".mistake-diary-list a").first).to_be_visible()
        assert axe_violations(page) == []
        assert overflow(page) == []


def test_paper_and_no_script_have_the_commands_alone(browser: Browser, specimen_url: str) -> None:
    for script in (True, False):
        with opened(browser, specimen_url, PAGE, script=script) as (page, _):
            page.emulate_media(media="print")
            expect(page.get_by_text("grader diary ch01_vanilla_rnn")).to_be_visible()
            assert page.locator("main article :is(input, button):visible").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_the_page_of_the_command_is_accessible(
    browser: Browser, tmp_path: Path, size: tuple[int, int], scheme: str
) -> None:
    (tmp_path / "diary.html").write_text(diary_of(COURSE, met(ENTRIES)).page(), "utf-8")
    with opened(browser, f"{tmp_path.as_uri()}/", "diary.html", size, scheme) as (page, troubles):
        expect(page.get_by_role("heading", level=3)).to_have_count(6)
        assert axe_violations(page) == []
        assert overflow(page) == []
        assert troubles == Troubles()


def test_emphasised_words_of_a_title_are_elements(browser: Browser, specimen_url: str, tmp_path: Path) -> None:
    entry = Entry("2026-01-05T10:00:00+00:00", "rnn_step", "failed", 0.0, 1.0, "pre_activation_halved")
    (tmp_path / "diary.jsonl").write_bytes(msgspec.json.encode(entry))
    with opened(browser, specimen_url, PAGE) as (page, _):
        page.locator(".mistake-diary input").set_input_files(tmp_path / "diary.jsonl")
        expect(page.locator(".mistake-diary-list em")).to_have_text("half")
        assert "*" not in page.locator(".mistake-diary-list").inner_text()

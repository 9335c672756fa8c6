"""Exam sheets and their solutions as an instructor opens and prints them."""

from __future__ import annotations

from pathlib import Path

import pytest
from opened import PHONE, WIDE, Troubles, axe_violations, opened, overflow
from playwright.sync_api import Browser, expect

from grader.exam.write import exam_files
from grader.manifest import load_manifest

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
CHAPTERS = [chapter.id for chapter in load_manifest(ROOT / "course.toml").chapters]
MILLIMETRE = 96 / 25.4
# What a page shows within its margins, 18 mm left and right and 34 mm together above and below: as narrow as A4 and as
# low as Letter.
PAPER = int((210 - 36) * MILLIMETRE), int((279.4 - 34) * MILLIMETRE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("exams")
    for chapter in CHAPTERS:
        for seed in (1, 2, 3):
            for name, content in exam_files(ROOT, chapter, seed)[1].items():
                (out / name).write_bytes(content)
    return out


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_page_is_accessible_and_fetches_nothing(browser: Browser, folder: Path, chapter: str) -> None:
    for name in (f"{chapter}-exam-1.html", f"{chapter}-exam-1-solutions.html"):
        for size, scheme in ((WIDE, "light"), (PHONE, "dark")):
            with opened(browser, f"{folder.as_uri()}/", name, size, scheme) as (page, troubles):
                assert overflow(page) == []
                for landmark in ("banner", "main", "contentinfo"):
                    expect(page.get_by_role(landmark)).to_have_count(1)
                assert troubles == Troubles()
                assert axe_violations(page) == []


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_question_fits_on_a_page_and_is_not_cut(browser: Browser, folder: Path, chapter: str) -> None:
    for path in sorted(folder.glob(f"{chapter}-*.html")):
        with opened(browser, f"{folder.as_uri()}/", path.name, PAPER) as (page, _):
            page.emulate_media(media="print")
            found = page.evaluate(
                """() => ({
                heights: [...document.querySelectorAll(".question, section[aria-labelledby=calculate]")]
                  .map(e => e.getBoundingClientRect().height),
                breaks: [...document.querySelectorAll(".question")].map(e => getComputedStyle(e).breakInside),
                cut: [...document.querySelectorAll("main *")]
                  .filter(e => e.getBoundingClientRect().right > innerWidth + 1 || e.scrollWidth > e.clientWidth + 1
                    && getComputedStyle(e).overflowX !== "visible").map(e => e.outerHTML.slice(0, 120)),
                })"""
            )
            assert max(found["heights"]) < PAPER[1], path.name
            assert set(found["breaks"]) == {"avoid"}
            assert found["cut"] == [], path.name


def test_paper_is_white_and_has_lines_to_write_on(browser: Browser, folder: Path) -> None:
    with opened(browser, f"{folder.as_uri()}/", "ch01_vanilla_rnn-exam-1.html", PAPER, "dark") as (page, _):
        page.emulate_media(media="print")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        for name in ("Name", "Matriculation number"):
            expect(page.get_by_text(name, exact=True)).to_be_visible()
        heights = page.evaluate("[...document.querySelectorAll('.lines i')].map(e => e.getBoundingClientRect().height)")
        assert len(heights) > 15
        assert min(heights) > 7 * MILLIMETRE

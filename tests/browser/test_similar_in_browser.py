"""The page on similar submissions as an instructor opens it: on a laptop or a phone, by day and by night."""

from __future__ import annotations

from pathlib import Path

import pytest
from opened import PHONE, WIDE, Troubles, axe_violations, images_without_words, opened, overflow
from playwright.sync_api import Browser, expect

from grader.manifest import load_manifest
from grader.similar.fingerprints import fingerprint
from grader.similar.look import Compared, without_names
from grader.similar.own import OwnCode, Part
from grader.similar.page import similar_page
from grader.similar.pairs import similar_pairs

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
EVIL = "</pre><script>document.title='LOST'</script><img src=https://example.org/x onerror=\"document.title='LOST'\">"
LONG = "long" * 300
SHARED = "def learn_bpe(words):\n" + "\n".join(f"    words = [words, {n}, words.get(words)]" for n in range(30))
OWN = "\n".join(f"total = total - {n} * values[{n}] ** 2" for n in range(12))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with a hostile pair, the same without names, and one without pairs."""
    out = tmp_path_factory.mktemp("similar")
    manifest = load_manifest(ROOT / "course.toml")
    evil = f"{SHARED}\n    return '{EVIL}', {LONG}, '\u202egnp.exe\x1b[31m'"
    own = {
        "ann": OwnCode((Part("learn_bpe", SHARED), Part("text, cell 3", OWN))),
        f"{EVIL}{LONG}\u202e": OwnCode((Part("learn_bpe", evil), Part("text, cell 9", OWN)), cut=True),
        "cy": OwnCode(unreadable=("text",)),
        "di": OwnCode((Part("learn_bpe", "def learn_bpe(words):\n    return words\n"),)),
    }
    prints = {student: [fingerprint(part.source) for part in code.parts] for student, code in own.items()}
    chapter = manifest.chapter("ch00_sequences")
    whole = Compared(chapter, manifest.title, own, similar_pairs(prints, []), 0.7)
    nothing = Compared(chapter, manifest.title, own, similar_pairs({}, []), 0.7)
    assert len(whole.found.pairs) == 1
    for name, compared in (("pairs", whole), ("anonymous", without_names(whole)), ("none", nothing)):
        (out / f"{name}.html").write_text(similar_page(compared), "utf-8")
    return out


@pytest.mark.parametrize("name", ["pairs", "anonymous", "none"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_a_page_of_similar_submissions_is_accessible_and_fetches_nothing(
    browser: Browser, folder: Path, name: str, size: tuple[int, int], scheme: str
) -> None:
    with opened(browser, f"{folder.as_uri()}/", f"{name}.html", size, scheme) as (page, troubles):
        assert page.title() == "Sequences and language models: similar submissions"
        assert overflow(page) == []
        assert images_without_words(page) == []
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        for landmark in ("banner", "main", "contentinfo"):
            expect(page.get_by_role(landmark)).to_have_count(1)
        assert troubles == Troubles()
        assert axe_violations(page) == []
        for details in page.locator("details").all():
            details.locator("summary").click()
        assert axe_violations(page) == []
        assert overflow(page) == []


def test_similar_lines_are_marked_by_a_sign_and_not_by_colour_alone(browser: Browser, folder: Path) -> None:
    with opened(browser, f"{folder.as_uri()}/", "pairs.html") as (page, _):
        page.locator("summary").click()
        marks = page.locator("mark").all_inner_texts()
        assert len(marks) >= 2 * (30 + 12)
        assert all(text.startswith("≈ ") for text in marks)
        assert not any(text.startswith("≈") for text in page.locator("pre > span").all_inner_texts())
        assert page.evaluate("getComputedStyle(document.querySelector('mark')).borderLeftWidth") == "4px"


def test_the_two_sides_are_next_to_each_other_or_on_a_phone_below(browser: Browser, folder: Path) -> None:
    for size, beside in ((WIDE, True), (PHONE, False)):
        with opened(browser, f"{folder.as_uri()}/", "pairs.html", size) as (page, _):
            page.locator("summary").click()
            left, right = (side.bounding_box() for side in page.locator(".sides").first.locator("> div").all())
            assert left is not None
            assert right is not None
            assert (left["y"] == right["y"]) is beside
            assert (right["x"] > left["x"]) is beside


def test_the_table_leads_to_a_pair_that_opens_by_keyboard(browser: Browser, folder: Path) -> None:
    with opened(browser, f"{folder.as_uri()}/", "pairs.html") as (page, _):
        page.get_by_role("link", name="1").press("Enter")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.locator("pre").first).to_be_visible()

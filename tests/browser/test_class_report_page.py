"""The class report as an instructor opens it: on a laptop, a phone and paper, in light and dark."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from msgspec.structs import replace
from opened import PHONE, WIDE, Troubles, axe_violations, opened, overflow
from playwright.sync_api import Browser, expect

from grader.checking.evaluate import verdict
from grader.checking.verdict import Diagnosis, Status
from grader.classreport.figures import STATUSES, distribution, exercise_figures, mistakes
from grader.classreport.gather import FORMAT_VERSION, Changed, ClassReport, LastRun, Review, Students
from grader.classreport.page import report_page
from grader.grading.grade import Graded
from grader.manifest import load_manifest
from grader.released import Released

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
URL = "https://example.org/unrolled"
EVIL = (
    "</script><script>document.title='LOST'</script><img src=https://example.org/x onerror=\"document.title='LOST'\">"
)
WORDY = f"{EVIL} {'long' * 100} \u202egnp.exe\x1b[31m"


def class_of(students: int) -> ClassReport:
    """A report on a class with every kind of result, in which names, code and remarks are hostile."""
    manifest = dataclasses.replace(load_manifest(ROOT / "course.toml"), book_url=URL)
    chapter = manifest.chapter("ch01_vanilla_rnn")
    data = Released(ROOT / "grader" / "data")
    messages = {exercise.id: data.messages(exercise.id) for exercise in chapter.exercises}
    results = []
    for number in range(students):
        found = {}
        for notebook in chapter.notebooks:
            for index, exercise in enumerate(notebook.exercises):
                status: Status = STATUSES[(number + index) % len(STATUSES)]
                causes = list(messages[exercise.id].mistakes)
                cause = Diagnosis(causes[number % min(3, len(causes))], "") if status == "failed" else None
                each = dataclasses.replace(verdict(manifest.place(exercise.id), status), diagnosis=cause)
                found.setdefault(notebook.name, {})[exercise.id] = each
        results.append(Graded(f"{WORDY}{number}", found))
    names = Students.of([graded.student for graded in results])
    changed = Changed(WORDY, 1.0, 2.0, {"rnn_step": (None, 2.0)}, ("the submission changed",))
    made = mistakes(manifest, chapter, results, messages)
    long = "def rnn_step(x):\n    return " + "x + " * 30 + "1"
    return ClassReport(
        format=FORMAT_VERSION,
        course=manifest.title,
        chapter=chapter.id,
        title=chapter.title,
        anonymous=False,
        students=students,
        ungraded=names,
        outdated=names,
        unsafe=names,
        absent=names,
        unread=3,
        points=distribution(chapter, results, {}),
        exercises=exercise_figures(chapter, results, {}, []),
        mistakes=tuple(replace(mistake, excerpts=(long, WORDY)) for mistake in made),
        reviews=tuple(Review(rank, WORDY, names) for rank in range(3)),
        waiting=(WORDY,),
        last_run=LastRun("2026-02-03T04:05:06.789+00:00", 3, 1, 0, (changed,)),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two pages: of a class, and of one student who did everything right."""
    out = tmp_path_factory.mktemp("reports")
    none = Students(0, ())
    alone = replace(class_of(1), ungraded=none, outdated=none, unsafe=none, absent=none, unread=0, mistakes=())
    (out / "alone.html").write_text(
        report_page(replace(alone, reviews=(), waiting=(), last_run=None, anonymous=True)), "utf-8"
    )
    (out / "class.html").write_text(report_page(class_of(12)), "utf-8")
    return out


@pytest.mark.parametrize("name", ["class", "alone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_a_report_is_accessible_and_fetches_nothing(
    browser: Browser, folder: Path, name: str, size: tuple[int, int], scheme: str
) -> None:
    with opened(browser, f"{folder.as_uri()}/", f"{name}.html", size, scheme) as (page, troubles):
        assert page.title() == "The vanilla RNN, class report"
        assert overflow(page) == []
        for landmark in ("banner", "main", "contentinfo"):
            expect(page.get_by_role(landmark)).to_have_count(1)
        expect(page.get_by_role("img")).to_have_count(2)
        assert troubles == Troubles()
        assert axe_violations(page) == []
        for details in page.locator("details").all():
            details.locator("summary").click()
        assert axe_violations(page) == []
        assert overflow(page) == []
        assert troubles == Troubles()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_colours_of_a_plot_stand_out_from_the_page(browser: Browser, folder: Path, scheme: str) -> None:
    """By at least 3 to 1, as WCAG 2.2 asks of graphics (1.4.11); axe does not look at these."""
    with opened(browser, f"{folder.as_uri()}/", "class.html", scheme=scheme) as (page, _):
        ground = luminance(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        for status in STATUSES:
            style = f"getComputedStyle(document.querySelector('rect.{status}'))"
            part = "stroke" if status == "missing" else "fill"  # a missing notebook is an outline
            dark, light = sorted((ground, luminance(page.evaluate(f"{style}.{part}"))))
            assert (light + 0.05) / (dark + 0.05) >= 3, status


def luminance(colour: str) -> float:
    """The relative luminance of `rgb(…)` as WCAG defines it."""
    parts = [int(part) / 255 for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_no_text_of_a_plot_leaves_it_or_covers_another(browser: Browser, folder: Path) -> None:
    with opened(browser, f"{folder.as_uri()}/", "class.html") as (page, _):
        assert page.evaluate(
            """() => [...document.querySelectorAll("figure > svg")].every(svg => {
            const frame = svg.getBoundingClientRect();
            const boxes = [...svg.querySelectorAll("text")].map(e => e.getBoundingClientRect());
            const inside = b => b.left >= frame.left - 1 && b.right <= frame.right + 1 && b.bottom <= frame.bottom + 1;
            const beside = (a, b) => a.right <= b.left || b.right <= a.left;
            const apart = (a, b) => beside(a, b) || a.bottom <= b.top + 3 || b.bottom <= a.top + 3;
            return boxes.every((a, i) => inside(a) && boxes.slice(i + 1).every(b => apart(a, b)));
            })"""
        )


def test_every_link_leads_to_a_mistake_a_section_or_the_book(browser: Browser, folder: Path) -> None:
    with opened(browser, f"{folder.as_uri()}/", "class.html") as (page, _):
        links = [link.get_attribute("href") or "" for link in page.get_by_role("link").all()]
        within = [link for link in links if link.startswith("#")]
        assert all(page.locator(f'[id="{link[1:]}"]').count() == 1 for link in within)
        assert {link.partition("/book/")[0] for link in links if not link.startswith("#")} <= {URL}


def test_paper_is_light_and_shows_the_lessons_and_all_tables(browser: Browser, folder: Path) -> None:
    with opened(browser, f"{folder.as_uri()}/", "class.html", scheme="dark") as (page, _):
        page.emulate_media(media="print")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        expect(page.get_by_text("A question to ask:").locator("visible=true")).to_have_count(3)
        expect(page.get_by_role("heading", name="Three to teach on Monday")).to_be_visible()
        expect(page.get_by_role("navigation")).to_be_hidden()
        page.locator("details.mistake").first.evaluate("e => e.open = true")
        expect(page.get_by_text("A question to ask:").locator("visible=true")).to_have_count(4)

"""Every exercise solved on its page: in Chromium and in Firefox, from a server and as files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from firefox import firefox
from opened import opened
from playwright.sync_api import Browser

from grader.author.course import Course
from grader.cells import cell_source
from grader.manifest import Chapter, load_manifest
from grader.spec.changes import Change
from grader.spec.load import load_spec, reference_code

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
MANIFEST = load_manifest(ROOT / "course.toml")
TORCH = {"CharLM", "Seq2Seq", "AttentionDecoder"}
# Opens the box of an exercise, and gives the result of each program: what the box says, and its report.
SOLVE = """(async (id, programs) => {
  const box = document.getElementById(`try-${id}`);
  const until = async (found) => { while (!found()) await new Promise((later) => setTimeout(later, 20)); };
  const button = (name) => [...box.querySelectorAll("button")].find((each) => each.textContent === name);
  button("Try it here").click();
  await until(() => box.querySelector("textarea"));
  const editor = box.querySelector("textarea");
  await until(() => box.querySelector(".try-status").textContent.includes("is ready"));
  const results = [];
  for (const program of programs) {
    if (program !== null) editor.value = program;
    delete box.dataset.status;
    button("Run and check").click();
    await until(() => box.dataset.status !== undefined && !box.querySelector("[aria-disabled]"));
    results.push([box.dataset.status, box.querySelector(".try-report").textContent]);
  }
  return results;
})"""
Solve = Callable[[str, str, list[str | None]], list[list[str]]]


@pytest.fixture(scope="module")
def notebooks() -> Any:
    return Course(ROOT).notebooks


@pytest.fixture(scope="module", params=["chromium", "firefox"])
def solve(request: pytest.FixtureRequest) -> Iterator[Solve]:
    """A function that opens an address and tries programs at an exercise there."""

    def call(exercise: str, programs: list[str | None]) -> str:
        return f"{SOLVE}({json.dumps(exercise)}, {json.dumps(programs)})"

    if request.param == "chromium":
        browser: Browser = request.getfixturevalue("browser")

        def in_chromium(address: str, exercise: str, programs: list[str | None]) -> list[list[str]]:
            base, _, path = address.partition("book/")
            with opened(browser, base, f"book/{path}") as (page, troubles):
                found: list[list[str]] = page.evaluate(call(exercise, programs))
                assert (troubles.requests_that_leave, troubles.failed_requests) == ([], [])
            return found

        yield in_chromium
        return
    with firefox() as window:

        def in_firefox(address: str, exercise: str, programs: list[str | None]) -> list[list[str]]:
            window.open(address)
            found: list[list[str]] = window.evaluate(call(exercise, programs))
            hosts = window.evaluate("performance.getEntriesByType('resource').map(each => new URL(each.name).host)")
            assert set(hosts) <= {"", address.split("/")[2]}
            return found

        yield in_firefox


@pytest.mark.parametrize("way", ["http", "file"])
@pytest.mark.parametrize(
    "chapter", [pytest.param(c, id=c.id, marks=pytest.mark.slow) for c in MANIFEST.chapters]
)  # fmt: skip
def test_every_exercise(solve: Solve, way: str, chapter: Chapter, base_url: str, site: Path, notebooks: Any) -> None:
    base = base_url if way == "http" else f"{site.as_uri()}/"
    for exercise in chapter.exercises:
        if exercise.id not in TORCH:
            _solved(solve, base, chapter, exercise.id, notebooks)


@pytest.mark.parametrize("way", ["http", "file"])
def test_one_exercise(solve: Solve, way: str, base_url: str, site: Path, notebooks: Any) -> None:
    base = base_url if way == "http" else f"{site.as_uri()}/"
    _solved(solve, base, MANIFEST.chapter("ch01_vanilla_rnn"), "rnn_step", notebooks)


def _solved(solve: Solve, base: str, chapter: Chapter, name: str, notebooks: Any) -> None:
    """The stub fails, the solution passes, and three mistakes get their names."""
    place = MANIFEST.place(name)
    code, spec = reference_code(ROOT, place), load_spec(ROOT, place)
    changes = ((e.id, way) for e in spec.named_mistakes.values() for way in e.ways if isinstance(way, Change))
    mistakes = list(islice(changes, 3))
    programs = [None, cell_source(notebooks[name].instructor, name), *(way.apply(code) for _, way in mistakes)]
    results = solve(f"{base}book/{chapter.id}/{place.exercise.page}.html", name, programs)
    assert [status for status, _ in results[:2]] == ["unimplemented", "passed"], name
    for (mistake, _), (status, report) in zip(mistakes, results[2:], strict=True):
        assert status in ("failed", "error"), (name, mistake)
        assert "likely cause" in report, (name, mistake)

"""The pages on lectures, which only the instructors' edition has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from edition import LECTURES, with_lectures

from grader.manifest import load_manifest

ROOT = Path(__file__).parents[2]
MANIFEST = load_manifest(ROOT / "course.toml")
CHAPTERS = [chapter.id for chapter in MANIFEST.chapters]
SECTIONS = [
    "How do the ninety minutes go?",
    "What do you draw?",
    "What do you ask before you show it?",
    "Which three mistakes should you expect?",
    "What can the class discuss?",
    "What is for home?",
]


def lecture(chapter: str) -> str:
    return (ROOT / "book" / "lectures" / f"{chapter}.md").read_text("utf-8")


def test_each_chapter_has_a_lecture() -> None:
    parts = with_lectures(ROOT)["parts"]
    captions = [part.get("caption") for part in parts]
    assert captions[captions.index(LECTURES) + 1] == "For instructors"
    named = [page["file"] for page in parts[captions.index(LECTURES)]["chapters"]]
    assert named == [f"book/lectures/{chapter}" for chapter in CHAPTERS]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_lecture_has_its_sections_and_ninety_minutes(chapter: str) -> None:
    text = lecture(chapter)
    assert re.findall(r"^## (.+)$", text, re.M) == SECTIONS
    assert sum(int(minutes) for minutes in re.findall(r"^\| (\d+) \|", text, re.M)) == 90


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_lecture_names_slides_exercises_pages_and_works_that_exist(chapter: str) -> None:
    text = lecture(chapter)
    exercises = {exercise.id for each in MANIFEST.chapters for book in each.notebooks for exercise in book.exercises}
    mistakes = text[text.index(SECTIONS[3]) : text.index(SECTIONS[4])]
    for ids in re.findall(r"^\d\. \*.+?\* \(([^)]+)\)", mistakes, re.M):
        assert set(re.findall(r"`(\w+)`", ids)) <= exercises, ids
    assert len(re.findall(r"^\d\. ", mistakes, re.M)) == 3
    titles = re.findall(r"^##+ (.+)$", (ROOT / "slides" / f"{chapter}.md").read_text("utf-8"), re.M)
    for shown in re.findall(r"^\| \d+ \|[^|]*\|([^|]*)\|", text, re.M):
        for name in re.findall(r"\*([^*]+)\*", shown):
            assert name in titles, name
    for target in re.findall(r"\]\(([^)#]+)", text):
        assert (ROOT / "book" / "lectures" / target).is_file(), target
    known = re.findall(r"^@\w+\{(\w+),", (ROOT / "book" / "references.bib").read_text("utf-8"), re.M)
    cited = [key for keys in re.findall(r"\{cite(?::\w+)?\}`([^`]+)`", text) for key in keys.split(",")]
    assert set(cited) <= set(known)

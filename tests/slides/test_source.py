"""The texts of a deck: what is read out of them, and what the decks of the course keep to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.manifest import load_manifest
from slides.source import Reference, Slide, SlidesError, glued, read_deck

ROOT = Path(__file__).parents[2]
DECKS = sorted((ROOT / "slides").glob("ch*.md"))
# A number belongs to the page that computed it. What may be typed: formulas, code, a chapter, the order of an n-gram.
TYPED = re.compile(r"\$[^$]+\$|`[^`]+`|\bchapter \d\b|\b\d-gram", re.I)


def slides_of(path: Path) -> tuple[Slide, ...]:
    return read_deck(path, path.stem)


def deck_of(tmp_path: Path, text: str) -> tuple[Slide, ...]:
    (tmp_path / "ch01.md").write_text(text, "utf-8")
    return read_deck(tmp_path / "ch01.md", "ch01")


def test_a_deck_is_read(tmp_path: Path):
    question, answer = deck_of(
        tmp_path,
        "## Before you look\n\nWhat is $x + 1$ of {glue:text}`one_step::name`?\n\ncode: one_step def step(\n"
        "\nnotes: Ask.\nfigure: it is quoted, not shown\n\n### This\n\nfigure: ch02/checking hook\n",
    )
    assert (question.title, question.below, question.where) == ("Before you look", False, "slides/ch01.md:1")
    assert question.pieces == (Reference("code", "ch01/one_step", "def step(", "slides/ch01.md:5"),)
    assert question.notes == "Ask.\nfigure: it is quoted, not shown"
    assert question.words == 5  # What is, a formula, of, a number with its question mark
    assert answer.below
    assert answer.text == ""
    assert answer.pieces == (Reference("figure", "ch02/checking", "hook", "slides/ch01.md:12"),)


def test_a_number_says_where_it_is_glued():
    text = "{glue:text}`a::x` and {glue:text}`ch02/b.md::y-1`"
    assert glued(text, "ch01") == [
        ("{glue:text}`a::x`", "ch01/a", "x"),
        ("{glue:text}`ch02/b.md::y-1`", "ch02/b", "y-1"),
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "slides/ch01.md: has no slide"),
        ("words\n## Title\n", "slides/ch01.md:1: this stands before the first slide"),
        ("### Answer\n", "slides/ch01.md:1: an answer (###) needs a slide (##) before it"),
        ("## Title\nfigure: page\n", "slides/ch01.md:2: says on which page, and not which figure"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, text: str, told: str):
    with pytest.raises(SlidesError, match=re.escape(told)):
        deck_of(tmp_path, text)


def test_every_chapter_has_a_deck():
    chapters = load_manifest(ROOT / "course.toml").chapters
    assert [path.stem for path in DECKS] == [chapter.id for chapter in chapters]


@pytest.mark.parametrize("path", DECKS, ids=lambda path: path.stem)
def test_a_deck_is_a_lecture(path: Path):
    slides = slides_of(path)
    assert 20 <= 1 + len(slides) <= 30  # with the title
    assert [slide.where for slide in slides if slide.words > 40] == []
    assert [slide.where for slide in slides if not slide.text and not slide.pieces] == []
    asked = [n for n, slide in enumerate(slides) if slide.title.startswith("Before you look")]
    assert len(asked) >= 3
    assert all(slides[n + 1].below for n in asked)
    assert [slide.title for slide in slides[-2:]] == ["Recap", "Exercises"]
    assert {"figure", "equation", "exercises"} <= {piece.kind for slide in slides for piece in slide.pieces}


def typed_numbers(slide: Slide) -> list[str]:
    texts = [slide.title, slide.text, slide.notes]
    for text in list(texts):
        for written, _, _ in glued(text, "chapter"):
            texts = [each.replace(written, "") for each in texts]
    return [word for text in texts for word in TYPED.sub("", text).split() if re.search(r"\d", word)]


@pytest.mark.parametrize("path", DECKS, ids=lambda path: path.stem)
def test_no_number_is_typed(path: Path):
    assert {slide.where: typed_numbers(slide) for slide in slides_of(path) if typed_numbers(slide)} == {}


def test_a_typed_number_would_be_found(tmp_path: Path):
    (slide,) = deck_of(tmp_path, "## In chapter 3\n\nA 6-gram has $2$ of {glue:text}`a::x-2`, 3.4 % and `5`.\n")
    assert typed_numbers(slide) == ["3.4"]

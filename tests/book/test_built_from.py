"""The note in the built site which edition and which sources it was built from."""

from __future__ import annotations

from pathlib import Path

import pytest
from one_page import build
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace

from grader.author.built_book import NOTE, BookError, sources_digest, up_to_date_book


def test_a_build_notes_its_sources(tmp_path: Path) -> None:
    book = tmp_path / "book"
    book.mkdir()
    (book / "other.md").write_text("# Other\n", "utf-8")
    _, warnings = build(tmp_path, "# Page\n\n```{toctree}\nbook/other\n```\n", "built_from")
    assert warnings == ""
    assert up_to_date_book(tmp_path, tmp_path / "out") == tmp_path / "out"
    (book / "other.md").write_text("# Changed\n", "utf-8")
    with pytest.raises(BookError, match="have changed"):
        up_to_date_book(tmp_path, tmp_path / "out")


def test_a_build_without_anything_to_do_notes_them_too(tmp_path: Path) -> None:
    build(tmp_path, "# Page\n", "built_from")
    (tmp_path / "course.toml").unlink()
    (tmp_path / "course.toml").write_text("# another course\n", "utf-8")  # no page reads it
    with pytest.raises(BookError, match="have changed"):
        up_to_date_book(tmp_path, tmp_path / "out")
    build_again(tmp_path)
    build_again(tmp_path)
    up_to_date_book(tmp_path, tmp_path / "out")


def build_again(folder: Path) -> None:
    settings = {
        "extensions": ["myst_parser", "built_from"],
        "html_theme": "basic",
        "exclude_patterns": ["exercises", "experiments", "solutions"],
    }
    with docutils_namespace():
        out = folder / "out"
        Sphinx(folder, None, out, out / "doctrees", "html", confoverrides=settings, status=None, warning=None).build()


def test_the_other_edition_is_noted(tmp_path: Path) -> None:
    build(tmp_path, "# Page\n", "built_from", unrolled_edition="self-study")
    with pytest.raises(BookError, match="this is the self-study edition, which is not for a class"):
        up_to_date_book(tmp_path, tmp_path / "out")


def test_a_failed_build_leaves_no_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(tmp_path, "# Page\n", "built_from")
    assert (tmp_path / "out" / NOTE).is_file()

    def fail(*_: object) -> None:
        raise RuntimeError("no room")

    monkeypatch.setattr("sphinx.builders.Builder.build_update", fail)
    with pytest.raises(RuntimeError, match="no room"):
        build_again(tmp_path)
    assert not (tmp_path / "out" / NOTE).exists()


def test_what_counts_as_a_source(tmp_path: Path) -> None:
    before = sources_digest(tmp_path)
    for name in ("book/_build/x.html", "book/__pycache__/x.pyc", "book/.ipynb_checkpoints/x.md", "grader/x.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
        assert sources_digest(tmp_path) == before, name
    for name in ("_toc.yml", "book/x.md", "experiments/ch01/x.json", "solutions/ch01/f/x.md", "exercises/x.ipynb"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
        assert sources_digest(tmp_path) != before, name
        before = sources_digest(tmp_path)

"""What Sphinx computes again for each page is remembered, and pages are written by several processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pybtex.plugin
import pytest
import sphinx.util.matching
from one_page import ROOT
from quick_sphinx import _SAME_ANSWERS, remember

from tests.same_book import differences


def module(calls: list[str]) -> ModuleType:
    made = ModuleType("library")

    def answer(word: str) -> str:
        calls.append(word)
        return word.upper()

    made.answer = answer  # type: ignore[attr-defined]
    return made


def test_a_function_computes_each_answer_once() -> None:
    library = module(calls := [])
    remember(library, "answer")
    remember(library, "answer")
    assert [library.answer(word) for word in ("a", "b", "a")] == ["A", "B", "A"]
    assert calls == ["a", "b"]


def test_a_name_that_an_upgrade_lacks_is_left_alone() -> None:
    library = module([])
    remember(library, "other")
    assert not hasattr(library, "other")


@pytest.mark.parametrize(("library", "name"), _SAME_ANSWERS, ids=lambda value: getattr(value, "__name__", value))
def test_the_pinned_libraries_have_these_names(library: ModuleType, name: str) -> None:
    assert callable(getattr(library, name))


def test_what_is_remembered_is_the_librarys_own_answer() -> None:
    for library, name in _SAME_ANSWERS:
        remember(library, name)
    for pattern in ("**/*.ipynb", "book/[a-c]?/x", "book/[a-c]?/x"):
        known = sphinx.util.matching._translate_pattern(pattern)
        assert known == sphinx.util.matching._translate_pattern.__wrapped__(pattern)
    for _ in range(2):
        assert pybtex.plugin.find_plugin("pybtex.backends", "docutils").__module__ == "pybtex_docutils"
    with pytest.raises(pybtex.plugin.PluginNotFound):
        pybtex.plugin.find_plugin("pybtex.backends", "no such")


# An extension that notes which process writes which page, and does something while it writes the page `last`.
PLANT = """\
import os
from sphinx.util import logging
def on_page(app, page, template, context, doctree):
    with open("writers", "a") as file:
        file.write(f"{{os.getpid()}} {{page}}\\n")
    if page == "last":
        {planted}
def setup(app):
    app.connect("html-page-context", on_page)
    return {{"parallel_read_safe": True, "parallel_write_safe": True}}
"""
BUILD = (
    "import os, sys; os.cpu_count = lambda: {cores}; from sphinx.cmd.build import main; sys.exit(main(sys.argv[1:]))"
)
PAGES = ("index", *"abcdef", "last")


def built(
    folder: Path, planted: str = "pass", cores: int = 2
) -> tuple[subprocess.CompletedProcess[str], dict[str, str]]:
    """A strict build, and the process that wrote each page."""
    folder.mkdir()
    (folder / "plant.py").write_text(PLANT.format(planted=planted), "utf-8")
    for name in PAGES:
        (folder / f"{name}.md").write_text(f"# Page {name}\n\n[Other](index.md)\n", "utf-8")
    toc = "".join(f"{name}\n" for name in PAGES[1:])
    (folder / "index.md").write_text(f"# Index\n\n```{{toctree}}\n{toc}```\n", "utf-8")
    options = ["-W", "--keep-going", "-C", "-Dextensions=myst_parser,quick_sphinx,plant", "-Dhtml_theme=basic"]
    done = subprocess.run(
        [sys.executable, "-c", BUILD.format(cores=cores), *options, "-d", "trees", ".", "out"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "book" / "_ext"), str(folder)])},
        capture_output=True,
        text=True,
    )
    lines = (folder / "writers").read_text().splitlines()
    return done, {page: process for process, page in (line.split() for line in lines)}


def test_two_processes_write_the_same_pages_as_one(tmp_path: Path) -> None:
    alone, writer = built(tmp_path / "alone", cores=1)
    assert (alone.returncode, len(set(writer.values()))) == (0, 1), alone.stderr
    done, writers = built(tmp_path / "two")
    assert done.returncode == 0, done.stderr
    assert writers["last"] != writers["a"]
    assert writers.keys() == writer.keys() > set(PAGES)
    assert differences(tmp_path / "alone" / "out", tmp_path / "two" / "out") == []


def test_a_warning_in_another_process_fails_a_strict_build(tmp_path: Path) -> None:
    done, writers = built(tmp_path / "book", "logging.getLogger('sphinx.plant').warning('this page is wrong')")
    assert writers["last"] != writers["a"]
    assert "this page is wrong" in done.stderr
    assert done.returncode == 1


def test_an_error_in_another_process_fails_the_build(tmp_path: Path) -> None:
    done, writers = built(tmp_path / "book", "raise ValueError('this page cannot be written')")
    assert writers["last"] != writers["a"]
    assert "this page cannot be written" in done.stderr
    assert done.returncode == 2

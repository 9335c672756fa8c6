"""What Sphinx computes again for each page is remembered."""

from __future__ import annotations

from types import ModuleType

import pybtex.plugin
import pytest
import sphinx.util.matching
from quick_sphinx import _SAME_ANSWERS, remember


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

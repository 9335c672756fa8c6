"""The first use of each glossary term on a page is a link to its entry."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import glossary_links
import pytest
from glossary_links import EVERYDAY, terms, uses
from one_page import ROOT, build

from tests.book.test_glossary import entries

GLOSSARY = "# Glossary\n\n```{glossary}\nkey\n  What is compared.\n\nn-gram\n  So many.\n\nstate\n  What is kept.\n\n\
hidden state\n  A row.\n\nLSTM\n  A cell.\n```\n"
LINK = re.compile(r'<a class="glossary-link reference internal" href="glossary.html#term-([^"]*)"><span>(.*?)</span>')


def links(folder: Path, page: str) -> list[tuple[str, str]]:
    """The entry and the words of each link on a page beside the glossary above."""
    index = f"# Page\n\n{page}\n\n```{{toctree}}\nglossary\n```\n"
    html, warnings = build(folder, index, "glossary_links", others={"glossary": GLOSSARY})
    assert warnings == ""
    assert html.count("glossary-link") == len(LINK.findall(html))
    return LINK.findall(html)


def test_the_first_use_is_linked_once(tmp_path: Path) -> None:
    page = "Two hidden states, and one hidden state.\n\n- An LSTM; LSTMs."
    assert links(tmp_path, page) == [("hidden-state", "hidden states"), ("LSTM", "LSTM")]


def test_an_everyday_word_is_linked_where_it_is_set_in_bold(tmp_path: Path) -> None:
    assert links(tmp_path, "A key, a **key** and its *key*.") == [("key", "key")]


@pytest.mark.parametrize(
    "page", ["## An LSTM", "`LSTM`", "| LSTM |\n|---|\n| LSTM |", "[LSTM](https://x.org)", "BiLSTM, LSTM-like, lstm"]
)
def test_no_link_in_a_heading_code_a_table_a_link_or_another_word(tmp_path: Path, page: str) -> None:
    assert links(tmp_path, page) == []


def test_the_longer_term_wins_and_a_line_break_does_not_part_it() -> None:
    known = {"gradient": ("g", "a"), "gradient clipping": ("g", "b"), "n-gram": ("g", "c")}
    found = uses("Gradient\nclipping of a gradient, n-grams.", known, bold=False)
    assert [term for *_, term in found] == ["gradient clipping", "gradient", "n-gram"]


def glossary_terms() -> set[str]:
    return {part.strip() for entry in entries() for part in entry.split(",")}


def forms(term: str) -> str:
    """Each form in which a term may be used, and two in which it may not."""
    capital = term[0].upper() + term[1:]
    return f"{term} {term}s {capital}s {capital.replace(' ', chr(10))} {term.upper()} x{term}"


def test_only_the_patterns_of_words_in_the_text_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """On pages of the book, and on all forms of each term, the result is that of the patterns of all terms."""
    known = dict.fromkeys(sorted(glossary_terms()), ("glossary", "x"))
    pages = [ROOT / "book" / name for name in ("start_here.md", "ch04_gated/lstm.md", "ch06_attention/gains.md")]
    texts = [*map(forms, known), *(page.read_text("utf-8") for page in pages)]
    found = [uses(text, known, bold=True) for text in texts]
    monkeypatch.setattr(glossary_links, "_may_be_in", lambda term, text: True)
    assert found == [uses(text, known, bold=True) for text in texts]
    assert {term for text in found for *_, term in text} == known.keys()


def test_everyday_words_are_entries() -> None:
    assert glossary_terms() >= EVERYDAY


def test_an_entry_of_two_terms_has_two() -> None:
    objects = {("term", "rolled, unrolled"): ("glossary", "x"), ("label", "y"): ("page", "y")}
    environment = SimpleNamespace(get_domain=lambda name: SimpleNamespace(objects=objects))
    assert terms(environment) == {"rolled": ("glossary", "x"), "unrolled": ("glossary", "x")}  # type: ignore[arg-type]

"""The glossary is complete and in order: a term that a page sets in bold is one of its entries."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.book.conftest import BOOK

# what a page may write in bold in place of an entry's own words
FORMS = {
    "detached": "detach",
    "exploding": "vanishing and exploding gradients",
    "explode": "vanishing and exploding gradients",
    "explodes": "vanishing and exploding gradients",
    "vanish": "vanishing and exploding gradients",
    "vanishes": "vanishing and exploding gradients",
    "final": "accumulator",
    "forward-mode differentiation": "forward mode",
    "reverse-mode differentiation": "reverse mode",
    "basins of attraction": "basin of attraction",
    "gated recurrent unit": "GRU",
    "haar": "Haar distribution",
    "highway": "constant error carousel",
    "memorised": "memorisation",
    "orthogonal": "orthogonal matrix",
    "padded": "padding",
    "real-time recurrent learning": "RTRL",
    "top-p sampling": "nucleus sampling",
    "truncated bptt": "truncated backpropagation through time",
}
# the first words of a closing paragraph, which are no terms
LEAD_INS = {"the chapter's last notebook", "next"}


def entries() -> list[str]:
    """The glossary's terms, in their order."""
    lines = (BOOK / "glossary.md").read_text("utf-8").split("```{glossary}\n")[1].splitlines()
    return [line for line in lines if line and not line.startswith((" ", "`"))]


def singular(term: str) -> str:
    return " ".join(term.lower().split()).removesuffix("s")


def bold(text: str) -> set[str]:
    """The words in bold of a page, without code, tables, the opening box and lead-ins such as "Rows."."""
    text = re.sub(r"^```\{code-cell\}.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    prose = "\n".join(line for line in text.splitlines() if not re.match(r"\||- \*\*(Do|Learn|Need)\*\*:", line))
    found = {" ".join(words.split()).lower() for words in re.findall(r"\*\*([^*\s][^*]*)\*\*", prose)}
    return {words for words in found if not words.endswith(".")} - LEAD_INS


@pytest.mark.parametrize("page", sorted(BOOK.glob("ch*/*.md")), ids=lambda page: page.stem)
def test_every_term_in_bold_has_an_entry(page: Path) -> None:
    known = {singular(term) for term in entries()}
    missing = {term for term in bold(page.read_text("utf-8")) if singular(FORMS.get(term, term)) not in known}
    assert not missing, f"add them to book/glossary.md, or emphasise them in *italics*: {missing}"


def test_the_entries_are_in_alphabetical_order() -> None:
    terms = [term.lower().replace("–", "-") for term in entries()]
    assert terms == sorted(set(terms))


def test_words_in_bold_are_found() -> None:
    opening, code = "- **Do**: this.\n| **5-gram** | 3 |\n", "```{code-cell}\na**b**c\n```\n"
    assert bold(f"{opening}**Rows.** A **hidden\nstate** and **logits**.\n{code}") == {"hidden state", "logits"}

"""A short search index: it is loaded as a whole, and it grows with the book.

It has no numbers and no stop words with a capital letter, because Sphinx's search ignores them in a query, and it is
written without spaces.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.search import js_index
from sphinx.search.en import SearchEnglish
from sphinx.util.typing import ExtensionMetadata

_NUMBER = re.compile(r"[0-9]*")


class SearchWords(SearchEnglish):
    """English without numbers, and without stop words at the beginning of a sentence."""

    def word_filter(self, word: str) -> bool:
        return not _NUMBER.fullmatch(word) and super().word_filter(word.lower())


def compact(app: Sphinx, exception: Exception | None) -> None:
    file = Path(app.outdir) / "searchindex.js"
    if exception or app.builder.format != "html" or not file.is_file():
        return
    index = js_index.loads(file.read_text("utf-8"))
    text = json.dumps(index, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    file.write_text(f"{js_index.PREFIX}{text}{js_index.SUFFIX}", "utf-8")


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_search_language(SearchWords)
    app.connect("build-finished", compact)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

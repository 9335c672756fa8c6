"""Links from a notebook's text to the pages of the book that it names."""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING

from grader.manifest import Chapter, Manifest

if TYPE_CHECKING:
    from nbformat import NotebookNode

BUNDLED = "../../book/"  # from a notebook in exercises/CHAPTER to the book in the students' bundle
_EMPHASISED = re.compile(r"(?<![*\w\[])\*(\w[^*]*)\*(?![*\w])")


def with_page_links(notebook: NotebookNode, manifest: Manifest, chapter: Chapter, base: str) -> NotebookNode:
    """A copy of a notebook in which every page that a text cell names in italics, as *Chapter › Page* or, in the same
    chapter, *Page*, is a link to it. `base` is the address of the book, ending with a slash.
    """
    addresses = {
        f"{prefix}{title}": f"{base}book/{its.id}/{page}.html"
        for its in manifest.chapters
        for page, title in its.pages.items()
        for prefix in ({f"{its.title} › ", ""} if its == chapter else {f"{its.title} › "})
    }

    def linked(found: re.Match[str]) -> str:
        address = addresses.get(" ".join(found[1].split()))
        return f"[{found[0]}]({address})" if address else found[0]

    result = copy.deepcopy(notebook)
    for cell in result.cells:
        if cell.cell_type == "markdown" and "Read first" in cell.source:
            cell.source = _EMPHASISED.sub(linked, cell.source)
    return result

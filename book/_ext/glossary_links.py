"""The first use of each glossary term on a page is a link to its entry.

Linked are the words of paragraphs and lists. Headings, tables, captions, code and the page elements stay as they are.
A term that is an everyday word too, such as "key" or "value", is linked only where the page sets it in bold, because
elsewhere it may have its everyday meaning.
"""

from __future__ import annotations

import re
from typing import Any, cast

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.domains.std import StandardDomain
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode
from sphinx.util.typing import ExtensionMetadata

EVERYDAY = frozenset(
    {
        "bias",
        "bit",
        "candidate",
        "causality",
        "chaos",
        "chunk",
        "cliff",
        "context",
        "coordinates",
        "defective",
        "detach",
        "erasure",
        "features",
        "gate",
        "head",
        "horizon",
        "id",
        "key",
        "lag",
        "layout",
        "leak",
        "mask",
        "merge",
        "modulus",
        "nat",
        "normal",
        "odds",
        "order",
        "output",
        "prefix",
        "query",
        "rolled",
        "sequence",
        "smoothing",
        "state",
        "tape",
        "target",
        "unit",
        "unrolled",
        "update",
        "value",
        "weight",
        "window",
    }
)
_FLOW = (nodes.document, nodes.section, nodes.paragraph, nodes.bullet_list, nodes.enumerated_list, nodes.list_item)
_EMPHASIS = (nodes.strong, nodes.emphasis)


class GlossaryLinks(SphinxPostTransform):
    """Link the first use of each term, where a reader comes upon it."""

    default_priority = 900  # when all other references are resolved
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        places = terms(self.env)
        places = {term: place for term, place in places.items() if place[0] != self.env.docname}
        for text in list(self.document.findall(nodes.Text)):
            if places and _is_prose(text):
                self._link(text, places, bold=isinstance(text.parent, nodes.strong))

    def _link(self, text: nodes.Text, places: dict[str, tuple[str, str]], bold: bool) -> None:
        """Replace the first uses in this text by links, and remove their terms from `places`."""
        builder, page = self.app.builder, self.env.docname
        parts: list[nodes.Node] = []
        rest, done = str(text), 0
        for start, end, term in uses(rest, places, bold):
            document, target = places.pop(term)
            link = make_refnode(builder, page, document, target, nodes.inline("", rest[start:end]))
            link["classes"].append("glossary-link")
            parts += [nodes.Text(rest[done:start]), link]
            done = end
        if parts:
            parts.append(nodes.Text(rest[done:]))
            text.parent.replace(text, [part for part in parts if part.astext()])


def terms(env: BuildEnvironment) -> dict[str, tuple[str, str]]:
    """Where each term of the glossary is explained: its page and target. An entry "rolled, unrolled" has two terms."""
    objects = cast(StandardDomain, env.get_domain("std")).objects
    return {
        part: place
        for (kind, name), place in objects.items()
        if kind == "term"
        for part in (part.strip() for part in name.split(","))
    }


def uses(text: str, known: dict[str, tuple[str, str]], bold: bool) -> list[tuple[int, int, str]]:
    """The first use of each known term in the text: from where, to where, and the term. Longer terms come first.

    A term in lower case may begin with a capital and end with a plural s.
    """
    able = [term for term in known if (bold or term not in EVERYDAY) and _may_be_in(term, text)]
    able.sort(key=lambda term: (-len(term), term))
    if not able:
        return []
    found: dict[str, tuple[int, int, str]] = {}
    for use in re.finditer("|".join(f"({_pattern(term)})" for term in able), text):
        term = able[cast(int, use.lastindex) - 1]
        found.setdefault(term, (*use.span(), term))
    return sorted(found.values())


def _may_be_in(term: str, text: str) -> bool:
    """Whether the text holds all that `_pattern` asks for literally. Without it the pattern cannot match, and trying
    the patterns of all terms on each text takes half of a build.
    """
    return all(word in text for word in term[1:].split(" "))


def _pattern(term: str) -> str:
    first = f"[{term[0].upper()}{term[0]}]" if term[0].islower() else re.escape(term[0])
    rest = r"\s+".join(re.escape(word) for word in term[1:].split(" "))
    return rf"(?<![\w–-]){first}{rest}s?(?![\w–-])"


def _is_prose(text: nodes.Text) -> bool:
    node = text.parent
    if isinstance(node, _EMPHASIS):
        node = node.parent
    if not isinstance(node, nodes.paragraph):
        return False
    while node is not None:
        if not isinstance(node, _FLOW):
            return False
        node = node.parent
    return True


def pages_to_write(app: Sphinx, env: BuildEnvironment) -> set[str]:
    """All pages are written again when an entry of the glossary has come, gone or moved."""
    now = terms(env)
    before = getattr(env, "unrolled_glossary", now)
    env.unrolled_glossary = now  # type: ignore[attr-defined]
    return env.found_docs if before != now else set()


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_post_transform(GlossaryLinks)
    app.connect("env-updated", pages_to_write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

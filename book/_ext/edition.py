"""Three editions of the book from the same sources.

*class* is the default, and holds no solution. *self-study* has, folded under each exercise, the reference solution,
another one, and why it works; after a pass, *Try it here* offers to open it. *instructors* has these too, and a page on
the lecture of each chapter. The switch is the environment variable UNROLLED_EDITION (`make book-self-study`,
`make book-instructors`).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from page_element import PageElement, folded
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ConfigError
from sphinx.util.typing import ExtensionMetadata

from grader.author.course import Course
from grader.author.notebooks import source_path
from grader.author.other_ways import solved
from grader.manifest import Place
from grader.spec.folders import mistakes_path, spec_path

CLASS, SELF_STUDY, INSTRUCTORS = "class", "self-study", "instructors"
TITLES = {CLASS: "", SELF_STUDY: ", self-study edition", INSTRUCTORS: ", instructors' edition"}
LECTURES = "Lectures"  # the part of the contents that only instructors see, before the one for instructors
OFFER = "See how else it is done"  # on the button that *Try it here* shows after a pass
TOLD = "Below the report you can see how else it is done."


def check(app: Sphinx, config: Config) -> None:
    edition = config.unrolled_edition
    if edition not in TITLES:
        raise ConfigError(f"UNROLLED_EDITION is {edition!r}. There are three editions: {', '.join(TITLES)}.")
    if TITLES[edition]:
        config.html_title += TITLES[edition]
    if edition == INSTRUCTORS and "external_toc_path" in config:
        written = Path(app.doctreedir, "_toc.yml")
        written.parent.mkdir(parents=True, exist_ok=True)
        written.write_text(yaml.safe_dump(with_lectures(Path(app.srcdir)), allow_unicode=True), "utf-8")
        config.external_toc_path = str(written)


def with_lectures(root: Path) -> dict[str, Any]:
    """The table of contents with the pages on lectures, which no other edition's contents name."""
    contents: dict[str, Any] = yaml.safe_load((root / "_toc.yml").read_text("utf-8"))
    pages = [{"file": f"book/lectures/{page.stem}"} for page in sorted((root / "book" / "lectures").glob("*.md"))]
    captions = [part.get("caption") for part in contents["parts"]]
    contents["parts"].insert(captions.index("For instructors"), {"caption": LECTURES, "chapters": pages})
    return contents


def solution(directive: PageElement, place: Place) -> list[nodes.Node]:
    """What stands under an exercise's box in this edition."""
    env = directive.env
    if env.config.unrolled_edition == CLASS:
        return []
    root = Path(env.srcdir)
    words = mistakes_path(root, place)
    for file in (source_path(root, place.chapter, place.notebook), spec_path(root, place), words):
        env.note_dependency(os.path.relpath(file, root))
    found = solved(Course(root), place)
    shown = folded(f"Solution of {place.exercise.id}", classes=["solution"])
    shown["ids"] = [f"passed-{place.exercise.id}"]
    shown["attributes"] = {"data-offer": OFFER, "data-told": TOLD}
    shown += _code(found.solution)
    if found.why:
        directive.parse(shown, found.why.splitlines())
    if found.way:
        shown += nodes.paragraph("", "", nodes.strong("", "Another way. "), *directive.parse_inline(found.differs))
        shown += _code(found.way)
    return [shown]


def _code(source: str) -> nodes.literal_block:
    return nodes.literal_block(source, source, language="python")


def setup(app: Sphinx) -> ExtensionMetadata:
    app.setup_extension("page_element")
    app.add_config_value("unrolled_edition", os.environ.get("UNROLLED_EDITION") or CLASS, "env", [str])
    app.connect("config-inited", check)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

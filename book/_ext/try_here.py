"""Try it here: what is loaded when a reader solves an exercise on its page.

The packs of `grader.author.engine` and `in_page` are written into the site's `_static/try/`, before pages are, and a
small script with their version, which pages with such an exercise load. Below each code cell of a page that runs there
too stands *Run this code*. If the pinned files cannot be had, there are no buttons, and the build says so in a line.
"""

from __future__ import annotations

import json
import shutil
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from docutils import nodes
from page_element import PageElement, attach, folded, has_class, make, raw
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.typing import ExtensionMetadata

from grader.author.engine import PARTS, engine_packs, licences
from grader.author.in_page import (
    Scratch,
    can_be_tried,
    exercise_pack,
    page_pack,
    page_pack_name,
    recorded_checks,
    scratch_cells,
)
from grader.author.packs import FOLDER, Pack, version_of
from grader.author.pinned import PinnedError, pinned
from grader.checking.evaluate import evaluate, observe
from grader.checking.verdict import Verdict
from grader.manifest import load_manifest
from grader.released import COURSE
from grader.render.html import mark, rows_html, verdict_html
from grader.render.rows import headline, rows

_log = logging.getLogger(__name__)
_SHORT = ("differs in", "likely cause")
_SCRIPT = "try_here.js"
_PACKS = "/* the packs, as the build made them */ {}"
_BUILT = '/* what the build knows */ { version: "", megabytes: 0 }'
MISSING = "no_try_here.txt"  # beside the site; the Makefile shows it
_NONE = "// The parts for Try it here were not there when this book was built.\n"


def place_for(exercise_id: str) -> nodes.Element:
    """Where the button stands; the script puts it there."""
    return _place(exercise_id, data_exercise=exercise_id, data_label="Try it here")


def _place(name: str, **data: str) -> nodes.Element:
    place = make("div", classes=["try-here"], **data)
    place["ids"] = [f"try-{name}"]
    return place


class TryIt(PageElement):
    """`try-it`: code for an exercise that is not right yet, the report of its check, and the button to correct it.

        ```{try-it} rnn_step
        def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):
            …
        ```

    The report is made while the page is built. Code that passes is refused, because the page would show a solution.
    """

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        exercise_id, code = self.arguments[0], "\n".join(self.content)
        namespace: dict[str, Any] = {"np": np}
        exec(compile(code, f"<try-it {exercise_id}>", "exec"), namespace)
        checks = COURSE.checks(exercise_id)
        seen = observe(checks, namespace[exercise_id])
        verdict = evaluate(COURSE.manifest.place(exercise_id), checks, COURSE.messages(exercise_id).mistakes, seen)
        if verdict or verdict.diagnosis is None:
            return [self.refuse(f"{exercise_id}: this code passes, or its mistake has no name. Show one that has.")]
        place = _place(f"first-{exercise_id}", data_exercise=exercise_id, data_label="Try it here")
        place += nodes.literal_block(code, code, language="python")
        whole = folded("The whole report", raw(verdict_html(verdict)))
        place += make("div", raw(_short(verdict)), whole, classes=["try-first-report"])
        return [place]


def _short(verdict: Verdict) -> str:
    """The lines of a report that say where the result is wrong, and why."""
    title = f"<strong>{mark(verdict)} <code>{verdict.id}</code></strong> {escape(headline(verdict))}"
    return f"<div>{title}{rows_html([row for row in rows(verdict) if row.label in _SHORT])}</div>"


def add_scratch_cells(app: Sphinx, doctree: nodes.document) -> None:
    """Below each code cell that runs in a page."""
    docname = app.env.docname
    cells = [node for node in doctree.findall(nodes.container) if node.get("nb_element") == "cell_code"]
    offered = _scratch(Path(app.env.doc2path(docname))) if cells else []
    for number, scratch in enumerate(offered):
        for cell in cells:
            source = next(cell.findall(nodes.literal_block), None)
            if source is not None and source.astext().strip() == scratch.code.strip():
                of = f"{page_pack_name(docname)}/{number}"
                place = _place(f"code-{number}", data_scratch=of, data_label="Run this code")
                cell.parent.insert(cell.parent.index(cell) + 1, place)
                cells.remove(cell)
                break


def _scratch(path: Path) -> list[Scratch]:
    return scratch_cells(path.read_text("utf-8")) if path.suffix == ".md" else []


def write(app: Sphinx) -> None:
    """Before pages are written, so that the check sum in their links is that of the script."""
    if app.builder.format != "html":
        return
    static = Path(app.outdir, "_static")
    shutil.rmtree(static / FOLDER, ignore_errors=True)
    static.mkdir(parents=True, exist_ok=True)
    root = Path(app.srcdir)
    missing = Path(app.outdir).parent / MISSING
    missing.unlink(missing_ok=True)
    try:
        pins = pinned(root)
    except PinnedError as error:
        missing.write_text(f"The book has no buttons for trying exercises on its pages: {error}\n", "utf-8")
        _log.info("%s", missing.read_text("utf-8").strip())
        (static / _SCRIPT).write_text(_NONE, "utf-8")
        return
    (static / FOLDER / "licences").mkdir(parents=True)
    manifest = load_manifest(root / "course.toml")
    places = [place for place in manifest.places.values() if recorded_checks(root, place.exercise.id).is_file()]
    packs = [*engine_packs(root, pins)]
    packs += [exercise_pack(root, manifest, place) for place in places if can_be_tried(root, place.exercise.id)]
    for chapter in manifest.chapters:
        for page in (f"book/{chapter.id}/{name}" for name in chapter.pages):
            if cells := _scratch(root / f"{page}.md"):
                packs.append(page_pack(page, cells))
    for pack in packs:
        pack.write(static / FOLDER)
    for name, content in licences(pins):
        (static / FOLDER / "licences" / name).write_bytes(content)
    shutil.copyfile(root / PARTS / "NOTICE.txt", static / FOLDER / "licences" / "NOTICE.txt")
    _write_scripts(root, static, packs)


def _write_scripts(root: Path, static: Path, packs: list[Pack]) -> None:
    style = (root / PARTS / "panel.css").read_text("utf-8")
    known = {pack.name: {"files": pack.file_names(), "size": pack.size, "version": pack.version} for pack in packs}
    listed = json.dumps({**known, "style": version_of(style)}, separators=(",", ":"))
    panel = (root / PARTS / "panel.js").read_text("utf-8").replace(_PACKS, listed)
    megabytes = round(sum(pack.size for pack in packs[:2]) / 1e6)
    built = json.dumps({"version": version_of(panel), "megabytes": megabytes})
    (static / FOLDER / "panel.css").write_text(style, "utf-8")
    (static / FOLDER / "panel.js").write_text(panel, "utf-8")
    (static / _SCRIPT).write_text((root / PARTS / _SCRIPT).read_text("utf-8").replace(_BUILT, built), "utf-8")


def setup(app: Sphinx) -> ExtensionMetadata:
    app.setup_extension("page_element")
    app.add_directive("try-it", TryIt)
    app.connect("builder-inited", write)
    app.connect("doctree-read", add_scratch_cells)
    attach(app, has_class("try-here"), _SCRIPT)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

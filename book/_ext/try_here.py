"""Try it here: what is loaded when a reader solves an exercise on its page.

The packs of `grader.author.in_page` are written into the site's `_static/try/`, before pages are, and a small script
with their version, which pages with such an exercise load. If the pinned files cannot be had, there are no buttons,
and the build says so in a line.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

from docutils import nodes
from page_element import attach, has_class, make
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.typing import ExtensionMetadata

from grader.author.in_page import PARTS, Pack, engine_packs, exercise_pack, licences, runs_in_a_page
from grader.author.pinned import PinnedError, pinned
from grader.codec import decode
from grader.manifest import Place, load_manifest
from grader.released import CASES

_log = logging.getLogger(__name__)
_FOLDER, _SCRIPT = "try", "try_here.js"
_PACKS = "/* the packs, as the build made them */ {}"
_BUILT = '/* what the build knows */ { version: "", megabytes: 0 }'
_NONE = f"(function () {{}})(); // no {_FOLDER}/"


def can_be_tried(root: Path, place: Place) -> bool:
    """Whether the check of an exercise runs in a page."""
    recorded = root / "grader" / "data" / CASES.format(place.exercise.id)
    return recorded.is_file() and runs_in_a_page(decode(recorded.read_bytes())["driver"])


def place_for(exercise_id: str) -> nodes.Node:
    """Where the button stands; the script puts it there."""
    place = make("div", classes=["try-here"], data_exercise=exercise_id, data_label="Try it here")
    place["ids"] = [f"try-{exercise_id}"]
    return place


def write(app: Sphinx) -> None:
    """Before pages are written, so that the check sum in their links is that of the script."""
    if app.builder.format != "html":
        return
    static = Path(app.outdir, "_static")
    shutil.rmtree(static / _FOLDER, ignore_errors=True)
    static.mkdir(parents=True, exist_ok=True)
    root = Path(app.srcdir)
    try:
        pins = pinned(root)
    except PinnedError as error:
        _log.info("Try it here: the book has no such buttons. %s", error)
        (static / _SCRIPT).write_text(_NONE, "utf-8")
        return
    (static / _FOLDER / "licences").mkdir(parents=True)
    manifest = load_manifest(root / "course.toml")
    places = [place for place in manifest.places.values() if can_be_tried(root, place)]
    packs = [*engine_packs(root, pins)]
    packs += [exercise_pack(root, manifest, place) for place in places]
    for pack in packs:
        for name, script in zip(pack.file_names(), pack.scripts, strict=True):
            (static / _FOLDER / name).write_text(script, "utf-8")
    for name, content in licences(pins):
        (static / _FOLDER / "licences" / name).write_bytes(content)
    for name in ("NOTICE.txt",):
        shutil.copyfile(root / PARTS / name, static / _FOLDER / "licences" / name)
    _write_scripts(root, static, packs)


def _write_scripts(root: Path, static: Path, packs: list[Pack]) -> None:
    style = (root / PARTS / "panel.css").read_text("utf-8")
    known = {pack.name: {"files": pack.file_names(), "size": pack.size, "version": pack.version} for pack in packs}
    listed = json.dumps({**known, "style": _hash(style)}, separators=(",", ":"))
    panel = (root / PARTS / "panel.js").read_text("utf-8").replace(_PACKS, listed)
    megabytes = round(sum(pack.size for pack in packs[:2]) / 1e6)
    built = json.dumps({"version": _hash(panel), "megabytes": megabytes})
    (static / _FOLDER / "panel.css").write_text(style, "utf-8")
    (static / _FOLDER / "panel.js").write_text(panel, "utf-8")
    (static / _SCRIPT).write_text((root / PARTS / _SCRIPT).read_text("utf-8").replace(_BUILT, built), "utf-8")


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def setup(app: Sphinx) -> ExtensionMetadata:
    app.setup_extension("page_element")
    app.connect("builder-inited", write)
    attach(app, has_class("try-here"), _SCRIPT)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

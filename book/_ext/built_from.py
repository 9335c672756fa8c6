"""Note in the built site which edition and which sources it was built from, so that `grader pack` can tell whether it
is up to date. The sources are read before the pages are, so a change during the build is noticed.
"""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

from grader.author.built_book import NOTE, note, sources_digest

_started: dict[str, str] = {}  # by output folder


def begin(app: Sphinx) -> None:
    if app.builder.format == "html":
        Path(app.outdir, NOTE).unlink(missing_ok=True)
        _started[str(app.outdir)] = sources_digest(Path(app.srcdir))


def finish(app: Sphinx, exception: Exception | None) -> None:
    sources = _started.pop(str(app.outdir), None)
    if sources is not None and exception is None:
        note(Path(app.outdir), app.config.unrolled_edition, sources)


def setup(app: Sphinx) -> ExtensionMetadata:
    app.setup_extension("edition")
    app.connect("builder-inited", begin)
    app.connect("build-finished", finish, priority=950)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

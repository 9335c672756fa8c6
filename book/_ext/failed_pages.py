"""A page whose code fails costs a reader that page, not the book.

The page says at its top that its results are missing. When the book has been built, `failed_pages.txt` beside the site
has two lines for each such page: where the cell is, and what went wrong. (A strict build, `make book`, fails.)
"""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.application import Sphinx
from sphinx.util.console import strip_escape_sequences
from sphinx.util.typing import ExtensionMetadata

NOTE = (
    "The code of this page failed when this copy of the book was built, so results and figures are missing here. "
    "The other pages are complete."
)


def mark(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put the note below the heading of a page whose code failed."""
    if _failure(app, docname) is not None:
        heading = next(doctree.findall(nodes.title), None)
        place = heading.parent if heading is not None else doctree
        place.insert(0 if heading is None else place.index(heading) + 1, nodes.warning("", nodes.paragraph("", NOTE)))


def report(app: Sphinx, exception: Exception | None) -> None:
    """Write `failed_pages.txt`, or remove that of an earlier build."""
    if exception is not None:
        return
    failed = [(docname, failure) for docname in sorted(app.env.found_docs) if (failure := _failure(app, docname))]
    lines = [line for docname, failure in failed for line in described(Path(app.srcdir), docname, failure)]
    path = Path(app.outdir).parent / "failed_pages.txt"
    if lines:
        path.write_text("\n".join(lines) + "\n", "utf-8")
    else:
        path.unlink(missing_ok=True)


def described(root: Path, docname: str, traceback: str) -> list[str]:
    """Where the cell is that failed, and its error. nbclient shows the cell's code between two lines of dashes."""
    path = root / f"{docname}.md"
    parts = traceback.split("\n------------------\n")
    start = path.read_text("utf-8").find(parts[1].strip()) if len(parts) > 1 else -1
    line = path.read_text("utf-8").count("\n", 0, start) + 1
    where = f"the cell at line {line}" if start >= 0 else "one of its cells"
    error = strip_escape_sequences(traceback.strip().splitlines()[-1])
    return [f"{docname}.md: {where} failed, so the page has no results:", f"    {error}"]


def _failure(app: Sphinx, docname: str) -> str | None:
    """The traceback of the page's failed run, if it failed."""
    done = NbMetadataCollector.get_exec_data(app.env, docname)
    return None if done is None or done["succeeded"] else done["traceback"] or "no reason was given"


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("doctree-resolved", mark)
    app.connect("build-finished", report)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

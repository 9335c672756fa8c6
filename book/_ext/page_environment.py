"""The environment in which pages run: `solutions` importable, one thread, one Matplotlib style, no stale results.

A page's results are cached under its code. Code alone is not all they come from: a page may import reference
code from `solutions`, read a recorded experiment or show what `grader` says, and it draws in the book's style. So
a digest of those files goes into the page's kernel name, which is part of the cache key, and Sphinx reads the page
again when one of them changes.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.typing import ExtensionMetadata

from grader.sources import with_imports

_STYLE = Path("book/_static/unrolled.mplstyle")
_IMPORT = re.compile(r"^from ((?:solutions|experiments)(?:\.\w+)*) import (\([^)]*\)|.*)", re.M)
_GRADER = re.compile(r"^from grader\b", re.M)
_KERNEL = re.compile(r"^(  display_name: .+)$", re.M)
# The kernels' own configuration, so that the reader's does not matter: plots are SVG (plots.py), without a date.
_KERNEL_CONFIG = """\
c.InlineBackend.figure_formats = {"svg"}
c.InlineBackend.print_figure_kwargs = {"bbox_inches": "tight", "metadata": {"Date": None}}
c.HistoryManager.enabled = False

from grader.imports import skip_iri_grammar
from grader.sources import read_course_from_text

read_course_from_text()  # a module that was saved twice within a second is seen both times
skip_iri_grammar()  # else the first `glue` of a page compiles a grammar, which takes most of a second
"""
# One thread each: with matrices as small as ours several wait for one another more than they compute.
_THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_log = logging.getLogger(__name__)


def prepare(app: Sphinx) -> None:
    """Set what the kernels inherit."""
    os.environ.update(environment(Path(app.srcdir), Path(app.doctreedir).parent / ".ipython"))


def environment(root: Path, ipython: Path) -> dict[str, str]:
    """The variables that pages run with. `root` is the repository's, `ipython` a folder for the kernels' settings."""
    profile = ipython / "profile_default"
    profile.mkdir(parents=True, exist_ok=True)
    (profile / "ipython_kernel_config.py").write_text(_KERNEL_CONFIG, "utf-8")
    before = os.environ.get("PYTHONPATH")
    return {
        "PYTHONPATH": os.pathsep.join([str(root), *([before] if before else [])]),
        "UNROLLED_DIARY": "",  # a page's checks are not the author's
        "MATPLOTLIBRC": str(root / _STYLE),
        "IPYTHONDIR": str(ipython),
        **_THREADS,
    }


def stamp(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put the digest of what an executed page uses into its kernel's display name, and say what it depends on."""
    root = Path(app.srcdir)
    source[0], inputs = stamped(root, source[0])
    for path in sorted(inputs):
        app.env.note_dependency(os.path.relpath(path, root))
    if inputs and not _KERNEL.search(source[0]):
        _log.warning("the page has code cells, but its header names no kernel", location=docname)


def stamped(root: Path, text: str) -> tuple[str, set[Path]]:
    """A page's text with that digest, and the files that it is of; of a page without code the text as it is."""
    if "{code-cell}" not in text:
        return text, set()
    inputs = {root / _STYLE, *imported(root, text)}
    if _GRADER.search(text):
        inputs.update(shipped(root))
    digest = hashlib.sha256(_KERNEL_CONFIG.encode())
    for path in sorted(inputs):
        digest.update(path.read_bytes())
    return _KERNEL.sub(rf"\1 ({digest.hexdigest()[:12]})", text, count=1), inputs


def imported(root: Path, text: str) -> set[Path]:
    """The files of `solutions` and `experiments` that this code imports, directly or through one another.

    With a module of `experiments` come the records beside it.
    """
    modules = [root.joinpath(*name.split(".")).with_suffix(".py") for name in _modules(text)]
    found = set(with_imports(root, modules))
    of_experiments = [path for path in found if "experiments" in path.parts and path.stem != "__init__"]
    return found.union(record for path in of_experiments for record in path.parent.glob("*.json"))


def _modules(text: str) -> list[str]:
    """What this code imports from, and each imported name, because it may be a module of that package."""
    found = []
    for package, names in _IMPORT.findall(text):
        found += [package, *(f"{package}.{name}" for name in re.findall(r"(\w+)(?:\s+as\s+\w+)?", names))]
    return found


def shipped(root: Path) -> list[Path]:
    """What a student's `grader` consists of: its modules and the released data."""
    grader = root / "grader"
    files = [
        *grader.glob("*.py"),
        *(path for room in ("checking", "render", "data") for path in grader.glob(f"{room}/**/*")),
    ]
    return [path for path in files if path.is_file() and path.suffix != ".pyc"]


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("builder-inited", prepare, priority=100)
    app.connect("source-read", stamp)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

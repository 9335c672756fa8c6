"""Pages whose code has to run do so side by side, as many as there are cores, before the first of them is read.

Sphinx reads one page after another, and reading a page runs it. Here the code of all pages that are to be read is
looked up in the cache, under the key that reading will look for; what is not there runs now and is put there. A page
that fails is not kept: it runs again when it is read, which tells what went wrong. So does a page that could not be
run or kept, because its kernel did not start on a busy machine or another process had locked the cache.

Pages run in the same way, with `SETTINGS`, whether side by side or as they are read. MyST-NB has no option for it, so
`setup` puts our function in the place of the one that it calls.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

import myst_nb.core.execute.cache
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.executors.utils import single_nb_execution
from myst_nb.core.config import NbParserConfig
from myst_nb.core.read import create_nb_reader
from nbformat import NotebookNode
from page_environment import stamped
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.typing import ExtensionMetadata

# How nbclient runs a page.
SETTINGS: dict[str, Any] = {
    "shutdown_kernel": "immediate",  # a kernel that is asked to end takes more than a second, and has nothing to save
    # What a cell puts out is waited for, and what does not come fails the page: by default it would be left out.
    "iopub_timeout": 60,
    "raise_on_iopub_timeout": True,
    # A busy machine sends in several messages what another sends in one. Here they are joined as they are; MyST-NB's
    # `merge_streams` would put a newline in place of the blanks at the end of each.
    "coalesce_streams": True,
}
_run = partial(single_nb_execution, **SETTINGS)
_log = logging.getLogger(__name__)


def run(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Run those of these pages that are not in the cache, and put them there."""
    config: NbParserConfig = env.mystnb_config  # type: ignore[attr-defined]
    if config.execution_mode != "cache":
        return
    cache = get_cache(config.execution_cache_path)
    due = [(path, notebook) for path, notebook in _notebooks(env, docnames) if not _is_known(cache, notebook)]
    if len(due) < 2:
        return  # it runs as it is read

    writing = Lock()  # else the cache, which is one SQLite file, could be locked by another of these threads

    def execute(page: tuple[Path, NotebookNode]) -> None:
        path, notebook = page
        try:
            done = _run(notebook, str(path.parent), config.execution_timeout, config.execution_allow_errors)
            if done.err is None:
                bundle = CacheBundleIn(notebook, str(path), data={"execution_seconds": done.time})
                with writing:
                    cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
        except Exception as error:  # from whichever library: without side_by_side.py the page would be built
            _log.info("%s: will run again as it is read, because of %r", path, error)
        else:
            _log.info("%s: %s after %.1f s", path, "failed" if done.err else "ran", done.time)

    with ThreadPoolExecutor(os.cpu_count()) as pool:  # each thread waits for a kernel, which is a process
        list(pool.map(execute, due))


def _notebooks(env: BuildEnvironment, docnames: list[str]) -> list[tuple[Path, NotebookNode]]:
    """The pages with code, as reading them makes notebooks of them."""
    found = []
    for docname in docnames:
        path = Path(env.doc2path(docname))
        text, _ = stamped(Path(env.srcdir), path.read_text("utf-8"))
        reader = create_nb_reader(str(path), env.myst_config, env.mystnb_config, text)  # type: ignore[attr-defined]
        if reader is not None:
            found.append((path, reader.read(text)))
    return found


def _is_known(cache: Any, notebook: NotebookNode) -> bool:
    try:
        cache.match_cache_notebook(notebook)
    except (KeyError, RuntimeError):  # it is not there, or the cache is locked
        return False
    return True


def setup(app: Sphinx) -> ExtensionMetadata:
    app.setup_extension("page_environment")
    if not hasattr(myst_nb.core.execute.cache, "single_nb_execution"):
        raise ExtensionError("side_by_side.py: this MyST-NB runs pages by another function than single_nb_execution")
    myst_nb.core.execute.cache.single_nb_execution = _run
    app.connect("env-before-read-docs", run)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

"""What Sphinx and its extensions do again for each page is remembered, and pages are written by several processes.

- The menu of each page translates the patterns of all files that are no pages, 250 of them, eleven times.
- Each citation looks for its style through the entry points of all installed packages.

Both are functions inside a library that always answer the same. A function that remembers its answers takes their
place; where an upgrade has none of that name, nothing is remembered and the build is only slower.

jupyter-book has no option for the number of processes. Sphinx looks at it before reading and again before writing. It
is set in between, because some extensions do not allow pages to be read side by side, and Sphinx would warn of them.
"""

from __future__ import annotations

import os
from functools import cache
from types import ModuleType

import pybtex.plugin
import sphinx.util.matching
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.typing import ExtensionMetadata

_SAME_ANSWERS = ((sphinx.util.matching, "_translate_pattern"), (pybtex.plugin, "_load_entry_point"))


def remember(module: ModuleType, name: str) -> None:
    """Let a module's function remember its answers. Doing so twice changes nothing more."""
    function = getattr(module, name, None)
    if callable(function) and not hasattr(function, "cache_info"):
        setattr(module, name, cache(function))


def write_side_by_side(app: Sphinx, env: BuildEnvironment) -> None:
    """One process resolves links, the others write what it hands them; more than a few would wait for it."""
    app.parallel = min(os.cpu_count() or 1, 4)


def setup(app: Sphinx) -> ExtensionMetadata:
    for module, name in _SAME_ANSWERS:
        remember(module, name)
    app.connect("env-updated", write_side_by_side)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

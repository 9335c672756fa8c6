"""What Sphinx and its extensions do again for each page is remembered.

- The menu of each page translates the patterns of all files that are no pages, 250 of them, eleven times.
- Each citation looks for its style through the entry points of all installed packages.

Both are functions inside a library that always answer the same. A function that remembers its answers takes their
place; where an upgrade has none of that name, nothing is remembered and the build is only slower.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType

import pybtex.plugin
import sphinx.util.matching
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

_SAME_ANSWERS = ((sphinx.util.matching, "_translate_pattern"), (pybtex.plugin, "_load_entry_point"))


def remember(module: ModuleType, name: str) -> None:
    """Let a module's function remember its answers. Doing so twice changes nothing more."""
    function = getattr(module, name, None)
    if callable(function) and not hasattr(function, "cache_info"):
        setattr(module, name, cache(function))


def setup(app: Sphinx) -> ExtensionMetadata:
    for module, name in _SAME_ANSWERS:
        remember(module, name)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

"""Slow libraries, imported without the parts of them that nothing here uses: seconds and tens of megabytes.

Both ways around are optional: should a library change, the import is slow again and right.
"""

from __future__ import annotations

import importlib.util
import sys
from typing import Any


def skip_iri_grammar() -> None:
    """Keep jsonschema from building its grammar of IRIs, for more than a second; call it before importing nbformat.

    jsonschema takes it where it is installed, to check the format "iri"; nbformat checks no formats.
    """
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # documented: importing it then fails


def nbgrader_tables() -> Any:
    """`nbgrader.api`, without what `import nbgrader` starts: its server extensions, hence Jupyter Server.

    Raises ImportError where nbgrader is not installed.
    """
    skip_iri_grammar()
    if "nbgrader" not in sys.modules:
        spec = importlib.util.find_spec("nbgrader")
        if spec is not None:
            package = importlib.util.module_from_spec(spec)
            sys.modules["nbgrader"] = package
            from nbgrader._version import __version__

            package.__version__ = __version__  # type: ignore[attr-defined]
    import nbgrader.api

    return nbgrader.api

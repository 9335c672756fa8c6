"""Import slow libraries without the parts that are not used here, which saves seconds and tens of megabytes.

Both shortcuts are optional: if a library changes, the import is slow again but still correct.
"""

from __future__ import annotations

import importlib.util
import sys
from typing import Any


def skip_iri_grammar() -> None:
    """Keep jsonschema from building its grammar of IRIs, which takes more than a second. Call this before importing
    nbformat.

    jsonschema uses the grammar, if it is installed, to check the format "iri"; nbformat checks no formats.
    """
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # documented: importing it then fails


def nbgrader_tables() -> Any:
    """`nbgrader.api`, without the server extensions (and Jupyter Server) that `import nbgrader` loads.

    Raises ImportError if nbgrader is not installed.
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

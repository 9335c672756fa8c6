"""MathJax from this machine: copied at build time from the package `sphinx-mathjax-offline`, menu off.

Of the package's 24 MB the site gets the one script that typesets TeX as HTML and its fonts. MathJax adds the
MathML that screen readers speak; its menu is off, since it would ask for scripts that are not there.
"""

from __future__ import annotations

import shutil
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ExtensionError
from sphinx.util.typing import ExtensionMetadata

_PACKAGE = "sphinx-mathjax-offline"
_SCRIPT = "tex-chtml.js"
_FONTS = "output/chtml/fonts/woff-v2"


def configure(app: Sphinx, config: Config) -> None:
    config.mathjax_path = f"mathjax/{_SCRIPT}"
    config.mathjax3_config = {"options": {"enableMenu": False, "enableAssistiveMml": True}}


def copy(app: Sphinx) -> None:
    """Before pages are written, so that the script's check sum in their links is the same in every build."""
    if app.builder.format != "html":
        return
    try:
        source = Path(str(distribution(_PACKAGE).locate_file(f"{_PACKAGE}/static/mathjax")))
    except PackageNotFoundError as error:
        raise ExtensionError(f"MathJax is missing: pip install {_PACKAGE}") from error
    target = Path(app.outdir, "_static", "mathjax")
    shutil.copytree(source / _FONTS, target / _FONTS, dirs_exist_ok=True)
    shutil.copy2(source / _SCRIPT, target / _SCRIPT)


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("config-inited", configure)
    app.connect("builder-inited", copy)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
